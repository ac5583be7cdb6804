// Builds the status report: one line for each task, hold and copy.
#include "engine/status_report.hpp"

#include <fairlead/codelet_info.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "engine/engine.hpp"

namespace fairlead::engine {

namespace {

constexpr std::size_t most_lines = 40;  // more is too long to read

std::string readable(Bytes bytes) {
  if (bytes < 10 * 1024) return fmt::format("{} bytes", bytes);
  if (bytes < (Bytes{10} << 20)) return fmt::format("{:.4g} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

std::string readable(Duration duration) {
  const double seconds = static_cast<double>(duration.count()) * 1e-9;
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

/// Describes one engine. Exists only while the engine's lock is held.
class Describer {
 public:
  Describer(const Engine& engine, const Naming& naming) : engine_(engine), naming_(naming) {}

  std::string text_of(const Task& task) const {
    return fmt::format("{}, {} at {}:{},", call_of(task), traits_of(task.role).verb_in_messages,
                       task.submitted_at.file, task.submitted_at.line);
  }
  /// The codelet with the names of its data.
  std::string call_of(const Task& task) const {
    std::string data;
    for (const Access& access : task.accesses())
      data += (data.empty() ? "" : ", ") + naming_.datum(access.datum);
    const std::string name =
        task.worker == no_id<WorkerId>
            ? task.codelet->name
            : task.codelet->text(engine_.view().workers()[index(task.worker)].kind, task.implementation);
    return fmt::format("{}({})", name, data);
  }
  std::string text_of(const RunningBody& body) const {
    return fmt::format("{}, submitted at {}:{},", call_of(body), body.submitted_at.file,
                       body.submitted_at.line);
  }
  std::string call_of(const RunningBody& body) const {
    std::string data;
    for (std::size_t i = 0; i < std::min(body.data_count, body.data.size()); ++i)
      data += (data.empty() ? "" : ", ") + naming_.datum(body.data[i]);
    if (body.data_count > body.data.size())
      data += fmt::format(" and {} more", body.data_count - body.data.size());
    return fmt::format("{}({})", body.codelet->name, data);
  }
  WorkerStatus status_of(const Pipeline& pipeline, bool in_body) const {
    using enum WorkerStatus::State;
    if (pipeline.tasks.empty()) return {pipeline.present || in_body ? idle : absent};
    const Task& first = pipeline.tasks[0];
    WorkerStatus::State state = waiting_for_memory;
    if (first.state == TaskState::staged)
      state = in_body ? running : pipeline.present ? starting : absent;
    else if (first.state == TaskState::admitted)
      state = waiting_for_data;
    return {state, call_of(first)};
  }
  std::string name_of(NodeId node) const { return memory().topology().nodes[index(node)].name; }
  std::string name_of(WorkerId worker) const {
    return fmt::format("worker {} ({})", index(worker),
                       name_of(engine_.view().workers()[index(worker)].node));
  }
  const memory::Memory& memory() const { return engine_.memory(); }

  Duration age(Time since) const { return std::max(Duration{}, naming_.now - since); }
  Duration expected(const memory::Copy& copy) const { return memory().routes().of(copy).time(copy.bytes); }
  bool late(const memory::Copy& copy) const {
    return age(copy.started) > std::max(late_at_least, expected(copy) * late_factor);
  }
  std::string text_of(const memory::Copy& copy) const {
    const std::string what = fmt::format("{} ({}), ", naming_.datum(copy.datum), readable(copy.bytes));
    const std::string way =
        what + (copy.generator != nullptr ? "made by its generator for " + name_of(copy.to->node)
                                          : fmt::format("on its way from {} to {}", name_of(copy.from->node),
                                                        name_of(copy.to->node)));
    if (copy.state == memory::Copy::State::queued)
      return fmt::format("{}, behind other copies of that link", way);
    if (copy.state == memory::Copy::State::joined) return fmt::format("{}, where it arrives first", way);
    return fmt::format("{} for {}; {} were expected", way, readable(age(copy.started)),
                       readable(expected(copy)));
  }

  const memory::Replica* replica_of(DatumId datum, NodeId node) const {
    if (memory().reaches(node, memory().datum(datum).home.node)) return &memory().datum(datum).home;
    return memory().state().data.find_on(datum, node);
  }

  /// The copies that the admitted task waits for.
  std::string copies_for(const Task& task) const {
    std::string text;
    const auto add = [&](const memory::Copy* copy) {
      if (copy == nullptr || std::ranges::find(copy->waiters.get(), &task) == copy->waiters->end()) return;
      text += "\n    " + text_of(*copy);
    };
    for (const Access& access : task.accesses()) {
      const memory::Replica* replica = replica_of(access.datum, task.node);
      if (replica == nullptr) continue;
      add(replica->arriving);
      for (const memory::Copy* copy = replica->outgoing; copy != nullptr; copy = copy->next_outgoing)
        add(copy);
    }
    return text;
  }

  /// Why the task is not admitted on the node.
  std::string obstacle(const Task& task, NodeId node_id) const {
    Bytes missing = 0;
    for (const Access& access : task.accesses()) {
      const memory::Datum& datum = memory().datum(access.datum);
      if (writes_in_any_order(access.mode) && datum.token_holder != nullptr && memory().waits_for_token(task))
        return fmt::format("waits until {} has changed {}", text_of(*datum.token_holder),
                           naming_.datum(access.datum));
      const memory::Replica* replica = replica_of(access.datum, node_id);
      if (replica == nullptr || replica->state == ReplicaState::absent)
        missing += memory().node(node_id).space->rounded(datum.bytes);
    }
    const memory::MemoryNode& node = memory().node(node_id);
    std::string text =
        fmt::format("waits for memory in {}: it lacks {}. Of {}, {} are free", name_of(node_id),
                    readable(missing), readable(node.space->capacity()), readable(node.space->free_bytes()));
    if (node.leaving_bytes != 0)
      text += fmt::format(", {} are being written back", readable(node.leaving_bytes));
    if (node.claimant == &task) {
      text += "; freed memory goes to it first";
    } else if (node.claimant != nullptr) {
      text += "; the next is " + text_of(*node.claimant);
    }
    for (const Pipeline& pipeline : engine_.pipelines().all())
      for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) {
        const Task& other = pipeline.tasks[i];
        if (other.node != node_id || (other.state != TaskState::admitted && other.state != TaskState::staged))
          continue;
        if (const Bytes pinned = bytes_on(other, node_id); pinned != 0)
          text += fmt::format("\n    {} are used by {}", readable(pinned), text_of(other));
      }
    for (const Task* hold : engine_.pseudo_tasks().granted())
      if (const Bytes held = bytes_on(*hold, node_id); held != 0)
        text += fmt::format("\n    {} are held by the program: {}", readable(held), held_text(*hold));
    return text;
  }

  Bytes bytes_on(const Task& task, NodeId node) const {
    Bytes bytes = 0;
    for (const Access& access : task.accesses()) {
      const memory::Replica* replica = replica_of(access.datum, node);
      if (replica != nullptr && replica->node == node) bytes += replica->block->bytes;
    }
    return bytes;
  }

  /// Why the task is not launched although its data have arrived: it needs several workers, or such a task uses its
  /// worker.
  std::string workers_for(const Task& task) const {
    const SpanScheduler& spans = engine_.gathering();
    if (spans.gathering().task == &task) return missing_workers(spans.gathering());
    std::string text =
        spans.spans_workers(task)
            ? fmt::format("waits until it can have {} workers", spans.width_for(task))
            : fmt::format("waits for {}, which a task of several workers uses", name_of(task.worker));
    for (const Span& span : spans.running())
      text += fmt::format("\n    {} runs on {} of them", text_of(*span.task), span.workers.size());
    const Task* first = spans.gathering().task;
    if (first == nullptr && !spans.waiting().empty()) first = spans.waiting().front();
    if (first != nullptr && first != &task) text += "\n    the next is " + text_of(*first);
    return text;
  }
  std::string missing_workers(const Span& span) const {
    std::string text;
    std::size_t missing = 0, absent = 0;
    for (const WorkerId worker : span.workers) {
      const Pipeline& pipeline = engine_.pipelines()[worker];
      absent += !pipeline.present;
      if (const auto body = engine_.fast_path().body(index(worker))) {
        ++missing;
        text += fmt::format("\n    {} runs {}", name_of(worker), text_of(*body));
      }
      for (std::size_t i = 0; i < pipeline.tasks.size(); ++i)
        if (const Task& other = pipeline.tasks[i]; engine_.gathering().occupies_worker(other)) {
          ++missing;
          const bool runs = naming_.in_body && naming_.in_body(worker);
          text += fmt::format("\n    {} {} {}", name_of(worker), runs ? "runs" : "has", text_of(other));
          break;
        }
    }
    if (missing == 0 && absent == span.workers.size())
      return fmt::format("waits for {}{}, which {} absent", name_of(span.workers.front()),
                         span.workers.size() == 1 ? "" : fmt::format(" and {} more", span.workers.size() - 1),
                         span.workers.size() == 1 ? "is" : "are");
    return fmt::format("waits for {} of {} workers{}", missing, span.workers.size(), text);
  }

  std::string held_text(const Task& hold) const {
    std::string data;
    for (const Access& access : hold.accesses())
      data += fmt::format("{}{} ({})", data.empty() ? "" : ", ", naming_.datum(access.datum),
                          fairlead::name_of(access.mode));
    return fmt::format("{}, acquired at {}:{} {} ago", data, hold.submitted_at.file, hold.submitted_at.line,
                       readable(age(hold.at)));
  }

 private:
  const Engine& engine_;
  const Naming& naming_;
};

}  // namespace

std::string StatusReport::text() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > most_lines) text += fmt::format("  and {} more\n", lines.size() - most_lines);
  return text;
}

StatusReport Engine::situation(const Naming& naming) const {
  const EventQueue::Guard guard{entrance_};
  const Describer describe(*this, naming);
  StatusReport it;
  if (stop_.fatal() != nullptr) {
    it.lines.push_back("the run was stopped by an error that wait() reports");
    return it;
  }
  std::size_t absent = 0;
  for (const WorkerInfo& worker : view_.workers()) {
    const Pipeline& pipeline = pipelines_[worker.id];
    const bool in_body = naming.in_body && naming.in_body(worker.id);
    it.working |= in_body;
    absent += !pipeline.present;
    it.workers.push_back(describe.status_of(pipeline, in_body));
    if (const auto body = fast_path().body(index(worker.id))) {
      it.workers.back() = {WorkerStatus::State::running, describe.call_of(*body)};
      ++it.unfinished;
      it.lines.push_back(describe.text_of(*body) + " runs on " + describe.name_of(worker.id));
    }
    bool first = true;
    for (std::size_t i = 0; i < pipeline.tasks.size(); ++i) {
      const Task& task = pipeline.tasks[i];
      ++it.unfinished;
      const bool asynchronous = task.state == TaskState::staged &&
                                task.codelet->for_kind(worker.kind, task.implementation).asynchronous;
      std::string line = describe.text_of(task) + " ";
      switch (task.state) {
        case TaskState::staged:
          if (in_body && first) {
            line += "runs on " + describe.name_of(worker.id);
            if (task.workers_wanted != 0 && task.width > 1)
              line += fmt::format(" and {} more", task.width - 1);
          } else if (!pipeline.present) {
            line +=
                fmt::format("waits for {}, which is absent{}", describe.name_of(worker.id),
                            index(worker.id) == 0 ? ": the program's thread works only while it waits" : "");
          } else if (asynchronous && !in_body) {
            line += fmt::format(
                "was started on {}; its body has returned, but its Completion has not been signalled",
                describe.name_of(worker.id));
          } else {
            line += "is next on " + describe.name_of(worker.id);
          }
          first = false;
          break;
        case TaskState::admitted:
          line += task.has(TaskFlag::deferred) ? describe.workers_for(task)
                                               : "waits for data:" + describe.copies_for(task);
          break;
        default:
          line += describe.obstacle(task, worker.node);
          break;
      }
      it.lines.push_back(std::move(line));
    }
  }
  it.application_waits = !pipelines_.all().empty() && pipelines_.all()[0].present;
  for (const Task* task : pseudo_tasks_.waiting()) {
    ++it.unfinished;
    it.lines.push_back(describe.text_of(*task) + " " + describe.obstacle(*task, view_.host()));
  }
  for (const Task* task : pseudo_tasks_.arriving()) {
    ++it.unfinished;
    it.lines.push_back(describe.text_of(*task) + " waits for data:" + describe.copies_for(*task));
  }
  for (const Task* hold : pseudo_tasks_.granted()) {
    it.unfinished += it.application_waits;  // a program that does not wait may keep its holds
    it.lines.push_back("the program holds " + describe.held_text(*hold));
  }
  memory_.transfers().for_each([&](const memory::Copy& copy) {
    const bool in_flight = copy.state == memory::Copy::State::in_flight;
    it.unfinished += in_flight && copy.cause != memory::Cause::prefetch;
    it.working |= in_flight && !describe.late(copy);
    // copies with waiters are listed with their tasks
    if (copy.waiters->empty() && in_flight)
      it.lines.push_back(
          fmt::format("a copy ({}) of {}", memory::name_of(copy.cause), describe.text_of(copy)));
  });
  if (const std::size_t ready = dispatcher_.held_by_policy() + fast_path().queued(); ready != 0) {
    it.unfinished += ready;
    std::string line = ready == 1 ? std::string("1 task is ready and waits for its turn")
                                  : fmt::format("{} tasks are ready and wait for their turn", ready);
    line += " (" + options_.policy_name + ")";
    if (absent != 0 && !it.working) {
      line += "; absent workers:";
      for (const WorkerInfo& worker : view_.workers())
        if (!pipelines_[worker.id].present) line += "\n    " + describe.name_of(worker.id);
    }
    it.lines.push_back(std::move(line));
  }
  return it;
}

}  // namespace fairlead::engine
