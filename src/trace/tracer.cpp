// Divides the memory among the rings, and merges their contents in order.
#include "trace/tracer.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace fairlead::trace {

namespace {

constexpr std::size_t most_names = std::numeric_limits<std::uint16_t>::max();
const std::string other_kinds = "(other kinds of task)";  // if there are more names than numbers

// In sixteenths of the memory. Most records are tasks; copies move megabytes each.
constexpr Bytes parts = 16, parts_for_tasks = 11, parts_for_memory = 2, parts_for_copies = 2,
                parts_for_waits = 1;
static_assert(parts_for_tasks + parts_for_memory + parts_for_copies + parts_for_waits == parts);

TaskRecord unpacked(const PackedTask& packed) { return packed.task(); }
template <class Record>
const Record& unpacked(const Record& record) {
  return record;
}

template <class Kept, class Record>
void take(const Ring<Kept>& ring, std::vector<Record>& out, std::uint64_t& dropped, Time& complete_from,
          Time (*of)(const Record&)) {
  dropped += ring.dropped();
  const std::size_t before = out.size();
  ring.for_each([&out](const Kept& record) { out.push_back(unpacked(record)); });
  if (ring.dropped() != 0) complete_from = std::max(complete_from, of(out[before]));
}

/// Removes waiting times during which a task ran: the engine learns of completions in batches, so it counts some of
/// these as waiting.
std::vector<WaitRecord> outside_of_tasks(const std::vector<WaitRecord>& waits,
                                         const std::vector<TaskRecord>& tasks) {
  std::vector<WaitRecord> result;
  auto task = tasks.begin();
  for (const WaitRecord& wait : waits) {
    const auto before = [&wait](const TaskRecord& one) {
      return one.worker < wait.worker || (one.worker == wait.worker && one.end() <= wait.start);
    };
    while (task != tasks.end() && before(*task)) ++task;
    Time free_from = wait.start;
    const auto add_until = [&](Time end) {
      if (end > free_from) result.push_back({free_from, end - free_from, wait.worker, wait.reason});
    };
    for (auto in = task; in != tasks.end() && in->worker == wait.worker && in->start() < wait.end(); ++in) {
      add_until(in->start());
      free_from = std::max(free_from, in->end());
    }
    add_until(wait.end());
  }
  return result;
}

}  // namespace

namespace {
/// Whether `text` is the result of CodeletInfo::text(); false if the implementation has no name.
bool is_text_of(std::string_view text, std::string_view codelet, std::string_view implementation) noexcept {
  return !implementation.empty() && text.size() == codelet.size() + implementation.size() + 3 &&
         text.starts_with(codelet) && text.substr(codelet.size() + 2).starts_with(implementation);
}
}  // namespace

TaskTracer::Known TaskTracer::look_up(const CodeletInfo& codelet) {
  const std::uint16_t number = number_of_name(codelet.name);
  return {&codelet, names_[number], number};
}

std::uint16_t TaskTracer::number_of_name(const std::string& wanted) {
  const std::string& name = names_.size() + 1 < most_names ? wanted : other_kinds;
  const auto found = std::ranges::find(names_, name);
  const auto number = static_cast<std::uint16_t>(found - names_.begin());
  if (found == names_.end()) names_.push_back(name);
  return number;
}

void TaskTracer::add(TaskRecord task, const CodeletInfo& codelet, WorkerKind kind,
                     std::uint8_t implementation) {
  const Implementation& one = codelet.for_kind(kind, implementation);
  Known& known = known_[place(&one)];
  if (known.what != &one || !is_text_of(known.name, codelet.name, one.name)) {
    const std::uint16_t number = number_of_name(codelet.text(kind, implementation));
    known = {&one, names_[number], number};
  }
  task.codelet = known.number;
  ring_.push(PackedTask::of(task));
}

Tracer::Tracer(Bytes bytes, std::size_t threads)
    : copies_(bytes / parts * parts_for_copies),
      memory_(bytes / parts * parts_for_memory),
      waits_(bytes / parts * parts_for_waits) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back(bytes / parts * parts_for_tasks / threads);
}

Snapshot Tracer::snapshot() {
  taken_ = true;
  Snapshot result;
  const auto end_of = [](const auto& record) { return record.end(); };
  std::map<std::string, std::uint16_t, std::less<>> numbers;
  for (const TaskTracer& thread : threads_) {
    std::vector<std::uint16_t> number;
    for (const std::string& known : thread.names()) {
      const std::string& name = numbers.size() + 1 < most_names ? known : other_kinds;
      const auto [at, fresh] = numbers.try_emplace(name, static_cast<std::uint16_t>(numbers.size()));
      if (fresh) result.codelets.push_back(name);
      number.push_back(at->second);
    }
    const std::size_t before = result.tasks.size();
    take<PackedTask, TaskRecord>(thread.ring(), result.tasks, result.dropped.tasks, result.complete_from,
                                 end_of);
    for (std::size_t i = before; i < result.tasks.size(); ++i)
      result.tasks[i].codelet = number[result.tasks[i].codelet];
  }
  take<CopyRecord, CopyRecord>(copies_, result.copies, result.dropped.copies, result.complete_from, end_of);
  take<MemoryRecord, MemoryRecord>(memory_, result.memory, result.dropped.memory, result.complete_from,
                                   [](const MemoryRecord& record) { return record.at; });
  take<WaitRecord, WaitRecord>(waits_, result.waits, result.dropped.waits, result.complete_from, end_of);
  result.phases = phases_;

  const auto by_worker = [](const auto& a, const auto& b) {
    return std::tuple(a.worker, a.start, a.duration) < std::tuple(b.worker, b.start, b.duration);
  };
  std::ranges::stable_sort(result.tasks, [](const TaskRecord& a, const TaskRecord& b) {
    return std::tuple(a.worker, a.start(), a.duration()) < std::tuple(b.worker, b.start(), b.duration());
  });
  std::ranges::stable_sort(result.waits, by_worker);
  result.waits = outside_of_tasks(result.waits, result.tasks);
  std::ranges::stable_sort(result.copies, {}, &CopyRecord::start);
  std::ranges::stable_sort(result.memory, {}, &MemoryRecord::at);
  return result;
}

}  // namespace fairlead::trace
