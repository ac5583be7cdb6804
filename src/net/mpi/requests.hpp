// Operations that MPI was asked for and has not ended. It is asked of all of them at once which are over.
#pragma once
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/commands.hpp"

namespace fairlead::net {

/// Throws SystemError if MPI did not do what it was asked for.
void check_mpi(int error, const char* what);

class MpiRequests {
 public:
  enum class Kind : std::uint8_t {
    hears,       // short messages: begun anew after each
    hears_long,  // a message that a short one has announced
    says,        // a message on its way to another rank
    lands,       // a part of a payload that comes
    leaves,      // of one that goes
    given_up,    // of one that goes, and nobody wants to know any more
  };
  struct Operation {
    Kind kind{};
    RankId other = no_rank;
    PayloadId payload{};
    std::vector<std::byte> bytes{};  ///< of messages: they stay until the operation is over
  };

  void add(MPI_Request request, Operation operation);
  /// Begins with those that hear.
  void start();
  /// For all that are over now: `over(operation, bytes received, from whom)`. Those that hear begin anew afterwards.
  template <class Over>
  bool test(Over&& over);
  /// Nothing is written any more of what should land, and nothing told of the payload.
  void drop(PayloadId payload);
  /// As test(), but for those that hear: they are ended, too.
  void end();
  bool something_is_said() const noexcept;
  std::size_t size() const noexcept { return requests_.size(); }

 private:
  int test_some();
  void remove(std::size_t i);

  std::vector<MPI_Request> requests_;
  std::vector<Operation> operations_;  // of these, in the same order
  std::vector<int> over_;              // indices, of the last test
  std::vector<MPI_Status> statuses_;
  std::vector<std::size_t> removed_;
};

template <class Over>
bool MpiRequests::test(Over&& over) {
  const int count = test_some();
  if (count <= 0) return false;
  removed_.clear();
  for (int k = 0; k < count; ++k) {
    const auto i = static_cast<std::size_t>(over_[static_cast<std::size_t>(k)]);
    const MPI_Status& status = statuses_[static_cast<std::size_t>(k)];
    int bytes = 0;
    const Kind kind = operations_[i].kind;
    if (kind == Kind::hears || kind == Kind::hears_long) MPI_Get_count(&status, MPI_BYTE, &bytes);
    over(operations_[i], static_cast<std::size_t>(bytes),
         RankId{static_cast<std::uint32_t>(status.MPI_SOURCE)});
    if (kind == Kind::hears)
      check_mpi(MPI_Start(&requests_[i]), "begin to receive");
    else
      removed_.push_back(i);
  }
  // From behind, so that whoever takes a place has none that is to be removed.
  std::sort(removed_.begin(), removed_.end());
  for (auto i = removed_.rbegin(); i != removed_.rend(); ++i) remove(*i);
  return true;
}

}  // namespace fairlead::net
