// Switching between the whole of a datum and its parts: a pseudo-task that changes everything of the view
// that was active and replaces everything of the one that is to be. It sends home what is dirty, in place of
// a body, and needs no memory; the engine does it without a worker (docs/memory.md, "Parts").
#include "front/runtime/views.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "front/flow/flow_source.hpp"
#include "front/flow/pseudo_task.hpp"

namespace fairlead::front {

namespace {
const CodeletInfo& switch_codelet() {
  static const CodeletInfo info = pseudo_codelet("switch of views");
  return info;
}
}  // namespace

bool has_value(const engine::RegisteredDatum& datum) noexcept {
  if (datum.in_place) return true;
  if (datum.view == nullptr || datum.view->of->active == datum.view) return datum.ever_written;
  return std::ranges::all_of(datum.view->of->active->data, &engine::RegisteredDatum::ever_written);
}

void FlowSource::check_views(const Submission& submission) {
  for (const Submission::Use& use : submission.uses)
    for (const Submission::Use& other : submission.uses) {
      if (&other == &use) break;
      if (use.datum->view == nullptr || other.datum->view == nullptr ||
          use.datum->view == other.datum->view || use.datum->view->of != other.datum->view->of)
        continue;
      throw UsageError(fmt::format(
          "{} uses {} and {}, which lie upon each other: one is not a part of the same partition as the "
          "other\n"
          "  submitted at {}:{}\n"
          "  Use the whole, or parts of one partition, in one task.",
          text_of(submission), other.datum->text(), use.datum->text(), submission.file, submission.line));
    }
}

void FlowSource::show_all(const Submission& submission) {
  for (const Submission::Use& use : submission.uses)
    if (use.datum->view != nullptr && use.datum->view->of->active != use.datum->view)
      show(*use.datum->view, submission.file, submission.line);
}

void FlowSource::show(engine::DatumView& view, const char* file, std::uint32_t line) {
  core_.or_stop([&] { insert_switch(view, file, line); });
}

void FlowSource::insert_switch(engine::DatumView& view, const char* file, std::uint32_t line) {
  engine::DatumView& before = *view.of->active;
  for (engine::RegisteredDatum* datum : before.data)
    if (datum->reduction != nullptr && datum->reduction->fold != nullptr) fold(*datum->reduction, file, line);
  std::vector<graph::Insertion> insertions;
  insertions.reserve(before.data.size() + view.data.size());
  const bool value = has_value(*view.data.front());
  for (engine::RegisteredDatum* datum : before.data)
    insertions.push_back({&datum->tail, datum->id, AccessMode::read_write});
  for (engine::RegisteredDatum* datum : view.data) {
    insertions.push_back({&datum->tail, datum->id, AccessMode::write});
    datum->ever_written = value;
  }
  Task& task = new_task({.codelet = &switch_codelet(), .submitted_at = {file, line}}, insertions.size());
  task.role = TaskRole::view_switch;
  count_submitted(1);
  view.of->active = &view;
  if (core_.graph().insert(task, insertions))
    core_.engine().entrance().post(task, EventKind::task_ready, no_id<WorkerId>, core_.world().now());
  core_.application().serve_surely();
}

}  // namespace fairlead::front
