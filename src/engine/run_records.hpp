// The records of a run: the log of the engine's input, the digest of its commands, and the trace records from which
// reports are made.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "engine/event_log.hpp"
#include "engine/options.hpp"
#include "engine/pipelines.hpp"
#include "memory/memory.hpp"
#include "policy/view.hpp"
#include "trace/tracer.hpp"

namespace fairlead::engine {

/// Under the engine's lock. The tracer's task rings belong to the threads that finish tasks.
class RunRecords {
 public:
  RunRecords(const Topology& topology, const Options& options);

  // ---- input, in the order in which it is served

  bool logs() const noexcept { return logs_; }
  void event(const Event& event) {
    if (logs()) write(event);
  }
  void datum(const memory::DatumSpec& spec) {
    if (logs()) log_.datum(spec);
  }
  void removal(DatumId id) {
    if (logs()) log_.removal(id);
  }
  void refresh_put_off(DatumId id, bool put_off) {
    if (logs()) log_.refresh_put_off(id, put_off);
  }
  void advice(DatumId id, int device) {
    if (logs()) log_.advice(id, device);
  }
  void submission(const Task& task);
  void horizon_closed() {
    if (logs()) log_.horizon_closed();
  }
  void all_submitted() {
    if (logs()) log_.all_submitted();
  }
  void cancellation(std::uint32_t source) {
    if (logs()) log_.cancellation(source);
  }
  /// The events before this call were served together, then workers were given tasks.
  void served() {
    if (logs()) log_.served(digest_.mark());
  }
  const EventLog& log() const noexcept { return log_; }

  // ---- commands

  void launched(const Task& task, unsigned implementation) noexcept {
    digest_.add(CommandDigest::Kind::launch, number(task), index(task.worker), implementation);
  }
  void recalled(const Task& task) noexcept {
    digest_.add(CommandDigest::Kind::recall, number(task), index(task.worker));
  }
  void stands_aside(WorkerId worker, const Task& task) noexcept {
    digest_.add(CommandDigest::Kind::stand_aside, number(task), index(worker));
  }
  void granted(const Task& hold) noexcept { digest_.add(CommandDigest::Kind::grant, number(hold), 0); }
  void completed(const Task& task, std::uint64_t how) noexcept {
    digest_.add(CommandDigest::Kind::complete, number(task), how);
  }
  void copy_started(const memory::Copy& copy) noexcept {
    digest_.add(CommandDigest::Kind::start_copy, (copy.id << 32) | index(copy.datum),
                (index(copy.from->node) << 16) | index(copy.to->node),
                copy.to->block->offset ^ (copy.via == nullptr ? 0 : ~copy.via->block->offset));
  }
  void stopped(DatumId datum, int error) noexcept {
    digest_.add(CommandDigest::Kind::stop, index(datum), static_cast<std::uint64_t>(error));
  }
  const CommandDigest& digest() const noexcept { return digest_; }

  // ---- trace records

  /// Null: recording is disabled.
  trace::Tracer* tracer() const noexcept { return tracer_.get(); }
  bool records() const noexcept { return tracer_ != nullptr; }
  /// Call the next three functions only if records() is true.
  void copy_over(const memory::Copy& copy, const memory::Routes& routes);
  void memory_at(Time now, const memory::Memory& memory, std::span<const NodeInfo> caches);
  void idle(WorkerId worker, const Pipelines::Idle& idle);

 private:
  static std::uint64_t number(const Task& task) noexcept { return static_cast<std::uint64_t>(task.id); }
  void write(const Event& event);
  void durations(const Task& task);

  const bool logs_;
  EventLog log_;
  CommandDigest digest_;
  const std::unique_ptr<trace::Tracer> tracer_;
  const std::function<Duration(const Task&, WorkerId)> estimate_;  // see Options
  std::vector<std::size_t> processors_;  // EventLog::processors_of the machine, if there is a log
  std::vector<WorkerKind> kinds_;        // by WorkerId
};

}  // namespace fairlead::engine
