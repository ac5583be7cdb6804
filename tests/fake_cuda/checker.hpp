// A race detector for operations on devices: finds unordered operations on the same bytes, independent of the timing of this
// run. Operations are ordered within a stream, and after those that the host has observed as finished before it submitted the
// operation. (All host threads count as one: ThreadSanitizer checks those.)
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "fake_cuda/fake_cuda.hpp"

namespace fake_cuda {

/// For each stream, the number of operations known to be finished.
using Clock = std::map<std::uint32_t, std::uint64_t>;

class Checker {
 public:
  /// An operation is submitted to the stream. Later operations there, or after its clock was seen, are ordered after it.
  const Clock& add(std::uint32_t stream, const std::string& name, std::span<const Access> accesses);
  /// The host has observed that these operations are finished, by one of the stream.
  void seen(std::uint32_t stream, const Clock& clock);
  /// This thread calls the driver again.
  void called();
  /// Operations whose completion is published: the thread that observed it has called again, so it had time to notify others.
  const Clock& published() const noexcept { return published_; }
  /// Number of operations submitted to the stream so far.
  std::uint64_t added(std::uint32_t stream) const;
  /// The bytes are released, in the way `how`. True if they may be in use, which is reported.
  bool give_up(const void* at, std::size_t bytes, const std::string& how);
  void report(const std::string& text) { findings_.insert(text); }
  const std::set<std::string>& findings() const noexcept { return findings_; }

 private:
  struct Open {
    std::uintptr_t begin, end;
    bool write;
    std::uint32_t stream;
    std::uint64_t number;
    std::string name;
  };
  std::map<std::uint32_t, Clock> streams_;
  Clock host_;              // operations observed as finished
  std::vector<Open> open_;  // not observed as finished
  // For each thread the completions it observed since its last call, of its own stream only: other threads may not have
  // published theirs.
  std::map<std::thread::id, Clock> just_seen_;
  Clock published_;
  std::set<std::string> findings_;
};

}  // namespace fake_cuda
