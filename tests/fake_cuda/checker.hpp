// Which of the operations on a device are ordered, and whether two that touch the same bytes are not: by what was asked for,
// not by how this run happened to go. Order is that of a stream, and what the host has seen to be over before it put the
// next operation into any stream. (Its threads count as one: whether they agree is ThreadSanitizer's matter.)
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

/// Of each stream, how many operations are over for sure.
using Clock = std::map<std::uint32_t, std::uint64_t>;

class Checker {
 public:
  /// An operation is put into the stream. What comes after it there, or after its clock was seen, is ordered.
  const Clock& add(std::uint32_t stream, const std::string& name, std::span<const Access> accesses);
  /// The host has seen that these are over, since one of the stream is.
  void seen(std::uint32_t stream, const Clock& clock);
  /// This thread calls the driver again.
  void called();
  /// What is over for sure and known to others than who saw it: its thread has called again, so it had the time to tell them.
  const Clock& told() const noexcept { return told_; }
  /// How many operations were put into the stream so far.
  std::uint64_t added(std::uint32_t stream) const;
  /// The bytes are given up, as `how` says. True if they may be in use, which is reported.
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
  Clock host_;              // what it has seen to be over
  std::vector<Open> open_;  // the host has not seen their ends
  // Of each thread what it has seen since it called. Of the stream only that it asked: what others saw there, these may not
  // have told.
  std::map<std::thread::id, Clock> just_seen_;
  Clock told_;
  std::set<std::string> findings_;
};

}  // namespace fake_cuda
