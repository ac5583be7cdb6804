// Computes where the tasks of each class fit, and fills in task descriptors.
#include "front/ptg/task_kinds.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <set>

#include "base/pages.hpp"
#include "engine/fast_path.hpp"

namespace fairlead::ptg {

namespace {

constexpr std::size_t most_flows = 64;

using fairlead::detail::Submission;

/// An empty handle of any type.
alignas(16) constexpr std::array<std::byte, 256> no_handle{};

/// The values that a flow may have.
struct Coming {
  std::set<std::uint32_t> collections;
  /// The value may also be in another datum: a fresh one, or one that arrived from another rank.
  bool fresh = false;
};

/// Finds the values that can reach a flow, through all flows that pass them on.
class Reached {
 public:
  Reached(const ClassTable& table, bool over_ranks) : table_(table), over_ranks_(over_ranks) {}
  Coming by(std::size_t task_class, std::size_t flow) {
    Coming found;
    std::set<std::pair<std::size_t, std::size_t>> seen;
    add(task_class, flow, found, seen);
    return found;
  }

 private:
  void add(std::size_t task_class, std::size_t flow, Coming& found,
           std::set<std::pair<std::size_t, std::size_t>>& seen) {
    if (!seen.insert({task_class, flow}).second) return;
    for (const Input& input : table_.classes[task_class].flows[flow].inputs) {
      const bool from_task = input.kind == Place::Kind::task;
      found.fresh |= input.kind == Place::Kind::fresh || (from_task && over_ranks_);
      if (from_task) add(input.from_class, input.from_flow, found, seen);
      if (input.like_flow) {
        add(task_class, *input.like_flow, found, seen);
      } else if (!from_task && input.kind != Place::Kind::nothing)
        found.collections.insert(input.memory.collection);
    }
  }
  const ClassTable& table_;
  const bool over_ranks_;
};

/// The largest datum of a collection.
struct Largest {
  const CollectionDefinition* collection = nullptr;
  const engine::RegisteredDatum* here = nullptr;  ///< the largest on this rank
  const void* handle = nullptr;                   ///< of the datum with this size
  Bytes bytes = 0;                                ///< on any rank

