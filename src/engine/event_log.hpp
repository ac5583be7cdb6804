// Records the engine's input. Replayed into a new engine, it yields the same commands. The log holds events, and of the
// engine's answer to each batch only a digest.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event.hpp"
#include "base/random.hpp"
#include "data/task.hpp"
#include "engine/log_head.hpp"
#include "memory/datum_table.hpp"
#include "memory/replica.hpp"

namespace fairlead::engine {

/// A log as stored in a file.
struct LogFile {
  LogHead head;
  std::vector<std::uint64_t> words;  ///< as EventLog::words()
};

/// Records are sequences of 64-bit words; the first holds the kind in its low byte.
class EventLog {
 public:
  enum class Record : std::uint8_t {
    event,
    datum,
    removal,
    submission,
    horizon_closed,
    cancellation,
    served,
    codelet,
    advice,
    durations,
    refresh_put_off,
    all_submitted
  };

  void event(const Event& event);
  void datum(const memory::DatumSpec& spec);
  void removal(DatumId id);
  void advice(DatumId id, int device);
  void refresh_put_off(DatumId id, bool put_off);
  void submission(const Task& submitted);
  void horizon_closed();
  void all_submitted();
  void cancellation(std::uint32_t source);
  /// The duration on each processor of the tasks that follow, where durations are known in advance: see Options.
  void durations(std::span<const Duration> by_processor);
  /// The events before this record were served together, then workers were given tasks. `mark`: CommandDigest::mark()
  /// of the engine afterwards, for comparison in a replay.
  void served(std::uint64_t mark);

  const std::vector<std::uint64_t>& words() const noexcept { return words_; }
  /// Throws SystemError naming the file.
  void write(const std::string& path, const LogHead& head) const { write(path, head, words_); }
  static void write(const std::string& path, const LogHead& head, const std::vector<std::uint64_t>& words);
  /// Maps each worker to its processor: workers of the same kind and processor name share a number.
  static std::vector<std::size_t> processors_of(const Topology& topology);
  /// Throws SystemError if the file cannot be read, InputError if it is not a log or is damaged.
  static LogFile read(const std::string& path);

 private:
  /// Records the codelet if it is new; before the record of a task.
  void introduce(const CodeletInfo& codelet);
  void task(const Task& task);
  std::vector<std::uint64_t> words_;
  struct Known {  // identified by name, as in the duration model: the address may be reused
    std::uint64_t name_hash;
    WorkUnit unit;
    std::uint32_t kinds;
    std::uint64_t implementations;  // a hash of the kind, name and asynchrony of each
    bool operator==(const Known&) const = default;
  };
  static Known known(const CodeletInfo& codelet) noexcept;
  std::vector<Known> codelets_;      // by number
  std::vector<Duration> durations_;  // as last recorded
};

/// All commands of the engine, reduced to one number that changes with every change of a command or of their order.
class CommandDigest {
 public:
  enum class Kind : std::uint8_t { launch, recall, start_copy, complete, stop, grant, stand_aside };
  void add(Kind kind, std::uint64_t subject, std::uint64_t object, std::uint64_t detail = 0) noexcept {
    value_ += Random::mix(subject + 0x9e37'79b9'7f4a'7c15 * (static_cast<std::uint64_t>(kind) + 1));
    value_ = Random::mix(value_ ^ object ^ (detail * 0xff51'afd7'ed55'8ccd));
    ++count_;
  }
  std::uint64_t value() const noexcept { return value_; }
  /// 56 bits of the digest, for logs. Except by chance it is not 0, which marks logs without digests.
  std::uint64_t mark() const noexcept { return (value_ + 1) & 0xff'ffff'ffff'ffff; }
  std::uint64_t count() const noexcept { return count_; }

 private:
  std::uint64_t value_ = 0, count_ = 0;
};

}  // namespace fairlead::engine
