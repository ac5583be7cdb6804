/* The declarations of PaRSEC and DPLASMA that bodies of JDF files use, in C and C++, for Fairlead's matrices:
 * descriptors of tiled matrices, return values of bodies, and small helpers. docs/jdf.md lists them. For anything
 * else the C compiler reports an error with the line of the JDF file. <fairlead/parsec.hpp> makes the descriptors. */
#ifndef FAIRLEAD_PARSEC_COMPAT_H
#define FAIRLEAD_PARSEC_COMPAT_H

#include <assert.h>
#ifndef __cplusplus
#include <complex.h>
#undef I /* bodies may use this name */
#endif
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- data --- */

/* A collection: data by their indices. With one rank, all data are local. */
typedef struct parsec_data_collection_s {
  uint32_t myrank, nodes;
  const void* fairlead; /* internal data; set by fairlead::parsec::Descriptor */
} parsec_data_collection_t;

/* The layout of a matrix. */
enum parsec_matrix_storage_e { PARSEC_MATRIX_LAPACK = 0, PARSEC_MATRIX_TILE = 1 };
enum parsec_matrix_type_e {
  PARSEC_MATRIX_BYTE = 0,
  PARSEC_MATRIX_INTEGER = 1,
  PARSEC_MATRIX_FLOAT = 2,
  PARSEC_MATRIX_DOUBLE = 3,
  PARSEC_MATRIX_COMPLEX_FLOAT = 4,
  PARSEC_MATRIX_COMPLEX_DOUBLE = 5
};
/* The names in earlier versions. */
enum {
  matrix_Lapack = PARSEC_MATRIX_LAPACK,
  matrix_Tile = PARSEC_MATRIX_TILE,
  matrix_Byte = PARSEC_MATRIX_BYTE,
  matrix_Integer = PARSEC_MATRIX_INTEGER,
  matrix_RealFloat = PARSEC_MATRIX_FLOAT,
  matrix_RealDouble = PARSEC_MATRIX_DOUBLE,
  matrix_ComplexFloat = PARSEC_MATRIX_COMPLEX_FLOAT,
  matrix_ComplexDouble = PARSEC_MATRIX_COMPLEX_DOUBLE
};

/* A matrix of m x n elements in mt x nt tiles of mb x nb. Bodies get each tile in column-major order with leading
 * dimension mb, including tiles at the edges that have fewer rows. */
typedef struct parsec_tiled_matrix_s {
  parsec_data_collection_t super;
  int mtype, storage;
  int mb, nb, bsiz;
  int lm, ln, lmt, lnt, llm, lln;
  int i, j, m, n, mt, nt;
  int slm, sln, slmt, slnt;
  int nb_local_tiles;
} parsec_tiled_matrix_t;

/* A matrix, for files that also support LAPACK's layout. Here bodies always get tiles. */
typedef struct dplasma_data_collection_s {
  parsec_data_collection_t super;
  parsec_tiled_matrix_t* dc_original;
} dplasma_data_collection_t;
#define LDA(collection, tile) ((void)(tile), (collection)->dc_original->mb)
#define LOC(descriptor, m, n) ((void)(descriptor), (void)(m), (void)(n), 0)
#define LOC_TYPE(descriptor, m, n) LOC(descriptor, m, n) /* the name in DPLASMA's trmm files */

/* The process grid: always one process. */
typedef struct parsec_grid_2Dcyclic_s {
  int rank, rows, cols, crank, rrank, krows, kcols, ip, jq;
} parsec_grid_2Dcyclic_t;

typedef struct parsec_matrix_block_cyclic_s {
  parsec_tiled_matrix_t super;
  parsec_grid_2Dcyclic_t grid;
  int uplo, nb_elem_r, nb_elem_c;
} parsec_matrix_block_cyclic_t;

/* The names in earlier versions. */
typedef parsec_data_collection_t parsec_ddesc_t;
typedef parsec_data_collection_t dague_ddesc_t;
typedef parsec_tiled_matrix_t parsec_tiled_matrix_dc_t;
typedef parsec_tiled_matrix_t tiled_matrix_desc_t;
typedef parsec_matrix_block_cyclic_t parsec_matrix_sym_block_cyclic_t;
typedef parsec_matrix_block_cyclic_t two_dim_block_cyclic_t;
typedef parsec_matrix_block_cyclic_t sym_two_dim_block_cyclic_t;

/* The leading dimension of a tile in row k of tiles, in elements. */
#define BLKLDD(descriptor, k) ((void)(k), (descriptor)->mb)
/* The number of rows of a tile in row k of tiles, and of columns in column k. */
static inline int fairlead_tile_rows(const parsec_tiled_matrix_t* of, int k) {
  return k == of->mt - 1 ? of->m - k * of->mb : of->mb;
}
static inline int fairlead_tile_columns(const parsec_tiled_matrix_t* of, int k) {
  return k == of->nt - 1 ? of->n - k * of->nb : of->nb;
}
#define CLEAN_MB(descriptor, k) fairlead_tile_rows((const parsec_tiled_matrix_t*)(descriptor), k)
#define CLEAN_NB(descriptor, k) fairlead_tile_columns((const parsec_tiled_matrix_t*)(descriptor), k)

/* --- bodies --- */

/* The return values of a body. A body without a return statement returns DONE. */
enum {
  PARSEC_HOOK_RETURN_DONE = 0,   /* the work is done */
  PARSEC_HOOK_RETURN_NEXT = -2,  /* the next BODY of the class must do the work */
  PARSEC_HOOK_RETURN_ERROR = -5, /* the task has failed; the graph fails */
  PARSEC_HOOK_RETURN_AGAIN = -1, /* AGAIN, DISABLE and ASYNC are not supported: they end the graph with an error */
  PARSEC_HOOK_RETURN_DISABLE = -3,
  PARSEC_HOOK_RETURN_ASYNC = -4
};
#define DAGUE_HOOK_RETURN_DONE PARSEC_HOOK_RETURN_DONE
#define DAGUE_HOOK_RETURN_NEXT PARSEC_HOOK_RETURN_NEXT
#define DAGUE_HOOK_RETURN_ERROR PARSEC_HOOK_RETURN_ERROR

