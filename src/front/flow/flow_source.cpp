// Submission: the checks that refuse a mistake where it is made, then one insertion into the graph.
#include "front/flow/flow_source.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace fairlead::front {

namespace {
std::string mebibytes(Bytes bytes) {
  if (bytes < 1024 * 1024) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

std::string failed(const std::string& task, const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    return "the task " + task + " failed: " + error.what();
  } catch (...) {
    return "the task " + task + " failed: it threw something that is not a std::exception";
  }
}
[[noreturn]] void throw_nesting(const std::exception_ptr& cause, const std::string& text) {
  try {
    std::rethrow_exception(cause);
  } catch (...) {
    std::throw_with_nested(TaskError(text));
  }
}

engine::RuntimeCore& checked(engine::RuntimeCore& core) {
  core.check_caller("the beginning of a flow");
  return core;
}
}  // namespace

FlowSource::FlowSource(engine::RuntimeCore& core) : core_(checked(core)), progress_(core.new_progress()) {
  id = core.next_source_id();
}

FlowSource::~FlowSource() {
  if (!finished_) finish();
}

bool FlowSource::finish() noexcept {
  finished_ = true;
  try {
    if (core_.may_help() && done() != submitted_) wait_until_done(submitted_);
  } catch (...) {
    // wait() is where failures are told; here nobody listens.
  }
  return done() == submitted_;
}

void FlowSource::insert(const Submission& submission, std::shared_ptr<WatchedTask> watched) {
  std::array<graph::Insertion, 64> insertions;
  std::array<std::uint8_t, 256> access_of_use;
  std::size_t count = 0, used = 0;
  if (submission.uses.size() > access_of_use.size())
    throw UsageError(
        fmt::format("the task {} has {} parameters that are data; there may be {}\n  submitted at {}:{}",
                    submission.codelet->name, submission.uses.size(), access_of_use.size(), submission.file,
                    submission.line));
  Bytes footprint = 0;
  for (const Submission::Use& use : submission.uses) {
    if (use.datum == nullptr)
      throw UsageError(
          fmt::format("the task {} is given an empty handle as its datum {}\n  submitted at {}:{}",
                      submission.codelet->name, used + 1, submission.file, submission.line));
    if (use.datum->id == no_id<DatumId> || use.datum->generation != use.generation)
      throw UsageError(
          fmt::format("the task {} uses a datum that is gone: the matrix its handle is of was destroyed\n  "
                      "submitted at {}:{}",
                      submission.codelet->name, submission.file, submission.line));
    std::size_t same = 0;
    while (same < count && insertions[same].datum != use.datum->id) ++same;
    if (same < count) {
      access_of_use[used++] = static_cast<std::uint8_t>(same);
      insertions[same].mode = graph::merged(insertions[same].mode, use.mode);
      continue;
    }
    if (count == insertions.size())
      throw UsageError(fmt::format("the task {} uses more than {} data\n  submitted at {}:{}",
                                   submission.codelet->name, insertions.size(), submission.file,
                                   submission.line));
    if (use.datum->runtime != &core_)
      throw UsageError(
          fmt::format("the task {} uses {}, which belongs to another runtime\n  submitted at {}:{}",
                      submission.codelet->name, use.datum->text(), submission.file, submission.line));
    access_of_use[used++] = static_cast<std::uint8_t>(count);
    insertions[count++] = {&use.datum->tail, use.datum->id, use.mode};
    if (!use.datum->in_place) footprint += use.datum->bytes + 4095;
    if (reads(use.mode) && !use.datum->ever_written && !use.datum->in_place)
      throw UsageError(
          fmt::format("the task {} reads {}, which nothing has written yet\n  submitted at {}:{}",
                      submission.codelet->name, use.datum->text(), submission.file, submission.line));
  }
  if (footprint != 0) check_footprint(submission);
  for (const Submission::Use& use : submission.uses) use.datum->ever_written |= writes(use.mode);

  Task* task = core_.graph().make_task(count);
  task->codelet = submission.codelet;
  task->source = this;
  task->priority = submission.priority;
  task->submitted_at = {submission.file, submission.line};
  if (submission.fill_closure != nullptr) {
    try {
      submission.fill_closure(task->closure.data(), submission.arguments, access_of_use.data());
    } catch (...) {
      core_.graph().discard(*task);
      throw;
    }
  }
  if (watched != nullptr) {
    const std::lock_guard guard(failure_mutex_);
    watched_.emplace(task->id, std::move(watched));
    watched_count_.store(watched_.size());
  }
  if (core_.engine().wants_submissions()) {
    for (std::size_t i = 0; i < count; ++i) {  // what insert() is about to write, for those who look now
      task->accesses_begin[i].datum = insertions[i].datum;
      task->accesses_begin[i].mode = insertions[i].mode;
    }
    core_.engine().submitted(*task);
  }
  ++submitted_;
  ++core_.submitted;
  if (core_.graph().insert(*task, std::span(insertions).first(count))) {
    task->kind = EventKind::task_ready;
    task->worker = no_id<WorkerId>;
    task->at = Time{};
    EventChain ready;
    ready.append(*task);
    core_.engine().post(ready);
    if (core_.world().must_be_told()) core_.application().serve();
  }
  if (submitted_ - progress_.done() >= core_.window()) {
    core_.engine().horizon_closed();
    wait_until_done(submitted_ - core_.window() / 2);
    core_.throw_if_stopped();
  }
}

