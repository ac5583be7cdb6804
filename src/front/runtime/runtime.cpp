// Putting a runtime together from its settings and the machine.
#include <fairlead/runtime.hpp>

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
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
#include "net/communicator.hpp"
#include "schedule/plugin.hpp"
#include "schedule/policies.hpp"

namespace fairlead {

namespace {

// Of the pool's size: partial results of data in user memory, which are outside of it as those are.
constexpr Bytes most_for_partials = 16;

bool is_set(const Config& config, std::string_view key) {
  for (const SettingReport& row : config.report())
    if (row.setting.key == key) return row.origin != Origin::default_value;
  return false;
}

}  // namespace

class Runtime::Implementation {
 public:
  Implementation(const Config& config, Bytes reserved, const backend::Backends& backends)
      : plan(front::plan_of(config, reserved, backends)),
        chosen_policy(config.has("scheduler") ? std::string_view()
                                              : schedule::default_policy(true, !plan.devices.empty())),
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
    const std::string_view name = schedule::default_policy(fits, !topology.devices().empty());
    if (std::exchange(chosen_policy, name) == name) return;
    core.replace_policy(schedule::make_policy(name), std::string(name));
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
  std::int32_t collections = 0;                     // made so far
  std::unique_ptr<net::Communicator> communicator;  // null: it computes alone
  front::Watchdog watchdog;                         // last: its thread uses the rest

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
                            .traffic = &traffic};
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

Runtime::Runtime(const Config& config, Bytes reserved)
    : Runtime(config, reserved, backend::default_backends()) {}
Runtime::Runtime(const Config& config, Bytes reserved,
                 const std::vector<std::shared_ptr<const backend::Backend>>& backends)
    : implementation_(new Implementation(config, reserved, backends), [](Implementation* implementation) {
        // In a forked child its threads do not exist and its files are the parent's: it is left as it is.
        if (implementation->core.caller().same_process()) delete implementation;
      }) {}
Runtime::Runtime(const Config& config, const Rank& place, Bytes reserved) : Runtime(config, reserved) {
  if (place.network == nullptr) throw UsageError("a rank that is none");
  auto& it = *implementation_;
  it.communicator = std::make_unique<net::Communicator>(place.network, net::Protocol{});
  it.communicator->on_quiet([&core = it.core] { core.world().wake(engine::Who::application()); });
}
Runtime::~Runtime() {
  implementation_->core.close();
  if (implementation_->core.caller().same_process()) implementation_->communicator.reset();
  // Whoever is being told may hold data, and so keep the runtime: the last to let go must not be its own thread.
  if (implementation_->core.caller().same_process()) implementation_->watchdog.end();
}

engine::RuntimeCore& Runtime::core() noexcept { return implementation_->core; }
std::size_t Runtime::workers() const noexcept { return implementation_->plan.workers; }
net::Communicator* Runtime::communicator() noexcept { return implementation_->communicator.get(); }
std::uint32_t Runtime::rank() const noexcept {
  const auto& all = implementation_->communicator;
  return !all ? 0 : static_cast<std::uint32_t>(all->own());
}
std::uint32_t Runtime::ranks() const noexcept {
  const auto& all = implementation_->communicator;
  return !all ? 1 : all->ranks();
}
int Runtime::devices() const noexcept { return implementation_->core.machine().devices; }
Bytes Runtime::capacity_bytes() const noexcept { return implementation_->plan.capacity; }
NodeId Runtime::memory_node(std::string_view name) const {
  const Topology& topology = implementation_->core.topology();
  std::string names;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    const NodeSpec& node = topology.nodes[i];
    if (node.role != NodeRole::cache) continue;
    if (node.name == name) return static_cast<NodeId>(i);
    names += (names.empty() ? "" : ", ") + node.name;
  }
  throw UsageError(
      fmt::format("there is no memory node \"{}\" on which tasks run; there are {}", name, names));
}

void Runtime::flush() {
  implementation_->core.caller().check("flush");
  implementation_->core.home_values().flush();
}
std::string Runtime::status() const {
  implementation_->core.caller().check_process("status");
  const engine::Situation situation = implementation_->situation();
  return situation.lines.empty() ? "nothing to do\n" : situation.text();
}
void Runtime::on_quiet(std::function<void(const std::string&)> tell) {
  implementation_->core.caller().check_process("on_quiet");
  implementation_->watchdog.tell_to(std::move(tell));
}
void Runtime::end_records() {
  implementation_->core.caller().check("end_records");
  implementation_->end_records();
}
void Runtime::wind_down() noexcept { implementation_->core.wind_down(); }
void Runtime::drop_clean() {
  implementation_->core.caller().check("drop_clean");
  implementation_->core.home_values().drop_clean();
}
trace::Snapshot Runtime::recorded() {
  implementation_->core.caller().check("recorded");
  return implementation_->recorded();
}
Runtime::Traffic Runtime::disk_traffic() const noexcept {
  const backend::DiskTraffic& disk = implementation_->traffic;
  return {disk.read.load(std::memory_order_relaxed), disk.written.load(std::memory_order_relaxed)};
}
Runtime::Digest Runtime::command_digest() const {
  implementation_->core.caller().check_process("command_digest");
  const engine::Engine& engine = implementation_->core.engine();
  return implementation_->core.engine().locked([&](memory::Memory&) {
    return Digest{engine.journal().digest().value(), engine.journal().digest().count()};
  });
}

