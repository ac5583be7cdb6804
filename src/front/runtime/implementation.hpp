// What a runtime is put together from: the plan of its machine, memory, a disk, a world of workers, the core, and who
// watches it.
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
#include "backend/cpu/cpu_world.hpp"
#include "backend/disk/checksums.hpp"
#include "backend/disk/disk.hpp"
#include "backend/disk/spill_file.hpp"
#include "base/pages.hpp"
#include "base/tell.hpp"
#include "config/value.hpp"
#include "data/output/output_file.hpp"
#include "engine/trace_snapshot.hpp"
#include "front/flow/flow_file_writer.hpp"
#include "front/ranks/among_ranks.hpp"
#include "front/rehearsal/rehearsals.hpp"
#include "front/runtime/kept_bytes.hpp"
#include "front/runtime/machine_plan.hpp"
#include "front/runtime/part_collection.hpp"
#include "front/runtime/partial_spaces.hpp"
#include "front/runtime/single_data.hpp"
#include "front/runtime/sizes.hpp"
#include "front/runtime/tile_collection.hpp"
#include "front/runtime/watchdog.hpp"
#include "machine/system_files.hpp"
#include "schedule/plugin.hpp"
#include "schedule/policies.hpp"

namespace fairlead {

// Of the pool's size: partial results of data in user memory, which are outside of it as those are.
inline constexpr Bytes most_for_partials = 16;

inline bool is_set(const Config& config, std::string_view key) {
  for (const SettingReport& row : config.report())
    if (row.setting.key == key) return row.origin != Origin::default_value;
  return false;
}

class Runtime::Implementation {
 public:
  Implementation(const Config& config, Bytes reserved, const backend::Backends& backends)
      : plan(front::plan_of(config, reserved, backends)),
        chosen_policy(config.has("scheduler") ? std::string_view()
                                              : schedule::default_policy({.devices = !plan.devices.empty()})),
        event_log_path(config.text_or("event-log", "")),
        recording_for(config.has("report")  ? "--report " + config.text("report")
                      : config.has("trace") ? "--trace " + config.text("trace")
                                            : ""),
        arena(plan.capacity,
              config.flag("huge-pages") ? backend::HugePages::if_allowed : backend::HugePages::no),
        transit(std::max<Bytes>(plan.transit_bytes(plan.piece), 4096), backend::HugePages::no),
        spill(config.text("disk-directory"), is_set(config, "disk-directory") ? 0 : plan.capacity),
        checksums(plan.devices.empty() ? backend::Checksums::largest_chunk
                                       : std::min(plan.piece, backend::Checksums::largest_chunk)),
        world(cpu_options(config)),
        core(core_options(config), world),
        watchdog(Duration(static_cast<std::int64_t>(config.count("quiet-period")) * 1'000'000'000),
                 {.activity =
                      [this] {
                        core.look_again_at_holds();
                        return core.engine().activity();
                      },
                  .situation = [this] { return situation(); }},
                 [](const std::string& text) { tell("fairlead: {}", text); }) {
    if (!event_log_path.empty())
      data::OutputFile{event_log_path, 0};  // refused now if it could not be written at the end
    core.engine().locked([&](memory::Memory& memory) {
      memory.name_by([this](DatumId id) { return core.names().text(id); });
    });
    if (config.has("record-flow"))
      flow_file_writer = std::make_unique<front::FlowFileWriter>(core, config.text("record-flow"));
    core.write_down_in(flow_file_writer.get());
    core.surroundings().others_are_there = [this] {
      // One that was joined just now may still be counted.
      for (int looks = 0; looks < 100; ++looks) {
        if (machine::threads_of_process() <= 1 + world.threads() + watchdog.threads()) return false;
        std::this_thread::yield();
      }
      return true;
    };
    core.surroundings().limit_for = [this, reserved](Bytes needed) {
      return plan.limit_for(needed, reserved);
    };
    core.surroundings().say = [](const std::string& text) { tell("fairlead: {}", text); };
    core.reductions().get_space_from(
        [this](Bytes bytes, NodeId home) { return partials.take(bytes, home, core.topology().store()); });
  }
  ~Implementation() {
    const auto complain_of = [](const std::exception& error) { tell("fairlead: {}\n", error.what()); };
    try {
      const model::KeptDurations learned = durations();
      plan.known.keep(learned);
      end_flow_record(learned);
    } catch (const std::exception& error) {
      complain_of(error);
    }
    // An option that does nothing would be worse than none. What ends by an error says so itself.
    if (!recording_for.empty() && !core.engine().journal().tracer()->ever_taken() &&
        std::uncaught_exceptions() == 0)
      tell("fairlead: {}: nothing was written, since the program does not call write_recorded()\n",
           recording_for);
    try {
      end_event_log();
    } catch (const std::exception& error) {
      complain_of(error);
    }
  }

  void end_flow_record(const model::KeptDurations& learned) {
    if (!flow_file_writer) return;
    core.write_down_in(nullptr);
    const auto over = std::exchange(flow_file_writer, nullptr);
    if (core.winding_down() || std::uncaught_exceptions() != 0)
      return;  // it is cut short, and no file is better
    over->end(learned);
  }
  void end_event_log() {
    const std::string path = std::exchange(event_log_path, "");
    if (path.empty()) return;
    if (!core.caller().may_wait())
      throw UsageError("the event log is not written: the runtime was not ended by the thread that made it");
    core.application().serve_surely();
    // A worker may still be answering something, which nobody waits for.
    core.engine().locked(
        [&](memory::Memory&) { core.engine().journal().log().write(path, core.engine().log_head()); });
  }
  /// Ends what is written down while the program runs. What comes later is in none of it.
  void end_records() {
    end_flow_record(durations());
    end_event_log();
  }
  model::KeptDurations durations() {
    return core.engine().locked([this](memory::Memory&) { return core.engine().durations().learned(); });
  }

  /// While nobody has named a policy and no task has been submitted: that for what is registered by now. The program's
  /// own memory is used in place in RAM, and copied to devices as all else.
  void choose_policy() {
    if (chosen_policy.empty() || core.sources().submitted() != 0) return;
    const Topology& topology = core.topology();
    const bool fits = kept.all() <= plan.capacity && kept.all() + in_place <= topology.smallest_device();
    auto* const ranks = front::among_ranks(core.surroundings());
    const std::string_view name =
        schedule::default_policy({.fits = fits,
                                  .devices = !topology.devices().empty(),
                                  .several_ranks = ranks != nullptr && ranks->communicator().ranks() > 1,
                                  .cores = plan.workers});
    if (std::exchange(chosen_policy, name) == name) return;
    core.replace_policy(schedule::make_policy(name), std::string(name));
  }
  /// So many registered bytes are gone, of the program's memory or of what the runtime keeps.
  void forget(bool of_the_program, Bytes bytes) noexcept {
    if (of_the_program)
      in_place -= bytes;
    else
      kept.remove(bytes);
  }
  trace::Snapshot recorded() {
    return engine::trace_snapshot(core.engine(), [this](DatumId id) { return core.names().text(id); });
  }
  /// Any thread.
  engine::Situation situation() {
    return core.engine().situation({.datum = [this](DatumId id) { return core.names().text(id); },
                                    .in_body = [this](WorkerId worker) { return world.in_body(worker); },
                                    .now = world.now()});
  }
  front::MachinePlan plan;
  std::string_view chosen_policy;  // the last that was chosen; empty: somebody has named one
  std::string event_log_path;
  std::string recording_for;  // the option by which somebody wants to see afterwards what happened
  backend::Arena arena;
  backend::Arena transit;
  backend::SpillFile spill;
  backend::Checksums checksums;
  backend::DiskTraffic traffic;
  front::KeptBytes kept{arena, plan.capacity};
  front::PartialSpaces partials{spill, kept, plan.capacity / most_for_partials};
  front::DatumStore data;
  front::SingleData single{data, spill};
  backend::CpuWorld world;
  engine::RuntimeCore core;
  std::unique_ptr<front::FlowFileWriter> flow_file_writer;
  Bytes in_place = 0;
  std::int32_t collections = 0;  // made so far
  front::Watchdog watchdog;      // last: its thread uses the rest

 private:
  backend::CpuOptions cpu_options(const Config& config) {
    backend::CpuOptions options;
    options.workers = {.cores = plan.workers,
                       .others = plan.topology.workers.size() - plan.workers,
                       .processors = plan.processors,
                       .spin = Duration(static_cast<std::int64_t>(config.count("spin")) * 1000)};
    options.arena = arena.at(0);
    options.transit = {transit.at(0), plan.piece, front::pieces_per_device};
    options.parts = std::move(plan.parts);
    options.surroundings = {.config = &config,
                            .spill = &spill,
                            .checksums = config.flag("checksums") ? &checksums : nullptr,
                            .traffic = &traffic,
                            .host_memory = {std::span(arena.at(0), arena.capacity()),
                                            std::span(transit.at(0), transit.capacity())}};
    options.name_of = [this](DatumId id) { return core.names().text(id); };
    return options;
  }
  engine::CoreOptions core_options(const Config& config) {
    engine::CoreOptions options;
    options.topology = std::move(plan.topology);
    options.engine.durations = plan.known.durations();
    options.engine.policy_name = config.text_or("scheduler", chosen_policy);
    if (!schedule::is_plugin(schedule::name_in(options.engine.policy_name)))
      config.require_one_of("scheduler", schedule::policy_names(),
                            schedule::name_in(options.engine.policy_name));
    options.policy = schedule::make_policy(options.engine.policy_name);
    options.engine.pipeline_depth = config.count_or("pipeline-depth", 0);
    options.engine.seed = config.count("seed");
    options.engine.log = config.has("event-log");
    if (!recording_for.empty()) options.engine.trace_memory = config.bytes("trace-memory");
    options.engine.direct_lane = config.flag("direct-lane");
    options.engine.rehearsal = front::rehearsals_beside_the_run(plan.idle_cores);
    options.fixed_order = config.flag("fixed-order");
    options.window = std::max<std::size_t>(config.count("window"), options.policy->horizon());
    return options;
  }
};

}  // namespace fairlead
