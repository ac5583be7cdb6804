// Operations that MPI was asked for and has not ended, but for the receives of short messages (receives.hpp). It is asked of all of
// them at once which are over.
#pragma once
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fairlead/error.hpp>

#include "net/commands.hpp"

namespace fairlead::net {

/// MPI did not do what it was asked for.
class MpiError : public SystemError {
 public:
  using SystemError::SystemError;
};

/// Throws MpiError.
void check_mpi(int error, const char* what);

class MpiRequests {
 public:
  enum class Kind : std::uint8_t {
    hears,     // a message that a short one has announced
    says,      // a message on its way to another rank
    lands,     // a part of a payload that comes
    leaves,    // of one that goes
    given_up,  // of one that goes, and nobody wants to know any more
    unwanted,  // of one that came too late
  };
  struct Operation {
    Kind kind{};
    RankId other = no_rank;
    PayloadId payload{};
    std::vector<std::byte> bytes{};  ///< of messages: they stay until the operation is over
  };

  void add(MPI_Request request, Operation operation);
  /// For all that are over now: `over(operation)`.
  template <class Over>
  void test(Over&& over);
  /// Nothing is written any more of what should land, and nothing told of the payload. So many of its parts had come already.
  std::size_t drop(PayloadId payload);
  /// The same of all payloads.
  std::size_t drop_payloads();
  bool some_of(Kind kind) const noexcept;
  bool none() const noexcept { return requests_.empty(); }

 private:
  int test_some();
  template <class IsDropped>
  std::size_t drop_if(const IsDropped& is_dropped);
  void remove(std::size_t i);

  std::vector<MPI_Request> requests_;
  std::vector<Operation> operations_;  // of these, in the same order
  std::vector<int> over_;              // indices, of the last test
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
  // From behind, so that whoever takes a place has none that is to be removed.
  std::sort(removed_.begin(), removed_.end());
  for (auto i = removed_.rbegin(); i != removed_.rend(); ++i) remove(*i);
}

}  // namespace fairlead::net
