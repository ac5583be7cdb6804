// Acquires data for the program. A hold is a pseudo-task of the flow: it takes its turn in program order and is
// admitted to memory like a task. The program "runs" it, and it finishes when the program releases the data.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/exception_text.hpp"
#include "front/flow/flow_source.hpp"
#include "front/flow/gathered.hpp"
#include "front/flow/pseudo_task.hpp"
#include "front/ranks/shared_program.hpp"

namespace fairlead::front {

namespace {
const CodeletInfo& hold_codelet() {
  static const CodeletInfo info = pseudo_codelet("acquire");
  return info;
}
}  // namespace

std::shared_ptr<engine::OpenHold> FlowSource::request_hold(const Submission& wanted,
                                                           std::vector<detail::AccessIndex>& access_of_use,
                                                           HoldCallback callback) {
  Submission submission = wanted;
  submission.codelet = &hold_codelet();
  if (checkpointer_ != nullptr) checkpointer_->require_unobserved(submission);
  core_.reductions().close_all();  // closed before the admission check: fold tasks need memory, too
  if (common_program_ != nullptr) common_program_->check_hold(submission);
  Gathered gathered(submission);
  gather(submission, gathered);
  // Also folds a reduction whose flow has been destroyed.
  for (const Submission::Use& use : submission.uses)
    fold_if_open(*use.datum, submission.file, submission.line);
  // Open holds are limited by the window: above it, acquire() waits until earlier holds are released.
  core_.wait_until([this] { return core_.holds().open() < core_.window(); }, "acquire");
  core_.holds().check_room(gathered.host_footprint, true, SubmissionFit::text_of(submission), submission);
  return core_.stop_on_out_of_memory([&] {
    if (gathered.views) activate_views(submission);
    if (core_.submission_book() != nullptr) core_.submission_book()->hold();
    for (const Submission::Use& use : submission.uses) use.datum->ever_written |= writes(use.mode);
    if (holds_.load() == nullptr) {
      holds_.store(&core_.holds().new_source());
      // cancel() may run in another thread: at least one of both sees the other's store.
      if (cancelled.load()) core_.engine().cancel(*holds_.load());
    }
    return insert_hold(
        *holds_.load(), submission, gathered, access_of_use, std::move(callback),
        fmt::format("{} at {}:{}", SubmissionFit::text_of(submission), submission.file, submission.line));
  });
}

void FlowSource::call_after_write_back(const Submission& task, const std::shared_ptr<ObservedTask>& watched,
                                       std::function<void(std::exception_ptr)> on_done) {
  std::vector<Submission::Use> uses;
  for (const Submission::Use& use : task.uses)
    if (writes(use.mode) && use.datum->in_place)
      uses.push_back({use.datum, AccessMode::read, use.generation});
  Submission submission;
  submission.codelet = &hold_codelet();
  submission.uses = uses;
  submission.file = task.file;
  submission.line = task.line;
  Gathered gathered(submission);
  gather(submission, gathered);
  std::vector<detail::AccessIndex> access_of_use;
  if (write_back_holds_ == nullptr) write_back_holds_ = &core_.holds().new_source();
  insert_hold(
      *write_back_holds_, submission, gathered, access_of_use,
      [&holds = core_.holds(), watched, on_done = std::move(on_done)](const auto& record) {
        struct Release {
          engine::HoldRegistry& holds;
          engine::OpenHold& record;
          ~Release() { holds.release(record); }
        } const release{holds, *record};
        const bool refused = record->state.load() == engine::OpenHold::State::refused;
        on_done(refused && watched->outcome() == nullptr ? reason_of(*record) : watched->outcome());
      },
      watched->description);
}

std::shared_ptr<engine::OpenHold> FlowSource::insert_hold(engine::HoldSource& of,
                                                          const Submission& submission,
                                                          const Gathered& gathered,
                                                          std::vector<detail::AccessIndex>& access_of_use,
                                                          HoldCallback callback, std::string description) {
  auto record = std::make_shared<engine::OpenHold>();
  record->accesses.resize(gathered.count);
  record->uses.resize(gathered.count);
  record->locations.reserve(gathered.count);
  record->file = submission.file;
  record->line = submission.line;
  record->of_application = callback == nullptr;
  record->releases_itself = &of == write_back_holds_;
  access_of_use.assign(gathered.access_of_use, gathered.access_of_use + submission.uses.size());
  for (std::size_t i = 0; i < submission.uses.size(); ++i)
    record->uses[access_of_use[i]] = {submission.uses[i].datum, gathered.insertions[access_of_use[i]].mode};
  if (callback != nullptr) {
    outcome_.callbacks()->open.fetch_add(1);
    record->callback = [callback = std::move(callback), calls = outcome_.callbacks(),
                        description = std::move(description), &world = core_.world(),
                        weak = std::weak_ptr(record)]() mutable {
      calls->call([&] { callback(weak.lock()); }, description);
      callback = nullptr;
      calls->open.fetch_sub(1);
      world.wake(engine::WakeTarget::application());
    };
  }
  Task& task = record->task;
  core_.graph().prepare(task, record->accesses.data(), gathered.count,
                        {.codelet = submission.codelet, .submitted_at = {submission.file, submission.line}});
  task.family = &of.described;
  task.role = TaskRole::hold;
  task.policy_data = record.get();
  core_.holds().add(record);
  if (core_.graph().insert(task, gathered.all()))
    core_.engine().entrance().post(task, EventKind::task_ready, no_id<WorkerId>, core_.world().now());
  core_.application().serve_blocking();
  return record;
}

std::shared_ptr<engine::OpenHold> FlowSource::acquire(const Submission& submission,
                                                      std::vector<detail::AccessIndex>& access_of_use) {
  using State = engine::OpenHold::State;
  core_.caller().check("acquire");
  auto record = request_hold(submission, access_of_use, nullptr);
  try {
    if (record->state.load() == State::waiting) core_.engine().horizon_closed();
    core_.wait_until([&] { return record->state.load() != State::waiting; }, "acquire");
  } catch (...) {
    core_.holds().release(*record);  // later tasks must not wait for it forever
    throw;
  }
  if (record->state.load() == State::refused) throw_refused(*record);
  return record;
}

void FlowSource::acquire_then(const Submission& submission, std::vector<detail::AccessIndex>& access_of_use,
                              HoldCallback callback) {
  core_.caller().check("acquire_then");
  request_hold(submission, access_of_use, std::move(callback));
}

void FlowSource::throw_refused(const engine::OpenHold& record) { std::rethrow_exception(reason_of(record)); }

std::exception_ptr FlowSource::reason_of(const engine::OpenHold& record) {
  std::string data;
  for (const auto& use : record.uses) data += (data.empty() ? "" : ", ") + use.datum->text();
  const std::string text = "acquire(" + data + ") at " + record.file + ":" + std::to_string(record.line);
  try {
    if (record.failure == nullptr)
      throw TaskError(text +
                      " is unavailable: a task that writes it failed or was cancelled, or the flow was");
    try {
      std::rethrow_exception(record.failure);
    } catch (const std::exception& error) {
      std::throw_with_nested(TaskError(text + " failed: " + exception_text(error)));
    }
  } catch (const std::exception&) {
    return std::current_exception();
  }
}

}  // namespace fairlead::front