/* --- helpers --- */

static inline int parsec_imin(int a, int b) { return a <= b ? a : b; }
static inline int parsec_imax(int a, int b) { return a >= b ? a : b; }
static inline int parsec_iceil(int a, int b) { return (a + b - 1) / b; }
static inline int dplasma_imin(int a, int b) { return parsec_imin(a, b); }
static inline int dplasma_imax(int a, int b) { return parsec_imax(a, b); }
static inline int dplasma_iceil(int a, int b) { return parsec_iceil(a, b); }
/* The lookahead of a matrix product, in steps: a whole row. */
static inline int dplasma_aux_getGEMMLookahead(const parsec_tiled_matrix_t* of) {
  return parsec_imax(2, parsec_imax(of->mt, of->nt));
}
#define dague_imin parsec_imin
#define dague_imax parsec_imax

/* Logging by bodies is disabled: the arguments are not evaluated and need not be declared. */
#define printlog(...) ((void)0)
#define printlogcuda(...) ((void)0)

#ifndef __cplusplus
typedef double _Complex parsec_complex64_t;
typedef float _Complex parsec_complex32_t;
typedef parsec_complex64_t dplasma_complex64_t;
typedef parsec_complex32_t dplasma_complex32_t;
#endif

/* Bodies for accelerators look up objects by name when the graph is made; none are found. */
typedef struct parsec_info_s {
  int none;
} parsec_info_t;
#define parsec_per_stream_infos (*(const parsec_info_t*)NULL)
#define parsec_per_device_infos (*(const parsec_info_t*)NULL)
static inline int parsec_info_lookup(const parsec_info_t* infos, const char* name, void* made_by) {
  (void)infos;
  (void)name;
  (void)made_by;
  return -1;
}

/* Incomplete types, for declarations in prologues only. */
typedef struct parsec_task_s parsec_task_t;
typedef struct parsec_taskpool_s parsec_taskpool_t;
typedef struct parsec_context_s parsec_context_t;
typedef struct parsec_execution_stream_s parsec_execution_stream_t;
typedef struct parsec_data_copy_s parsec_data_copy_t;
typedef struct parsec_device_module_s parsec_device_module_t;
typedef struct parsec_recursive_callback_s parsec_recursive_callback_t;

/* A function on each tile of a matrix, or on each pair of tiles: part of the tile, its row and column, the caller's data. */
typedef int (*parsec_tiled_matrix_unary_op_t)(parsec_execution_stream_t* es, const parsec_tiled_matrix_t* descA,
                                              void* A, int uplo, int m, int n, void* args);
typedef int (*parsec_tiled_matrix_binary_op_t)(parsec_execution_stream_t* es, const parsec_tiled_matrix_t* descA,
                                               const parsec_tiled_matrix_t* descB, const void* A, void* B, int uplo,
                                               int m, int n, void* args);
typedef parsec_tiled_matrix_unary_op_t tiled_matrix_unary_op_t;
typedef parsec_tiled_matrix_binary_op_t tiled_matrix_binary_op_t;

/* The reduction tree of a QR or LQ factorization: the program provides the functions. */
typedef struct dplasma_qrtree_s dplasma_qrtree_t;
struct dplasma_qrtree_s {
  int (*getnbgeqrf)(const dplasma_qrtree_t* tree, int k);           /* the number of tiles of panel k with a QR of their own */
  int (*getm)(const dplasma_qrtree_t* tree, int k, int i);          /* the row of the i-th of them */
  int (*geti)(const dplasma_qrtree_t* tree, int k, int m);          /* its inverse */
  int (*gettype)(const dplasma_qrtree_t* tree, int k, int m);       /* how row m is eliminated: one of the constants below */
  int (*currpiv)(const dplasma_qrtree_t* tree, int k, int m);       /* the row that eliminates row m */
  int (*nextpiv)(const dplasma_qrtree_t* tree, int k, int p, int m); /* the row that p eliminates after m, or mt */
  int (*prevpiv)(const dplasma_qrtree_t* tree, int k, int p, int m); /* the row that p eliminates before m, or mt */
  int mt, nt, a, p;
  void* args;
};
enum {
  DPLASMA_QR_KILLED_BY_TS = 0, /* a whole tile, by CORE_dtsqrt */
  DPLASMA_QR_KILLED_BY_LOCALTREE = 1,
  DPLASMA_QR_KILLED_BY_DOMINO = 2,
  DPLASMA_QR_KILLED_BY_DISTTREE = 3
};

/* Temporary memory within one body; made by fairlead::parsec::MemoryPool. */
typedef struct parsec_memory_pool_s {
  size_t elt_size;
} parsec_memory_pool_t;
typedef parsec_memory_pool_t dague_memory_pool_t;

static inline void* parsec_private_memory_pop(const parsec_memory_pool_t* pool) {
  void* const memory = malloc(pool->elt_size);
  if (memory == NULL) abort(); /* out of memory */
  return memory;
}
static inline void parsec_private_memory_push(const parsec_memory_pool_t* pool, void* memory) {
  (void)pool;
  free(memory);
}
#define dague_private_memory_pop parsec_private_memory_pop
#define dague_private_memory_push parsec_private_memory_push

#ifdef __cplusplus
}
#endif
#endif
