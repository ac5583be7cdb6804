// The words of an event log cut into records, so that tests can change one.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/event_log.hpp"

namespace fairlead::tests {

struct LogRecord {
  using Kind = engine::EventLog::Record;
  std::vector<std::uint64_t> words;

  Kind kind() const { return static_cast<Kind>(words[0] & 0xff); }
  bool is(EventKind event) const {
    return kind() == Kind::event && ((words[0] >> 8) & 0xff) == static_cast<std::uint64_t>(event);
  }
  bool is_about_a_task() const {
    return is(EventKind::task_ready) || is(EventKind::task_finished) || is(EventKind::task_failed) ||
           is(EventKind::task_returned);
  }
  bool is_about_a_copy() const { return is(EventKind::copy_finished) || is(EventKind::copy_failed); }
  // Of events:
  std::uint64_t& time() { return words[1]; }
  std::uint64_t& duration() { return words[2]; }
  std::uint64_t& subject() { return words[3]; }  ///< the task's or the copy's id
};

inline std::vector<LogRecord> records_of(const std::vector<std::uint64_t>& words) {
  std::vector<LogRecord> records;
  for (std::size_t i = 0; i < words.size();) {
    LogRecord record{{words[i]}};
    std::size_t size = 1;
    switch (record.kind()) {
      case LogRecord::Kind::event:
        size = 3;
        if (record.is(EventKind::task_ready)) size = 9 + (words[i + 6] & 0xffff);
        if (record.is_about_a_task() && !record.is(EventKind::task_ready)) size = 4;
        if (record.is(EventKind::copy_finished)) size = 4;
        if (record.is(EventKind::copy_failed)) size = 5;
        if (record.is(EventKind::refresh)) size = 4 + words[i + 3];
        break;
      case LogRecord::Kind::datum:
        size = 5;
        break;
      case LogRecord::Kind::submission:
        size = 7 + (words[i + 4] & 0xffff);
        break;
      case LogRecord::Kind::codelet:
        size = 2 + (words[i + 1] + 7) / 8;
        for (std::uint64_t left = words[i] >> 16; left > 0; --left) size += 2 + (words[i + size + 1] + 7) / 8;
        break;
      case LogRecord::Kind::durations:
        size = 1 + (words[i] >> 8);
        break;
      default:
        break;
    }
    record.words.assign(words.begin() + static_cast<std::ptrdiff_t>(i),
                        words.begin() + static_cast<std::ptrdiff_t>(i + size));
    records.push_back(std::move(record));
    i += size;
  }
  return records;
}

inline std::vector<std::uint64_t> words_of(const std::vector<LogRecord>& records) {
  std::vector<std::uint64_t> words;
  for (const LogRecord& record : records) words.insert(words.end(), record.words.begin(), record.words.end());
  return words;
}

}  // namespace fairlead::tests
