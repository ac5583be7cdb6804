// Counts of sent and received messages, so that all of them are received before a communicator is freed. MPI keeps
// unreceived messages and delivers them to the next communicator with the same id.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "net/mpi/requests.hpp"

namespace fairlead::net {

class MpiTally {
 public:
  enum class Of : std::uint8_t {
    messages,       // short messages
    long_messages,  // announced long messages
    payloads,       // parts of payloads
  };
  explicit MpiTally(int ranks) : sent_(static_cast<std::size_t>(ranks) * kinds) {}

  /// Counts a send, or receives, of that kind.
  void sent(RankId to, Of kind) { ++sent_[index(to) * kinds + static_cast<std::size_t>(kind)]; }
  void came(Of kind, std::uint64_t count = 1) { came_[static_cast<std::size_t>(kind)] += count; }
  /// Exchanges the counts, once all ranks have called it. Collective; no sends may follow.
  MPI_Request exchange(MPI_Comm by);
  /// After exchange(): messages still to come.
  std::uint64_t left(Of kind) const {
    return expected_[static_cast<std::size_t>(kind)] - came_[static_cast<std::size_t>(kind)];
  }
  bool everything_came() const noexcept { return came_ == expected_; }

 private:
  static constexpr std::size_t kinds = 3;
  std::vector<std::uint64_t> sent_;          // by rank and kind
  std::array<std::uint64_t, kinds> came_{};  // from any rank
  // sent by all ranks to this one; valid after exchange()
  std::array<std::uint64_t, kinds> expected_{};
};

}  // namespace fairlead::net
