// The components of a runtime: the machine plan, memory, spill file, workers, core, and the watchdog.
#pragma once
#include <fmt/format.h>
#include <algorithm>
#include <exception>
#include <fairlead/error.hpp>
#include <fairlead/runtime.hpp>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include "backend/arena.hpp"
#include "backend/backend.hpp"
#include "backend/disk/checksums.hpp"
#include "backend/disk/disk.hpp"
#include "backend/disk/spill_file.hpp"
#include "base/log.hpp"
#include "base/pages.hpp"
#include "config/value.hpp"
#include "data/output/output_file.hpp"
#include "engine/task_footprint.hpp"
#include "engine/trace_snapshot.hpp"
#include "front/checkpoint/checkpoint_settings.hpp"
#include "front/checkpoint/checkpointer.hpp"
#include "front/flow/flow_file_writer.hpp"
#include "front/live/live_run.hpp"
#include "front/ranks/rank_context.hpp"
#include "front/runtime/block_collection.hpp"
#include "front/runtime/machine_plan.hpp"
#include "front/runtime/partial_spaces.hpp"
#include "front/runtime/running_world.hpp"
#include "front/runtime/scheduler_setting.hpp"
#include "front/runtime/single_data.hpp"
#include "front/runtime/sizes.hpp"
#include "front/runtime/stored_bytes.hpp"
#include "front/runtime/tile_collection.hpp"
#include "front/runtime/virtual_time.hpp"
#include "front/runtime/watchdog.hpp"
#include "front/what_if/simulation_runners.hpp"
#include "machine/system_files.hpp"
#include "schedule/policies.hpp"

