// Rebuilds tasks, sources and codelets from the log, and checks each event against the engine's state before passing it
// on. The engine trusts its world, but a file may be invalid.
#include "engine/replay.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <algorithm>
#include <bit>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/command_recorder.hpp"
#include "engine/log_text.hpp"
#include "engine/null_source.hpp"

namespace fairlead::engine {

namespace {

constexpr std::uint64_t largest_datum = std::uint64_t{1} << 56;
constexpr std::uint64_t latest_time = std::uint64_t{1} << 61, longest_duration = std::uint64_t{1} << 52;
constexpr std::int32_t most_tiles = 1 << 20;     // in a row or column
constexpr std::uint64_t most_skipped = 1 << 16;  // ids of descriptors that were never submitted
constexpr std::uint64_t most_likes = 127;
constexpr std::uint64_t any_32_bits = std::uint64_t{1} << 32;

struct HeldTask {
  Task task;
  std::vector<Access> accesses;
  std::span<const std::uint64_t> words;              // its record in the log
  const std::vector<Duration>* durations = nullptr;  // by processor; null: unknown
  bool was_ready = false;
  bool in_batch = false;
};

class Replayer {
 public:
  Replayer(const Topology& topology, std::unique_ptr<Policy> policy, Options options,
           std::span<const std::uint64_t> words)
      : log_(words),
        durations_known_(options.estimate != nullptr),
        processors_(EventLog::processors_of(topology)),
        engine_(topology, std::move(policy), world_, as_logged(std::move(options))) {
    devices_ = accelerators(engine_.view()).size();
  }

  ReplayResult run() {
    try {
      // An engine with a fatal error accepts no more events.
      while (!log_.at_end() && !engine_.stop_reason().stopped()) record();
      if (!batch_.empty() && !engine_.stop_reason().stopped()) {
        serve(0);  // a batch that caused a fatal error has no record `served`
        if (!engine_.stop_reason().stopped()) log_.refuse("the log ends in the middle of a batch of events");
      }
    } catch (const InputError& error) {
      if (difference_.empty()) throw;
      throw InputError(std::string(error.what()) + "; before that, " + difference_);
    }
    return {.digest = engine_.journal().digest().value(),
            .commands = engine_.journal().digest().count(),
            .events = events_,
            .compared = compared_,
            .difference = difference_,
            .fatal = engine_.fatal()};
  }

 private:
  using Record = EventLog::Record;

  Options as_logged(Options options) {
    if (durations_known_)
      options.estimate = [this](const Task& task, WorkerId worker) {
        return tasks_.at(static_cast<std::uint64_t>(task.id))->durations->at(processors_[index(worker)]);
      };
    return options;
  }

  void record() {
    const std::uint64_t word = log_.word("a record");
    const auto kind = static_cast<Record>(word & 0xff);
    const std::uint64_t rest = word >> 8;
    const bool within_batch = kind == Record::event || kind == Record::served || kind == Record::codelet ||
                              kind == Record::durations;
    if (!batch_.empty() && !within_batch) log_.refuse("a batch of events is interrupted by another record");
    switch (kind) {
      case Record::event:
        event(rest);
        break;
      case Record::datum:
        datum(rest);
        break;
      case Record::removal:
        removal(rest);
        break;
      case Record::advice:
        advice(rest);
        break;
      case Record::submission:
        submission();
        break;
      case Record::horizon_closed:
        engine_.horizon_closed();
        break;
      case Record::all_submitted:
        engine_.all_submitted();
        break;
      case Record::cancellation:
        if (rest >= any_32_bits) log_.refuse("no such source of tasks");
        engine_.cancel(source(static_cast<std::uint32_t>(rest)));
        break;
      case Record::served:
        serve(rest);
        break;
      case Record::codelet:
        new_codelet(rest);
        break;
      case Record::refresh_put_off:
        check_datum(rest & (any_32_bits - 1));
        engine_.put_refresh_off(static_cast<DatumId>(rest & (any_32_bits - 1)), rest >> 32 != 0);
        break;
      case Record::durations:
        new_durations(rest);
        break;
      default:
        log_.refuse("there is no record of kind " + std::to_string(word & 0xff));
    }
  }

