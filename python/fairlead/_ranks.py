"""The processes of mpirun that solve a system together."""

from __future__ import annotations

from typing import Any


def over_ranks(comm: Any) -> bool:
    """
    Whether a call with this `comm` runs over several processes.

    Raises ValueError for a communicator of a part of the processes, TypeError if it is no communicator.
    """
    if comm is None:
        return False
    if isinstance(comm, str):
        if comm != "world":
            raise ValueError(f'comm is {comm!r}: it is a communicator of mpi4py, or "world"')
        return True
    if not type(comm).__module__.startswith("mpi4py"):
        raise TypeError(f'comm is of type {type(comm).__name__}: it is a communicator of mpi4py, or "world"')
    if comm.Get_size() == 1:
        return False
    from mpi4py import MPI  # of the caller, if it has a communicator

    same: set[Any] = {MPI.IDENT, MPI.CONGRUENT}
    if MPI.Comm.Compare(comm, MPI.COMM_WORLD) not in same:
        raise ValueError("comm has a part of the processes: only all of them, as in MPI.COMM_WORLD, can solve a system together")
    return True
