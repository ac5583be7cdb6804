// Implements the public Runtime.
#include <fairlead/runtime.hpp>

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <limits>
#include <utility>

#include "front/ranks/rank_context.hpp"
#include "front/runtime/block_collection.hpp"
#include "front/runtime/implementation.hpp"
#include "front/runtime/rank.hpp"
#include "front/runtime/sizes.hpp"
#include "front/runtime/tile_collection.hpp"
#include "net/communicator.hpp"
#include "net/network.hpp"
#include "net/process_monitor.hpp"

namespace fairlead {

Runtime::Runtime(const Config& config, Bytes reserved)
    : Runtime(config, reserved, backend::default_backends()) {}
Runtime::Runtime(const Config& config, Bytes reserved,
                 const std::vector<std::shared_ptr<const backend::Backend>>& backends)
    : implementation_(new Implementation(config, reserved, backends), [](Implementation* implementation) {
        // A forked child has none of the threads and shares the parent's files: nothing is destroyed there.
        if (implementation->core.caller().same_process()) delete implementation;
      }) {
  if (implementation_->clock == nullptr) implementation_->monitors.live.serve_by_setting(config);
}
Runtime::Runtime(const Config& config, const Rank& rank, Bytes reserved)
    : Runtime(front::config_of(config, rank), reserved, front::backends_of(rank)) {
  if (rank.network == nullptr) return;
  if (implementation_->checkpointer)
    throw ConfigError("checkpoint: runs over several ranks have no checkpoints");
  const net::Protocol protocol = front::protocol_of(config, implementation_->plan.capacity, *rank.network);
  front::ReceivePlacementChoice landing = front::landing_of(config, implementation_->core, *rank.network);
  if (!rank.network->claim()) front::throw_taken(rank);
  net::set_heartbeat_timeout(std::chrono::seconds(config.count("rank-timeout")));
  try {
    implementation_->core.surroundings().rank_state = std::make_shared<front::RankContext>(
        implementation_->core, rank.network, protocol, std::move(landing));
  } catch (const std::bad_alloc&) {
    rank.network->abort_out_of_memory();  // the other ranks wait for this rank
    throw;
  }
  implementation_->choose_policy();
  implementation_->monitors.live.serve_by_setting(config);
}
Runtime::~Runtime() {
  auto* const ranks = front::rank_context(implementation_->core.surroundings());
  if (ranks) ranks->leave();
  implementation_->core.close();
  if (implementation_->core.caller().same_process())
    implementation_->monitors.live.end(std::uncaught_exceptions() > 0);
  if (ranks && implementation_->core.caller().same_process()) ranks->end();
  // A running call of the on_quiet() receiver may hold data, which keeps the runtime alive. Ending the watchdog here
  // ensures that its thread does not release the last reference and destroy itself.
  if (implementation_->core.caller().same_process()) implementation_->monitors.watchdog.end();
}

std::size_t Runtime::workers() const noexcept { return implementation_->plan.workers; }
std::uint32_t Runtime::rank() const noexcept {
  auto* const all = front::rank_context(implementation_->core.surroundings());
  return !all ? 0 : static_cast<std::uint32_t>(all->communicator().own());
}
std::uint32_t Runtime::ranks() const noexcept {
  auto* const all = front::rank_context(implementation_->core.surroundings());
  return !all ? 1 : all->communicator().ranks();
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
  const engine::StatusReport situation = implementation_->situation();
  return situation.lines.empty() ? "nothing to do\n" : situation.text();
}
std::string Runtime::live(std::uint16_t port) {
  implementation_->core.caller().check("live");
  return implementation_->monitors.live.serve(port);
}
void Runtime::on_quiet(std::function<void(const std::string&)> tell) {
  implementation_->core.caller().check_process("on_quiet");
  implementation_->monitors.watchdog.set_receiver(std::move(tell));
}
void Runtime::end_records() {
  implementation_->core.caller().check("end_records");
  implementation_->end_records();
}
void Runtime::remove_checkpoint() {
  implementation_->core.caller().check("remove_checkpoint");
  if (implementation_->checkpointer) implementation_->checkpointer->remove();
}
bool Runtime::stop_after_checkpoint() noexcept {
  return implementation_->checkpointer && implementation_->checkpointer->request_stop();
}
void Runtime::wind_down() noexcept { implementation_->core.wind_down(); }
void Runtime::give_up(const std::string& why) noexcept {
  implementation_->monitors.live.note_failure(why);
  if (auto* const ranks = front::rank_context(implementation_->core.surroundings());
      ranks && implementation_->core.caller().same_process())
    ranks->communicator().fail(why);
}
void Runtime::drop_clean() {
  implementation_->core.caller().check("drop_clean");
  implementation_->core.home_values().drop_clean();
}
Runtime::Traffic Runtime::disk_traffic() const noexcept {
  const backend::DiskTraffic& disk = implementation_->checks.traffic;
  return {disk.read.load(std::memory_order_relaxed), disk.written.load(std::memory_order_relaxed)};
}
Runtime::Digest Runtime::command_digest() const {
  implementation_->core.caller().check_process("command_digest");
  const engine::Engine& engine = implementation_->core.engine();
  return implementation_->core.engine().locked([&](memory::Memory&) {
    return Digest{engine.journal().digest().value(), engine.journal().digest().count()};
  });
}

/// Tiles that keep the implementation alive. If their destruction cannot wait for tasks, the implementation keeps the
/// tiles instead.
std::shared_ptr<detail::TileCollection> Runtime::owned(std::unique_ptr<detail::TileCollection> tiles) {
  return {tiles.release(), [runtime = implementation_](detail::TileCollection* ended) {
            std::unique_ptr<detail::TileCollection> last(ended);
            if (!ended->finish()) return runtime->core.keep(std::move(last));
            runtime->forget(ended->in_place(), ended->bytes());
            ended->remove_all();
          }};
}

namespace {
std::int64_t whole(std::int64_t elements, std::int64_t tile) noexcept {
  return (elements + tile - 1) / tile * tile;
}
}  // namespace

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
  if (tile.is_padded)
    front::checked_bytes(name, "padded matrix",
                         {{whole(rows, tile.rows), whole(columns, tile.columns), 1}, {1, 0, 0}},
                         element_bytes);
  const detail::Tiling tiling{rows, columns, tile, which == Tiles::lower, 0};
  auto tiles = owned(std::make_unique<detail::TileCollection>(it.core, it.data, name, it.collections++,
                                                              tiling, element_bytes, nullptr, &it.spill,
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
  if (data == nullptr) throw UsageError(fmt::format("{}: the address of the matrix is null", name));
  if (tile.is_padded)
    throw UsageError(fmt::format(
        "{}: tiles in the program's memory cannot be padded, only those in the runtime's memory", name));
  if (rows <= 0 || columns <= 0 || leading_dimension < rows)
    throw UsageError(fmt::format("{}: {} x {} elements with leading dimension {} are not a matrix", name,
                                 rows, columns, leading_dimension));
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (leading_dimension > most)
    throw UsageError(fmt::format("{}: the leading dimension may be {} at most; this one is {}", name, most,
                                 leading_dimension));
  front::check_tiles(name, rows, columns, tile, false);
  front::checked_bytes(name, "matrix", {{rows, columns, 1}, {1, leading_dimension, 0}}, element_bytes);
  const detail::Tiling tiling{rows, columns, tile, false, leading_dimension};
  auto tiles = owned(std::make_unique<detail::TileCollection>(
      it.core, it.data, name, it.collections++, tiling, element_bytes, data, nullptr, detail::Fill{}));
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
        "remove was given a handle that is empty, of a datum that no longer exists, or of a tile, which goes "
        "with its matrix");
  if (single->views != nullptr && single->views->partitions != 0)
    throw UsageError(
        fmt::format("remove of {}, which is split into parts: end its partitions first", single->name));
  if (auto* const ranks = front::rank_context(it.core.surroundings());
      ranks != nullptr && ranks->messages().any_of(*single->datum))
    it.core.wait_until([&] { return !ranks->messages().any_of(*single->datum); }, "remove");
  it.core.reductions().close_all();
  // Sets targets, so that the thread that finishes the last task wakes up this thread.
  const bool over = it.core.wait_for_all(false);
  it.core.throw_if_stopped();
  if (!over) it.core.throw_deadlock("remove");
  if (it.core.holds().holds(*single->datum))
    throw UsageError(fmt::format("remove of {}, which this program holds", single->name));
  it.forget(!single->as.kept, single->as.kept ? single->slot.bytes : single->datum->bytes);
  it.single.remove(it.core, *single);
}

engine::RegisteredDatum& Runtime::own_datum(const detail::DatumReference& reference, const char* what) const {
  implementation_->core.caller().check(what);
  if (reference.datum == nullptr || reference.datum->generation != reference.generation)
    throw UsageError(
        fmt::format("{} was given a handle that is empty, or of a datum that no longer exists", what));
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
    throw UsageError("split was given a handle that is empty, or of a datum that no longer exists");
  front::SingleDatum* const single = front::SingleData::find(*reference.datum);
  if (single == nullptr)
    throw UsageError(
        fmt::format("{} cannot be split: it is a part or a tile itself", reference.datum->text()));
  if (single->as.fill)
    throw UsageError(fmt::format(
        "{} cannot be split: parts are stored in the home of the whole, but a generated datum is not stored",
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
  Statistics::Network network;
  std::vector<Statistics::FromRank> from_ranks;
  if (auto* const ranks = front::rank_context(implementation_->core.surroundings())) {
    const net::NetworkTraffic sent = ranks->communicator().traffic();
    network = {.messages = sent.messages(),
               .payloads = sent.payloads + sent.eager + sent.reads,
               .payload_bytes = sent.payload_bytes + sent.eager_bytes + sent.read_bytes,
               .into_devices = {sent.bytes_into_devices, sent.into_devices},
               .receive_memory = ranks->landing().text};
    from_ranks = ranks->values().from_ranks();
  }
  return implementation_->core.engine().locked([&, this](memory::Memory& memory) {
    const engine::Engine& engine = implementation_->core.engine();
    const Topology& topology = memory.topology();
    Statistics result;
    result.network = network;
    result.from_ranks = std::move(from_ranks);
    result.tasks = engine.tasks_done();
    result.tasks_cancelled = engine.endings().cancelled();
    result.scheduler = engine.options().policy_name;
    result.active_policy = engine.policy().active_policy();
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      if (!topology.links[i].physical_links.empty()) continue;  // counted on the physical links
      const memory::LinkTraffic& traffic = memory.transfers().traffic()[i];
      const bool computes = topology.links[i].is_generator;
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
      result.nodes.push_back({topology.nodes[index(info.id)].name, info.capacity, node.peak_bytes,
                              node.evictions, memory.losses().words_of(info.id)});
    }
    for (const WorkerInfo& worker : engine.view().workers()) {
      const engine::Pipeline& pipeline = engine.pipelines()[worker.id];
      const engine::FastPath& fast_path = engine.fast_path();
      result.workers.push_back({pipeline.tasks_run + fast_path.tasks(index(worker.id)),
                                pipeline.busy + fast_path.busy(index(worker.id)), pipeline.waiting_for_data,
                                pipeline.waiting_for_tasks, topology.nodes[index(worker.node)].name});
    }
    return result;
  });
}

}  // namespace fairlead