/// Tiles that keep the runtime's inside as long as they live. Where their end cannot wait for tasks, the
/// inside keeps them.
std::shared_ptr<detail::TileCollection> Runtime::owned(std::unique_ptr<detail::TileCollection> tiles) {
  return {tiles.release(), [runtime = implementation_](detail::TileCollection* ended) {
            std::unique_ptr<detail::TileCollection> last(ended);
            if (!ended->finish()) return runtime->core.keep(std::move(last));
            ended->remove_all();
          }};
}

std::shared_ptr<detail::TileCollection> Runtime::make_tiles(const std::string& name, std::int64_t rows,
                                                            std::int64_t columns, TileSize tile, Tiles which,
                                                            std::size_t element_bytes, detail::Fill fill,
                                                            const Distribution* distribution) {
  auto& it = *implementation_;
  it.core.caller().check("tiled");
  front::check_tile(name, tile);
  if (rows <= 0 || columns <= 0)
    throw UsageError(fmt::format("{}: a matrix of {} x {} is empty", name, rows, columns));
  front::check_tiles(name, rows, columns, tile, which == Tiles::lower);
  front::checked_bytes(name, "matrix", {{rows, columns, 1}, {1, 0, 0}}, element_bytes);
  const detail::Grid grid{rows, columns, tile, which == Tiles::lower, 0};
  auto tiles = owned(std::make_unique<detail::TileCollection>(it.core, it.data, name, it.collections++, grid,
                                                              element_bytes, nullptr, &it.spill,
                                                              std::move(fill), distribution, rank()));
  it.kept.add(tiles->bytes());
  it.choose_policy();
  return tiles;
}

std::shared_ptr<detail::TileCollection> Runtime::place_tiles(const std::string& name, void* data,
                                                             std::int64_t rows, std::int64_t columns,
                                                             std::int64_t leading_dimension, TileSize tile,
                                                             std::size_t element_bytes) {
  auto& it = *implementation_;
  it.core.caller().check("tiled_in_place");
  front::check_tile(name, tile);
  if (data == nullptr) throw UsageError(fmt::format("{}: a matrix at no address", name));
  if (rows <= 0 || columns <= 0 || leading_dimension < rows)
    throw UsageError(fmt::format("{}: {} x {} elements with leading dimension {} are no matrix", name, rows,
                                 columns, leading_dimension));
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (leading_dimension > most)
    throw UsageError(fmt::format("{}: the leading dimension may be {} at most; this one is {}", name, most,
                                 leading_dimension));
  front::check_tiles(name, rows, columns, tile, false);
  front::checked_bytes(name, "matrix", {{rows, columns, 1}, {1, leading_dimension, 0}}, element_bytes);
  const detail::Grid grid{rows, columns, tile, false, leading_dimension};
  auto tiles = owned(std::make_unique<detail::TileCollection>(it.core, it.data, name, it.collections++, grid,
                                                              element_bytes, data, nullptr, detail::Fill{}));
  it.in_place += tiles->bytes();
  it.choose_policy();
  return tiles;
}

detail::DatumReference Runtime::register_one(const std::string& name, const detail::Description& as) {
  auto& it = *implementation_;
  const front::SingleDatum& single = it.single.add(it.core, name, as);
  if (as.kept)
    it.kept.add(single.slot.bytes);
  else
    it.in_place += single.datum->bytes;
  it.choose_policy();
  return {single.datum, single.datum->generation};
}

void Runtime::remove_one(const detail::DatumReference& reference) {
  auto& it = *implementation_;
  it.core.caller().check("remove");
  front::SingleDatum* const single =
      reference.datum == nullptr || reference.datum->generation != reference.generation
          ? nullptr
          : front::SingleData::find(*reference.datum);
  if (single == nullptr)
    throw UsageError(
        "remove was given a handle that is empty, of a datum that is gone, or of a tile, which goes with its "
        "matrix");
  if (single->views != nullptr && single->views->partitions != 0)
    throw UsageError(
        fmt::format("remove of {}, which is split into parts: end its partitions first", single->name));
  // Sets targets, so that whoever ends the last task wakes this thread.
  const bool over = it.core.help_until_all_done(false);
  it.core.throw_if_stopped();
  if (!over) it.core.throw_held_up("remove");
  if (it.core.holds().holds(*single->datum))
    throw UsageError(fmt::format("remove of {}, which this program holds", single->name));
  it.single.remove(it.core, *single);
}

