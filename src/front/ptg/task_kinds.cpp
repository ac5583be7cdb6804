// See task_kinds.hpp.
#include "front/ptg/task_kinds.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <set>

#include "base/pages.hpp"
#include "engine/direct_lane.hpp"

namespace fairlead::ptg {

namespace {

constexpr std::size_t most_flows = 64;

using fairlead::detail::Submission;

/// A handle that names nothing, of any type.
alignas(16) constexpr std::array<std::byte, 256> no_handle{};

/// The collections whose data may come by a flow.
class Reached {
 public:
  explicit Reached(const ClassTable& table) : table_(table) {}
  std::set<std::uint32_t> by(std::size_t task_class, std::size_t flow) {
    std::set<std::uint32_t> found;
    std::set<std::pair<std::size_t, std::size_t>> seen;
    add(task_class, flow, found, seen);
    return found;
  }

 private:
  void add(std::size_t task_class, std::size_t flow, std::set<std::uint32_t>& found,
           std::set<std::pair<std::size_t, std::size_t>>& seen) {
    if (!seen.insert({task_class, flow}).second) return;
    for (const Input& input : table_.classes[task_class].flows[flow].inputs) {
      if (input.kind == Place::Kind::task) add(input.from_class, input.from_flow, found, seen);
      if (input.like_flow) {
        add(task_class, *input.like_flow, found, seen);
      } else if (input.kind != Place::Kind::task && input.kind != Place::Kind::nothing)
        found.insert(input.memory.collection);
    }
  }
  const ClassTable& table_;
};

using Arguments = std::array<std::int64_t, Places::most>;

void find_arguments(const TableClass& of, const std::int64_t* numbers, Arguments& arguments) {
  for (std::size_t i = 0; i < of.numbers.size(); ++i) arguments[i] = of.numbers[i](numbers);
}

template <class F>
void with_call(const TableClass& of, const void* const* handles, const Arguments& arguments, F&& f) {
  const Maker& maker = of.definition->maker;
  maker.make(
      maker.self.get(), handles, arguments.data(),
      [](void* context, const Submission& submission) {
        (*static_cast<std::remove_reference_t<F>*>(context))(submission);
      },
      &f);
}

}  // namespace

TaskKinds::TaskKinds(const ClassTable& table, TaskSource& source)
    : table_(table), kinds_(table.classes.size()) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const TableClass& of = table.classes[i];
    Kind& kind = kinds_[i];
    kind.ordinary.source = kind.urgent.source = &source;
    kind.urgent.urgent = true;
    kind.lines = ActiveTask::lines_for(of.parameters.size(), of.data_flows);
    const std::int64_t none[Places::most]{};
    kind.has_priorities = !of.priority.constant() || of.priority(none) != 0;
    kind.needs_numbers = kind.has_priorities || !of.numbers.empty() ||
                         std::ranges::any_of(of.flows, [](const TableFlow& flow) {
                           return std::ranges::any_of(flow.inputs, [](const Input& input) {
                             return input.kind == Place::Kind::fresh;
                           });
                         });
    if (of.numbers.size() > Places::most || of.data_flows > most_flows)
      throw UsageError("the parameterized class " + text_of(*of.definition) + " has too many parameters");
  }
}

std::int32_t TaskKinds::priority(std::size_t task_class, const std::int64_t* numbers) const {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(table_.classes[task_class].priority(numbers), Limits::min(), Limits::max()));
}

