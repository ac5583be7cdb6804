// Receives of short messages from any rank. Several receives are always posted, so that MPI buffers few messages.
// Messages match receives in the order of posting (MPI 3.1, section 3.5), so only the oldest is tested: idle threads
// test all the time, and testing all 16 takes MPICH 1.5 times as long (docs/ranks.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/mpi/requests.hpp"

namespace fairlead::net {

class MpiReceives {
 public:
  /// Posts `count` receives of up to `bytes` bytes each.
  void begin(MPI_Comm by, int tag, std::size_t count, std::size_t bytes);
  /// Calls heard(bytes, from) for each message that has arrived. Throws SystemError.
  template <class Heard>
  void look(Heard&& heard);
  /// Cancels the receives; later messages are dropped.
  void end();

 private:
  bool oldest_is_over(MPI_Status& status);

  std::vector<MPI_Request> requests_;           // persistent requests; restarted in turn
  std::vector<std::vector<std::byte>> places_;  // buffers of the requests
  std::size_t oldest_ = 0;
};

template <class Heard>
void MpiReceives::look(Heard&& heard) {
  MPI_Status status;
  // Bounded, so that a burst of messages does not delay other operations.
  for (std::size_t looks = 0; looks < requests_.size() && oldest_is_over(status); ++looks) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    heard(std::span<const std::byte>(places_[oldest_]).first(static_cast<std::size_t>(bytes)),
          RankId{static_cast<std::uint32_t>(status.MPI_SOURCE)});
    check_mpi(MPI_Start(&requests_[oldest_]), "start a receive");
    oldest_ = (oldest_ + 1) % requests_.size();
  }
}

}  // namespace fairlead::net
