// The discrete-event loop of the simulator.
#include "backend/sim/sim_world.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <string>

namespace fairlead::backend {

SimWorld::SimWorld(SimOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      timeline_(options_.timeline != nullptr ? *options_.timeline : own_timeline_),
      number_(timeline_.join(*this)) {
  own_timeline_.stop_on(options_.stop_requested);
}

void SimWorld::activate(engine::Engine& engine, graph::DependencyGraph&, engine::EngineClient& application) {
  engine_ = &engine;
  addresses_ = Addresses(engine.memory().topology());
  application_ = &application;
  workers_.resize(engine.view().workers().size());
  idle_workers_ = workers_.size();
  wires_ = make_wires();
  if (is_managed(options_.memory_model)) page_driver_ = make_page_driver();
  mapped_traffic_.resize(engine.memory().topology().links.size());
  arrivals_.resize(workers_.size());
  for (std::size_t i = 0; i < arrivals_.size(); ++i) {
    arrivals_[i].kind = EventKind::worker_available;
    arrivals_[i].worker = static_cast<WorkerId>(i);
    application.add(arrivals_[i]);
  }
  for (const WorkerLoss& loss : options_.lost) schedule({loss.at, 0, loss.worker, nullptr, nullptr, true});
  if (!options_.lost_devices.empty()) {
    ends_.resize(engine.memory().topology().nodes.size());
    lost_since_.resize(ends_.size(), Time::max());
  }
  application.serve();
}

Duration SimWorld::with_noise(Duration duration) {
  if (options_.noise_percent == 0) return duration;
  const auto noise = static_cast<std::int64_t>(options_.noise_percent);
  return Duration(duration.count() * (100 + random_.between(-noise, noise)) / 100);
}

/// The duration from now on of work that takes `alone` at full speed. Splits the work at each change of the worker's
/// speed.
Duration SimWorld::slowed(WorkerId worker, Duration alone) const {
  Time at = timeline_.now();
  auto left = static_cast<double>(alone.count());
  for (;;) {
    double times = 1;
    Time change = Time::max();
    for (const WorkerSlowdown& slow : options_.slow) {
      if (slow.worker != worker || at >= slow.until) continue;
      if (at >= slow.from) times *= slow.times;
      change = std::min(change, at < slow.from ? slow.from : slow.until);
    }
    const Duration takes(std::llround(left * times));
    if (change == Time::max() || takes <= change - at) return at - timeline_.now() + takes;
    left -= static_cast<double>((change - at).count()) / times;
    at = change;
  }
}

void SimWorld::schedule(TimedEvent happening) {
  happening.order = scheduled_++;
  future_.push(happening);
  timeline_.changed(number_);
}

void SimWorld::after(Duration time, std::function<void()> call) {
  schedule({timeline_.now() + time, 0, no_id<WorkerId>, nullptr, nullptr, false, false,
            &calls_.emplace_back(std::move(call))});
}

void SimWorld::launch(WorkerId id, Task& task) {
  Worker& worker = workers_[index(id)];
  if (worker.aside_for != nullptr && worker.aside_for != &task)
    throw Error("internal: a task was launched on a worker that stands aside for another one");
  const bool idle = worker.running == nullptr && !worker.lost && !is_on_lost_device(id) &&
                    !(worker.waiting_for_core && !worker.staged.empty());
  worker.staged.push_back(&task);
  if (page_driver_) page_driver_->given(task, engine_->view().workers()[index(id)].node);
  if (!idle) return;
  --idle_workers_;
  start_when_free(id);
}

void SimWorld::recall(WorkerId id, Task& task) {
  Worker& worker = workers_[index(id)];
  const auto it = std::ranges::find(worker.staged, &task);
  const bool begins_nothing = worker.lost || is_on_lost_device(id);
  const bool refused =
      it == worker.staged.end() || (options_.recall_refused_once_in != 0 && !begins_nothing &&
                                    random_.once_in(options_.recall_refused_once_in));
  if (refused) {
    if (it != worker.staged.end()) worker.recall_refused.push_back(&task);
    return engine_->entrance().post(worker.refusal, EventKind::recall_refused, id, timeline_.now());
  }
  worker.staged.erase(it);
  if (worker.waiting_for_core && !worker.lost && worker.staged.empty()) ++idle_workers_;
  engine_->entrance().post(task, EventKind::task_returned, id, timeline_.now());
}

void SimWorld::span_formed(Task& task, std::span<const WorkerId> workers) {
  for (const WorkerId id : workers) {
    Worker& worker = workers_[index(id)];
    if (worker.running != nullptr || !worker.staged.empty() || worker.aside_for != nullptr)
      throw Error("internal: a worker of a task of several workers is not idle");
    worker.aside_for = &task;
  }
}

void SimWorld::span_released(std::span<const WorkerId> workers) {
  for (const WorkerId id : workers) {
    workers_[index(id)].aside_for = nullptr;
    lose_if_free(id);
  }
}

void SimWorld::lose_if_free(WorkerId id) {
  Worker& worker = workers_[index(id)];
  if (!worker.leaves || worker.lost || worker.running != nullptr || worker.aside_for != nullptr) return;
  if (!worker.recall_refused.empty()) return;
  worker.lost = true;
  if (worker.staged.empty()) --idle_workers_;
  engine_->entrance().post(worker.loss, EventKind::worker_lost, id, timeline_.now());
}

bool SimWorld::is_on_lost_device(WorkerId worker) const {
  return lost_since(engine_->view().workers()[index(worker)].node) != Time::max();
}

/// Work that started before the loss may have completed before it, and is only reported late.
bool SimWorld::fails_by_loss(NodeId node, Time begun) {
  const Time since = lost_since(node);
  return since != Time::max() && (begun >= since || !random_.once_in(4));
}

std::exception_ptr SimWorld::loss_of(NodeId node) const {
  return std::make_exception_ptr(DeviceLostError(
      "the device \"" + engine_->memory().topology().nodes[index(node)].name + "\" is lost: a planted loss"));
}

void SimWorld::count_completion(NodeId node) {
  if (ends_.empty()) return;
  const std::uint64_t ends = ++ends_[index(node)];
  for (const DeviceLoss& loss : options_.lost_devices)
    if (loss.node == node && loss.after == ends) lose(node);
}

/// Tasks whose recall was refused have not started and are not recalled again: they end as well.
void SimWorld::lose(NodeId node) {
  lost_since_[index(node)] = now();
  NodeLoss& event = losses_.emplace_back();
  event.kind = EventKind::node_lost;
  event.at = now();
  event.node = node;
  event.driver_error = "a planted loss";
  application_->add(event);
  application_->serve();
  for (const WorkerInfo& info : engine_->view().workers()) {
    if (info.node != node) continue;
    Worker& worker = workers_[index(info.id)];
    worker.leaves = true;
    for (const Task* const promised : std::exchange(worker.recall_refused, {})) {
      const auto it = std::ranges::find(worker.staged, promised);
      Task& task = **it;
      worker.staged.erase(it);
      if (worker.waiting_for_core && worker.staged.empty()) ++idle_workers_;
      task.failure = loss_of(node);
      application_->finished(task, now(), Duration{});
    }
    lose_if_free(info.id);
  }
  application_->report();
}

void SimWorld::start_when_free(WorkerId id) {
  if (!options_.free_from) return start_next(id);
  if (std::exchange(workers_[index(id)].waiting_for_core, true)) return;
  schedule({timeline_.now(), 0, id, nullptr, nullptr, false, true});
}

void SimWorld::may_be_free(WorkerId id) {
  Worker& worker = workers_[index(id)];
  worker.waiting_for_core = false;
  if (worker.staged.empty() || worker.lost || is_on_lost_device(id)) return;
  const Time free = options_.free_from(id);
  if (free <= timeline_.now()) return start_next(id);
  worker.waiting_for_core = true;
  schedule({free, 0, id, nullptr, nullptr, false, true});
}

void SimWorld::start_next(WorkerId id) {
  Worker& worker = workers_[index(id)];
  worker.running = worker.staged.front();
  std::erase(worker.recall_refused, worker.running);
  worker.staged.pop_front();
  worker.started = timeline_.now();
  worker.parts = 1;
  if (options_.on_start) options_.on_start(*worker.running, id);
  if (page_driver_)
    return page_driver_->touch(*worker.running, id, engine_->view().workers()[index(id)].node);
  if (options_.memory_model == MemoryModel::host_mapped) use_mapped(*worker.running, id);
  compute(id);
}

void SimWorld::compute(WorkerId id) {
  const Worker& worker = workers_[index(id)];
  Duration duration =
      with_noise(options_.duration ? options_.duration(*worker.running, id) : Duration(1000)) /
      (worker.running->workers_wanted == 0 ? 1 : worker.running->width);
  if (!options_.slow.empty()) duration = slowed(id, duration);
  if (options_.decision_time) duration += options_.decision_time(id);
  if (options_.task_hangs && options_.task_hangs(*worker.running)) return;
  if (!shares_processor(id)) return schedule({timeline_.now() + duration, 0, id, nullptr});
  const unsigned taken = engine_->memory().topology().workers[index(id)].cores_used();
  const std::array<SharedLinks::Crossing, 2> crossed{
      SharedLinks::Crossing(
          first_processor_ + static_cast<SharedLinks::LinkIndex>(shared().processor_of_worker[index(id)]),
          taken),
      first_worker_ + static_cast<SharedLinks::LinkIndex>(index(id))};
  put_on_wires(static_cast<Bytes>(duration.count()), crossed, {.copy = nullptr, .worker = id});
}

/// The kernel's inputs and outputs cross the links while it computes; nothing stays on the device.
void SimWorld::use_mapped(const Task& task, WorkerId id) {
  const memory::Memory& memory = engine_->memory();
  const NodeId node = engine_->view().workers()[index(id)].node;
  const Topology& topology = memory.topology();
  if (topology.has_kind(node, MemoryKind::host)) return;
  for (const bool to_device : {true, false}) {
    Bytes bytes = 0;
    for (const Access& access : task.accesses())
      if (to_device ? reads(access.mode) : writes(access.mode))
        bytes += memory.datum(memory.target(access)).bytes;
    if (bytes == 0) continue;
    const NodeId host = topology.user_memory();
    std::vector<SharedLinks::Crossing> crossed;
    for (const RouteStep& leg :
         memory.routes().between(to_device ? host : node, to_device ? node : host).legs) {
      cross(leg, crossed);
      memory::LinkTraffic& traffic = mapped_traffic_[index(leg.link)];
      auto& count =
          (to_device ? traffic.from_home : traffic.to_home)[static_cast<std::size_t>(memory::Cause::demand)];
      count.bytes += bytes;
      ++count.copies;
    }
    ++workers_[index(id)].parts;
    put_on_wires(bytes, crossed, {.copy = nullptr, .worker = id});
  }
}

std::unique_ptr<PageDriver> SimWorld::make_page_driver() {
  return std::make_unique<PageDriver>(
      options_.memory_model, options_.unified_memory, engine_->memory(), options_.has_value,
      PageDriver::World{
          .wait =
              [this](Duration time, PageDriver::Request& request) {
                schedule({timeline_.now() + with_noise(time), 0, no_id<WorkerId>, nullptr, &request});
              },
          .transfer =
              [this](Bytes bytes, std::span<const RouteStep> legs, PageDriver::Request& request) {
                std::vector<SharedLinks::Crossing> crossed;
                for (const RouteStep& leg : legs) cross(leg, crossed);
                put_on_wires(bytes, crossed, {nullptr, no_id<WorkerId>, &request});
              },
          .go_on =
              [this](WorkerId id) {
                stalled_ += timeline_.now() - workers_[index(id)].started;
                compute(id);
              }});
}

void SimWorld::bring_home() {
  if (!page_driver_) return;
  page_driver_->bring_home();
  wait([this] { return page_driver_->idle(); });
}

/// First the sum of the latencies passes; then the copy has its fair share of all its links, at the rate of the
/// slowest.
void SimWorld::start(memory::Copy& copy) {
  if (options_.on_copy_start) options_.on_copy_start(copy);
  copy.at = timeline_.now();
  if (options_.copy_hangs && options_.copy_hangs(copy)) return;
  Duration latency{};
  for (const RouteStep& leg : engine_->memory().routes().of(copy).legs)
    latency += engine_->memory().topology().links[index(leg.link)].latency;
  if (latency > Duration{})
    schedule({timeline_.now() + latency, 0, no_id<WorkerId>, &copy});
  else
    begin(copy);
}

void SimWorld::carry(Bytes bytes, NodeId from, NodeId to, std::function<void()> then) {
  std::vector<SharedLinks::Crossing> crossed;
  for (const RouteStep& leg : engine_->memory().routes().between(from, to).legs) cross(leg, crossed);
  put_on_wires(bytes, crossed, {.then = std::move(then)});
}

SharedLinks SimWorld::make_wires() {
  const Topology& topology = engine_->memory().topology();
  std::vector<double> bytes_per_second;
  const auto add = [&](const Bandwidth& each) {
    bytes_per_second.push_back(each.out);
    bytes_per_second.push_back(each.in);
  };
  for (const LinkSpec& link : topology.links) add(link.bytes_per_second);
  for (const BusSpec& bus : topology.buses) add(bus.bytes_per_second);
  constexpr double alone = 1e9;  // nanoseconds of work per second
  first_processor_ = static_cast<SharedLinks::LinkIndex>(bytes_per_second.size());
  for (const double together : shared().concurrent_throughput) bytes_per_second.push_back(together * alone);
  first_worker_ = static_cast<SharedLinks::LinkIndex>(bytes_per_second.size());
  bytes_per_second.insert(bytes_per_second.end(), shared().processor_of_worker.size(), alone);
  return SharedLinks(std::move(bytes_per_second));
}

void SimWorld::cross(const RouteStep& leg, std::vector<SharedLinks::Crossing>& out) const {
  const Topology& topology = engine_->memory().topology();
  const LinkSpec& link = topology.links[index(leg.link)];
  const auto add = [&](std::size_t place, const Bandwidth& each, bool duplex, bool away) {
    const auto wire = static_cast<SharedLinks::LinkIndex>(2 * place);
    if (duplex)
      out.emplace_back(away ? wire : wire + 1);
    else
      out.emplace_back(wire, each.out / each.of(away));
  };
  add(index(leg.link), link.bytes_per_second, link.duplex, leg.outward);
  for (const BusUse& use : link.buses) {
    const BusSpec& bus = topology.buses[use.bus];
    add(topology.links.size() + use.bus, bus.bytes_per_second, bus.duplex, leg.outward != use.reversed);
  }
}

void SimWorld::begin(memory::Copy& copy) {
  std::vector<SharedLinks::Crossing> crossed;
  for (const RouteStep& leg : engine_->memory().routes().of(copy).legs) cross(leg, crossed);
  Bytes bytes = copy.bytes;
  if (options_.noise_percent != 0)
    bytes = static_cast<Bytes>(with_noise(Duration(static_cast<std::int64_t>(bytes))).count());
  if (options_.copy_stalls_once_in != 0 && random_.once_in(options_.copy_stalls_once_in)) bytes *= 100;
  put_on_wires(bytes, crossed, {&copy, no_id<WorkerId>, nullptr});
}

void SimWorld::put_on_wires(Bytes amount, std::span<const SharedLinks::Crossing> crossed, InFlight what) {
  const SharedLinks::CopyNumber number = wires_.begin(amount, crossed, timeline_.now());
  if (number >= on_wires_.size()) on_wires_.resize(number + 1);
  on_wires_[number] = std::move(what);
  timeline_.changed(number_);
}

const SharedProcessors& SimWorld::shared() const { return engine_->memory().topology().shared; }

bool SimWorld::shares_processor(WorkerId id) const {
  const std::vector<std::size_t>& processors = shared().processor_of_worker;
  return !processors.empty() && std::ranges::count(processors, processors[index(id)]) > 1;
}

void SimWorld::transfer_completed(const SharedLinks::End& end) {
  wires_.end(end.copy, timeline_.now());
  const InFlight what = std::exchange(on_wires_[end.copy], {});
  if (what.then) return what.then();
  if (what.pages != nullptr) return page_driver_->resume(*what.pages);
  what.copy != nullptr ? copy_ends(*what.copy) : part_completed(what.worker);
}

void SimWorld::part_completed(WorkerId id) {
  if (--workers_[index(id)].parts == 0) task_ends(id);
}

void SimWorld::copy_ends(memory::Copy& copy) {
  count_completion(copy.from->node);
  count_completion(copy.to->node);
  const bool home = copy.cause == memory::Cause::eviction || copy.cause == memory::Cause::flush;
  const auto rate = home ? options_.write_back_fails_once_in : options_.copy_fails_once_in;
  const bool loses = fails_by_loss(copy.from->node, copy.at) || fails_by_loss(copy.to->node, copy.at);
  const bool fails =
      loses || (rate != 0 && random_.once_in(rate)) || (options_.copy_fails && options_.copy_fails(copy));
  copy.kind = fails ? EventKind::copy_failed : EventKind::copy_finished;
  copy.error_number = fails ? EIO : 0;
  copy.duration = timeline_.now() - copy.at;
  copy.at = timeline_.now();
  if (options_.on_copy) options_.on_copy(copy, !fails);
  application_->add(copy);
  reported_late_ =
      options_.copy_reported_late_once_in != 0 && random_.once_in(options_.copy_reported_late_once_in);
  if (!reported_late_) application_->serve();
}

/// Runs the body. True if the task is asynchronous and completes later.
bool SimWorld::run_body(Task& task, WorkerId id) {
  const Team team(task.workers_wanted == 0 ? 1 : task.width, {});
  TaskContext context{&task, id, this, &team};
  const Implementation& body =
      task.codelet->for_kind(engine_->view().workers()[index(id)].kind, task.implementation);
  addresses_.resolve(task);
  asynchronous_ += body.asynchronous;  // before the call: the task may complete before its body returns
  try {
    body.run(body.body.get(), context);
    return body.asynchronous;
  } catch (...) {
    task.failure = std::current_exception();
    asynchronous_ -= body.asynchronous;
    return false;
  }
}

void SimWorld::task_ends(WorkerId id) {
  Worker& worker = workers_[index(id)];
  Task& task = *worker.running;
  const NodeId node = engine_->view().workers()[index(id)].node;
  count_completion(node);
  const bool fails = (options_.task_fails_once_in != 0 && random_.once_in(options_.task_fails_once_in)) ||
                     (options_.task_fails && options_.task_fails(task));
  bool goes_on = false;
  if (fails_by_loss(node, worker.started)) {
    task.failure = loss_of(node);
  } else if (fails) {
    task.failure = std::make_exception_ptr(Error("a planted failure"));
  } else if (options_.run_bodies) {
    task.at = worker.started;
    goes_on = run_body(task, id);
  }
  if (!goes_on) {
    if (options_.on_end) options_.on_end(task, id, task.failure == nullptr);
    application_->finished(task, now(), now() - worker.started);
  }
  worker.running = nullptr;
  if (worker.staged.empty()) ++idle_workers_;
  lose_if_free(id);
  if (!worker.staged.empty() && !worker.lost && !is_on_lost_device(id)) start_when_free(id);
  application_->report();
}

void SimWorld::end_asynchronous(Task& task, std::exception_ptr failure) noexcept {
  const std::lock_guard guard(signalled_mutex_);  // notify under the lock: the woken thread may destroy this
                                                  // object
  signalled_.push_back({&task, std::move(failure)});
  any_signalled_.store(true);
  signal_came_.notify_one();
}

bool SimWorld::apply_signalled() {
  if (!any_signalled_.load()) return false;
  std::vector<Signalled> over;
  {
    const std::lock_guard guard(signalled_mutex_);
    over.swap(signalled_);
    any_signalled_.store(false);
  }
  for (Signalled& one : over) {
    --asynchronous_;
    one.task->failure = std::move(one.failure);
    if (options_.on_end) options_.on_end(*one.task, one.task->worker, one.task->failure == nullptr);
    application_->finished(*one.task, now(), now() - one.task->at);
    application_->report();
  }
  return true;
}

Time SimWorld::next() const noexcept {
  const Time landing = wires_.next().at;
  const Time other = future_.empty() ? Time::max() : future_.top().at;
  const Time first = std::min(landing, other);
  return first == Time::max() && reported_late_ ? timeline_.now() : first;
}

bool SimWorld::step() {
  if (future_.empty() && wires_.idle()) {
    if (!std::exchange(reported_late_, false)) return false;
    application_->serve();
    return true;
  }
  ++events_;
  const SharedLinks::End landing = wires_.next();
  if (future_.empty() || (!wires_.idle() && landing.at <= future_.top().at)) {
    timeline_.reaches(landing.at);
    transfer_completed(landing);
    return true;
  }
  const TimedEvent happening = future_.top();
  future_.pop();
  timeline_.reaches(happening.at);
  if (happening.call != nullptr) {
    (*happening.call)();
    application_->serve();
  } else if (happening.loss) {
    workers_[index(happening.worker)].leaves = true;
    lose_if_free(happening.worker);
    application_->serve();
  } else if (happening.kept) {
    may_be_free(happening.worker);
  } else if (happening.pages != nullptr) {
    page_driver_->resume(*happening.pages);
  } else {
    happening.copy != nullptr ? begin(*happening.copy) : part_completed(happening.worker);
  }
  return true;
}

void SimWorld::wait(const std::function<bool()>& done) {
  application_->serve();
  while (!done()) {
    if (stopped_ && engine_->fatal() != nullptr) return;  // the waiting thread reports the error
    if (options_.most_events != 0 && events_ >= options_.most_events)
      throw Error("internal: the awaited condition is false after " + std::to_string(events_) +
                  " simulated events");
    if (apply_signalled() || timeline_.step()) continue;
    if (stopped_) return;
    if (asynchronous_ != 0) {
      std::unique_lock lock(signalled_mutex_);
      signal_came_.wait(lock, [this] { return any_signalled_.load(); });
      continue;
    }
    throw Error("internal: the simulation has no more events, but the awaited condition is false\n" +
                engine_
                    ->situation({.datum = [](DatumId id) { return "datum " + std::to_string(index(id)); },
                                 .in_body = [this](WorkerId id) { return in_body(id); },
                                 .now = now()})
                    .text());
  }
  // The result must be stable: callers test it again after true.
  if (!done()) throw Error("internal: the awaited condition was true only temporarily");
}

}  // namespace fairlead::backend
