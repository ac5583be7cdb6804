// MPI operations in progress, except the receives of short messages (receives.hpp). One call tests all of them.
#pragma once
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fairlead/error.hpp>

#include "net/endpoint_commands.hpp"

namespace fairlead::net {

/// A failed call of MPI.
class MpiError : public SystemError {
 public:
  using SystemError::SystemError;
};

/// Throws MpiError.
void check_mpi(int error, const char* what);

class MpiRequests {
 public:
  enum class Kind : std::uint8_t {
    receive,          // receives a long message that a short one has announced
    send,             // sends a message
    receive_part,     // receives a part of a payload
    send_part,        // sends a part of a payload
    dropped_send,     // sends a part of a dropped payload
    dropped_receive,  // receives a part that came too late
  };
  struct Operation {
    Kind kind{};
    RankId other = no_rank;
    PayloadId payload{};
    std::vector<std::byte> bytes{};  ///< the message; must stay valid until the operation ends
  };

  void add(MPI_Request request, Operation operation);
  /// Calls over(operation) for each operation that has ended.
  template <class Over>
  void test(Over&& over);
  /// Cancels the receives of the payload; its end is not reported. Returns the number of parts that had arrived
  /// already.
  std::size_t drop(PayloadId payload);
  /// As drop(), for all payloads.
  std::size_t drop_payloads();
  bool some_of(Kind kind) const noexcept;
  bool none() const noexcept { return requests_.empty(); }

 private:
  int test_some();
  template <class IsDropped>
  std::size_t drop_if(const IsDropped& is_dropped);
  void remove(std::size_t i);

  std::vector<MPI_Request> requests_;
  std::vector<Operation> operations_;  // of requests_, in the same order
  std::vector<int> over_;              // indices of the last test
  std::vector<std::size_t> removed_;
};

template <class Over>
void MpiRequests::test(Over&& over) {
  if (requests_.empty()) return;
  const int count = test_some();
  removed_.clear();
  for (int k = 0; k < count; ++k) {
    removed_.push_back(static_cast<std::size_t>(over_[static_cast<std::size_t>(k)]));
    over(operations_[removed_.back()]);
  }
  // In descending order: remove() moves the last element, which is then never one of those to remove.
  std::sort(removed_.begin(), removed_.end());
  for (auto i = removed_.rbegin(); i != removed_.rend(); ++i) remove(*i);
}

}  // namespace fairlead::net
