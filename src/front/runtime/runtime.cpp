// Putting a runtime together from its settings and the machine.
#include <fairlead/runtime.hpp>

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <mutex>

#include "backend/cpu/cpu_world.hpp"
#include "backend/disk/spill_file.hpp"
#include "config/value.hpp"
#include "data/output/output_file.hpp"
#include "front/runtime/tile_collection.hpp"
#include "machine/machine.hpp"
#include "memory/arena.hpp"
#include "schedule/policies.hpp"

namespace fairlead {

namespace {

constexpr double disk_bytes_per_second_guess = 3e9;  // for estimates until links are measured
constexpr Duration disk_latency_guess{100'000};

struct Plan {
  std::size_t workers;
  Bytes capacity;
  std::vector<unsigned> processors;
};

Plan plan_of(const Config& config, Bytes reserved) {
  const machine::Machine machine = machine::discover();
  Plan plan;
  plan.workers = config.count_or("workers", machine.workers);
  const Bytes limit = config.bytes_or("memory", machine.memory.usable_bytes());
  if (limit <= reserved + 4096)
    throw ConfigError(
        fmt::format("the memory limit of {} leaves nothing for tiles: {} are needed besides them.\n"
                    "  Allow more by --memory.",
                    config::readable_size(limit), config::readable_size(reserved)));
  plan.capacity = (limit - reserved) / 4096 * 4096;
  const auto& cores = machine.processors.cores;
  if (config.flag("bind-threads") && plan.workers <= cores.size() && plan.workers == machine.workers)
    for (const machine::Core& core : cores) plan.processors.push_back(core.processing_unit);
  return plan;
}

}  // namespace

class Runtime::Implementation {
 public:
  Implementation(const Config& config, Bytes reserved)
      : plan(plan_of(config, reserved)),
        automatic_policy(!config.has("scheduler")),
        event_log_path(config.text_or("event-log", "")),
        arena(plan.capacity,
              config.flag("huge-pages") ? memory::HugePages::if_allowed : memory::HugePages::no),
        spill(config.text("disk-directory")),
        world(cpu_options(config)),
        core(core_options(config), world) {
    if (!event_log_path.empty())
      data::OutputFile{event_log_path, 0};  // refused now if it could not be written at the end
    core.engine().locked(
        [&](memory::Memory& memory) { memory.node(OutOfCoreNodes::ram).base = arena.at(0); });
    core.name_of_datum = [this](DatumId id) { return by_id(id); };
  }
  ~Implementation() {
    if (!event_log_path.empty()) {
      try {
        if (!core.may_help())
          throw UsageError("the event log is not written: another thread than its maker's ended the runtime");
        core.application().serve_surely();
        core.engine().log().write(event_log_path, core.engine().log_head());
      } catch (const Error& error) {
        fmt::print(stderr, "fairlead: {}\n", error.what());
      }
    }
  }

  /// What tiles will use is faulted in now, not in the middle of a task.
  void warm(Bytes more_registered_bytes) {
    registered += more_registered_bytes;
    const Bytes wanted = std::min(plan.capacity, registered);
    if (wanted > warmed) {
      arena.warm(warmed, wanted);
      warmed = wanted;
    }
  }
  /// While nobody has named a policy and no task has been submitted: that for what is registered by now.
  void choose_policy() {
    if (!automatic_policy || core.submitted != 0 || registered <= plan.capacity) return;
    const std::string name(schedule::default_policy(false));
    if (core.engine().policy_name() != name) core.replace_policy(schedule::make_policy(name), name);
  }
  std::string by_id(DatumId id) const {
    const std::lock_guard guard(names_mutex);
    for (const auto& entry : names)
      if (entry.first->id == id) return entry.second;
    for (const detail::TileCollection* tiles : collections)
      if (const auto name = tiles->name_of(id); !name.empty()) return name;
    return fmt::format("datum {}", index(id));
  }

