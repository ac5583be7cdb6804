// Shared by the benchmarks between two ranks: initialization and finalization of MPI, and the check for two
// ranks.
#pragma once
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <fairlead/ranks.hpp>

#include <fmt/format.h>

#include <exception>

/// Prints an error if there are not two ranks.
inline bool are_two(const fairlead::Rank& rank) {
  if (rank.count() != 2) fmt::print(stderr, "two ranks are needed: mpirun -n 2\n");
  return rank.count() == 2;
}

/// How the other rank learns of an error on this one.
enum class Others {
  notified,  // by Fairlead, in which it waits
  aborted,   // by MPI_Abort: it may wait in MPI
};

/// The exit status: the result of bench(), or 1 if it throws.
template <class Bench>
int between_ranks(int argc, char** argv, const char* name, Others others, const Bench& bench) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int code = 1;
  try {
    code = bench();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    if (others == Others::aborted) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
