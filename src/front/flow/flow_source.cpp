// Submission: the checks that refuse a mistake where it is made, then one insertion into the graph.
#include "front/flow/flow_source.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes_text.hpp"
#include "base/exception_text.hpp"
#include "base/pages.hpp"
#include "data/ready.hpp"
#include "front/flow/gathered.hpp"
#include "front/runtime/views.hpp"

namespace fairlead::front {

namespace {
constexpr std::uint64_t tasks_between_lane_trials = 1024;

std::string failed(const std::string& task, const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    return "the task " + task + " failed: " + said_by(error);
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
}  // namespace

FlowSource::FlowSource(engine::RuntimeCore& core) : CountedSource(core) {}

FlowSource::~FlowSource() {
  if (!finished_) finish();
  // The engine may not have looked at the ends of our last tasks yet, and somebody may be saying what runs.
  core_.caller().may_wait() ? core_.application().serve_surely() : core_.world().serve_for_others();
  core_.engine().locked([](memory::Memory&) {});
  say_what_nobody_heard();
}

bool FlowSource::finish() noexcept {
  finished_ = true;
  try {
    core_.caller().may_wait() ? core_.reductions().close_all(this) : core_.reductions().orphan(this);
    if (core_.caller().may_wait() && done() != submitted_) wait_until_done(submitted_, true);
    if (core_.caller().may_wait() && told_->open.load() != 0)
      core_.help([this] { return told_->open.load() == 0; }, true);
    if (core_.caller().may_wait()) core_.home_values().refresh();
  } catch (...) {
    // What stopped the run is told to those who wait.
  }
  return done() == submitted_;
}

namespace {
/// What is submitted, for messages.
std::string subject(const Submission& submission) {
  return submission.codelet->kinds == 0 ? "an acquire" : "the task " + submission.codelet->name;
}
}  // namespace

/// Throws UsageError for what must not be used, or not like this. Changes nothing.
void FlowSource::gather(const Submission& submission, Gathered& out) const {
  std::size_t used = 0;
  out.lane = core_.engine().lane().generation();
  if (submission.uses.size() > most_uses)
    throw UsageError(fmt::format("{} has {} parameters that are data; there may be {}\n  submitted at {}:{}",
                                 subject(submission), submission.uses.size(), most_uses, submission.file,
                                 submission.line));
  for (const Submission::Use& use : submission.uses) {
    if (use.datum == nullptr)
      throw UsageError(fmt::format("{} is given an empty handle as its datum {}\n  submitted at {}:{}",
                                   subject(submission), used + 1, submission.file, submission.line));
    if (use.datum->id == no_id<DatumId> || use.datum->generation != use.generation)
      throw UsageError(
          fmt::format("{} uses a datum that is gone: it was removed, or its matrix was destroyed\n  "
                      "submitted at {}:{}",
                      subject(submission), submission.file, submission.line));
    out.any_order |= writes_in_any_order(use.mode);
    out.first_write |= writes(use.mode) && !use.datum->ever_written;
    std::size_t same = 0;
    while (same < out.count && out.insertions[same].datum != use.datum->id) ++same;
    if (same < out.count) {
      out.access_of_use[used++] = static_cast<std::uint8_t>(same);
      out.insertions[same].mode = graph::merged(out.insertions[same].mode, use.mode);
      continue;
    }
    if (out.count == most_data)
      throw UsageError(fmt::format("{} uses more than {} data\n  submitted at {}:{}", subject(submission),
                                   most_data, submission.file, submission.line));
    if (use.datum->runtime != &core_)
      throw UsageError(fmt::format("{} uses {}, which belongs to another runtime\n  submitted at {}:{}",
                                   subject(submission), use.datum->text(), submission.file, submission.line));
    // Comes while the rest is looked at: what reads it later are locked instructions, which wait one by one.
    __builtin_prefetch(use.datum->tail.last, 1);
    out.access_of_use[used++] = static_cast<std::uint8_t>(out.count);
    out.insertions[out.count++] = {&use.datum->tail, use.datum->id, use.mode, 0};
    const Bytes rounded = whole_pages_for(use.datum->bytes);
    out.footprint += rounded;
    if (!use.datum->in_place) out.host_footprint += rounded;
    out.views |= use.datum->view != nullptr;
    out.reduced |= use.datum->reduction != nullptr;
    out.all_in_lane &= use.datum->tail.lane == out.lane;
    if (reads(use.mode) && (!use.datum->ever_written || use.datum->view != nullptr) && !has_value(*use.datum))
      throw UsageError(fmt::format("{} reads {}, which nothing has written yet\n  submitted at {}:{}",
                                   subject(submission), use.datum->text(), submission.file, submission.line));
  }
  if (out.views) [[unlikely]]
    check_views(submission);
  if (submission.device != no_device) check_device(submission);
}

void FlowSource::check_device(const Submission& submission) const {
  if (submission.device >= 0 && submission.device < core_.machine().devices) return;
  throw UsageError(fmt::format("{} is to run on device {}, but there {}\n  submitted at {}:{}",
                               text_of(submission), submission.device, core_.machine().devices_text(),
                               submission.file, submission.line));
}

/// Of what was gathered: data that were named twice are one access.
PlaceHint FlowSource::place_of(const Submission& submission, const Gathered& gathered) noexcept {
  PlaceHint place;
  place.device = static_cast<std::int8_t>(submission.device);
  if (submission.like >= 0)
    place.like = static_cast<std::int8_t>(gathered.access_of_use[static_cast<std::size_t>(submission.like)]);
  return place;
}

void FlowSource::insert(const Submission& submission, std::shared_ptr<WatchedTask> watched,
                        const Order* order) {
  if (window_.held_up()) [[unlikely]] {
    window_.try_again(*this);
    throw_if_stopped();
    if (window_.held_up()) window_.throw_held_up(*this);
  }
  if (cancelled.load(std::memory_order_relaxed)) [[unlikely]]
    core_.throw_if_winding_down();  // else millions of tasks would be submitted that do not run
  Gathered gathered;
  gather(submission, gathered);
  const Bytes scratch = whole_pages_for(submission.scratch_bytes);
  gathered.footprint += scratch;
  gathered.host_footprint += scratch;
  const bool somebody_can = (submission.codelet->kinds & core_.machine().kinds_of_workers) != 0;
  const bool fits_anywhere = somebody_can && gathered.footprint <= core_.machine().smallest_cache;
  std::uint32_t excluded =
      fits_anywhere && submission.node == no_id<NodeId> ? 0 : nodes_excluded_for(submission);
  const std::uint16_t together =
      submission.workers.count() == 1 ? std::uint16_t{0} : workers_wanted(submission, excluded);
  if (gathered.host_footprint != 0 && ((excluded >> index(core_.engine().view().host())) & 1u) == 0 &&
      (submission.codelet->kinds & core_.machine().host_kinds) != 0) {
    // Whatever may run there has to find room beside what the application holds.
    if (!core_.holds().none()) [[unlikely]]
      core_.holds().check_room(gathered.host_footprint, false, text_of(submission), submission);
    core_.holds().note_footprint(gathered.host_footprint);
  }
  Task& task =
      core_.or_stop([&]() -> Task& { return make_task(submission, gathered, excluded, together, order); });
  if (submission.fill_closure != nullptr) {
    try {
      submission.fill_closure(task.closure.data(), submission.arguments, gathered.access_of_use.data());
    } catch (...) {
      core_.graph().discard(task);
      throw;
    }
  }
  core_.or_stop([&] { put_in(task, submission, gathered, std::move(watched), order); });
  if (window_.after(*this)) throw_if_stopped();
}

TaskTraits FlowSource::traits_of(const Submission& submission, const Gathered& gathered,
                                 std::uint32_t excluded, std::uint16_t together) noexcept {
  return {.codelet = submission.codelet,
          .submitted_at = {submission.file, submission.line},
          .scratch_bytes = submission.scratch_bytes,
          .priority = submission.priority,
          .nodes_excluded = excluded,
          .work = submission.work,
          .workers_wanted = together,
          .place = place_of(submission, gathered)};
}

/// A descriptor with all but the closure. What has to come before the task is in the graph afterwards.
[[gnu::always_inline]] inline Task& FlowSource::make_task(const Submission& submission, Gathered& gathered,
                                                          std::uint32_t excluded, std::uint16_t together,
                                                          const Order* order) {
  if (gathered.views) [[unlikely]]
    show_all(submission);
  if (core_.submission_book() != nullptr) [[unlikely]]
    write_down(submission, gathered, order);
  const TaskTraits traits = traits_of(submission, gathered, excluded, together);
  const std::uint32_t lane = core_.engine().lane_possible() ? lane_for(traits, submission, gathered) : 0;
  if (gathered.first_write)
    for (const Submission::Use& use : submission.uses) use.datum->ever_written |= writes(use.mode);
  if (core_.fixed_order() && gathered.any_order) [[unlikely]]
    for (graph::Insertion& insertion : std::span(gathered.insertions).first(gathered.count))
      if (writes_in_any_order(insertion.mode)) insertion.mode = AccessMode::read_write;
  if (gathered.reduced || !submission.codelet->reductions.empty()) [[unlikely]]
    follow_reductions(submission, gathered);

  Task& task = new_task(traits, gathered.count);
  task.lane = lane;
  return task;
}

[[gnu::always_inline]] inline void FlowSource::put_in(Task& task, const Submission& submission,
                                                      const Gathered& gathered,
                                                      std::shared_ptr<WatchedTask> watched,
                                                      const Order* order) {
  bool call_later = false;
  if (watched != nullptr) {
    if (core_.home_values().may_be_away())
      for (const Submission::Use& use : submission.uses)
        if (writes(use.mode) && use.datum->in_place) watched->own_data.push_back(use.datum->id);
    if (order != nullptr && order->on_done != nullptr) {
      watched->whose = fmt::format("the task {}, submitted at {}:{},", submission.codelet->name,
                                   submission.file, submission.line);
      call_later = !watched->own_data.empty();
      if (!call_later) {
        watched->on_done = order->on_done;
        told_->open.fetch_add(1);
      }
    }
    const std::lock_guard guard(failure_mutex_);
    watched_.emplace(task.id, watched);
    watched_count_.store(watched_.size());
  }
  announce(task, gathered.all());
  count_submitted(1);
  const std::size_t after = order == nullptr ? 0 : order->after.size();
  bool ready = core_.graph().insert(task, gathered.all(), static_cast<std::int32_t>(after));
  if (after != 0) {
    std::int32_t over = 0;
    for (const auto& before : order->after) over += !before->follow(task);
    // acq_rel: sees what those did that are over.
    if (over != 0) ready = task.wait.fetch_sub(over, std::memory_order_acq_rel) == over;
  }
  if (ready) tell_ready(task);
  if (call_later) call_when_home(submission, watched, order->on_done);
}

void FlowSource::write_down(const Submission& submission, const Gathered& gathered, const Order* order) {
  if (gathered.views)
    return core_.submission_book()->give_up(fmt::format("{} at {}:{} uses split data, or parts of data",
                                                        text_of(submission), submission.file,
                                                        submission.line));
  core_.submission_book()->task(submission, gathered.recorder_uses(submission),
                                order != nullptr && !order->after.empty());
}

Task& FlowSource::new_task(const TaskTraits& traits, std::size_t accesses) {
  Task& task = *core_.graph().make_task(accesses, traits);
  task.family = &in_graph;
  return task;
}

/// Tasks that ask for nothing special, on data that stay where they are.
std::uint32_t FlowSource::lane_for(const TaskTraits& traits, const Submission& submission,
                                   const Gathered& gathered) {
  if (!engine::may_pass(traits) || gathered.views || gathered.any_order || gathered.reduced) return 0;
  std::uint32_t lane = gathered.lane;
  if (lane == 0) [[unlikely]] {
    engine::Engine& engine = core_.engine();
    if (submitted_ != progress_.done() && submitted_ < next_lane_trial_) return 0;
    next_lane_trial_ = submitted_ + tasks_between_lane_trials;
    if (!engine.try_open_lane()) return 0;
    lane = engine.lane().generation();
  } else if (gathered.all_in_lane) {
    return lane;
  }
  for (const Submission::Use& use : submission.uses)
    if (use.datum->tail.lane != lane && !let_in(*use.datum, lane)) return 0;
  return lane;
}

bool FlowSource::let_in(engine::RegisteredDatum& datum, std::uint32_t lane) {
  void* const address = core_.engine().let_into_lane(datum.id, datum.ever_written || has_value(datum));
  if (address == nullptr) return false;
  datum.tail.address = address;
  datum.tail.lane = lane;
  datum.tail.packed = !datum.in_place;
  return true;
}

void FlowSource::announce(Task& task, std::span<const graph::Insertion> insertions) {
  if (!core_.engine().wants_submissions()) return;
  for (std::size_t i = 0; i < insertions.size(); ++i) {
    task.accesses_begin[i].datum = insertions[i].datum;
    task.accesses_begin[i].mode = insertions[i].mode;
    task.accesses_begin[i].partials = insertions[i].partials;
  }
  core_.engine().submitted(task);
}

void FlowSource::tell_ready(Task& task) {
  if (core_.application().put_in_lane(task)) {
    if (core_.world().must_be_told()) core_.world().wake(engine::Who::any_worker());
    return;
  }
  core_.engine().entrance().post(task, EventKind::task_ready, no_id<WorkerId>, Time{});
  if (core_.world().must_be_told()) core_.application().serve();
}

std::string FlowSource::text_of(const Submission& submission) {
  std::string data;
  for (const auto& use : submission.uses) data += (data.empty() ? "" : ", ") + use.datum->text();
  return subject(submission) + "(" + data + ")";
}

std::uint32_t FlowSource::nodes_excluded_for(const Submission& submission) const {
  const Topology& topology = core_.topology();
  const auto footprint_on = [&](const NodeSpec& node) {
    Bytes bytes = whole_pages_for(submission.scratch_bytes);
    for (std::size_t i = 0; i < submission.uses.size(); ++i) {
      const engine::RegisteredDatum* datum = submission.uses[i].datum;
      bool counted = std::ranges::find(node.reaches, datum->home) != node.reaches.end();
      for (std::size_t k = 0; k < i; ++k) counted |= submission.uses[k].datum == datum;
      if (!counted) bytes += whole_pages_for(datum->bytes);
    }
    return bytes;
  };
  std::uint32_t excluded = 0;
  bool fits = false;
  const NodeSpec* nearest = nullptr;  // the one that lacks least
  Bytes needed = 0, lacking = 0;
  for (const WorkerSpec& worker : topology.workers) {
    const NodeSpec& node = topology.nodes[index(worker.node)];
    const Bytes bytes = footprint_on(node), capacity = whole_pages_in(node.capacity);
    const bool wanted = submission.node == no_id<NodeId> || submission.node == worker.node;
    if (bytes > capacity || !wanted) excluded |= 1u << index(worker.node);
    if (!wanted) continue;
    if (((submission.codelet->kinds >> static_cast<unsigned>(worker.kind)) & 1u) == 0) continue;
    fits |= bytes <= capacity;
    if (bytes <= capacity || (nearest != nullptr && bytes - capacity >= lacking)) continue;
    nearest = &node;
    needed = bytes;
    lacking = bytes - capacity;
  }
  if (fits) return excluded;
  const Bytes scratch = whole_pages_for(submission.scratch_bytes);
  if (nearest == nullptr)
    throw UsageError(fmt::format("{} has no implementation for any worker of {}\n  submitted at {}:{}",
                                 text_of(submission),
                                 submission.node == no_id<NodeId>
                                     ? "this machine"
                                     : "memory node \"" + topology.nodes[index(submission.node)].name + "\"",
                                 submission.file, submission.line));
  throw FootprintError(
      fmt::format("{} needs {} at once{} in memory node \"{}\", which can hold {}\n  submitted at {}:{}\n"
                  "  Use smaller tiles{}, or {}.",
                  text_of(submission), mebibytes_needed(needed),
                  scratch == 0 ? "" : fmt::format(", {} of it scratch,", mebibytes(scratch)), nearest->name,
                  mebibytes_there(nearest->capacity), submission.file, submission.line,
                  scratch == 0 ? "" : " or less scratch",
                  core_.more_memory(static_cast<NodeId>(nearest - topology.nodes.data()), needed)));
}

void FlowSource::retain(const std::shared_ptr<const CodeletInfo>& codelet) {
  if (codelet.get() == last_codelet_) return;
  last_codelet_ = codelet.get();
  if (std::ranges::find(codelets_, codelet) == codelets_.end()) codelets_.push_back(codelet);
}

void FlowSource::throw_if_stopped() {
  stop_heard_ |= core_.engine().stop_reason().stopped() || core_.engine().stop_reason().error() != 0;
  core_.throw_if_stopped();
}

void FlowSource::wait() {
  core_.caller().check("wait");
  core_.reductions().close_all(this);
  core_.engine().horizon_closed();
  const bool over = wait_until_done(submitted_) && core_.help([this] { return told_->open.load() == 0; });
  throw_if_stopped();
  if (!over) core_.throw_held_up("wait()");
  core_.home_values().refresh();
  if (core_.submission_book() != nullptr) core_.submission_book()->phase_ended();
  std::exception_ptr cause;
  std::string text = take_failure(cause);
  if (text.empty()) text = take_callback_failure(cause);
  if (text.empty()) return;
  if (cause == nullptr) throw TaskError(text);
  throw_nesting(cause, text);
}

std::string FlowSource::take_failure(std::exception_ptr& cause) {
  const std::lock_guard guard(failure_mutex_);
  cause = std::exchange(failure_, nullptr);
  const auto others = std::exchange(failed_, 0), skipped = std::exchange(cancelled_, 0);
  if (cause == nullptr)
    return skipped == 0 ? "" : fmt::format("{} tasks were cancelled before they ran", skipped);
  std::string text = failed(failed_task_, cause);
  if (others > 1) text += fmt::format("\n  {} more tasks failed", others - 1);
  if (skipped > 0) text += fmt::format("\n  {} tasks that needed its results were not run", skipped);
  return text;
}

std::string FlowSource::take_callback_failure(std::exception_ptr& cause) {
  const std::lock_guard guard(told_->mutex);
  cause = std::exchange(told_->failure, nullptr);
  if (cause == nullptr) return {};
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    return "the callback of " + told_->whose + " threw: " + said_by(error);
  } catch (...) {
    return "the callback of " + told_->whose + " threw something that is not a std::exception";
  }
}

void FlowSource::say_what_nobody_heard() noexcept {
  if (!core_.surroundings().say || !core_.caller().same_process() || stop_heard_) return;
  try {
    std::exception_ptr cause;
    const bool heard = failed_watched_ != nullptr && failed_watched_->told.load();
    const std::string failure = take_failure(cause);
    if (cause != nullptr && !heard)
      core_.surroundings().say("a flow ended without a wait(): " + failure + "\n");
    const std::string callback = take_callback_failure(cause);
    if (cause != nullptr) core_.surroundings().say("a flow ended without a wait(): " + callback + "\n");
  } catch (...) {
    // There is no memory for the text, or nowhere to write it.
  }
}

std::string FlowSource::text_of(const Task& task) const {
  std::string data;
  const bool folds = task.codelet == &fold_codelet();
  const std::size_t shown = folds ? 1 : std::min<std::size_t>(task.access_count, most_data);
  for (const Access& access : task.accesses().first(shown))
    data += (data.empty() ? "" : ", ") + core_.names().text(access.datum);
  const bool ran = task.failure != nullptr && task.worker != no_id<WorkerId>;
  return fmt::format(
      "{}({}), submitted at {}:{},",
      ran ? task.codelet->text(core_.topology().workers[index(task.worker)].kind, task.implementation)
          : task.codelet->name,
      data, task.submitted_at.file, task.submitted_at.line);
}

void FlowSource::note_failure(const Task& task) {
  const std::lock_guard guard(failure_mutex_);
  if (task.failure != nullptr) {
    if (failed_++ == 0) {
      failure_ = task.failure;
      failed_task_ = text_of(task);
      const auto watched = watched_.find(task.id);
      failed_watched_ = watched == watched_.end() ? nullptr : watched->second;
    }
  } else if (task.codelet != &fold_codelet()) {  // that is not the program's, and neither is its end
    ++cancelled_;
  }
}

/// The task was watched before it was inserted, so that whoever completes it sees that.
void FlowSource::tell(const Task& task, EventChain& ready) {
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
  if (task.failure != nullptr || task.cancelled) watched->text = text_of(task);
  std::vector<Task*> followers;
  {
    const std::lock_guard guard(watched->mutex);
    watched->followed = true;
    followers.swap(watched->followers);
  }
  watched->over.store(true);
  for (Task* follower : followers)
    if (was_last(follower->wait)) append_ready(*follower, task, ready);
  if (watched->on_done != nullptr)
    core_.engine().callbacks().push([watched, calls = told_, &world = core_.world()]() mutable {
      calls->call([&] { watched->on_done(watched->outcome()); }, watched->whose);
      watched->on_done = nullptr;
      calls->open.fetch_sub(1);
      world.wake(engine::Who::application());
    });
  core_.world().wake(engine::Who::application());
}

std::exception_ptr WatchedTask::outcome() const noexcept {
  told.store(true);
  if (failure != nullptr || !cancelled) return failure;
  try {
    rethrow();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void WatchedTask::rethrow() const {
  told.store(true);
  if (failure == nullptr && !cancelled) return;
  if (failure == nullptr)
    throw TaskError("the task " + text + " was not run: an input is missing, or its flow was cancelled");
  throw_nesting(failure, failed(text, failure));
}

void FlowSource::release(Task& task, ReadyTasks& ready) {
  if (task.failure != nullptr || task.cancelled) note_failure(task);
  if (watched_count_.load(std::memory_order_relaxed) != 0) tell(task, ready.described);
  graph::Graph::complete(task, ready.described, ready.recycler);
}

}  // namespace fairlead::front
