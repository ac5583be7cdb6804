// UnfoldingOrder: the order of tasks, and values taken from memory or the pool of fresh data.
#include "front/ptg/unfolding_order.hpp"

#include <array>
#include <optional>

namespace fairlead::ptg {

void UnfoldingOrder::begin() {
  unfolding_.begin(true);
  initial_.begin();
  initial_over_ = starved_ = given_up_ = false;
  queue_.clear();
  notices_.clear();
}

/// Successors come before further initial tasks, so that few are pending.
TaskInstance* UnfoldingOrder::next_satisfied(Host& host) {
  for (;;) {
    if (!queue_.empty()) {
      TaskInstance* const task = queue_.front();
      queue_.pop_front();
      return task;
    }
    if (!notices_.empty()) {
      CompletionNotice notice = notices_.back();
      notices_.pop_back();
      if (!unfolding_.notify_successors(notice, host)) notices_.push_back(notice);
      continue;
    }
    if (initial_over_) return nullptr;
    const bool found = initial_.next([&](std::size_t task_class, const std::int64_t* numbers) {
      return unfolding_.is_initial(task_class, numbers);
    });
    if (!found) {
      initial_over_ = true;
      continue;
    }
    std::array<std::int64_t, Walk::most_loops> room;
    return &unfolding_.make_initial(initial_.task_class(), initial_.parameters(room.data()), host.number);
  }
}

TaskInstance* UnfoldingOrder::next(std::size_t thread, CompletionNotice& notice, const Misused& misused) {
  if (starved_) return nullptr;
  Host host{*this, thread, misused};
  TaskInstance* const task = next_satisfied(host);
  if (task == nullptr) return nullptr;
  table_.classes[task->task_class].place(task->parameters(), notice.numbers.data());
  if (!take_values(*task, notice.numbers.data())) return nullptr;
  notice.task = task;
  return task;
}

void UnfoldingOrder::finish(CompletionNotice& notice, std::size_t thread, const Misused& misused) {
  Host host{*this, thread, misused};
  if (!unfolding_.notify_successors(notice, host)) notices_.push_back(notice);
}

bool UnfoldingOrder::take_values(TaskInstance& task, const std::int64_t* numbers) {
  const TableClass& of = table_.classes[task.task_class];
  std::uint32_t* const values = task.values(of.parameters.size());
  for (std::size_t i = 0; i < of.data_flows; ++i) {
    if (values[i] != no_value) continue;
    const Input* const input = input_of(of.flows[i], numbers);
    if (input == nullptr) continue;
    if (input->kind == Place::Kind::memory) {
      values[i] = values_.at(input->memory, numbers);
      if (values[i] != no_value)
        unfolding_.taken(values[i], table_.has_memory_conflicts[input->memory.collection], false);
    } else if (input->kind == Place::Kind::fresh) {
      const std::optional<std::uint32_t> kind = values_.kind_of(*input, values);
      if (kind && (values[i] = fresh_.take(*kind, FreshUse::task)) == no_value) {
        fresh_.queue_task(task, *kind);
        starved_ = true;
        return false;
      }
    }
  }
  return true;
}

void UnfoldingOrder::retry(TaskInstance& task) {
  if (given_up_) return;
  queue_.push_front(&task);
  starved_ = false;
}

void UnfoldingOrder::give_up() {
  queue_.clear();
  notices_.clear();
  initial_over_ = given_up_ = true;
  starved_ = false;
}

}  // namespace fairlead::ptg
