// See tally.hpp.
#include "net/mpi/tally.hpp"

namespace fairlead::net {

MPI_Request MpiTally::exchange(MPI_Comm by) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ireduce_scatter_block(sent_.data(), expected_.data(), static_cast<int>(kinds), MPI_UINT64_T,
                                      MPI_SUM, by, &request),
            "report how much was sent");
  return request;
}

}  // namespace fairlead::net