  Plan plan;
  bool automatic_policy;  // nobody has named one
  std::string event_log_path;
  memory::Arena arena;
  backend::SpillFile spill;
  front::DatumStore data;
  backend::CpuWorld world;
  engine::RuntimeCore core;
  Bytes registered = 0, warmed = 0;
  std::int32_t collections_made = 0;
  mutable std::mutex names_mutex;  // guards the two below: workers ask for names when tasks fail
  std::deque<std::pair<engine::RegisteredDatum*, std::string>> names;  // of single values
  std::vector<const detail::TileCollection*> collections;

 private:
  backend::CpuOptions cpu_options(const Config& config) {
    backend::CpuOptions options;
    options.workers = plan.workers;
    options.processors = plan.processors;
    options.spin = Duration(static_cast<std::int64_t>(config.count("spin")) * 1000);
    options.arena = arena.at(0);
    options.spill_descriptor = spill.descriptor();
    options.disk.threads = static_cast<unsigned>(config.count("disk-threads"));
    if (config.has("disk-bandwidth"))
      options.disk.bytes_per_second = config.bandwidth_bytes_per_second("disk-bandwidth");
    return options;
  }
  engine::CoreOptions core_options(const Config& config) {
    engine::CoreOptions options;
    const double bandwidth = config.has("disk-bandwidth")
                                 ? static_cast<double>(config.bandwidth_bytes_per_second("disk-bandwidth"))
                                 : disk_bytes_per_second_guess;
    options.topology = out_of_core_topology(plan.workers, plan.capacity, bandwidth, disk_latency_guess);
    std::vector<std::string_view> known;
    for (const PolicyEntry& entry : schedule::policies()) known.push_back(entry.name);
    config.require_one_of("scheduler", known);
    options.engine.policy_name = config.text_or("scheduler", schedule::default_policy(true));
    options.policy = schedule::make_policy(options.engine.policy_name);
    options.engine.pipeline_depth = config.count_or("pipeline-depth", 0);
    options.engine.seed = config.count("seed");
    options.engine.log = config.has("event-log");
    options.window = std::max<std::size_t>(config.count("window"), options.policy->horizon());
    return options;
  }
};

Runtime::Runtime(const Config& config, Bytes reserved)
    : implementation_(new Implementation(config, reserved), [](Implementation* implementation) {
        // In a forked child its threads do not exist and its files are the parent's: it is left as it is.
        if (implementation->core.same_process()) delete implementation;
      }) {}
Runtime::~Runtime() { implementation_->core.close(); }

engine::RuntimeCore& Runtime::core() noexcept { return implementation_->core; }
std::size_t Runtime::workers() const noexcept { return implementation_->plan.workers; }
Bytes Runtime::capacity_bytes() const noexcept { return implementation_->plan.capacity; }
void Runtime::flush() {
  implementation_->core.check_caller("flush");
  implementation_->core.flush();
}
void Runtime::wind_down() noexcept { implementation_->core.wind_down(); }
void Runtime::drop_clean() {
  implementation_->core.check_caller("drop_clean");
  implementation_->core.drop_clean();
}
Runtime::Traffic Runtime::disk_traffic() const noexcept {
  return {implementation_->world.bytes_read(), implementation_->world.bytes_written()};
}
Runtime::Digest Runtime::command_digest() const {
  implementation_->core.check_process("command_digest");
  const engine::Engine& engine = implementation_->core.engine();
  return implementation_->core.engine().locked([&](memory::Memory&) {
    return Digest{engine.digest().value(), engine.digest().count()};
  });
}

/// Tiles that keep the runtime's inside as long as they live. Where their end cannot wait for tasks, the
/// inside keeps them.
std::shared_ptr<detail::TileCollection> Runtime::owned(std::unique_ptr<detail::TileCollection> tiles) {
  {
    const std::lock_guard guard(implementation_->names_mutex);
    implementation_->collections.push_back(tiles.get());
  }
  return {tiles.release(), [runtime = implementation_](detail::TileCollection* ended) {
            std::unique_ptr<detail::TileCollection> last(ended);
            if (!ended->release()) return runtime->core.keep(std::move(last));
            const std::lock_guard guard(runtime->names_mutex);
            std::erase(runtime->collections, ended);
          }};
}

std::shared_ptr<detail::TileCollection> Runtime::make_tiles(const std::string& name, std::int64_t rows,
                                                            std::int64_t columns, std::int32_t tile,
                                                            Tiles which, std::size_t element_bytes) {
  auto& it = *implementation_;
  it.core.check_caller("tiled");
  if (tile <= 0)
    throw UsageError(fmt::format("{}: a tile of {} elements a side is not possible", name, tile));
  if (rows <= 0 || columns <= 0)
    throw UsageError(fmt::format("{}: a matrix of {} x {} is empty", name, rows, columns));
  const detail::Grid grid{rows, columns, tile, which == Tiles::lower, 0};
  auto tiles = owned(std::make_unique<detail::TileCollection>(it.core, it.data, name, it.collections_made++,
                                                              grid, element_bytes, nullptr, &it.spill));
  it.warm(tiles->bytes());
  it.choose_policy();
  return tiles;
}

std::shared_ptr<detail::TileCollection> Runtime::place_tiles(const std::string& name, void* data,
                                                             std::int64_t rows, std::int64_t columns,
                                                             std::int64_t leading_dimension,
                                                             std::int32_t tile, std::size_t element_bytes) {
  auto& it = *implementation_;
  it.core.check_caller("tiled_in_place");
  if (tile <= 0)
    throw UsageError(fmt::format("{}: a tile of {} elements a side is not possible", name, tile));
  if (rows <= 0 || columns <= 0 || leading_dimension < rows)
    throw UsageError(fmt::format("{}: {} x {} elements with leading dimension {} are no matrix", name, rows,
                                 columns, leading_dimension));
  const detail::Grid grid{rows, columns, tile, false, leading_dimension};
  return owned(std::make_unique<detail::TileCollection>(it.core, it.data, name, it.collections_made++, grid,
                                                        element_bytes, data, nullptr));
}

detail::DatumReference Runtime::register_value(const std::string& name, void* address, std::size_t bytes) {
  auto& it = *implementation_;
  it.core.check_caller("value");
  engine::RegisteredDatum& datum = it.data.make();
  it.core.register_datum(datum, {.bytes = bytes, .home = OutOfCoreNodes::user_memory, .address = address});
  const std::lock_guard guard(it.names_mutex);
  const auto& named = it.names.emplace_back(&datum, name);
  datum.owner = &named.second;
  datum.name = [](const void* owner, const engine::RegisteredDatum&) {
    return *static_cast<const std::string*>(owner);
  };
  return {&datum, datum.generation};
}

Statistics Runtime::statistics() const {
  implementation_->core.check_process("statistics");
  return implementation_->core.engine().locked([this](memory::Memory& memory) {
    const engine::Engine& engine = implementation_->core.engine();
    const Topology& topology = memory.topology();
    Statistics result;
    result.tasks = engine.tasks_done();
    result.tasks_cancelled = engine.tasks_cancelled();
    result.scheduler = engine.policy_name();
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const memory::LinkTraffic& traffic = memory.traffic()[i];
      Statistics::Link link{topology.links[i].name,
                            topology.nodes[index(topology.links[i].first)].name,
                            topology.nodes[index(topology.links[i].second)].name,
                            {},
                            {}};
      for (std::size_t cause = 0; cause < memory::cause_count; ++cause) {
        link.from_home[cause] = {traffic.from_home[cause].bytes, traffic.from_home[cause].copies};
        link.to_home[cause] = {traffic.to_home[cause].bytes, traffic.to_home[cause].copies};
      }
      result.links.push_back(link);
    }
    for (const NodeInfo& info : engine.nodes()) {
      const memory::MemoryNode& node = memory.node(info.id);
      result.nodes.push_back(
          {topology.nodes[index(info.id)].name, info.capacity, node.peak_bytes, node.evictions});
    }
    for (const engine::Pipeline& pipeline : engine.pipelines())
      result.workers.push_back(
          {pipeline.tasks_run, pipeline.busy, pipeline.waiting_for_data, pipeline.waiting_for_tasks});
    return result;
  });
}

}  // namespace fairlead
