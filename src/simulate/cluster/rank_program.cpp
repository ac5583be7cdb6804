// See rank_program.hpp.
#include "simulate/cluster/rank_program.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "base/exception_text.hpp"
#include "base/pages.hpp"
#include "front/ptg/graph_source.hpp"
#include "schedule/policies.hpp"

namespace fairlead::simulate {

RankProgram::RankProgram(const Blueprint& blueprint, const SimulatedMachine& machine,
                         const ClusterOptions& options, Turns& turns, std::shared_ptr<net::Network> network,
                         RankTime& time)
    : blueprint_(blueprint),
      machine_(machine),
      options_(options),
      time_(time),
      own_(static_cast<std::uint32_t>(network->own())),
      world_(sim_options(turns), turns, own_, options.protocol.eager_bytes),
      core_(core_options(), world_),
      communicator_(std::move(network), options.protocol) {
  communicator_.on_quiet([this] { world_.wake(engine::Who::application()); });
}

ProgramTask RankProgram::program_task(const Task& task) const {
  return blueprint_.task(static_cast<const ptg::ActiveTask&>(*task.lazy));
}

backend::SimOptions RankProgram::sim_options(Turns& turns) {
  backend::SimOptions sim;
  sim.timeline = &turns.timeline();
  sim.seed = Random::mix(options_.seed) ^ own_;
  sim.noise_percent = options_.noise_percent;
  sim.duration = [this](const Task& task, WorkerId worker) {
    return machine_.duration(program_task(task), worker);
  };
  sim.on_start = [this](Task&, WorkerId) { time_.task_starts(world_.now()); };
  sim.on_end = [this](Task& task, WorkerId, bool) {
    const ProgramTask cost = program_task(task);
    flops_ += static_cast<double>(cost.flops);
    least_ += machine_.least_duration(cost);
    time_.task_ends(world_.now());
  };
  return sim;
}

engine::CoreOptions RankProgram::core_options() const {
  engine::CoreOptions core;
  core.topology = machine_.topology();
  core.policy = schedule::make_policy(options_.policy);
  core.engine.policy_name = options_.policy;
  core.engine.pipeline_depth = options_.pipeline_depth;
  core.engine.seed = options_.seed;
  core.engine.estimate = [this](const Task& task, WorkerId worker) {
    return machine_.duration(program_task(task), worker);
  };
  core.refresh = false;
  return core;
}

engine::RegisteredDatum& RankProgram::add(Bytes bytes, const View::Coordinates& coordinates) {
  engine::RegisteredDatum& datum = data_.emplace_back();
  core_.register_datum(
      datum, {.bytes = bytes, .home = machine_.home(), .home_offset = used_, .coordinates = coordinates});
  used_ += whole_pages_for(bytes);
  return datum;
}

/// The graph's matrix, of which this rank has its tiles.
std::shared_ptr<const ptg::CollectionDefinition> RankProgram::tiles(const ptg::CollectionDefinition& of) {
  auto made = std::make_shared<ptg::CollectionDefinition>(of);
  for (std::size_t i = 0; i < blueprint_.positions(); ++i) {
    const Blueprint::Tile tile = blueprint_.tile(i);
    made->owners[i] = tile.owner;
    const auto rows = static_cast<std::int32_t>(tile.rows), columns = static_cast<std::int32_t>(tile.columns);
    const TileShape shape{rows, columns, rows};
    made->data[i] = {};
    if (tile.owner == own_ && rows != 0) {
      engine::RegisteredDatum& datum =
          add(tile.bytes(blueprint_.size().precision), {0, tile.row, tile.column});
      datum.ever_written = true;
      made->data[i] = {&datum, datum.generation};
    }
    const TileHandle handle(made->data[i], shape);
    std::memcpy(made->handles.data() + i * sizeof handle, &handle, sizeof handle);
  }
  return made;
}

ptg::ClassTable RankProgram::classes() {
  ptg::ClassTable table = blueprint_.classes();
  for (auto& collection : table.collections) collection = tiles(*collection);
  return table;
}

void RankProgram::run() {
  try {
    ptg::GraphSource source(
        core_, classes(),
        [this](const ptg::CollectionDefinition&, const void* like, bool) {
          const TileShape& shape = static_cast<const TileHandle*>(like)->shape();
          const Blueprint::Tile tile{-1, -1, own_, shape.rows, shape.columns};
          engine::RegisteredDatum& datum = add(tile.bytes(blueprint_.size().precision), {});
          const TileHandle& handle =
              fresh_.emplace_back(fairlead::detail::DatumReference{&datum, datum.generation}, shape);
          return std::pair<const void*, engine::RegisteredDatum*>(&handle, &datum);
        },
        &communicator_);
    looked_at_ = source.tasks();  // to count them
    source.placement().count_in(&looked_at_);
    source.run();
  } catch (const std::exception& error) {
    communicator_.fail(said_by(error));
    throw;
  }
}

RankResult RankProgram::result() const {
  RankResult result;
  result.looked_at = looked_at_;
  result.tasks = core_.engine().tasks_done();
  result.traffic = communicator_.traffic();
  for (const NodeInfo& info : core_.engine().view().caches()) {
    const memory::MemoryNode& node = core_.engine().memory().node(info.id);
    result.peak_memory += node.peak_bytes.get();
    result.evictions += node.evictions;
  }
  result.digest = core_.engine().journal().digest().value();
  return result;
}

}  // namespace fairlead::simulate