  /// A stand-in of this size for the check where tasks fit. A fresh one has no home, so no worker can access it in
  /// place.
  engine::RegisteredDatum stand_in(bool fresh) const {
    engine::RegisteredDatum datum = here == nullptr ? engine::RegisteredDatum() : *here;
    if (here == nullptr || fresh) {
      datum.bytes = bytes;
      datum.home = no_id<NodeId>;
      datum.in_place = false;
      datum.view = nullptr;
    }
    datum.owner = this;  // for the name below: a copied tile has no position in a matrix
    datum.name = [](const void* of, const engine::RegisteredDatum&) {
      const Largest& it = *static_cast<const Largest*>(of);
      return it.here == nullptr ? "one of " + it.collection->name : it.here->text();
    };
    return datum;
  }
};

/// By collection. Data of other ranks and fresh ones have the sizes of their kinds.
std::vector<Largest> largest_data(const ClassTable& table, FlowValues& values) {
  std::vector<Largest> largest(table.collections.size());
  for (std::uint32_t i = 0; i < values.of_collections(); ++i) {
    const FlowValue& value = values[i];
    Largest& so_far = largest[value.collection];
    if (value.datum == nullptr || (so_far.here != nullptr && value.datum->bytes <= so_far.bytes)) continue;
    so_far = {&values.collection(value.collection), value.datum, value.handle, value.datum->bytes};
  }
  for (const FreshKind& kind : values.kinds()) {
    const CollectionDefinition& of = values.collection(kind.collection);
    if (of.bytes_of_another == nullptr || kind.like == nullptr) continue;
    Largest& so_far = largest[kind.collection];
    const Bytes bytes = of.bytes_of_another(kind.like, kind.exact);
    if (bytes <= so_far.bytes) continue;
    so_far = {&of, so_far.here, kind.like, bytes};
  }
  return largest;
}

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

std::string refused_input(const ClassTable& table, const FlowValues& values, const TaskInstance& task,
                          std::size_t flow, const Input& input, const std::int64_t* numbers,
                          const std::string& why) {
  const TableClass& of = table.classes[task.task_class];
  const std::string where = input.definition == nullptr || !input.definition->where
                                ? std::string()
                                : source_line_of(*input.definition, *of.definition) + ": ";
  return fmt::format("{}the flow \"{}\" of {} takes {}, {}", where, of.flows[flow].name, table.text_of(task),
                     values.text_of(input.memory, numbers), why);
}

AccessMode access_of(const TableFlow& flow, const FlowValue& value, const std::int64_t* numbers) {
  if (!value.fresh || flow.mode != AccessMode::read_write) return flow.mode;
  const Input* const input = input_of(flow, numbers);
  return input != nullptr && input->kind == Place::Kind::fresh ? AccessMode::write : flow.mode;
}

void with_submission(const TableClass& of, const std::int64_t* numbers,
                     const std::vector<const void*>& handles,
                     const std::function<void(const fairlead::detail::Submission&)>& use) {
  std::vector<const void*> given = handles;
  std::ranges::replace(given, static_cast<const void*>(nullptr), static_cast<const void*>(no_handle.data()));
  Arguments arguments;
  find_arguments(of, numbers, arguments);
  with_call(of, given.data(), arguments, [&](const Submission& call) { use(call); });
}

TaskKinds::TaskKinds(const ClassTable& table, TaskSource& source)
    : table_(table), kinds_(table.classes.size()) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const TableClass& of = table.classes[i];
    Kind& kind = kinds_[i];
    kind.ordinary.source = kind.urgent.source = &source;
    kind.urgent.urgent = true;
    kind.lines = TaskInstance::lines_for(of.parameters.size(), of.data_flows);
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

void TaskKinds::determine_workers(const front::SubmissionFit& fit, FlowValues& values, bool over_ranks) {
  Reached reached(table_, over_ranks);
  const std::vector<Largest> largest = largest_data(table_, values);
  for (std::size_t i = 0; i < table_.classes.size(); ++i) {
    const TableClass& of = table_.classes[i];
    Numbers numbers{};
    try {
      if (!StoppableWalk(table_.stop).begin(of.loops, numbers.data())) continue;
    } catch (const UsageError& error) {
      throw_in(of, error);
    }
    std::vector<const void*> handles(of.data_flows, no_handle.data());
    // By flow: the same datum may stand for several flows, and each counts, as in a real task.
    std::vector<engine::RegisteredDatum> data(of.data_flows);
    for (std::size_t k = 0; k < of.data_flows; ++k) {
      const Coming coming = reached.by(i, k);
      for (const std::uint32_t collection : coming.collections) {
        const engine::RegisteredDatum datum = largest[collection].stand_in(coming.fresh);
        if (datum.bytes <= data[k].bytes) continue;
        handles[k] = largest[collection].handle;
        data[k] = datum;
      }
    }
    Arguments arguments;
    find_arguments(of, numbers.data(), arguments);
    with_call(of, handles.data(), arguments, [&](const Submission& call) {
      std::vector<Submission::Use> uses;
      for (std::size_t k = 0; k < of.data_flows; ++k)
        if (data[k].bytes != 0) uses.push_back({&data[k], call.uses[k].mode, call.uses[k].generation});
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
      kind.may_pass = engine::is_eligible_for_fast_path(kind.traits);
    });
  }
}

void TaskKinds::fill_descriptor(Task& task, TaskInstance& active, FlowValues& values) const {
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
  std::array<fairlead::detail::AccessIndex, most_flows> access_of_use;
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
    const FlowValue& value = values[at[i]];
    handles[i] = value.handle;
    const AccessMode mode =
        wrong == nullptr ? access_of(of.flows[i], value, numbers.data()) : of.flows[i].mode;
    std::size_t same = 0;
    while (same < i && at[same] != at[i]) ++same;
    if (same < i) {
      Access& access = task.accesses_begin[access_of_use[i] = access_of_use[same]];
      access.mode = graph::merged(access.mode, mode);
      continue;
    }
    Access& access = task.accesses_begin[count];
    access_of_use[i] = static_cast<fairlead::detail::AccessIndex>(count++);
    access.task = &task;
    access.address = value.address;
    access.datum = value.id;
    access.mode = mode;
    access.partials = access.partial = 0;
    access.is_packed_copy = value.packed;
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
