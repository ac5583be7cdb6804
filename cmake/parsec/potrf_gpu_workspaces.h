/* DPLASMA's potrf files include this header for their GPU bodies, which are not compiled here. */
