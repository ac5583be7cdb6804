// See rank_program.hpp.
#include "simulate/cluster/rank_program.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "base/exception_text.hpp"
#include "base/pages.hpp"
#include "front/ptg/graph_source.hpp"
#include "front/ptg/own_data.hpp"
#include "schedule/policies.hpp"

namespace fairlead::simulate {

RankProgram::RankProgram(const Blueprint& blueprint, const SimulatedMachine& machine, bool serving_core,
                         const ClusterOptions& options, RankScheduler& turns, SimulatedNetwork& fabric,
                         std::uint32_t own, RankTime& time)
    : blueprint_(blueprint),
      machine_(machine),
      options_(options),
      fabric_(fabric),
      time_(time),
      own_(own),
      serving_core_(serving_core),
      world_(sim_options(turns), turns, own,
             std::min<Bytes>(options.protocol.eager_bytes, blueprint.largest_tile())),
      wires_(machine.topology(), machine.description().network, world_),
      core_(core_options(), world_),
      communicator_(fabric.end_of(net::RankId{own}), options.protocol) {
  if (machine.devices() != 0) fabric.set_interface_links(net::RankId{own}, &wires_);
  communicator_.on_quiescent([this] { world_.wake(engine::WakeTarget::application()); });
}

ProgramTask RankProgram::program_task(const Task& task) const {
  return blueprint_.task(static_cast<const ptg::TaskInstance&>(*task.lazy));
}

backend::SimOptions RankProgram::sim_options(RankScheduler& turns) {
  backend::SimOptions sim;
  sim.timeline = &turns.timeline();
  sim.seed = Random::mix(options_.seed) ^ own_;
  sim.noise_percent = options_.noise_percent;
  sim.duration = [this](const Task& task, WorkerId worker) {
    return machine_.duration(program_task(task), worker);
  };
  // The last idle worker first processes messages that have arrived or left.
  if (fabric_.workers_communicate())
    sim.free_from = [this](WorkerId worker) {
      return time_.all_but_one_compute() && !serves(worker) ? fabric_.thread_busy_until(own_) : Time{};
    };
  sim.on_start = [this](Task&, WorkerId worker) {
    if (!serves(worker)) time_.task_starts(world_.now());
  };
  sim.on_end = [this](Task& task, WorkerId worker, bool) {
    const ProgramTask cost = program_task(task);
    if (cost.flops > 0) work_.add(cost);
    if (!serves(worker)) time_.on_task_end(world_.now());
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

/// Creates a matrix of the graph with the tiles of this rank.
std::shared_ptr<const ptg::CollectionDefinition> RankProgram::tiles(const ptg::CollectionDefinition& of) {
  const Blueprint::Matrix& matrix = blueprint_.matrix(of.name);
  const auto number = static_cast<std::int16_t>(collections_++);
  auto made = std::make_shared<ptg::CollectionDefinition>(of);
  made->handles.assign(matrix.positions() * sizeof(TileHandle), std::byte{});
  made->data.assign(matrix.positions(), {});
  made->places.clear();
  made->shapes.clear();
  for (std::size_t i = 0; i < matrix.positions(); ++i) {
    const Blueprint::Tile tile = matrix.tile(i);
    const auto rows = static_cast<std::int32_t>(tile.rows), columns = static_cast<std::int32_t>(tile.columns);
    const TileShape shape{rows, columns, rows};
    if (tile.owner == own_ && rows != 0) {
      engine::RegisteredDatum& datum =
          add(tile.bytes(blueprint_.size().precision), {number, tile.row, tile.column});
      datum.ever_written = true;
      const std::int32_t device = device_of(options_.advice, static_cast<std::int32_t>(machine_.devices()),
                                            tile.row, tile.column, blueprint_.grid());
      if (device != no_device) core_.advise(datum, device);
      made->data[i] = {&datum, datum.generation};
    }
    const TileHandle handle(made->data[i], shape);
    std::memcpy(made->handles.data() + i * sizeof handle, &handle, sizeof handle);
  }
  made->owners = matrix.owners();
  ptg::keep_own(*made);
  return made;
}

std::shared_ptr<const ptg::ClassDefinition> RankProgram::on_machine(const ptg::TableClass& of,
                                                                    std::size_t task_class) {
  auto made = std::make_shared<ptg::ClassDefinition>(*of.definition);
  Body& body = bodies_.emplace_back(Body{made->maker, *made->codelet});
  body.codelet.kinds = machine_.kinds(blueprint_.kernel(task_class));
  if (serving_core_ && !blueprint_.forwards_only(task_class))
    body.codelet.kinds &= ~(1u << static_cast<unsigned>(WorkerKind::cpu));
  body.codelet.destroy_closure = nullptr;
  // Tasks are created as in the graph; no body runs, so its arguments are omitted.
  made->maker.self = std::shared_ptr<const void>(std::shared_ptr<const void>(), &body);
  made->maker.make = [](const void* self, const void* const* handles, const std::int64_t* numbers,
                        void (*use)(void*, const fairlead::detail::Submission&), void* context) {
    const Body& it = *static_cast<const Body*>(self);
    struct Call {
      const Body& body;
      void (*use)(void*, const fairlead::detail::Submission&);
      void* context;
    } call{it, use, context};
    it.of_graph.make(
        it.of_graph.self.get(), handles, numbers,
        [](void* to, const fairlead::detail::Submission& submission) {
          const Call& its = *static_cast<const Call*>(to);
          fairlead::detail::Submission here = submission;
          here.codelet = &its.body.codelet;
          here.fill_closure = nullptr;
          its.use(its.context, here);
        },
        &call);
  };
  return made;
}

ptg::ClassTable RankProgram::classes() {
  ptg::ClassTable table = blueprint_.classes();
  for (std::size_t i = 0; i < table.classes.size(); ++i)
    table.classes[i].definition = on_machine(table.classes[i], i);
  for (auto& collection : table.collections) collection = tiles(*collection);
  return table;
}

void RankProgram::run() {
  const front::ReceivePlacementChoice landing{.landing = options_.landing};
  try {
    ptg::EarlyTermination early_end;
    ptg::GraphSource source(
        core_, early_end, classes(),
        [this](const ptg::CollectionDefinition&, const void* like, bool) {
          const TileShape& shape = static_cast<const TileHandle*>(like)->shape();
          const Blueprint::Tile tile{-1, -1, own_, shape.rows, shape.columns};
          engine::RegisteredDatum& datum = add(tile.bytes(blueprint_.size().precision), {});
          const TileHandle& handle =
              fresh_.emplace_back(fairlead::detail::DatumReference{&datum, datum.generation}, shape);
          return std::pair<const void*, engine::RegisteredDatum*>(&handle, &datum);
        },
        &communicator_, landing);
    looked_at_ = source.tasks();  // sets the address of the counter
    source.placement().count_in(&looked_at_);
    source.run();
  } catch (const std::exception& error) {
    communicator_.fail(exception_text(error));
    throw;
  }
}

RankResult RankProgram::result() const {
  RankResult result;
  result.tasks_examined = looked_at_;
  result.tasks = core_.engine().tasks_done();
  result.traffic = communicator_.traffic();
  const Topology& topology = machine_.topology();
  const memory::Memory& memory = core_.engine().memory();
  for (const NodeInfo& info : core_.engine().view().caches()) {
    const memory::MemoryNode& node = memory.node(info.id);
    result.peak_memory += node.peak_bytes.get();
    result.evictions += node.evictions;
    if (topology.has_kind(info.id, MemoryKind::host)) result.to_disk += node.evictions;
  }
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkSpec& link = topology.links[i];
    if (!link.physical_links.empty()) continue;  // counted on the links that it crosses
    const memory::LinkTraffic traffic = memory.transfers().traffic()[i];
    const Bytes away = traffic.bytes(traffic.from_home), back = traffic.bytes(traffic.to_home);
    if (topology.has_kind(link.first, MemoryKind::host)) {
      result.bytes_to_devices += away;
      result.bytes_from_devices += back;
    } else if (topology.has_kind(link.first, MemoryKind::device)) {
      result.bytes_between_devices += away + back;
    }
  }
  result.digest = core_.engine().journal().digest().value();
  return result;
}

}  // namespace fairlead::simulate
