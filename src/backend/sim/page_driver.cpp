// Serves page requests step by step: evictions, driver time, transfers.
#include "backend/sim/page_driver.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <string>

namespace fairlead::backend {

using Move = UnifiedPages::Move;
using Use = UnifiedPages::Use;

class PageDriver::Request {
 private:
  friend PageDriver;
  enum class Step : std::uint8_t { evicting, serving, moving };
  Cause cause{};
  Place place = 0;
  WorkerId worker{};  // the worker whose kernel is stalled, for a fault
  std::vector<Wanted> wanted;
  std::size_t next = 0;  // index in wanted: the datum being served
  Step step{};
  std::size_t under_way = 0;  // delays and transfers in flight in this step
  UnifiedPages::Changes changes;
};

PageDriver::PageDriver(MemoryModel model, const machine::UnifiedMemoryDescription& costs,
                       const memory::Memory& memory, std::function<bool(DatumId)> has_value, World world)
    : model_(model),
      costs_(costs),
      memory_(memory),
      has_value_(std::move(has_value)),
      world_(std::move(world)),
      pages_(pages_options(costs)),
      handlers_(memory.topology().nodes.size()),
      traffic_(memory.topology().links.size()) {}

PageDriver::~PageDriver() = default;

/// Cores access host memory; only they need no device.
PageDriver::Place PageDriver::place_of(NodeId node) const noexcept {
  return memory_.topology().has_kind(node, MemoryKind::host) ? UnifiedPages::host : index(node);
}

UnifiedPages::Options PageDriver::pages_options(const machine::UnifiedMemoryDescription& costs) const {
  UnifiedPages::Options options{.block = costs.block, .capacity = {}, .time = {}};
  const Topology& topology = memory_.topology();
  for (const NodeSpec& node : topology.nodes)
    options.capacity.push_back(node.memory == MemoryKind::device ? node.capacity : UnifiedPages::unlimited);
  options.time = [this](Place from, Place to, Bytes bytes) {
    return memory_.routes().between(static_cast<NodeId>(from), static_cast<NodeId>(to)).time(bytes);
  };
  return options;
}

std::vector<PageDriver::Wanted> PageDriver::wanted_by(const Task& task) const {
  std::vector<Wanted> wanted;
  const bool duplicates = model_ != MemoryModel::managed;
  for (const Access& access : task.accesses()) {
    const DatumId id = memory_.target(access);
    const Use use = writes(access.mode) ? Use::written : duplicates ? Use::read_shared : Use::exclusive;
    wanted.push_back({{id, memory_.datum(id).bytes, has_value_(id)}, use});
  }
  return wanted;
}

bool PageDriver::all_there(const std::vector<Wanted>& wanted, Place place) const {
  return std::ranges::all_of(wanted, [&](const Wanted& one) {
    const bool moves = index(one.datum.id) < moving_.size() && moving_[index(one.datum.id)].now;
    return !moves && pages_.is_there(one.datum, place);
  });
}

/// Rejects a task whose data exceed the device: their pages would evict each other for ever.
void PageDriver::check_size(const std::vector<Wanted>& wanted, Place place) const {
  const Bytes capacity =
      place == UnifiedPages::host ? UnifiedPages::unlimited : memory_.topology().nodes[place].capacity;
  Bytes blocks = 0;
  for (const Wanted& one : wanted) blocks += (one.datum.bytes + costs_.block - 1) / costs_.block;
  if (blocks > capacity / costs_.block)
    throw Error("a task uses " + std::to_string(blocks) + " blocks of " + std::to_string(costs_.block) +
                " bytes at once, and the device has " + std::to_string(capacity / costs_.block) +
                ": its pages would push each other out, which is not simulated");
}

PageDriver::Moving& PageDriver::moving(DatumId id) {
  if (index(id) >= moving_.size()) moving_.resize(index(id) + 1u);
  return moving_[index(id)];
}

PageDriver::Request& PageDriver::make_request(Cause cause, Place place, WorkerId worker,
                                              std::vector<Wanted> wanted) {
  if (free_.empty()) free_.push_back(requests_.emplace_back(std::make_unique<Request>()).get());
  Request& request = *free_.back();
  free_.pop_back();
  request.cause = cause;
  request.place = place;
  request.worker = worker;
  request.wanted = std::move(wanted);
  request.next = request.under_way = 0;
  ++busy_;
  return request;
}

void PageDriver::touch(const Task& task, WorkerId worker, NodeId node) {
  const Place place = place_of(node);
  std::vector<Wanted> wanted = wanted_by(task);
  check_size(wanted, place);
  if (!all_there(wanted, place)) return enter(make_request(Cause::fault, place, worker, std::move(wanted)));
  for (const Wanted& one : wanted) pages_.make_resident(one.datum, place, one.use);
  world_.go_on(worker);
}

void PageDriver::given(const Task& task, NodeId node) {
  if (model_ != MemoryModel::managed_prefetched || place_of(node) == UnifiedPages::host) return;
  std::vector<Wanted> wanted = wanted_by(task);
  check_size(wanted, place_of(node));
  if (all_there(wanted, place_of(node))) return;
  enter(make_request(Cause::prefetch, place_of(node), no_id<WorkerId>, std::move(wanted)));
}

/// All devices concurrently, each one datum at a time.
void PageDriver::bring_home() {
  for (const NodeId device : memory_.topology().devices())
    next_home(make_request(Cause::home, index(device), no_id<WorkerId>, {}));
}

/// Each device serves its faults and prefetches in order; requests of cores run concurrently.
void PageDriver::enter(Request& request) {
  auto& handler = handlers_[request.place];
  if (request.place == UnifiedPages::host) return next_datum(request);
  handler.push_back(&request);
  if (handler.size() == 1) next_datum(request);
}

void PageDriver::next_datum(Request& request) {
  if (request.next == request.wanted.size()) return finish(request);
  Moving& moving_now = moving(request.wanted[request.next].datum.id);
  if (moving_now.now) return moving_now.waiting.push_back(&request);
  moving_now.now = true;
  begin(request);
}

void PageDriver::begin(Request& request) {
  const Wanted& one = request.wanted[request.next];
  request.changes = pages_.make_resident(one.datum, request.place, one.use);
  request.step = Request::Step::evicting;
  for (const Move& eviction : request.changes.evictions) transfer(eviction, memory::Cause::eviction, request);
  if (request.under_way == 0) serve(request);
}

/// Driver time other than transfers. A prefetch takes the latency of an explicit copy.
void PageDriver::serve(Request& request) {
  request.step = Request::Step::serving;
  Duration time{};
  if (const Bytes bytes = request.changes.bytes(); bytes != 0 && request.cause == Cause::fault) {
    const std::uint64_t pages = (bytes + costs_.page - 1) / costs_.page;
    const std::uint64_t batches = (pages + costs_.batch_pages - 1) / costs_.batch_pages;
    fault_batches_ += batches;
    time = costs_.batch_time * static_cast<std::int64_t>(batches) +
           costs_.time_per_page * static_cast<std::int64_t>(pages);
  } else {
    time = latency(request.changes.moves);
  }
  if (time == Duration{}) return move(request);
  ++request.under_way;
  world_.wait(time, request);
}

void PageDriver::move(Request& request) {
  request.step = Request::Step::moving;
  const auto cause = request.cause == Cause::fault      ? memory::Cause::demand
                     : request.cause == Cause::prefetch ? memory::Cause::prefetch
                                                        : memory::Cause::flush;
  for (const Move& one : request.changes.moves) transfer(one, cause, request);
  if (request.under_way == 0) datum_arrived(request);
}

void PageDriver::datum_arrived(Request& request) {
  if (request.cause == Cause::home) return next_home(request);
  Moving& done = moving(request.wanted[request.next++].datum.id);
  if (done.waiting.empty()) {
    done.now = false;
  } else {  // the datum moves on to the next request
    Request& waiting = *done.waiting.front();
    done.waiting.pop_front();
    begin(waiting);
  }
  next_datum(request);
}

void PageDriver::next_home(Request& request) {
  request.changes = {};
  if (const Move one = pages_.migrate_home(request.place); one.bytes != 0) {
    request.changes.moves.push_back(one);
    return serve(request);
  }
  finish(request);
}

void PageDriver::finish(Request& request) {
  --busy_;
  free_.push_back(&request);
  const WorkerId worker = request.cause == Cause::fault ? request.worker : no_id<WorkerId>;
  if (request.cause != Cause::home && request.place != UnifiedPages::host) {
    auto& handler = handlers_[request.place];
    handler.pop_front();
    if (!handler.empty()) next_datum(*handler.front());
  }
  if (worker != no_id<WorkerId>) world_.go_on(worker);
}

void PageDriver::resume(Request& request) {
  if (--request.under_way != 0) return;
  switch (request.step) {
    case Request::Step::evicting:
      return serve(request);
    case Request::Step::serving:
      return move(request);
    case Request::Step::moving:
      return datum_arrived(request);
  }
}

void PageDriver::transfer(const Move& move, memory::Cause cause, Request& request) {
  const auto from = static_cast<NodeId>(move.from), to = static_cast<NodeId>(move.to);
  const memory::Route& route = memory_.routes().between(from, to);
  for (const RouteStep& leg : route.legs) {
    memory::LinkTraffic& traffic = traffic_[index(leg.link)];
    auto& count = (leg.outward ? traffic.from_home : traffic.to_home)[static_cast<std::size_t>(cause)];
    count.bytes += move.bytes;
    ++count.copies;
  }
  ++request.under_way;
  world_.transfer(move.bytes, route.legs, request);
}

Duration PageDriver::latency(std::span<const Move> moves) const {
  Duration longest{};
  for (const Move& move : moves)
    longest = std::max(
        longest,
        memory_.routes().between(static_cast<NodeId>(move.from), static_cast<NodeId>(move.to)).latency);
  return longest;
}

}  // namespace fairlead::backend
