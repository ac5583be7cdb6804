// A discrete-event loop. A link serves its copies one after the other, both directions together.
#include "backend/sim/sim_world.hpp"

#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <algorithm>
#include <cerrno>
#include <string>

namespace fairlead::backend {

SimWorld::SimWorld(SimOptions options) : options_(std::move(options)), random_(options_.seed) {}

void SimWorld::begin(engine::Engine& engine, graph::Graph&, engine::Reporter& application) {
  engine_ = &engine;
  application_ = &application;
  workers_.resize(engine.workers().size());
  idle_workers_ = workers_.size();
  link_free_at_.resize(engine.memory().topology().links.size());
  arrivals_.resize(workers_.size());
  for (std::size_t i = 0; i < arrivals_.size(); ++i) {
    arrivals_[i].kind = EventKind::worker_arrived;
    arrivals_[i].worker = static_cast<WorkerId>(i);
    application.add(arrivals_[i]);
  }
  application.serve();
}

Duration SimWorld::with_noise(Duration duration) {
  if (options_.noise_percent == 0) return duration;
  const auto noise = static_cast<std::int64_t>(options_.noise_percent);
  return Duration(duration.count() * (100 + random_.between(-noise, noise)) / 100);
}

void SimWorld::schedule(Happening happening) {
  happening.order = scheduled_++;
  future_.push(happening);
}

void SimWorld::launch(WorkerId id, Task& task) {
  Worker& worker = workers_[index(id)];
  worker.staged.push_back(&task);
  if (worker.running == nullptr) {
    --idle_workers_;
    start_next(id);
  }
}

void SimWorld::recall(WorkerId id, Task& task) {
  Worker& worker = workers_[index(id)];
  const auto it = std::ranges::find(worker.staged, &task);
  const bool refused = it == worker.staged.end() || (options_.recall_refused_once_in != 0 &&
                                                     random_.once_in(options_.recall_refused_once_in));
  if (!refused) worker.staged.erase(it);
  Event& answer = refused ? worker.refusal : task;
  answer.kind = refused ? EventKind::recall_refused : EventKind::task_returned;
  answer.worker = id;
  answer.at = now_;
  EventChain chain;
  chain.append(answer);
  engine_->post(chain);
}

void SimWorld::start_next(WorkerId id) {
  Worker& worker = workers_[index(id)];
  worker.running = worker.staged.front();
  worker.staged.pop_front();
  worker.started = now_;
  if (options_.on_start) options_.on_start(*worker.running, id);
  const Duration duration =
      with_noise(options_.duration ? options_.duration(*worker.running, id) : Duration(1000));
  schedule({now_ + duration, 0, Happening::Kind::task_ends, id, nullptr});
}

void SimWorld::start(memory::Copy& copy) {
  const LinkSpec& link = engine_->memory().topology().links[index(copy.link)];
  Time& free_at = link_free_at_[index(copy.link)];
  const auto transfer =
      Duration(static_cast<std::int64_t>(static_cast<double>(copy.bytes) * 1e9 / link.bytes_per_second));
  Duration duration = with_noise(transfer);
  if (options_.copy_stalls_once_in != 0 && random_.once_in(options_.copy_stalls_once_in)) duration *= 100;
  free_at = std::max(free_at, now_) + duration;
  if (options_.on_copy_start) options_.on_copy_start(copy);
  copy.at = now_;
  schedule({free_at + link.latency, 0, Happening::Kind::copy_ends, no_id<WorkerId>, &copy});
}

void SimWorld::happen(const Happening& happening) {
  ++events_;
  now_ = happening.at;
  if (happening.kind == Happening::Kind::copy_ends) {
    memory::Copy& copy = *happening.copy;
    const bool home = copy.cause == memory::Cause::eviction || copy.cause == memory::Cause::flush;
    const auto rate = home ? options_.write_back_fails_once_in : options_.copy_fails_once_in;
    const bool fails =
        (rate != 0 && random_.once_in(rate)) || (options_.copy_fails && options_.copy_fails(copy));
    copy.kind = fails ? EventKind::copy_failed : EventKind::copy_finished;
    copy.error_number = fails ? EIO : 0;
    copy.duration = now_ - copy.at;
    copy.at = now_;
    if (options_.on_copy) options_.on_copy(copy, !fails);
    application_->add(copy);
    application_->serve();
    return;
  }
  Worker& worker = workers_[index(happening.worker)];
  Task& task = *worker.running;
  bool fails = (options_.task_fails_once_in != 0 && random_.once_in(options_.task_fails_once_in)) ||
               (options_.task_fails && options_.task_fails(task));
  if (fails) {
    task.failure = std::make_exception_ptr(Error("a planted failure"));
  } else if (options_.run_bodies) {
    try {
      TaskContext context{&task, happening.worker, nullptr};
      task.codelet->run(*task.codelet, context);
    } catch (...) {
      task.failure = std::current_exception();
      fails = true;
    }
  }
  if (options_.on_end) options_.on_end(task, happening.worker, !fails);
  application_->finished(task, now_, now_ - worker.started);
  worker.running = nullptr;
  if (worker.staged.empty()) {
    ++idle_workers_;
  } else {
    start_next(happening.worker);
  }
  application_->report();
}

void SimWorld::help(const std::function<bool()>& done) {
  application_->serve();
  while (!done()) {
    if (stopped_ && engine_->fatal() != nullptr) return;  // whoever waits finds out why
    if (options_.most_events != 0 && events_ >= options_.most_events)
      throw Error("internal: what is waited for did not happen within " + std::to_string(events_) +
                  " simulated events");
    if (future_.empty()) {
      if (stopped_) return;
      throw Error("internal: the simulation has nothing left to happen, but what is waited for did not");
    }
    const Happening next = future_.top();
    future_.pop();
    happen(next);
  }
}

}  // namespace fairlead::backend
