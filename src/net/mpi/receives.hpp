// Short messages of any rank: some receives are always begun, so that MPI has to keep hardly any of them. Messages find
// receives in the order in which these were begun (MPI 3.1, section 3.5), so that the oldest alone is asked for: whoever has
// nothing to do asks all the time, and to ask for all 16 takes MPICH half as long again (docs/ranks.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/mpi/requests.hpp"

namespace fairlead::net {

class MpiReceives {
 public:
  /// So many, each with room for so many bytes.
  void begin(MPI_Comm by, int tag, std::size_t count, std::size_t bytes);
  /// For all messages that are there: heard(bytes, from). Throws SystemError.
  template <class Heard>
  void look(Heard&& heard);
  /// What has come since is dropped.
  void end();

 private:
  bool oldest_is_over(MPI_Status& status);

  std::vector<MPI_Request> requests_;           // persistent; begun again one after the other
  std::vector<std::vector<std::byte>> places_;  // of these
  std::size_t oldest_ = 0;
};

template <class Heard>
void MpiReceives::look(Heard&& heard) {
  MPI_Status status;
  // However fast they come: others have to be looked at as well.
  for (std::size_t looks = 0; looks < requests_.size() && oldest_is_over(status); ++looks) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    heard(std::span<const std::byte>(places_[oldest_]).first(static_cast<std::size_t>(bytes)),
          RankId{static_cast<std::uint32_t>(status.MPI_SOURCE)});
    check_mpi(MPI_Start(&requests_[oldest_]), "begin to receive");
    oldest_ = (oldest_ + 1) % requests_.size();
  }
}

}  // namespace fairlead::net
