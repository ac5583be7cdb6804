// See requests.hpp.
#include "net/mpi/requests.hpp"

#include <fairlead/error.hpp>

#include <string>
#include <utility>

namespace fairlead::net {

void check_mpi(int error, const char* what) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) length = 0;
  throw SystemError("MPI could not " + std::string(what) + ": " +
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
            "go on with what is under way");
  return count == MPI_UNDEFINED ? 0 : count;
}

void MpiRequests::remove(std::size_t i) {
  requests_[i] = requests_.back();
  operations_[i] = std::move(operations_.back());
  requests_.pop_back();
  operations_.pop_back();
}

void MpiRequests::drop(PayloadId payload) {
  for (std::size_t i = requests_.size(); i-- > 0;) {
    Operation& operation = operations_[i];
    if (operation.payload != payload) continue;
    if (operation.kind == Kind::leaves) operation.kind = Kind::given_up;  // MPI cannot take back what is sent
    if (operation.kind != Kind::lands) continue;
    check_mpi(MPI_Cancel(&requests_[i]), "give a payload up");
    check_mpi(MPI_Wait(&requests_[i], MPI_STATUS_IGNORE), "give a payload up");
    remove(i);
  }
}

bool MpiRequests::something_is_said() const noexcept {
  for (const Operation& operation : operations_)
    if (operation.kind == Kind::says) return true;
  return false;
}

void MpiRequests::end() {
  for (std::size_t i = requests_.size(); i-- > 0;) {
    const Kind kind = operations_[i].kind;
    if (kind == Kind::hears || kind == Kind::lands) {
      check_mpi(MPI_Cancel(&requests_[i]), "end a receive");
      check_mpi(MPI_Wait(&requests_[i], MPI_STATUS_IGNORE), "end a receive");
    }
    if (requests_[i] != MPI_REQUEST_NULL) check_mpi(MPI_Request_free(&requests_[i]), "forget a request");
    remove(i);
  }
}

}  // namespace fairlead::net
