// What the benchmarks between two ranks have in common: MPI's beginning and end, and that there are two.
#pragma once
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <fairlead/ranks.hpp>

#include <fmt/format.h>

#include <exception>

/// Says so if there are not.
inline bool are_two(const fairlead::Rank& rank) {
  if (rank.count() != 2) fmt::print(stderr, "two ranks are needed: mpirun -n 2\n");
  return rank.count() == 2;
}

/// What the other rank does when this one cannot go on.
enum class Others {
  are_told,  // by Fairlead, in which it waits
  end,       // it may wait in MPI, which nobody else ends
};

/// The exit status: what bench() gives, or 1 if it throws.
template <class Bench>
int between_ranks(int argc, char** argv, const char* name, Others others, const Bench& bench) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int code = 1;
  try {
    code = bench();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    if (others == Others::end) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