namespace fairlead {

// Divisor of the pool's size: limit for partial results of data in user memory, which lie outside the pool like these.
inline constexpr Bytes most_for_partials = 16;

inline bool is_set(const Config& config, std::string_view key) {
  for (const SettingReport& row : config.report())
    if (row.setting.key == key) return row.origin != Origin::default_value;
  return false;
}

class Runtime::Implementation {
 public:
  Implementation(const Config& config, Bytes reserved, const backend::Backends& backends)
      : clock(front::VirtualTimeBackend::clock_in(backends)),
        plan(front::plan_of(config, reserved, backends)),
        chosen_policy(config.has("scheduler") ? std::string_view()
                                              : schedule::default_policy({.devices = !plan.devices.empty()})),
        event_log_path(config.text_or("event-log", "")),
        recording_for(config.has("report")  ? "--report " + config.text("report")
                      : config.has("trace") ? "--trace " + config.text("trace")
                                            : ""),
        arena(clock != nullptr ? smallest_arena : plan.capacity,
              config.flag("huge-pages") ? backend::HugePages::if_allowed : backend::HugePages::no),
        transit(std::max<Bytes>(plan.transit_bytes(plan.chunk), 4096), backend::HugePages::no),
        checkpointer(clock == nullptr && config.has("checkpoint")
                         ? std::make_unique<front::Checkpointer>(config.text("checkpoint"), core, spill,
                                                                 checks.sums,
                                                                 front::checkpoint_settings(config))
                         : nullptr),
        spill(spill_file(config)),
        checks(plan.devices.empty() ? backend::Checksums::largest_chunk
                                    : std::min(plan.chunk, backend::Checksums::largest_chunk)),
        world(clock == nullptr ? front::RunningWorld(std::make_unique<backend::CpuWorld>(cpu_options(config)))
                               : front::RunningWorld(std::make_unique<backend::SimWorld>(sim_options()))),
        core(core_options(config), world.get()),
        monitors{.live{core, [this] { return situation(); }, config},
                 .watchdog{Duration(static_cast<std::int64_t>(config.count("quiet-period")) * 1'000'000'000),
                           {.activity =
                                [this] {
                                  core.recheck_holds();
                                  return core.engine().activity();
                                },
                            .situation = [this] { return situation(); }},
                           [](const std::string& text) { log_message("fairlead: {}", text); }}} {
    if (!event_log_path.empty())
      data::OutputFile{event_log_path, 0};  // fails now if it could not be written at the end
    core.engine().locked([&](memory::Memory& memory) {
      memory.name_by([this](DatumId id) { return core.names().text(id); });
    });
    if (config.has("record-flow"))
      flow_file_writer = std::make_unique<front::FlowFileWriter>(core, config.text("record-flow"));
    core.set_submission_recorder(flow_file_writer.get());
    core.surroundings().has_other_threads = [this] {
      // A thread that was joined just now may still be counted.
      for (int looks = 0; looks < 100; ++looks) {
        if (machine::thread_count() <= 1 + world.threads() + monitors.watchdog.threads() +
                                           monitors.live.threads() +
                                           (checkpointer ? checkpointer->threads() : 0))
          return false;
        std::this_thread::yield();
      }
      return true;
    };
    core.surroundings().limit_for = [this, reserved](Bytes needed) {
      return plan.limit_for(needed, reserved);
    };
    core.surroundings().show_message = [](const std::string& text) { log_message("fairlead: {}", text); };
    core.reductions().get_space_from(
        [this](Bytes bytes, NodeId home) { return partials.take(bytes, home, core.topology().store()); });
  }
  ~Implementation() {
    const auto complain_of = [](const std::exception& error) { log_message("fairlead: {}\n", error.what()); };
    if (checkpointer) checkpointer->end();
    try {
      const model::KeptDurations learned = durations();
      if (clock == nullptr) plan.profile.keep(learned);
      end_flow_record(learned);
    } catch (const std::exception& error) {
      complain_of(error);
    }
    // The option would silently have no effect. A program that ends by an exception reports that instead.
    if (!recording_for.empty() && !core.engine().journal().tracer()->ever_taken() &&
        std::uncaught_exceptions() == 0)
      log_message("fairlead: {}: nothing was written, since the program does not call write_recorded()\n",
                  recording_for);
    try {
      end_event_log();
    } catch (const std::exception& error) {
      complain_of(error);
    }
  }

  void end_flow_record(const model::KeptDurations& learned) {
    if (!flow_file_writer) return;
    core.set_submission_recorder(nullptr);
    const auto over = std::exchange(flow_file_writer, nullptr);
    if (core.winding_down() || std::uncaught_exceptions() != 0)
      return;  // an incomplete record; no file is better
    over->end(learned);
  }
  void end_event_log() {
    const std::string path = std::exchange(event_log_path, "");
    if (path.empty()) return;
    if (!core.caller().may_wait())
      throw UsageError("the event log is not written: the runtime was not ended by the thread that made it");
    core.application().serve_blocking();
    // A worker may still run engine commands for which no thread waits.
    core.engine().locked(
        [&](memory::Memory&) { core.engine().journal().log().write(path, core.engine().log_head()); });
  }
  /// Completes the files of `event-log` and `record-flow`. Later events are not recorded.
  void end_records() {
    end_flow_record(durations());
    end_event_log();
  }
  model::KeptDurations durations() {
    return core.engine().locked([this](memory::Memory&) { return core.engine().durations().learned(); });
  }

  /// Selects the default policy for the data registered so far, unless a policy is set or a task was submitted. In RAM
  /// the program's own memory is used in place; devices copy it like other data.
  void choose_policy() {
    if (chosen_policy.empty() || core.sources().submitted() != 0) return;
    const Topology& topology = core.topology();
    const bool fits = kept.all() <= plan.capacity && kept.all() + in_place <= topology.smallest_device();
    auto* const ranks = front::rank_context(core.surroundings());
    const std::string_view name =
        schedule::default_policy({.fits = fits,
                                  .devices = !topology.devices().empty(),
                                  .several_ranks = ranks != nullptr && ranks->communicator().ranks() > 1,
                                  .cores = plan.workers});
    if (std::exchange(chosen_policy, name) == name) return;
    core.replace_policy(schedule::make_policy(name), std::string(name));
  }
  /// Subtracts removed bytes: of the program's memory, or of the data that the runtime stores.
  void forget(bool of_the_program, Bytes bytes) noexcept {
    if (of_the_program)
      in_place -= bytes;
    else
      kept.remove(bytes);
  }
  trace::Snapshot recorded() {
    return engine::trace_snapshot(core.engine(), [this](DatumId id) { return core.names().text(id); });
  }
  /// Thread-safe.
  engine::StatusReport situation() {
    return core.engine().situation(
        {.datum = [this](DatumId id) { return core.names().text(id); },
         .in_body = [this](WorkerId worker) { return world.get().in_body(worker); },
         .now = world.get().now()});
  }
  front::TaskClock* const clock;  // null: a real run
  front::MachinePlan plan;
  std::string_view chosen_policy;  // the last default; empty: the setting `scheduler` names a policy
  std::string event_log_path;
  std::string recording_for;  // the option that requests a report or a trace
  backend::Arena arena;
  backend::Arena transit;
  std::unique_ptr<front::Checkpointer> checkpointer;  // null: no checkpoints
  backend::SpillFile spill;
  struct DiskChecks {
    explicit DiskChecks(Bytes chunk_bytes) : sums(chunk_bytes) {}
    backend::Checksums sums;
    backend::DiskTraffic traffic;
  };
  DiskChecks checks;  // of the spill file
  front::StoredBytes kept{arena, clock != nullptr ? 0 : plan.capacity};
  front::PartialSpaces partials{spill, kept, plan.capacity / most_for_partials};
  front::DatumStore data;
  front::SingleData single{data, spill};
  front::RunningWorld world;
  engine::RuntimeCore core;
  std::unique_ptr<front::FlowFileWriter> flow_file_writer;
  Bytes in_place = 0;
  std::int32_t collections = 0;  // number of matrices created
  struct Monitors {
    front::LiveRun live;
    front::Watchdog watchdog;
  };
  Monitors monitors;  // last: their threads use the other members

 private:
  static constexpr Bytes smallest_arena = 4096, unlimited = ~Bytes{0};

  backend::SpillFile spill_file(const Config& config) {
    if (checkpointer) return {config.text("checkpoint"), checkpointer->make_data_file()};
    return backend::SpillFile(config.text("disk-directory"), clock != nullptr ? unlimited
                                                             : is_set(config, "disk-directory")
                                                                 ? 0
                                                                 : plan.capacity);
  }
  backend::SimOptions sim_options() {
    backend::SimOptions options;
    options.duration = [this](const Task& task, WorkerId) {
      return clock->start(task, engine::footprint_of(task, core.engine().memory()));
    };
    return options;
  }
  backend::CpuOptions cpu_options(const Config& config) {
    backend::CpuOptions options;
    options.workers = {.cores = plan.workers,
                       .others = plan.topology.workers.size() - plan.workers,
                       .processors = plan.processors,
                       .spin = Duration(static_cast<std::int64_t>(config.count("spin")) * 1000)};
    options.arena = arena.at(0);
    options.transit = {transit.at(0), plan.chunk, front::pieces_per_device};
    options.parts = std::move(plan.parts);
    options.surroundings = {.config = &config,
                            .spill = &spill,
                            .checksums = config.flag("checksums") || checkpointer ? &checks.sums : nullptr,
                            .traffic = &checks.traffic,
                            .host_memory = {std::span(arena.at(0), arena.capacity()),
                                            std::span(transit.at(0), transit.capacity())}};
    options.name_of = [this](DatumId id) { return core.names().text(id); };
    return options;
  }
  engine::CoreOptions core_options(const Config& config) {
    engine::CoreOptions options;
    options.topology = std::move(plan.topology);
    options.engine.durations = plan.profile.durations();
    options.engine.policy_name = config.text_or("scheduler", chosen_policy);
    options.policy = front::make_scheduler(config, options.engine.policy_name);
    options.engine.pipeline_depth = config.count_or("pipeline-depth", 0);
    options.engine.seed = config.count("seed");
    options.engine.log = config.has("event-log");
    if (!recording_for.empty()) options.engine.trace_memory = config.bytes("trace-memory");
    options.engine.fast_path = clock == nullptr && config.flag("fast-path");
    options.engine.what_if_simulation =
        clock == nullptr ? front::background_simulations(plan.idle_cores)
                         : front::virtual_time_simulations(*world.simulated(), plan.idle_cores);
    options.fixed_order = config.flag("fixed-order");
    options.window = std::max<std::size_t>(config.count("window"), options.policy->horizon());
    return options;
  }
};

}  // namespace fairlead
