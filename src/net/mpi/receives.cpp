// See receives.hpp.
#include "net/mpi/receives.hpp"

namespace fairlead::net {

void MpiReceives::begin(MPI_Comm by, int tag, std::size_t count, std::size_t bytes) {
  places_.assign(count, std::vector<std::byte>(bytes));
  requests_.assign(count, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < count; ++i)
    check_mpi(MPI_Recv_init(places_[i].data(), static_cast<int>(bytes), MPI_BYTE, MPI_ANY_SOURCE, tag, by,
                            &requests_[i]),
              "prepare to receive");
  for (MPI_Request& request : requests_) check_mpi(MPI_Start(&request), "start a receive");
}

bool MpiReceives::oldest_is_over(MPI_Status& status) {
  int over = 0;
  check_mpi(MPI_Test(&requests_[oldest_], &over, &status), "look for messages");
  return over != 0;
}

void MpiReceives::end() {
  for (MPI_Request& request : requests_) {
    check_mpi(MPI_Cancel(&request), "cancel a receive");
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "cancel a receive");
    check_mpi(MPI_Request_free(&request), "free a request");
  }
  requests_.clear();
}

}  // namespace fairlead::net
