// Encodes events as words, and writes and reads log files.
#include "engine/event_log.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/file_descriptor.hpp"
#include "base/full_transfer.hpp"
#include "data/output/output_file.hpp"
#include "data/task_source.hpp"
#include "engine/log_text.hpp"
#include "policy/what_if_simulation.hpp"

namespace fairlead::engine {

namespace {
constexpr std::uint64_t magic =
    0x6467'6f6c'7269'6166;  // "fairlogd" in the file; the last letter is the version of the format

/// Except by chance, it differs when any word differs.
std::uint64_t checksum(const std::vector<std::uint64_t>& head, const std::vector<std::uint64_t>& words) {
  std::uint64_t sum = head.size() + (words.size() << 32);
  for (const auto* part : {&head, &words})
    for (const std::uint64_t word : *part) sum = Random::mix(sum + 0x9e37'79b9'7f4a'7c15) ^ word;
  return Random::mix(sum);
}
std::string of_another_version(const std::string& path, std::uint64_t found) {
  const auto format = [](std::uint64_t mark) {
    const auto last = static_cast<unsigned char>(mark >> 56);
    return last >= 'a' && last <= 'z' ? std::string(1, static_cast<char>(last)) : std::to_string(last);
  };
  return "\"" + path + "\" is an event log of another version of Fairlead: its format is \"" + format(found) +
         "\", that of this version \"" + format(magic) + "\"";
}
std::uint64_t head(EventLog::Record record, std::uint64_t rest) {
  return static_cast<std::uint64_t>(record) | (rest << 8);
}
/// Encodes -1, which means none, as 0.
std::uint64_t plus_one(int number) { return static_cast<std::uint64_t>(number) + 1; }
template <class F>
void for_each_implementation(const CodeletInfo& codelet, F&& f) {
  for (std::size_t kind = 0; kind < worker_kind_count; ++kind)
    for (std::size_t i = 0; i < codelet.count(static_cast<WorkerKind>(kind)); ++i)
      f(static_cast<WorkerKind>(kind), codelet.for_kind(static_cast<WorkerKind>(kind), i));
}
}  // namespace

EventLog::Known EventLog::known(const CodeletInfo& codelet) noexcept {
  Known it{codelet.name_hash(), codelet.unit, codelet.kinds, 0};
  for_each_implementation(codelet, [&](WorkerKind kind, const Implementation& one) {
    it.implementations = Random::mix(it.implementations ^ one.hash_of_name) +
                         static_cast<std::uint64_t>(kind) * 2 + one.asynchronous;
  });
  return it;
}

/// Record: the unit and the number of implementations; the name; for each implementation its kind, whether it is
/// asynchronous, and its name. Asynchrony matters to SpanScheduler: the worker may be reserved before the task finishes.
void EventLog::introduce(const CodeletInfo& codelet) {
  if (std::ranges::find(codelets_, known(codelet)) != codelets_.end()) return;
  codelets_.push_back(known(codelet));
  std::uint64_t count = 0;
  for_each_implementation(codelet, [&](WorkerKind, const Implementation&) { ++count; });
  words_.push_back(head(Record::codelet, static_cast<std::uint64_t>(codelet.unit) | (count << 8)));
  add_text(words_, codelet.name);
  for_each_implementation(codelet, [&](WorkerKind kind, const Implementation& one) {
    words_.push_back(static_cast<std::uint64_t>(kind) | (std::uint64_t{one.asynchronous} << 8));
    add_text(words_, one.name);
  });
}

void EventLog::task(const Task& task) {
  words_.push_back(static_cast<std::uint64_t>(task.id));
  const auto number = std::ranges::find(codelets_, known(*task.codelet)) - codelets_.begin();
  words_.push_back((static_cast<std::uint64_t>(number) << 32) | static_cast<std::uint32_t>(task.priority));
  words_.push_back((static_cast<std::uint64_t>(task.codelet->kinds) << 32) | task.source()->id);
  words_.push_back((static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(task.work)) << 32) |
                   (plus_one(task.place.like) << 24) | (plus_one(task.place.device) << 16) |
                   task.access_count);
  words_.push_back(task.nodes_excluded | (std::uint64_t{traits_of(task.role).mark} << 32) |
                   (std::uint64_t{task.workers_wanted} << 35));
  words_.push_back(task.scratch_bytes);
  for (const Access& access : task.accesses())
    words_.push_back((std::uint64_t{access.partials} << 40) |
                     (static_cast<std::uint64_t>(access.mode) << 32) | index(access.datum));
}

void EventLog::event(const Event& event) {
  if (event.kind == EventKind::task_ready) introduce(*static_cast<const Task&>(event).codelet);
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
    case EventKind::task_reclaimed:
      words_.push_back(static_cast<std::uint64_t>(static_cast<const Task&>(event).id));
      break;
    case EventKind::copy_finished:
      words_.push_back(static_cast<const memory::Copy&>(event).id);
      break;
    case EventKind::copy_failed:
      words_.push_back(static_cast<const memory::Copy&>(event).id);
      words_.push_back(static_cast<std::uint64_t>(static_cast<const memory::Copy&>(event).error_number));
      break;
    case EventKind::hold_released: {
      const auto& release = static_cast<const HoldRelease&>(event);
      words_.push_back((static_cast<std::uint64_t>(release.hold->id) << 1) |
                       std::uint64_t{release.data_unused});
      break;
    }
    case EventKind::refresh: {
      const auto& data = static_cast<const RefreshRequest&>(event).data;
      words_.push_back(data.size());
      for (const DatumId id : data) words_.push_back(index(id));
      break;
    }
    case EventKind::node_lost:
      words_.push_back(index(static_cast<const NodeLoss&>(event).node));
      break;
    case EventKind::simulation_finished:
      words_.push_back(static_cast<const SimulationFinished&>(event).result);
      break;
    default:
      break;
  }
}

