// Whether all ranks walk through the same tasks. Each hashes all of them, its own and those of others; after every 1,024,
// and where all wait, rank 0 compares, and a difference is told with the first task that differs, on both ranks. It also
// says when all have come to the end of a wait.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "front/ranks/notes.hpp"
#include "net/communicator.hpp"

namespace fairlead::front {

class Comparison {
 public:
  static constexpr std::size_t block = 1024;
  /// So many blocks a rank may be ahead of the slowest: what others tell that one early takes memory there.
  static constexpr std::uint64_t most_ahead = 64;

  /// `changed()`: whoever waits for one of the below looks again. Any thread.
  Comparison(net::Communicator& communicator, std::function<void()> changed);

  // ---- the program's thread's

  /// One more task. What it is named by stays until it was compared.
  void walked(std::uint64_t hash, const CodeletInfo* codelet, const char* file, std::uint32_t line) {
    entries_.push_back({hash, codelet, file, line});
    hash_ = (hash_ ^ hash) * 0x9e37'79b9'7f4a'7c15u;
    hash_ ^= hash_ >> 29;
    if (entries_.size() == block) close_block();
  }
  /// All ranks wait here.
  void waits();
  bool far_ahead() const noexcept { return closed_ > equal_.load() + most_ahead; }
  bool all_compared() const noexcept { return closed_ == equal_.load(); }
  /// None of the tasks that were walked through will be named any more.
  bool nobody_named() const noexcept { return alone() || (entries_.empty() && all_compared()); }
  /// This rank has come to the end of its wait.
  void over();
  /// All have, as often as this one.
  bool all_over() const noexcept { return all_over_.load() == overs_; }

  // ---- the network's

  /// Notes of its own begin with a number below this.
  static constexpr std::uint8_t kinds_of_notes = 5;
  void heard(net::RankId from, std::span<const std::byte> note);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    const CodeletInfo* codelet = nullptr;  // null: a wait
    const char* file = "";
    std::uint32_t line = 0;
  };
  struct Block {
    std::uint64_t hash = 0;
    std::vector<Entry> entries;  // empty: this rank has not come so far
    bool closed = false;
    std::uint32_t equal = 0;                                    // rank 0's: how many others
    std::vector<std::pair<net::RankId, std::uint64_t>> hashes;  // rank 0's: not compared
  };
  enum class Note : std::uint8_t { block, equal, differs, over, all_over };
  void close_block();
  void compare(std::uint64_t number);
  void forget_until(std::uint64_t number);
  void differs(std::uint64_t number, net::RankId with, NoteReader& theirs);
  void say_to_all(Note note, std::uint64_t number);
  void count_over();
  bool alone() const noexcept { return communicator_.ranks() == 1; }
  bool is_first() const noexcept { return communicator_.own() == net::RankId{0}; }

  net::Communicator& communicator_;
  const std::function<void()> changed_;
  std::vector<Entry> entries_;  // of the block that is not closed
  std::uint64_t hash_ = 0, closed_ = 0, overs_ = 0;
  std::atomic<std::uint64_t> equal_{0}, all_over_{0};
  std::mutex mutex_;  // guards what follows
  std::map<std::uint64_t, Block> blocks_;
  std::vector<std::vector<Entry>> spare_;
  std::uint64_t over_heard_ = 0;  // rank 0's
};

}  // namespace fairlead::front
