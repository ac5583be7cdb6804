// Tasks that a flow inserts itself. Reductions: tasks that reduce the same datum run independently; before any other
// access, fold tasks combine the partial results. A task that replaces the datum's value needs no folds. Views: a
// switch between a whole datum and its blocks accesses all data of the active view and writes all data of the next one.
// Instead of running a body, the engine writes modified replicas back, without a worker or a reservation
// (docs/memory.md, "Parts").
#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <new>

#include "front/flow/flow_source.hpp"
#include "front/flow/gathered.hpp"
#include "front/flow/pseudo_task.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::front {

namespace {
struct FoldClosure {
  detail::ReducedShape shape;
  detail::FoldFunction fold;
};
static_assert(sizeof(FoldClosure) <= closure_bytes);

void run_fold(const void*, TaskContext& context) {
  const auto& closure = *std::launder(reinterpret_cast<const FoldClosure*>(detail::closure_of(context)));
  closure.fold(detail::location_of(context, 0), detail::location_of(context, 1), closure.shape);
}

const CodeletInfo& switch_codelet() {
  static const CodeletInfo info = pseudo_codelet("switch of views");
  return info;
}
}  // namespace

const CodeletInfo& fold_codelet() {
  static const CodeletInfo info = [] {
    CodeletInfo fold;
    fold.name = "fold";
    fold.kinds = 0;
    for (const WorkerKind kind : {WorkerKind::cpu, WorkerKind::emulated})
      fold.implement(kind, {&run_fold, nullptr, false});
    fold.hash_of_name = fold.name_hash();
    return fold;
  }();
  return info;
}

void FlowSource::follow_reductions(const Submission& submission, Gathered& gathered) {
  std::size_t seen = 0;  // accesses are numbered in the order of their first uses
  for (std::size_t i = 0; i < submission.uses.size(); ++i) {
    const std::size_t at = gathered.access_of_use[i];
    if (at < seen) continue;
    ++seen;
    engine::RegisteredDatum& datum = *submission.uses[i].datum;
    AccessMode& mode = gathered.insertions[at].mode;
    if (mode == AccessMode::write) continue;  // see replace_reduced()
    const auto& known = submission.codelet->reductions;
    const detail::ReductionInfo how =
        mode == AccessMode::reduction && i < known.size() ? known[i] : detail::ReductionInfo{};
    engine::Reduction* reduction = datum.reduction;
    if (reduction != nullptr && reduction->fold != nullptr && reduction->fold != how.fold) {
      fold(*reduction, submission.file, submission.line);
      // Different operations, such as sum and maximum, do not mix: this task runs after all earlier ones.
      if (mode == AccessMode::reduction) mode = AccessMode::read_write;
    }
    if (mode != AccessMode::reduction || how.fold == nullptr) continue;
    if (reduction == nullptr || reduction->fold == nullptr) {
      reduction = &core_.reductions().open(datum, how);
      how.remember(reduction->shape, submission.arguments);
    }
    if (!reduction->is_of(this))
      reduction->joined.push_back({this, [this, reduction, file = submission.file, line = submission.line] {
                                     fold(*reduction, file, line);
                                   }});
    gathered.insertions[at].partials = core_.reductions().one_more(*reduction);
  }
}

/// Called only when no check can reject the task any more: otherwise the partial results would be lost.
void FlowSource::replace_reduced(const Submission& submission, const Gathered& gathered) {
  for (std::size_t i = 0; i < submission.uses.size(); ++i)
    if (gathered.insertions[gathered.access_of_use[i]].mode == AccessMode::write)
      core_.reductions().replaced(*submission.uses[i].datum);
}

void FlowSource::fold(engine::Reduction& reduction, const char* file, std::uint32_t line) {
  core_.stop_on_out_of_memory([&] {
    for (std::size_t i = 0; i < reduction.in_use; ++i)
      insert_fold(reduction, *reduction.partials[i].datum, file, line);
    core_.reductions().closed(reduction);
  });
}

void FlowSource::fold_if_open(const engine::RegisteredDatum& datum, const char* file, std::uint32_t line) {
  if (datum.reduction != nullptr && datum.reduction->fold != nullptr) fold(*datum.reduction, file, line);
}

void FlowSource::insert_fold(const engine::Reduction& reduction, engine::RegisteredDatum& partial,
                             const char* file, std::uint32_t line) {
  engine::RegisteredDatum& datum = *reduction.datum;
  Task& task = new_task({.codelet = &fold_codelet(), .submitted_at = {file, line}}, 2);
  task.nodes_excluded = core_.reductions().nodes_excluded(datum);
  task.role = TaskRole::fold;
  ::new (task.closure.data()) FoldClosure{reduction.shape, reduction.fold};
  const graph::Insertion insertions[] = {{&datum.tail, datum.id, AccessMode::read_write, 0},
                                         {&partial.tail, partial.id, AccessMode::read, 0}};
  announce(task, insertions);
  count_submitted(1);
  if (core_.graph().insert(task, insertions)) post_ready(task);
}

// ---- views

bool has_value(const engine::RegisteredDatum& datum) noexcept {
  if (datum.in_place) return true;
  if (datum.view == nullptr || datum.view->of->active == datum.view) return datum.ever_written;
  return std::ranges::all_of(datum.view->of->active->data, &engine::RegisteredDatum::ever_written);
}

void FlowSource::activate_views(const Submission& submission) {
  for (const Submission::Use& use : submission.uses)
    if (use.datum->view != nullptr && use.datum->view->of->active != use.datum->view)
      activate_view(*use.datum->view, submission.file, submission.line);
}

void FlowSource::activate_view(engine::RegisteredView& view, const char* file, std::uint32_t line) {
  core_.stop_on_out_of_memory([&] { insert_switch(view, file, line); });
}

void FlowSource::insert_switch(engine::RegisteredView& view, const char* file, std::uint32_t line) {
  engine::RegisteredView& before = *view.of->active;
  for (const engine::RegisteredDatum* datum : before.data) fold_if_open(*datum, file, line);
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
  core_.application().serve_blocking();
}

}  // namespace fairlead::front
