// How much was sent to each rank and how much has come, so that everything is received before a communicator is given back: MPI
// keeps what nobody has asked for, and gives it to the next communicator that gets the same number.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "net/mpi/requests.hpp"

namespace fairlead::net {

class MpiTally {
 public:
  enum class Of : std::uint8_t {
    messages,       // short ones
    long_messages,  // that were announced
    payloads,       // their parts
  };
  explicit MpiTally(int ranks) : sent_(static_cast<std::size_t>(ranks) * kinds) {}

  void sent(RankId to, Of kind) { ++sent_[index(to) * kinds + static_cast<std::size_t>(kind)]; }
  void came(Of kind, std::uint64_t count = 1) { came_[static_cast<std::size_t>(kind)] += count; }
  /// The ranks say how much they have sent, once all of them are at it. Collective; nothing is sent afterwards.
  MPI_Request exchange(MPI_Comm by);
  /// After that: still to come.
  std::uint64_t left(Of kind) const {
    return expected_[static_cast<std::size_t>(kind)] - came_[static_cast<std::size_t>(kind)];
  }
  bool everything_came() const noexcept { return came_ == expected_; }

 private:
  static constexpr std::size_t kinds = 3;
  std::vector<std::uint64_t> sent_;              // by rank and kind
  std::array<std::uint64_t, kinds> came_{};      // from anybody
  std::array<std::uint64_t, kinds> expected_{};  // of what all have sent; known once they have said so
};

}  // namespace fairlead::net
