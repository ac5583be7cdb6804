// Describes commands and events, for the message that names where a replay differs.
#include "engine/command_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace fairlead::engine {

namespace {

constexpr std::size_t listed_per_kind = 4;

/// Appends "what a, b and 3 more"; nothing if the list is empty.
template <class List, class TextOf>
void append_list(std::string& text, std::string_view what, const List& list, TextOf&& text_of) {
  if (list.empty()) return;
  text += fmt::format("{}{} ", text.empty() ? "" : "; ", what);
  for (std::size_t i = 0; i < std::min(list.size(), listed_per_kind); ++i)
    text += (i == 0 ? "" : ", ") + text_of(list[i]);
  if (list.size() > listed_per_kind) text += fmt::format(" and {} more", list.size() - listed_per_kind);
}

std::string_view said_of(EventKind kind) noexcept {
  using enum EventKind;
  switch (kind) {
    case task_ready:
      return "is ready";
    case task_finished:
      return "has finished";
    case task_failed:
    case copy_failed:
      return "has failed";
    case task_returned:
    case task_reclaimed:
      return "was returned";
    case recall_refused:
      return "a recalled task was not returned";
    case copy_finished:
      return "has arrived";
    case worker_available:
      return "a worker arrived";
    case worker_unavailable:
      return "a worker left";
    case worker_lost:
      return "a worker was lost";
    case node_lost:
      return "a device was lost";
    case flush:
      return "a flush was requested";
    case timer:
      return "time has passed";
    case discard_clean:
      return "the eviction of unchanged replicas was requested";
    case hold_released:
      return "a hold was released";
    case simulation_finished:
      return "a what-if simulation has finished";
    case pause:
      return "a pause was requested";
    case resume:
      return "the pause has ended";
    case refresh:
      return "the newest values were requested in the program's memory";
  }
  return "";
}

bool is_of_a_task(EventKind kind) noexcept {
  return kind == EventKind::task_ready || kind == EventKind::task_finished ||
         kind == EventKind::task_failed || kind == EventKind::task_returned ||
         kind == EventKind::task_reclaimed;
}
bool is_of_a_copy(EventKind kind) noexcept {
  return kind == EventKind::copy_finished || kind == EventKind::copy_failed;
}

}  // namespace

std::string CommandRecorder::text(const Commands& others, const Topology& topology) const {
  const auto on_worker = [](const std::pair<TaskId, WorkerId>& one) {
    return fmt::format("task {} on worker {}", index(one.first), index(one.second));
  };
  const auto name = [&](NodeId node) { return topology.nodes[index(node)].name; };
  const auto number = [](const Task* task) { return fmt::format("task {}", index(task->id)); };
  std::string text;
  append_list(text, "launches", launches_, on_worker);
  append_list(text, "recalls", recalls_, on_worker);
  append_list(text, "copies", others.copies, [&](const memory::Copy* copy) {
    return fmt::format("datum {} from \"{}\" to \"{}\"", index(copy->datum), name(copy->from->node),
                       name(copy->to->node));
  });
  append_list(text, "cancels", others.completions, number);
  append_list(text, "grants", others.granted, number);
  if (others.stopped) text += text.empty() ? "stops the run" : "; stops the run";
  return text.empty() ? "commands nothing" : text;
}

EventSummary::EventSummary(const Event& event) : kind(event.kind), at(event.at) {
  if (is_of_a_task(kind)) subject = index(static_cast<const Task&>(event).id);
  if (is_of_a_copy(kind)) subject = static_cast<const memory::Copy&>(event).id;
}

std::string EventSummary::text() const {
  const std::string_view what = said_of(kind);
  std::string prefix;
  if (is_of_a_task(kind)) prefix = fmt::format("task {} ", subject);
  if (is_of_a_copy(kind)) prefix = fmt::format("copy {} ", subject);
  return fmt::format("{}{} at {:.9f} s", prefix, what, seconds(at));
}

}  // namespace fairlead::engine