  // ---- records outside of batches

  void datum(std::uint64_t home_and_view) {
    const std::uint64_t home = home_and_view & 0xffff'ffff, flags = home_and_view >> 32;
    const Topology& topology = engine_.memory().topology();
    if (home >= topology.nodes.size() || topology.nodes[home].role != NodeRole::home)
      log_.refuse("memory node " + std::to_string(home) + " is not a home node");
    memory::DatumSpec spec;
    spec.home = static_cast<NodeId>(home);
    spec.out_of_view = (flags & 1) != 0;
    if ((flags & 2) != 0) {
      if (std::ranges::none_of(topology.links, [&](const LinkSpec& link) {
            return link.is_generator && index(link.first) == home;
          }))
        log_.refuse("no generator link belongs to memory node " + std::to_string(home));
      spec.generator = &generator_;
    }
    spec.bytes = log_.word("size of a datum", largest_datum);
    spec.home_offset = log_.word("place of a datum", largest_datum);
    const std::uint64_t collection = log_.word("collection");
    spec.coordinates.collection = coordinate(collection & 0xffff'ffff);
    if (const std::uint64_t whole = collection >> 32; whole != 0) {
      check_datum(whole - 1);
      if (engine_.memory().datum(static_cast<DatumId>(whole - 1)).is_partial)
        log_.refuse("a partial result belongs to another partial result");
      spec.partial_of = static_cast<DatumId>(whole - 1);
    }
    const std::uint64_t place = log_.word("coordinates");
    spec.coordinates.row = coordinate(place >> 32);
    spec.coordinates.column = coordinate(place & 0xffff'ffff);
    engine_.add(spec);
  }

  /// Bounded, since policies have tables by row and column.
  std::int32_t coordinate(std::uint64_t bits) {
    const auto value = static_cast<std::int32_t>(bits);
    if (value < -1 || value > most_tiles)
      log_.refuse(std::to_string(value) + " is not a valid tile coordinate");
    return value;
  }

  void removal(std::uint64_t datum) {
    check_datum(datum);
    for (const auto& [id, held] : tasks_)
      for (const Access& access : held->task.accesses())
        if (index(access.datum) == datum) log_.refuse("datum " + std::to_string(datum) + " is still in use");
    engine_.try_remove(static_cast<DatumId>(datum));
  }

  void advice(std::uint64_t datum_and_device) {
    check_datum(datum_and_device & 0xffff'ffff);
    engine_.advise(static_cast<DatumId>(datum_and_device), device(datum_and_device >> 32));
  }

  /// Decodes the accelerator's number plus 1; 0: none.
  int device(std::uint64_t plus_one) const {
    if (plus_one > devices_) log_.refuse("there is no accelerator " + std::to_string(plus_one - 1));
    return static_cast<int>(plus_one) - 1;
  }

  void check_datum(std::uint64_t datum) {
    const memory::Memory& memory = engine_.memory();
    if (datum >= memory.state().data.size() || memory.datum(static_cast<DatumId>(datum)).removed)
      log_.refuse("there is no datum " + std::to_string(datum));
  }

  void submission() {
    const std::size_t known = tasks_.size();
    Task& submitted = task().task;
    const auto id = static_cast<std::uint64_t>(submitted.id);
    if (tasks_.size() == known || id < next_submission_ || id - next_submission_ > most_skipped)
      log_.refuse("task " + std::to_string(id) + " is submitted out of order");
    next_submission_ = id + 1;
    engine_.submitted(submitted);
  }

  // ---- tasks

  NullSource& source(std::uint32_t id) {
    NullSource& source = sources_[id];
    source.id = id;
    return source;
  }

  void new_codelet(std::uint64_t unit_and_count) {
    const std::uint64_t unit = unit_and_count & 0xff, count = unit_and_count >> 8;
    if (unit > static_cast<std::uint64_t>(WorkUnit::nanoseconds))
      log_.refuse("there is no such unit of work");
    if (count > worker_kind_count * CodeletInfo::most_implementations)
      log_.refuse("no codelet has this many implementations");
    CodeletInfo& codelet = codelets_.emplace_back();
    codelet.kinds = 0;
    codelet.unit = static_cast<WorkUnit>(unit);
    codelet.name = read_text(log_);
    codelet.hash_of_name = codelet.name_hash();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t kind_and_end = log_.word("an implementation", 0x200);
      if ((kind_and_end & 0xff) >= worker_kind_count) log_.refuse("there is no such kind of worker");
      try {
        codelet.implement(static_cast<WorkerKind>(kind_and_end & 0xff),
                          {nullptr, nullptr, (kind_and_end >> 8) != 0, read_text(log_)});
      } catch (const UsageError& error) {
        log_.refuse(error.what());
      }
    }
  }

  void new_durations(std::uint64_t count) {
    const auto differ = std::ranges::max_element(processors_);
    if (!durations_known_ || differ == processors_.end() || count != *differ + 1)
      log_.refuse("durations of " + std::to_string(count) + " processors are unexpected");
    std::vector<Duration>& durations = durations_.emplace_back();
    for (; count > 0; --count)
      durations.emplace_back(static_cast<std::int64_t>(log_.word("a duration", longest_duration)));
  }

  /// `kinds`: tests describe codelets by their kinds only.
  CodeletInfo& codelet(std::uint64_t number, std::uint32_t kinds) {
    if (number >= codelets_.size()) log_.refuse("there is no codelet " + std::to_string(number));
    CodeletInfo& it = codelets_[number];
    if ((it.choices & ~kinds) != 0) log_.refuse("codelet " + std::to_string(number) + " has other kinds");
    it.kinds = kinds;
    return it;
  }

  TaskRole role_marked(std::uint64_t mark) const {
    for (std::size_t i = 0; i < task_roles; ++i)
      if (traits_of(static_cast<TaskRole>(i)).mark == mark) return static_cast<TaskRole>(i);
    log_.refuse("there is no task of such a role");
  }

  /// Decodes a task, which is new or was described at its submission before.
  HeldTask& task() {
    const std::size_t begin = log_.position();
    const std::uint64_t id = log_.word("a task");
    const std::uint64_t codelet_and_priority = log_.word("a codelet");
    const std::uint64_t kinds_and_source = log_.word("a source of tasks");
    const std::uint64_t work_and_count = log_.word("number of accesses");
    const std::uint64_t count = work_and_count & 0xffff;
    PlaceHint place;
    place.device = static_cast<std::int8_t>(device((work_and_count >> 16) & 0xff));
    const std::uint64_t like = (work_and_count >> 24) & 0xff;
    if (like > count || like > most_likes)
      log_.refuse("the placement of a task refers to an access that it does not have");
    place.like = static_cast<std::int8_t>(static_cast<int>(like) - 1);
    const std::uint64_t excluded_and_role =
        log_.word("nodes on which a task may not run", std::uint64_t{1} << (35 + 16));
    const Bytes scratch_bytes = log_.word("scratch of a task", largest_datum);
    std::vector<Access> accesses(count);
    for (Access& access : accesses) {
      const std::uint64_t word = log_.word("an access");
      check_datum(word & 0xffff'ffff);
      if (((word >> 32) & 0xff) > static_cast<std::uint64_t>(AccessMode::reduction))
        log_.refuse("there is no such access mode");
      access.datum = static_cast<DatumId>(word);
      access.mode = static_cast<AccessMode>((word >> 32) & 0xff);
      if ((word >> 40) > engine_.memory().reductions().count(access.datum))
        log_.refuse("datum " + std::to_string(index(access.datum)) + " has fewer partial results");
      access.partials = static_cast<std::uint8_t>(word >> 40);
    }
    std::vector<DatumId> data;
    for (const Access& access : accesses) data.push_back(access.datum);
    std::ranges::sort(data);
    if (const auto same = std::ranges::adjacent_find(data); same != data.end())
      log_.refuse("a task uses datum " + std::to_string(index(*same)) + " twice");
    const TaskRole role = role_marked((excluded_and_role >> 32) & 7);
    const std::uint64_t workers = excluded_and_role >> 35;
    if (!traits_of(role).by_worker && workers != 0)
      log_.refuse("task " + std::to_string(id) + " requests workers, but runs on none");
    auto& held = tasks_[id];
    if (held != nullptr) {
      if (held->was_ready || !std::ranges::equal(held->words, log_.since(begin)))
        log_.refuse("there is already another task " + std::to_string(id));
      return *held;
    }
    if (durations_known_ && durations_.empty() && traits_of(role).by_worker)
      log_.refuse("the durations of task " + std::to_string(id) + " are missing");
    held = std::make_unique<HeldTask>();
    held->durations = durations_.empty() ? nullptr : &durations_.back();
    held->accesses = std::move(accesses);
    held->words = log_.since(begin);
    Task& task = held->task;
    task.id = static_cast<TaskId>(id);
    task.codelet = &codelet(codelet_and_priority >> 32, static_cast<std::uint32_t>(kinds_and_source >> 32));
    task.priority = static_cast<std::int32_t>(codelet_and_priority);
    task.family = &source(static_cast<std::uint32_t>(kinds_and_source)).described;
    task.accesses_begin = held->accesses.data();
    task.access_count = static_cast<std::uint16_t>(count);
    task.nodes_excluded = static_cast<std::uint32_t>(excluded_and_role);
    task.scratch_bytes = scratch_bytes;
    task.workers_wanted = static_cast<std::uint16_t>(workers);
    task.place = place;
    task.work = std::bit_cast<float>(static_cast<std::uint32_t>(work_and_count >> 32));
    task.role = role;
    if (!task.by_worker() && given_up_.contains(id)) task.set(TaskFlag::abandoned);
    for (Access& access : held->accesses) access.task = &task;
    if (const std::string fault = engine_.roles().of(task).check_logged(task); !fault.empty())
      log_.refuse("task " + std::to_string(id) + " " + fault);
    return *held;
  }

  Task& ready_task() {
    const std::size_t known = tasks_.size();
    HeldTask& held = task();
    if (engine_.policy_plans() && tasks_.size() != known && held.task.by_worker())
      log_.refuse("the policy plans over the graph, but the log has no submissions");
    held.was_ready = true;
    return put_in_batch(held);
  }

  Task& put_in_batch(HeldTask& held) {
    held.in_batch = true;
    in_batch_.push_back(&held);
    return held.task;
  }

  Task& staged_task(EventKind kind, std::uint64_t worker) {
    const std::uint64_t id = log_.word("a task");
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) log_.refuse("there is no task " + std::to_string(id));
    HeldTask& held = *found->second;
    if (held.in_batch || !held.task.by_worker() || held.task.state != TaskState::staged ||
        index(held.task.worker) != worker)
      log_.refuse("task " + std::to_string(id) + " was not launched on worker " + std::to_string(worker));
    if (kind == EventKind::task_returned && !held.task.has(TaskFlag::recalled))
      log_.refuse("task " + std::to_string(id) + " was not recalled");
    if (kind == EventKind::task_returned)
      answer_to_recall(worker);
    else if (kind != EventKind::task_reclaimed)
      over_.push_back(id);
    return put_in_batch(held);
  }

  void answer_to_recall(std::uint64_t worker) {
    const auto answers = std::ranges::count(answers_, worker);
    if (engine_.pipelines().all()[worker].recalls <= answers)
      log_.refuse("no task was recalled from worker " + std::to_string(worker));
    answers_.push_back(worker);
  }

  // ---- events

  void event(std::uint64_t rest) {
    const auto kind = static_cast<EventKind>(rest & 0xff);
    const std::uint64_t worker = rest >> 8;
    const auto at = static_cast<std::int64_t>(log_.word("time", latest_time));
    const auto duration = static_cast<std::int64_t>(log_.word("duration", longest_duration));
    const bool known_worker = worker < engine_.view().workers().size();
    Event* event = nullptr;
    switch (kind) {
      case EventKind::task_ready:
        if (!known_worker && worker != index(no_id<WorkerId>)) log_.refuse("there is no such worker");
        event = &ready_task();
        event->worker = static_cast<WorkerId>(worker);
        break;
      case EventKind::task_finished:
      case EventKind::task_failed:
      case EventKind::task_returned:
      case EventKind::task_reclaimed:
        event = &staged_task(kind, worker);
        break;
      case EventKind::copy_finished:
      case EventKind::copy_failed:
        event = &copy(kind);
        break;
      case EventKind::worker_available:
      case EventKind::worker_unavailable:
      case EventKind::worker_lost:
      case EventKind::recall_refused:
        if (!known_worker) log_.refuse("there is no such worker");
        if (kind == EventKind::recall_refused) answer_to_recall(worker);
        event = &others_.emplace_back();
        event->worker = static_cast<WorkerId>(worker);
        break;
      case EventKind::hold_released:
        event = &release();
        break;
      case EventKind::refresh:
        event = &refresh();
        break;
      case EventKind::node_lost:
        event = &others_.emplace_back();
        others_.back().node = log_.device(engine_.memory().topology());
        break;
      case EventKind::simulation_finished:
        event = &finished_simulations_.emplace_back();
        finished_simulations_.back().result = log_.word("result of a what-if simulation");
        break;
      case EventKind::flush:
        refuse_second_flush();
        [[fallthrough]];
      case EventKind::timer:
      case EventKind::discard_clean:
      case EventKind::pause:
      case EventKind::resume:
        event = &others_.emplace_back();
        break;
      default:
        log_.refuse("there is no event of kind " + std::to_string(rest & 0xff));
    }
    event->kind = kind;
    event->at = Time(at);
    event->duration = Duration(duration);
    last_event_ = EventSummary(*event);
    batch_.append(*event);
    ++events_;
  }

  void refuse_second_flush() {
    if (engine_.memory().flushes().under_way() || std::exchange(flush_in_batch_, true))
      log_.refuse("a flush starts before the previous one ends");
  }

  RefreshRequest& refresh() {
    refuse_second_flush();
    RefreshRequest& request = refreshes_.emplace_back();
    const std::size_t known = engine_.memory().state().data.size();
    // Each is a word of the log, so a count that is too large is rejected at the first missing word.
    for (std::uint64_t left = log_.word("data to refresh", known + 1); left != 0; --left)
      request.data.push_back(static_cast<DatumId>(log_.word("a datum", known)));
    return request;
  }

  /// The hold may have ended before because its data were not available, or it is given up before it is ready.
  HoldRelease& release() {
    const std::uint64_t word = log_.word("a hold");
    const auto found = tasks_.find(word >> 1);
    HoldRelease& release = releases_.emplace_back();
    release.data_unused = (word & 1) != 0;
    if (found == tasks_.end()) {
      given_up_.insert(word >> 1);
      return release;
    }
    Task& hold = found->second->task;
    if (hold.by_worker() || !released_.insert(hold.id).second)
      log_.refuse("task " + std::to_string(index(hold.id)) + " is not a hold that can be released");
    release.hold = &hold;
    return release;
  }

  memory::Copy& copy(EventKind kind) {
    const std::uint64_t id = log_.word("a copy");
    const auto found = copies_.find(id);
    if (found == copies_.end())
      log_.refuse("copy " + std::to_string(id) + " was not started or has finished");
    memory::Copy& copy = *found->second;
    copies_.erase(found);
    copy.error_number = 0;
    if (kind == EventKind::copy_failed)
      copy.error_number = static_cast<int>(
          log_.word("error number", static_cast<std::uint64_t>(std::numeric_limits<int>::max())));
    return copy;
  }

  /// Serves one batch exactly as in the run: with this world no other event can arrive. `mark`: the digest in the log.
  void serve(std::uint64_t mark) {
    world_.clear();
    engine_.entrance().enter_blocking(batch_, commands_);
    compare(mark);
    for (memory::Copy* copy : commands_.copies) copies_[copy->id] = copy;
    for (const Task* task : commands_.completions) over_.push_back(static_cast<std::uint64_t>(task->id));
    commands_.clear();
    for (HeldTask* held : in_batch_) held->in_batch = false;
    in_batch_.clear();
    const bool fatal = engine_.fatal() != nullptr;
    for (const std::uint64_t id : over_) {
      auto node = tasks_.extract(id);
      // An engine with a fatal error may still refer to tasks of its last batch.
      if (fatal && !node.empty()) kept_.push_back(std::move(node.mapped()));
    }
    over_.clear();
    answers_.clear();
    others_.clear();
    releases_.clear();
    refreshes_.clear();
    flush_in_batch_ = false;
  }

  void compare(std::uint64_t mark) {
    if (mark == 0) return;  // a log of an older version
    ++compared_;
    const bool has_failed = engine_.stop_reason().stopped();
    if (!difference_.empty() || (mark == engine_.journal().digest().mark() && !has_failed)) return;
    difference_ = "at word " + std::to_string(log_.position()) + ", after event " + std::to_string(events_) +
                  " (" + last_event_.text() + "), this engine differs from that of the run: it " +
                  (has_failed ? "fails" : world_.text(commands_, engine_.memory().topology()));
  }

  LogReader log_;
  const bool durations_known_;                 // in advance: they are in the log
  const std::vector<std::size_t> processors_;  // by worker
  std::deque<std::vector<Duration>> durations_;
  CommandRecorder world_;
  const NullGenerator generator_;
  std::map<std::uint32_t, NullSource> sources_;
  std::deque<CodeletInfo> codelets_;                          // by number
  std::map<std::uint64_t, std::unique_ptr<HeldTask>> tasks_;  // unfinished tasks, by id
  std::vector<std::unique_ptr<HeldTask>> kept_;
  std::map<std::uint64_t, memory::Copy*> copies_;  // in flight, by id
  // The batch that is being read.
  EventChain batch_;
  std::deque<NodeLoss> others_;
  std::deque<HoldRelease> releases_;
  std::deque<SimulationFinished> finished_simulations_;
  std::deque<RefreshRequest> refreshes_;
  std::set<TaskId> released_;
  std::set<std::uint64_t> given_up_;  // holds that were released before they were ready
  std::vector<HeldTask*> in_batch_;
  std::vector<std::uint64_t> over_;
  std::vector<std::uint64_t> answers_;  // to recalls, by worker
  bool flush_in_batch_ = false;
  Commands commands_;
  std::uint64_t events_ = 0, compared_ = 0, next_submission_ = 0, devices_ = 0;
  EventSummary last_event_;
  std::string difference_;
  Engine engine_;  // last: destroyed before the tasks and copies that it refers to
};

}  // namespace

ReplayResult replay(const Topology& topology, std::unique_ptr<Policy> policy, Options options,
                    std::span<const std::uint64_t> words) {
  options.log = false;
  options.reporters = 1;
  return Replayer(topology, std::move(policy), std::move(options), words).run();
}

ReplayResult replay(const LogHead& head, std::unique_ptr<Policy> policy,
                    std::span<const std::uint64_t> words) {
  Options options;
  options.policy_name = head.policy;
  options.seed = head.seed;
  options.pipeline_depth = head.pipeline_depth;
  options.durations = head.durations;
  options.keep_ids = head.keep_ids;
  options.first_bodies = head.first_bodies;
  if (head.has_what_if)
    options.what_if_simulation = [idle = head.idle_cores](const memory::Memory&, const View&,
                                                          const Options::TellOver&) {
      return std::make_unique<LoggedSimulation>(idle);
    };
  if (head.durations_known) options.estimate = [](const Task&, WorkerId) { return Duration{}; };
  return replay(head.topology, std::move(policy), std::move(options), words);
}

}  // namespace fairlead::engine