engine::RegisteredDatum& Runtime::own_datum(const detail::DatumReference& reference, const char* what) const {
  implementation_->core.caller().check(what);
  if (reference.datum == nullptr || reference.datum->generation != reference.generation)
    throw UsageError(fmt::format("{} was given a handle that is empty, or of a datum that is gone", what));
  if (reference.datum->runtime != &implementation_->core)
    throw UsageError(
        fmt::format("{} was given {}, which belongs to another runtime", what, reference.datum->text()));
  return *reference.datum;
}
void Runtime::advise_one(const detail::DatumReference& reference, int device) {
  implementation_->core.advise(own_datum(reference, "advise"), device);
}
void Runtime::refresh_one(const detail::DatumReference& reference, Refresh when) {
  implementation_->core.home_values().put_refresh_off(own_datum(reference, "refresh"),
                                                      when == Refresh::by_acquire);
}

std::shared_ptr<detail::PartCollection> Runtime::split_one(const detail::DatumReference& reference,
                                                           const std::array<std::int64_t, 3>& extents,
                                                           std::size_t dimensions) {
  auto& it = *implementation_;
  it.core.caller().check("split");
  if (reference.datum == nullptr || reference.datum->generation != reference.generation)
    throw UsageError("split was given a handle that is empty, or of a datum that is gone");
  front::SingleDatum* const single = front::SingleData::find(*reference.datum);
  if (single == nullptr)
    throw UsageError(
        fmt::format("{} cannot be split: it is a part or a tile itself", reference.datum->text()));
  if (single->as.fill)
    throw UsageError(fmt::format(
        "{} cannot be split: parts lie in the home of their whole, and a generated datum is not there",
        single->name));
  if (reference.datum->runtime != &it.core)
    throw UsageError(fmt::format("{} cannot be split here: it belongs to another runtime", single->name));
  auto parts = std::make_unique<detail::PartCollection>(it.core, it.data, *single, extents, dimensions,
                                                        it.spill.alignment());
  return {parts.release(), [runtime = implementation_](detail::PartCollection* ended) {
            std::unique_ptr<detail::PartCollection> last(ended);
            if (!ended->release()) runtime->core.keep(std::move(last));
          }};
}

Statistics Runtime::statistics() const {
  implementation_->core.caller().check_process("statistics");
  return implementation_->core.engine().locked([this](memory::Memory& memory) {
    const engine::Engine& engine = implementation_->core.engine();
    const Topology& topology = memory.topology();
    Statistics result;
    result.tasks = engine.tasks_done();
    result.tasks_cancelled = engine.endings().cancelled();
    result.scheduler = engine.options().policy_name;
    result.deputy = engine.policy().deputy();
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      if (!topology.links[i].legs.empty()) continue;  // what crosses it counts on the wires
      const memory::LinkTraffic& traffic = memory.transfers().traffic()[i];
      const bool computes = topology.links[i].computes;
      Statistics::Link link{topology.links[i].name,
                            computes ? "generator" : topology.nodes[index(topology.links[i].first)].name,
                            topology.nodes[index(topology.links[i].second)].name,
                            {},
                            {},
                            traffic.busy};
      for (std::size_t cause = 0; cause < memory::cause_count; ++cause) {
        link.from_home[cause] = {traffic.from_home[cause].bytes, traffic.from_home[cause].copies};
        link.to_home[cause] = {traffic.to_home[cause].bytes, traffic.to_home[cause].copies};
      }
      if (computes)
        for (const Statistics::Count& count : link.from_home) {
          result.generated.bytes += count.bytes;
          result.generated.copies += count.copies;
        }
      result.links.push_back(link);
    }
    for (const NodeInfo& info : engine.view().caches()) {
      const memory::MemoryNode& node = memory.node(info.id);
      result.nodes.push_back(
          {topology.nodes[index(info.id)].name, info.capacity, node.peak_bytes, node.evictions});
    }
    for (const WorkerInfo& worker : engine.view().workers()) {
      const engine::Pipeline& pipeline = engine.pipelines()[worker.id];
      const engine::DirectLane& lane = engine.lane();
      result.workers.push_back({pipeline.tasks_run + lane.tasks(index(worker.id)),
                                pipeline.busy + lane.busy(index(worker.id)), pipeline.waiting_for_data,
                                pipeline.waiting_for_tasks, topology.nodes[index(worker.node)].name});
    }
    return result;
  });
}

}  // namespace fairlead