void TaskKinds::fit(const front::SubmissionFit& fit, Values& values) {
  Reached reached(table_);
  std::vector<const Value*> largest(table_.collections.size());
  for (std::uint32_t i = 0; i < values.of_collections(); ++i) {
    const Value& value = values[i];
    const Value*& so_far = largest[value.collection];
    if (value.datum != nullptr && (so_far == nullptr || value.datum->bytes > so_far->datum->bytes))
      so_far = &value;
  }
  for (std::size_t i = 0; i < table_.classes.size(); ++i) {
    const TableClass& of = table_.classes[i];
    Numbers numbers{};
    Walk walk;
    if (!walk.begin(of.loops, numbers.data())) continue;
    std::vector<const void*> handles(of.data_flows, no_handle.data());
    std::vector<Bytes> bytes(of.data_flows);
    for (std::size_t k = 0; k < of.data_flows; ++k)
      for (const std::uint32_t collection : reached.by(i, k))
        if (const Value* value = largest[collection]; value != nullptr && value->datum->bytes > bytes[k]) {
          handles[k] = value->handle;
          bytes[k] = value->datum->bytes;
        }
    Arguments arguments;
    find_arguments(of, numbers.data(), arguments);
    with_call(of, handles.data(), arguments, [&](const Submission& call) {
      // The same datum may stand for several: each counts, as in the task.
      std::vector<Submission::Use> uses;
      std::vector<engine::RegisteredDatum> copies;
      copies.reserve(call.uses.size());
      for (const Submission::Use& use : call.uses)
        if (use.datum != nullptr) {
          copies.push_back(*use.datum);
          copies.back().owner = use.datum;  // a copy of a tile does not know where it is in its matrix
          copies.back().name = [](const void* original, const engine::RegisteredDatum&) {
            return static_cast<const engine::RegisteredDatum*>(original)->text();
          };
          uses.push_back({&copies.back(), use.mode, use.generation});
        }
      Submission sample = call;
      sample.uses = uses;
      sample.file = of.definition->file;
      sample.line = of.definition->line;
      Kind& kind = kinds_[i];
      Bytes footprint = whole_pages_for(call.scratch_bytes);
      for (const Submission::Use& use : uses)
        if (!use.datum->in_place) footprint += whole_pages_for(use.datum->bytes);
      largest_footprint_ = std::max(largest_footprint_, footprint);
      kind.traits.codelet = sample.codelet;
      kind.traits.submitted_at = {of.definition->file, of.definition->line};
      kind.traits.scratch_bytes = sample.scratch_bytes;
      kind.traits.nodes_excluded = fit.nodes_excluded(sample);
      if (sample.workers.count() != 1)
        kind.traits.workers_wanted = fit.workers_wanted(sample, kind.traits.nodes_excluded);
      kind.may_pass = engine::may_pass(kind.traits);
    });
  }
}

void TaskKinds::fill(Task& task, ActiveTask& active, Values& values) const {
  const TableClass& of = table_.classes[active.task_class];
  const Kind& kind = kinds_[active.task_class];
  Numbers numbers;
  Arguments arguments;
  std::int32_t its_priority = 0;
  std::exception_ptr wrong;
  try {
    if (kind.needs_numbers) of.place(active.parameters(), numbers.data());
    find_arguments(of, numbers.data(), arguments);
    if (kind.has_priorities) its_priority = priority(active.task_class, numbers.data());
  } catch (const UsageError&) {
    wrong = std::current_exception();
    arguments.fill(0);
  }
  const std::uint32_t* const at = active.values(of.parameters.size());
  std::array<const void*, most_flows> handles;
  std::array<std::uint8_t, most_flows> access_of_use;
  std::size_t count = 0;
  if (of.data_flows > inline_accesses) {
    std::size_t needed = 0;
    for (std::size_t i = 0; i < of.data_flows; ++i) needed += at[i] != no_value;
    if (needed > inline_accesses) task.accesses_begin = new Access[needed];
  }
  for (std::size_t i = 0; i < of.data_flows; ++i) {
    if (at[i] == no_value) {
      handles[i] = no_handle.data();
      access_of_use[i] = fairlead::detail::absent_access;
      continue;
    }
    const Value& value = values[at[i]];
    handles[i] = value.handle;
    AccessMode mode = of.flows[i].mode;
    if (value.fresh && mode == AccessMode::read_write && wrong == nullptr) {
      // Nothing is in it yet: nothing has to be brought.
      const Input* const input = input_of(of.flows[i], numbers.data());
      if (input != nullptr && input->kind == Place::Kind::fresh) mode = AccessMode::write;
    }
    std::size_t same = 0;
    while (same < i && at[same] != at[i]) ++same;
    if (same < i) {
      Access& access = task.accesses_begin[access_of_use[i] = access_of_use[same]];
      access.mode = graph::merged(access.mode, mode);
      continue;
    }
    Access& access = task.accesses_begin[count];
    access_of_use[i] = static_cast<std::uint8_t>(count++);
    access.task = &task;
    access.address = value.address;
    access.datum = value.id;
    access.mode = mode;
    access.partials = access.partial = 0;
    access.packed = value.packed;
    access.in_place = false;
    access.fresh = false;
  }
  task.access_count = static_cast<std::uint16_t>(count);
  static_cast<TaskTraits&>(task) = kind.traits;
  if (kind.has_priorities) task.priority = its_priority;
  with_call(of, handles.data(), arguments, [&](const Submission& call) {
    task.work = call.work;
    if (call.fill_closure != nullptr)
      call.fill_closure(task.closure.data(), call.arguments, access_of_use.data());
  });
  if (wrong != nullptr) [[unlikely]]
    std::rethrow_exception(wrong);
}

}  // namespace fairlead::ptg
