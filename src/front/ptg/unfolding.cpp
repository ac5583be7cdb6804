// Unfolding: preparation of a run, the number of inputs that a task waits for, and error texts.
#include "front/ptg/unfolding.hpp"

#include <fairlead/error.hpp>

#include "base/check.hpp"

namespace fairlead::ptg {

void Unfolding::begin(bool alone) {
  partly_.begin(alone);
  const bool count = std::ranges::any_of(table_.classes, [](const TableClass& of) {
    return std::ranges::any_of(of.flows, &TableFlow::may_count);
  });
  if (!count) return;
  if (of_collections_ == nullptr) of_collections_ = std::make_unique<ReaderCount[]>(values_.of_collections());
  for (std::uint32_t i = 0; come_home_ && i < values_.of_collections(); ++i) {
    ReaderCount& it = readers(i);  // a failed run may have left counts
    it.count.store(0);
    it.counted.store(false);
    it.has_writer = false;
    it.write_back_waits.store(false);
  }
  coming_home_.clear();
  find_readers_of_memory();
}

bool Unfolding::reserve_for_write_back(std::uint32_t number, TaskInstance& task) {
  ReaderCount& it = readers(number);
  const std::lock_guard guard(coming_home_mutex_);
  for (;;) {
    std::int32_t no_readers = 0;
    if (it.count.compare_exchange_strong(no_readers, 1, std::memory_order_acq_rel)) return true;
    const auto waiting = coming_home_.emplace(number, &task);
    it.write_back_waits.store(true, std::memory_order_relaxed);
    // A reader that finishes after this sees write_back_waits.
    if (it.count.fetch_add(0, std::memory_order_acq_rel) != 0) return false;
    coming_home_.erase(waiting);
  }
}

TaskInstance* Unfolding::next_home(std::uint32_t number) {
  const std::lock_guard guard(coming_home_mutex_);
  const auto found = coming_home_.find(number);
  if (found == coming_home_.end()) return nullptr;
  TaskInstance* const task = found->second;
  coming_home_.erase(found);
  if (!coming_home_.contains(number))
    readers(number).write_back_waits.store(false, std::memory_order_relaxed);
  return task;
}

ReaderCount& Unfolding::fresh(std::uint32_t number) { return fresh_.at(number); }

void Unfolding::count_elsewhere(CompletionNotice& notice, std::span<const std::uint8_t> flows) {
  const TableClass& of = table_.classes[notice.task->task_class];
  const std::uint32_t* const values = notice.task->values(of.parameters.size());
  for (const std::uint16_t at : of.notified_flows) {
    if (at >= of.data_flows || values[at] == no_value) continue;
    const TableFlow& flow = of.flows[at];
    ReaderCount& it = readers(values[at]);
    const auto elsewhere = static_cast<std::int32_t>(flows[at]);
    if (writes(flow.mode)) {
      it.counted.store(flow.counted, std::memory_order_relaxed);
      if (flow.counted) it.count.store(1 + elsewhere, std::memory_order_relaxed);
    } else if (it.counted.load(std::memory_order_relaxed)) {
      it.count.fetch_add(elsewhere, std::memory_order_relaxed);
    }
  }
  notice.counted = true;
}

CompletionNotice Unfolding::begin_arrival(std::uint64_t name, std::size_t output, std::uint32_t number,
                                          bool passed_on, std::size_t thread) {
  const auto found = std::ranges::find_if(
      table_.classes, [&](const TableClass& of) { return name - of.first_key < of.key_count; });
  ensure(found != table_.classes.end(), "what comes from another rank is of the same graph");
  const TableClass& of = *found;
  std::array<std::int64_t, Walk::most_loops> parameters;
  of.parameters_of(name, parameters.data());
  TaskInstance& over =
      make(of, static_cast<std::uint32_t>(found - table_.classes.begin()), name, parameters.data(), thread);
  CompletionNotice notice;
  notice.task = &over;
  notice.counted = true;
  const std::size_t flow = of.output(output).first;
  const auto at = std::ranges::find(of.notified_flows, flow);
  ensure(at != of.notified_flows.end(), "an output from another rank notifies tasks");
  notice.flow_position = static_cast<std::size_t>(at - of.notified_flows.begin());
  notice.flow_end = notice.flow_position + 1;
  of.place(over.parameters(), notice.numbers.data());
  if (number == no_value) return notice;
  over.values(of.parameters.size())[flow] = number;
  ReaderCount& it = readers(number);
  it.counted.store(true, std::memory_order_relaxed);
  it.count.store(1 + passed_on, std::memory_order_relaxed);
  it.has_writer = false;
  return notice;
}

namespace {
std::int32_t controls_of(const TableClass& of, const TableFlow& flow, const std::int64_t* numbers,
                         const std::atomic<bool>* stop) {
  std::int32_t inputs = 0;
  for (const Input& input : flow.inputs) {
    if (input.condition && !(*input.condition)(numbers)) continue;
    if (input.ranges.empty()) {
      ++inputs;
      continue;
    }
    Numbers extended;
    std::copy_n(numbers, of.places.size(), extended.data());
    StoppableWalk walk(stop);
    for (bool more = walk.begin(input.ranges, extended.data()); more;
         more = walk.next(input.ranges, extended.data()))
      inputs += input.each(extended.data());
  }
  return inputs;
}
}  // namespace

std::int32_t Unfolding::missing_inputs(const TableClass& of, const std::int64_t* numbers) {
  std::int32_t inputs = of.sure_inputs;
  for (const std::uint16_t number_of_flow : of.other_inputs) {
    const TableFlow& flow = of.flows[number_of_flow];
    if (flow.control) {
      inputs += controls_of(of, flow, numbers, table_.stop);
      continue;
    }
    const Input* const input = input_of(flow, numbers);
    if (input == nullptr) continue;
    if (input->kind == Place::Kind::task) ++inputs;
    if (input->kind == Place::Kind::memory && writes(flow.mode) &&
        table_.has_memory_conflicts[input->memory.collection]) {
      const std::uint32_t number = values_.at(input->memory, numbers);
      inputs += number != no_value && readers(number).awaited;
    }
  }
  return inputs;
}

/// For data that some tasks read and others change, straight from memory: counts the readers, and registers the
/// changing task, which waits for them.
void Unfolding::find_readers_of_memory() {
  if (std::ranges::none_of(table_.has_memory_conflicts, [](bool contested) { return contested; })) return;
  for (std::uint32_t i = 0; i < values_.of_collections(); ++i) {
    if (!table_.has_memory_conflicts[values_[i].collection]) continue;
    ReaderCount& it = readers(i);
    it.count.store(0);
    it.counted.store(true);
    it.has_writer = it.awaited = false;
  }
  const auto contested = [&](const Input& input) {
    return input.kind == Place::Kind::memory && table_.has_memory_conflicts[input.memory.collection];
  };
  Numbers numbers{};
  for (std::uint32_t number = 0; number < table_.classes.size(); ++number) {
    const TableClass& of = table_.classes[number];
    const bool takes = std::ranges::any_of(
        of.flows, [&](const TableFlow& flow) { return std::ranges::any_of(flow.inputs, contested); });
    if (!takes) continue;
    StoppableWalk walk(table_.stop);
    for (bool more = walk.begin(of.loops, numbers.data()); more; more = walk.next(of.loops, numbers.data())) {
      if (own_ != nullptr && !own_->placement().is_here(of, numbers.data())) continue;
      for (std::size_t i = 0; i < of.data_flows; ++i) {
        const Input* const input = input_of(of.flows[i], numbers.data());
        if (input == nullptr || !contested(*input)) continue;
        const std::uint32_t at = values_.at(input->memory, numbers.data());
        if (at == no_value) continue;  // reported when the task takes it
        ReaderCount& it = readers(at);
        if (!writes(of.flows[i].mode)) {
          it.count.fetch_add(1);
          continue;
        }
        if (it.has_writer)
          throw UsageError(fmt::format("two tasks take {} from memory and change it; one of them is of {}",
                                       values_.text_of(input->memory, numbers.data()),
                                       text_of(*of.definition)));
        std::array<std::int64_t, Walk::most_loops> parameters;
        for (std::size_t k = 0; k < of.parameters.size(); ++k) parameters[k] = numbers[of.parameters[k]];
        it.has_writer = true;
        it.writer = *of.key_of(parameters.data());
        it.writer_class = static_cast<std::uint16_t>(number);
        it.writer_flow = static_cast<std::uint16_t>(i);
      }
    }
  }
  for (std::uint32_t i = 0; i < values_.of_collections(); ++i) {
    ReaderCount& it = readers(i);
    it.awaited = it.has_writer && it.count.load() != 0;
    it.has_writer = it.awaited;
  }
}

/// A value must be in the datum in which it is to be stored, unless a write-back task copies it; otherwise sets
/// `why`.
void Unfolding::check_leavings(const CompletionNotice& notice, const TableFlow& flow, std::uint32_t number,
                               std::string& why) {
  const std::size_t own = table_.classes[notice.task->task_class].places.size();
  Numbers numbers;
  std::copy_n(notice.numbers.data(), own, numbers.data());
  for (const StoredOutput& leaving : flow.stored_outputs) {
    if (leaving.written_back || !leaving.condition(numbers.data())) continue;
    StoppableWalk walk(table_.stop);
    for (bool more = walk.begin(leaving.ranges, numbers.data()); more;
         more = walk.next(leaving.ranges, numbers.data()))
      if (const std::uint32_t there = values_.at(leaving.memory, numbers.data());
          leaving.each(numbers.data()) && there != number)
        why = fmt::format(
            "{}the flow \"{}\" of {} stores in {} a value that is in another datum: it must come from "
            "there{}",
            leaving.definition == nullptr || !leaving.definition->where
                ? std::string()
                : source_line_of(*leaving.definition, *table_.classes[notice.task->task_class].definition) +
                      ": ",
            flow.name, table_.text_of(*notice.task), values_.text_of(leaving.memory, numbers.data()),
            there == no_value ? ", and there is no such datum" + values_.extents_of(leaving.memory.collection)
                              : "");
  }
}

/// The error text for a stated edge that is not proven; empty if it is correct. `name`, `numbers`: of the receiver;
/// without a name it does not exist.
std::string Unfolding::wrong_end(CompletionNotice& notice, const ClassEdge& edge,
                                 std::optional<std::uint64_t> name, const std::int64_t* parameters,
                                 const std::int64_t* numbers) const {
  const Giver giver = giver_of(notice);
  const TableClass& to = table_.classes[edge.to_class];
  if (!name || !takes_from(to, to.flows[edge.to_flow], numbers, giver)) [[unlikely]]
    return ptg::wrong_end(table_, giver, edge, parameters);
  const TableFlow& flow = table_.classes[giver.task_class].flows[giver.flow];
  if (flow.may_repeat && !notice.stated.add(*name, edge.to_flow)) [[unlikely]]
    return stated_twice(table_, giver, edge, parameters);
  return {};
}

std::string Unfolding::two_values(const TaskInstance& task, std::size_t slot) const {
  const TableClass& of = table_.classes[task.task_class];
  return fmt::format("the flow \"{}\" of {} gets two values", of.flows[slot - of.parameters.size()].name,
                     table_.text_of(task));
}

std::string Unfolding::changed_twice(const CompletionNotice& notice, const ClassEdge& edge) const {
  const TableClass& to = table_.classes[edge.to_class];
  std::string where;
  if (edge.definition != nullptr) {
    std::array<std::int64_t, Walk::most_loops> parameters;
    edge.find_parameters(notice.numbers.data(), parameters.data());
    const Giver giver = giver_of(notice);
    if (std::string why = ptg::wrong_end(table_, giver, edge, parameters.data()); !why.empty()) return why;
    if (edge.definition->where)
      where = source_line_of(*edge.definition, *table_.classes[giver.task_class].definition) + ": ";
  }
  return fmt::format("{}the value that {} has goes to two tasks that change it; one of them is of {}", where,
                     table_.text_of(*notice.task), to.name);
}

}  // namespace fairlead::ptg