void EventLog::datum(const memory::DatumSpec& spec) {
  words_.push_back(head(Record::datum, index(spec.home) | (std::uint64_t{spec.out_of_view} << 32) |
                                           (std::uint64_t{spec.generator != nullptr} << 33)));
  words_.push_back(spec.bytes);
  words_.push_back(spec.home_offset);
  const std::uint64_t whole =
      spec.partial_of == no_id<DatumId> ? 0 : index(spec.partial_of) + std::uint64_t{1};
  words_.push_back(static_cast<std::uint32_t>(spec.coordinates.collection) | (whole << 32));
  words_.push_back((static_cast<std::uint64_t>(static_cast<std::uint32_t>(spec.coordinates.row)) << 32) |
                   static_cast<std::uint32_t>(spec.coordinates.column));
}

void EventLog::removal(DatumId id) { words_.push_back(head(Record::removal, index(id))); }
void EventLog::advice(DatumId id, int device) {
  words_.push_back(head(Record::advice, index(id) | (plus_one(device) << 32)));
}
void EventLog::served(std::uint64_t mark) { words_.push_back(head(Record::served, mark)); }
void EventLog::horizon_closed() { words_.push_back(head(Record::horizon_closed, 0)); }
void EventLog::all_submitted() { words_.push_back(head(Record::all_submitted, 0)); }
void EventLog::cancellation(std::uint32_t source) { words_.push_back(head(Record::cancellation, source)); }
void EventLog::durations(std::span<const Duration> by_processor) {
  if (std::ranges::equal(durations_, by_processor)) return;
  durations_.assign(by_processor.begin(), by_processor.end());
  words_.push_back(head(Record::durations, by_processor.size()));
  for (const Duration duration : by_processor) words_.push_back(static_cast<std::uint64_t>(duration.count()));
}

std::vector<std::size_t> EventLog::processors_of(const Topology& topology) {
  std::vector<std::pair<WorkerKind, std::string>> different;
  std::vector<std::size_t> places;
  for (const WorkerSpec& worker : topology.workers) {
    const std::pair processor{worker.kind, worker.processor};
    const auto found = std::ranges::find(different, processor);
    places.push_back(static_cast<std::size_t>(found - different.begin()));
    if (found == different.end()) different.push_back(processor);
  }
  return places;
}

void EventLog::refresh_put_off(DatumId id, bool put_off) {
  words_.push_back(head(Record::refresh_put_off, index(id) | (std::uint64_t{put_off} << 32)));
}

void EventLog::submission(const Task& submitted) {
  introduce(*submitted.codelet);
  words_.push_back(head(Record::submission, 0));
  task(submitted);
}

// File: magic, number of head words, number of log words, checksum of both, the head, the log.
void EventLog::write(const std::string& path, const LogHead& head, const std::vector<std::uint64_t>& words) {
  const std::vector<std::uint64_t> head_words = head.words();
  const std::array<std::uint64_t, 4> header{magic, head_words.size(), words.size(),
                                            checksum(head_words, words)};
  const std::span<const std::byte> first = std::as_bytes(std::span(header)),
                                   second = std::as_bytes(std::span(head_words)),
                                   third = std::as_bytes(std::span(words));
  data::OutputFile file(path, first.size() + second.size() + third.size());
  file.write(0, first);
  file.write(first.size(), second);
  file.write(first.size() + second.size(), third);
  file.commit();
}

LogFile EventLog::read(const std::string& path) {
  const FileDescriptor file = open_file(path, O_RDONLY);
  struct stat found {};
  const auto refuse = [&](int error) {
    return SystemError("cannot read the event log \"" + path + "\": " + std::strerror(error));
  };
  if (!file || ::fstat(file.get(), &found) != 0) throw refuse(errno);
  if (S_ISDIR(found.st_mode)) throw refuse(EISDIR);
  const auto damaged = [&](const char* how) { return InputError("\"" + path + "\" " + how); };
  // Returns false at the end of the file.
  const auto read = [&](auto& words) {
    const auto into = std::as_writable_bytes(std::span<std::uint64_t>(words));
    const FullTransferResult got = read_fully(file.get(), into);
    if (got.error != 0) throw refuse(got.error);
    return got.bytes == into.size();
  };
  std::array<std::uint64_t, 4> header{};
  if (!read(header) || (header[0] ^ magic) << 8 != 0) throw damaged("is not an event log");
  if (header[0] != magic) throw InputError(of_another_version(path, header[0]));
  const auto bytes = static_cast<std::uint64_t>(found.st_size) - sizeof header;
  const std::uint64_t all = bytes / 8;
  if (bytes % 8 != 0 || header[1] > all || header[2] != all - header[1])
    throw damaged("is an event log, but not all of it: its end is missing, or something was appended");
  std::vector<std::uint64_t> head(header[1]);
  LogFile log{{}, std::vector<std::uint64_t>(header[2])};
  if (!read(head) || !read(log.words) || checksum(head, log.words) != header[3])
    throw damaged("is an event log, but its contents are damaged");
  log.head = LogHead::from(head);
  return log;
}

}  // namespace fairlead::engine
