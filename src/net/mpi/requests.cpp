// See requests.hpp.
#include "net/mpi/requests.hpp"

#include <string>
#include <utility>

namespace fairlead::net {

void check_mpi(int error, const char* what) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) length = 0;
  throw MpiError("MPI could not " + std::string(what) + ": " +
                 std::string(text, static_cast<std::size_t>(length)));
}

void MpiRequests::add(MPI_Request request, Operation operation) {
  requests_.push_back(request);
  operations_.push_back(std::move(operation));
  over_.resize(requests_.size());
}

int MpiRequests::test_some() {
  int count = 0;
  check_mpi(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, over_.data(),
                         MPI_STATUSES_IGNORE),
            "make progress on transfers in flight");
  return count == MPI_UNDEFINED ? 0 : count;
}

void MpiRequests::remove(std::size_t i) {
  requests_[i] = requests_.back();
  operations_[i] = std::move(operations_.back());
  requests_.pop_back();
  operations_.pop_back();
}

template <class IsDropped>
std::size_t MpiRequests::drop_if(const IsDropped& is_dropped) {
  std::size_t came = 0;
  for (std::size_t i = requests_.size(); i-- > 0;) {
    Operation& operation = operations_[i];
    if (!is_dropped(operation)) continue;
    if (operation.kind == Kind::send_part) operation.kind = Kind::dropped_send;  // MPI cannot cancel a send
    if (operation.kind != Kind::receive_part) continue;
    MPI_Status status;
    int cancelled = 0;
    check_mpi(MPI_Cancel(&requests_[i]), "cancel a transfer");
    check_mpi(MPI_Wait(&requests_[i], &status), "cancel a transfer");
    check_mpi(MPI_Test_cancelled(&status, &cancelled), "cancel a transfer");
    if (cancelled == 0) ++came;
    remove(i);
  }
  return came;
}

std::size_t MpiRequests::drop(PayloadId payload) {
  return drop_if([payload](const Operation& operation) { return operation.payload == payload; });
}
std::size_t MpiRequests::drop_payloads() {
  return drop_if([](const Operation&) { return true; });
}

bool MpiRequests::some_of(Kind kind) const noexcept {
  return std::ranges::any_of(operations_, [kind](const Operation& it) { return it.kind == kind; });
}

}  // namespace fairlead::net