void FlowSource::check_footprint(const Submission& submission) const {
  // Per worker kind that can run it, some node must be able to hold all of it when empty.
  const Topology& topology = core_.topology();
  Bytes largest = 0, needed = 0;
  const NodeSpec* largest_node = nullptr;
  for (const WorkerSpec& worker : topology.workers) {
    if (((submission.codelet->kinds >> static_cast<unsigned>(worker.kind)) & 1u) == 0) continue;
    const NodeSpec& node = topology.nodes[index(worker.node)];
    Bytes bytes = 0;
    for (std::size_t i = 0; i < submission.uses.size(); ++i) {
      const auto& use = submission.uses[i];
      bool earlier = false;
      for (std::size_t k = 0; k < i; ++k) earlier |= submission.uses[k].datum == use.datum;
      if (!use.datum->in_place && !earlier) bytes += (use.datum->bytes + 4095) / 4096 * 4096;
    }
    if (bytes <= node.capacity / 4096 * 4096) return;
    if (largest_node == nullptr || node.capacity > largest) {
      largest = node.capacity;
      largest_node = &node;
      needed = bytes;
    }
  }
  std::string data;
  for (const auto& use : submission.uses) data += (data.empty() ? "" : ", ") + use.datum->text();
  if (largest_node == nullptr)
    throw UsageError(fmt::format(
        "the task {}({}) has no implementation for any worker of this machine\n  submitted at {}:{}",
        submission.codelet->name, data, submission.file, submission.line));
  throw FootprintError(fmt::format(
      "the task {}({}) needs {} at once in memory node \"{}\", which can hold {}\n  submitted at {}:{}\n"
      "  Use smaller tiles, or allow at least {} of memory.",
      submission.codelet->name, data, mebibytes(needed), largest_node->name, mebibytes(largest),
      submission.file, submission.line, mebibytes(needed)));
}

void FlowSource::retain(const std::shared_ptr<const CodeletInfo>& codelet) {
  if (codelet.get() == last_codelet_) return;
  last_codelet_ = codelet.get();
  if (std::ranges::find(codelets_, codelet) == codelets_.end()) codelets_.push_back(codelet);
}

void FlowSource::wait_until_done(std::uint64_t target) {
  progress_.set_target(target);
  core_.help([&] { return progress_.reached(target); });
  progress_.no_target();
}

void FlowSource::wait() {
  core_.check_caller("wait");
  core_.engine().horizon_closed();
  wait_until_done(submitted_);
  core_.throw_if_stopped();
  const std::lock_guard guard(failure_mutex_);
  if (failure_ == nullptr && cancelled_ == 0) return;
  const std::exception_ptr cause = std::exchange(failure_, nullptr);
  const auto others = std::exchange(failed_, 0), skipped = std::exchange(cancelled_, 0);
  if (cause == nullptr) throw TaskError(fmt::format("{} tasks were cancelled before they ran", skipped));
  std::string text = failed(failed_task_, cause);
  if (others > 1) text += fmt::format("\n  {} more tasks failed", others - 1);
  if (skipped > 0) text += fmt::format("\n  {} tasks that needed its results were not run", skipped);
  throw_nesting(cause, text);
}

std::string FlowSource::describe(const Task& task) const {
  std::string data;
  for (const Access& access : task.accesses())
    data += (data.empty() ? "" : ", ") + (core_.name_of_datum ? core_.name_of_datum(access.datum)
                                                              : fmt::format("datum {}", index(access.datum)));
  return fmt::format("{}({}), submitted at {}:{},", task.codelet->name, data, task.submitted_at.file,
                     task.submitted_at.line);
}

void FlowSource::record(const Task& task) {
  const std::lock_guard guard(failure_mutex_);
  if (task.failure != nullptr) {
    if (failed_++ == 0) {
      failure_ = task.failure;
      failed_task_ = describe(task);
    }
  } else {
    ++cancelled_;
  }
}

/// The task was watched before it was inserted, so that whoever completes it sees that.
void FlowSource::tell(const Task& task) {
  std::shared_ptr<WatchedTask> watched;
  {
    const std::lock_guard guard(failure_mutex_);
    const auto found = watched_.find(task.id);
    if (found == watched_.end()) return;
    watched = std::move(found->second);
    watched_.erase(found);
    watched_count_.store(watched_.size());
  }
  watched->failure = task.failure;
  watched->cancelled = task.cancelled;
  if (task.failure != nullptr || task.cancelled) watched->text = describe(task);
  watched->over.store(true);
  core_.world().nudge();
}

void WatchedTask::rethrow() const {
  if (failure == nullptr && !cancelled) return;
  if (failure == nullptr)
    throw TaskError("the task " + text + " was not run: an input is missing, or its flow was cancelled");
  throw_nesting(failure, failed(text, failure));
}

void FlowSource::completed(std::span<Task* const> tasks, EventChain& ready, Recycler& recycler) {
  for (Task* task : tasks) {
    if (task->failure != nullptr || task->cancelled) record(*task);
    if (watched_count_.load(std::memory_order_relaxed) != 0) tell(*task);
    graph::Graph::complete(*task, ready, recycler);
  }
  if (&recycler == &core_.application().recycler()) return progress_.count_by_application(tasks.size());
  // Once the last task is counted this flow may be gone.
  engine::DrivenWorld& world = core_.world();
  if (progress_.count(tasks.size())) world.nudge();
}

}  // namespace fairlead::front
