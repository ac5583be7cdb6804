// Checks that all ranks walk through the same tasks. Each rank hashes all tasks, its own and others'. After every 1,024
// tasks and at each wait, rank 0 compares the hashes. A difference is reported with the first differing task on both
// ranks. Rank 0 also reports when all ranks have completed a wait.
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

class ProgramComparison {
 public:
  static constexpr std::size_t block = 1024;
  /// A rank may be this many blocks ahead of the slowest rank: early notes take memory on the ranks that receive them.
  static constexpr std::uint64_t most_ahead = 64;

  /// `changed()` is called when one of the conditions below may have changed. Any thread may call it.
  ProgramComparison(net::Communicator& communicator, std::function<void()> changed);

  // ---- for the program's thread

  /// Adds a task. `codelet` and `file` must stay valid until the task is compared.
  void add_task(std::uint64_t hash, const CodeletInfo* codelet, const char* file, std::uint32_t line) {
    entries_.push_back({hash, codelet, file, line});
    hash_ = (hash_ ^ hash) * 0x9e37'79b9'7f4a'7c15u;
    hash_ ^= hash_ >> 29;
    if (entries_.size() == block) close_block();
  }
  /// Adds a wait of all ranks.
  void add_wait();
  bool far_ahead() const noexcept { return closed_ > equal_.load() + most_ahead; }
  bool all_compared() const noexcept { return closed_ == equal_.load(); }
  /// Whether no message can name a codelet of an added task any more.
  bool all_names_released() const noexcept { return alone() || (entries_.empty() && all_compared()); }
  /// This rank has completed its part of a wait.
  void report_wait_completed();
  /// Whether all ranks have completed as many waits as this rank.
  bool all_over() const noexcept { return all_over_.load() == overs_; }

  // ---- for the network

  /// The kinds of its notes are numbers below this.
  static constexpr std::uint8_t kinds_of_notes = 5;
  void on_note(net::RankId from, std::span<const std::byte> note);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    const CodeletInfo* codelet = nullptr;  // null: a wait
    const char* file = "";
    std::uint32_t line = 0;
  };
  struct Block {
    std::uint64_t hash = 0;
    std::vector<Entry> entries;  // empty: this rank has not reached the block
    bool closed = false;
    std::uint32_t equal = 0;  // on rank 0: number of other ranks with the same hash
    std::vector<std::pair<net::RankId, std::uint64_t>> hashes;  // on rank 0: received, not compared
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
  std::vector<Entry> entries_;  // of the open block
  std::uint64_t hash_ = 0, closed_ = 0, overs_ = 0;
  std::atomic<std::uint64_t> equal_{0}, all_over_{0};
  std::mutex mutex_;  // guards the fields below
  std::map<std::uint64_t, Block> blocks_;
  std::vector<std::vector<Entry>> spare_;
  std::uint64_t over_heard_ = 0;  // on rank 0: number of reports of completed waits
};

}  // namespace fairlead::front
