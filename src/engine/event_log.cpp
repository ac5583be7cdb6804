// Writing events as words, and words as files.
#include "engine/event_log.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "data/task_source.hpp"

namespace fairlead::engine {

namespace {
constexpr std::uint64_t magic = 0x316c'6461'6c72'6961;  // says "airldal1"
std::uint64_t head(EventLog::Record record, std::uint64_t rest) {
  return static_cast<std::uint64_t>(record) | (rest << 8);
}
}  // namespace

std::uint32_t EventLog::number_of(const CodeletInfo* codelet) {
  const auto it = std::ranges::find(codelets_, codelet);
  if (it == codelets_.end()) codelets_.push_back(codelet);
  return static_cast<std::uint32_t>(it - codelets_.begin());
}

void EventLog::task(const Task& task) {
  words_.push_back(static_cast<std::uint64_t>(task.id));
  words_.push_back((static_cast<std::uint64_t>(number_of(task.codelet)) << 32) |
                   static_cast<std::uint32_t>(task.priority));
  words_.push_back((static_cast<std::uint64_t>(task.codelet->kinds) << 32) | task.source->id);
  words_.push_back(task.access_count);
  for (const Access& access : task.accesses())
    words_.push_back((static_cast<std::uint64_t>(access.mode) << 32) | index(access.datum));
}

void EventLog::event(const Event& event) {
  words_.push_back(head(Record::event, static_cast<std::uint64_t>(event.kind) |
                                           (static_cast<std::uint64_t>(event.worker) << 8)));
  words_.push_back(static_cast<std::uint64_t>(event.at.count()));
  words_.push_back(static_cast<std::uint64_t>(event.duration.count()));
  switch (event.kind) {
    case EventKind::task_ready:
      task(static_cast<const Task&>(event));
      break;
    case EventKind::task_finished:
    case EventKind::task_failed:
    case EventKind::task_returned:
      words_.push_back(static_cast<std::uint64_t>(static_cast<const Task&>(event).id));
      break;
    case EventKind::copy_finished:
    case EventKind::copy_failed:
      words_.push_back(static_cast<const memory::Copy&>(event).id);
      break;
    default:
      break;
  }
}

void EventLog::datum(const memory::DatumSpec& spec) {
  words_.push_back(head(Record::datum, index(spec.home)));
  words_.push_back(spec.bytes);
  words_.push_back(spec.home_offset);
  words_.push_back(static_cast<std::uint64_t>(static_cast<std::uint32_t>(spec.coordinates.collection)));
  words_.push_back((static_cast<std::uint64_t>(static_cast<std::uint32_t>(spec.coordinates.row)) << 32) |
                   static_cast<std::uint32_t>(spec.coordinates.column));
}

void EventLog::removal(DatumId id) { words_.push_back(head(Record::removal, index(id))); }
void EventLog::served() { words_.push_back(head(Record::served, 0)); }
void EventLog::horizon_closed() { words_.push_back(head(Record::horizon_closed, 0)); }
void EventLog::cancellation(std::uint32_t source) { words_.push_back(head(Record::cancellation, source)); }
void EventLog::submission(const Task& submitted) {
  words_.push_back(head(Record::submission, 0));
  task(submitted);
}

void EventLog::write(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&magic), sizeof magic);
  file.write(reinterpret_cast<const char*>(words_.data()), static_cast<std::streamsize>(words_.size() * 8));
  file.close();
  if (!file) throw SystemError("cannot write the event log \"" + path + "\": " + std::strerror(errno));
}

std::vector<std::uint64_t> EventLog::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw SystemError("cannot read the event log \"" + path + "\": " + std::strerror(errno));
  const auto bytes = static_cast<std::size_t>(file.tellg());
  std::vector<std::uint64_t> words(bytes / 8);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 8));
  if (!file || words.empty() || words[0] != magic || bytes % 8 != 0)
    throw InputError("\"" + path + "\" is not an event log");
  words.erase(words.begin());
  return words;
}

}  // namespace fairlead::engine
