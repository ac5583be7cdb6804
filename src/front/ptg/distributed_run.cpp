// The connection of a graph's run to the network: placing arriving values, sending outputs, and failures.
#include "front/ptg/distributed_run.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes_text.hpp"
#include "base/check.hpp"
#include "base/pages.hpp"
#include "front/ptg/edge_ends.hpp"
#include "front/ptg/parts.hpp"
#include "front/ranks/host_capacity.hpp"

namespace fairlead::ptg {

namespace {
constexpr Bytes most_small_values = Bytes{64} << 20;
}

DistributedRun::DistributedRun(engine::RuntimeCore& core, net::Communicator& communicator,
                               const ClassTable& table, FlowValues& values, FreshData& fresh,
                               DeferredWork& left, const front::ReceivePlacementChoice& landing,
                               std::function<void()> something)
    : core_(core),
      communicator_(communicator),
      table_(table),
      values_(values),
      fresh_(fresh),
      left_(left),
      something_(std::move(something)),
      placement_(table, communicator.own()),
      periods_(table),
      run_{communicator.next_graph(), 0},
      places_(core, table, placement_, values, landing),
      holds_(
          core, TaskRole::remote_access,
          [this](std::uint64_t hold, const net::ValueMemory& spot) { granted(hold, spot); },
          [this](const std::string& why) { failed(why); }) {}

void DistributedRun::begin(Bytes largest_footprint) {
  for (const auto& data : table_.collections)
    for (const std::uint32_t owner : data->owners.all())
      if (owner >= communicator_.ranks())
        throw UsageError(fmt::format("the distribution of {} gives a datum to rank {}; there are {}",
                                     data->name, owner, communicator_.ranks()));
  Bytes largest = 0;
  for (std::uint32_t i = 0; i < values_.of_collections(); ++i)
    if (const engine::RegisteredDatum* const datum = values_[i].datum; datum != nullptr) {
      if (datum->in_place)
        throw UsageError(fmt::format(
            "{} is in the program's memory: over several ranks a graph takes data that the runtime keeps",
            datum->text()));
      largest = std::max(largest, whole_pages_for(datum->bytes));
    }
  // Values that other ranks read here and values in flight share the memory that the largest task leaves (rule 10 of
  // docs/memory.md).
  const Bytes capacity = front::host_capacity(core_);
  const Bytes remaining = capacity > largest_footprint ? capacity - largest_footprint : 0;
  if (communicator_.ranks() > 1 && remaining < 2 * largest)
    throw FootprintError(
        fmt::format("over several ranks a graph needs memory for its largest task ({}) and for two values "
                    "that come and go ({} each); "
                    "there is {}: {}",
                    mebibytes(largest_footprint), mebibytes(largest), mebibytes(capacity),
                    core_.memory_advice(core_.engine().view().host(), largest_footprint + 2 * largest)));
  places_.begin(largest_footprint);
  // Each small value also has a record outside its page, which no memory limit covers; hence the absolute maximum.
  fresh_.set_limit(std::min(remaining / 4, most_small_values));
  pending_sends_.store(0);
  has_begun_ = true;
  communicator_.begin(run_, placement_.fingerprint(), net::room_of(remaining / 2, largest, page_bytes),
                      *this);
}

void DistributedRun::give_up() noexcept {
  communicator_.fail("its run was stopped");
  end_in_network();
}

void DistributedRun::end_in_network() noexcept {
  if (!std::exchange(has_begun_, false)) return;
  communicator_.end(run_);
  ++run_.run;
}

void DistributedRun::end() {
  end_in_network();
  std::map<std::uint32_t, Coming> open;
  {
    const std::lock_guard guard(mutex_);
    open.swap(coming_);
    unplaced_.clear();
  }
  for (std::uint32_t kind = 0; kind < values_.kinds().size(); ++kind) fresh_.set_waiting_values(kind, 0);
  for (const auto& [number, coming] : open) holds_.release(hold_of(number), true);
}

std::optional<std::uint64_t> DistributedRun::progress() const {
  const std::optional<std::uint64_t> moved = communicator_.moved();
  if (!moved || !holds_.none()) return std::nullopt;
  return fresh_.visitors_wait() ? std::nullopt : moved;
}

void DistributedRun::send_outputs(const TaskInstance& over, OutgoingOutputs going) {
  pending_sends_ += static_cast<std::int64_t>(
      std::ranges::count_if(going.outputs, [](const auto& output) { return output.bytes != 0; }));
  communicator_.task_finished(run_, over.key, std::move(going.outputs));
}

DistributedRun::OutgoingOutputs DistributedRun::outgoing(TaskInstance& over, const std::int64_t* numbers) {
  OutgoingOutputs going;
  const TableClass& of = table_.classes[over.task_class];
  const std::uint32_t* const values = over.values(of.parameters.size());
  for (const std::uint16_t at : of.notified_flows) {
    const TableFlow& flow = of.flows[at];
    std::vector<std::pair<net::RankId, Part>> to;
    for (const ClassEdge& edge : flow.edges) {
      Numbers further;
      std::copy_n(numbers, Places::most, further.data());
      StoppableWalk walk(table_.stop);
      if (!edge.before(further.data()) || !walk.begin(edge.loops, further.data())) continue;
      const std::int64_t different = edge.loops.size() == 1 ? periods_.of(edge, walk.step(1)) : 0;
      std::int64_t seen = 0;
      do {
        if (!edge.after.empty() && !edge.holds(further.data())) continue;
        if (is_skipped(table_, edge, further.data())) continue;
        std::array<std::int64_t, Walk::most_loops> parameters;
        edge.find_parameters(further.data(), parameters.data());
        const std::optional<net::RankId> rank =
            placement_.rank_of_parameters(table_.classes[edge.to_class], parameters.data());
        if (!rank) throw UsageError(nowhere(over, at, edge, parameters.data()));
        if (*rank == placement_.own()) continue;
        if (!edge.key) require_taken(over, at, edge, parameters.data());
        const auto known = std::ranges::find(to, *rank, &std::pair<net::RankId, Part>::first);
        if (known == to.end())
          to.emplace_back(*rank, edge.part);
        else if (known->second != edge.part)
          known->second = Part{};  // one output, the whole value, for all receivers on that rank
      } while (++seen != different && walk.next(edge.loops, further.data()));
    }
    if (to.empty()) continue;
    std::ranges::sort(to, {}, &std::pair<net::RankId, Part>::first);
    const bool has_value = at < of.data_flows && values[at] != no_value;
    for (const auto& [rank, part] : to) {
      const auto number = static_cast<std::uint8_t>(has_value ? of.output_number(at, part) : std::size_t{at});
      const auto same_value = std::ranges::find(going.outputs, number, &net::Endpoint::Output::number);
      if (same_value != going.outputs.end()) {
        same_value->to.push_back(rank);
        continue;
      }
      net::Endpoint::Output output{.number = number, .to = {rank}};
      if (has_value) {
        const FlowValue& value = values_[values[at]];
        output.value = values[at];
        output.datum_type = value.kind;
        output.memory_bytes = value.datum->bytes;
        output.layout = layout_of(value, part);
        output.bytes = output.layout.whole() ? output.memory_bytes : output.layout.bytes();
      }
      ++going.flows[at];
      going.outputs.push_back(std::move(output));
    }
  }
  std::ranges::sort(going.outputs, {}, &net::Endpoint::Output::number);
  return going;
}

/// Checked by the sender, too: a rank that would get only this surplus value may have finished before it arrives.
void DistributedRun::require_taken(const TaskInstance& over, std::uint16_t flow, const ClassEdge& edge,
                                   const std::int64_t* parameters) const {
  const Giver giver{over.task_class, flow, over.parameters()};
  const TableClass& to = table_.classes[edge.to_class];
  Numbers numbers;
  if (!has_task(to, parameters, numbers.data()) ||
      !takes_from(to, to.flows[edge.to_flow], numbers.data(), giver))
    throw UsageError(wrong_end(table_, giver, edge, parameters));
}

std::string DistributedRun::nowhere(const TaskInstance& over, std::uint16_t flow, const ClassEdge& edge,
                                    const std::int64_t* parameters) const {
  std::string why = wrong_end(table_, {over.task_class, flow, over.parameters()}, edge, parameters);
  if (!why.empty()) return why;
  const TableClass& to = table_.classes[edge.to_class];
  return fmt::format("the placement of {}, of {}, is a datum of {} that does not exist",
                     task_name(to, parameters), text_of(*to.definition),
                     table_.collections[to.runs_at->collection]->name);
}

net::ValueLayout DistributedRun::layout_of(const FlowValue& value, const Part& part) const {
  const auto extents_of = table_.collections[value.collection]->extents_of;
  return part.is_all() || extents_of == nullptr ? net::ValueLayout{}
                                                : layout_within(extents_of(value.handle), part);
}

std::string DistributedRun::owner_of(const MemoryPlace& place, const std::int64_t* numbers) const {
  const std::optional<net::RankId> owner = placement_.owner_of(place, numbers);
  if (!owner || *owner == placement_.own()) return {};
  return fmt::format("which belongs to rank {}, and this is rank {}: a task there must forward it",
                     net::index(*owner), net::index(placement_.own()));
}

// ---- requests of the network

void DistributedRun::allocate_place(const net::EndpointCommands::Place& place) {
  if (place.like >= values_.kinds().size())
    return communicator_.fail("a value arrived that matches no task on this rank");
  {
    const std::lock_guard guard(mutex_);
    unplaced_[place.like].push_back(place);
  }
  give_places(place.like);
}

/// Assigns fresh data to arriving values of this kind, in order, as long as there are any.
void DistributedRun::give_places(std::uint32_t kind) {
  for (;;) {
    net::EndpointCommands::Place place;
    std::uint32_t number = no_value;
    {
      const std::lock_guard guard(mutex_);
      std::deque<net::EndpointCommands::Place>& waiting = unplaced_[kind];
      if (!waiting.empty()) number = fresh_.take(kind, FreshUse::remote_value);
      if (number == no_value) {
        fresh_.set_waiting_values(kind, waiting.size());
        break;
      }
      place = waiting.front();
      waiting.pop_front();
    }
    give(place, number);
  }
  if (fresh_.visitors_wait()) core_.world().wake(engine::WakeTarget::application());
}

void DistributedRun::give(const net::EndpointCommands::Place& place, std::uint32_t number) {
  const FlowValue& value = values_[number];
  const auto of = std::ranges::find_if(
      table_.classes, [&](const TableClass& it) { return place.name.task - it.first_key < it.key_count; });
  ensure(of != table_.classes.end(), "what comes from another rank is of the same graph");
  const net::ValueLayout layout = layout_of(value, of->output(place.name.output).second);
  if ((layout.whole() ? value.datum->bytes : layout.bytes()) != place.bytes)
    return communicator_.fail(
        fmt::format("a value of {} bytes arrived for {}, which has {}: its tiles differ between the ranks",
                    place.bytes, table_.collections[value.collection]->name, value.datum->bytes));
  {
    const std::lock_guard guard(mutex_);
    coming_[number] = {place.id, layout};
  }
  holds_.request_hold(hold_of(number), held(value), AccessMode::write,
                      places_.reserve_arrival(place.name, number, value.datum->bytes, layout.whole()));
}

void DistributedRun::retry_placement() {
  for (std::uint32_t kind = 0; kind < values_.kinds().size(); ++kind) give_places(kind);
}

void DistributedRun::granted(std::uint64_t hold, const net::ValueMemory& spot) {
  if (hold % 2 == 1) return communicator_.readable(net::OutgoingId{hold / 2}, spot.address);
  const auto number = static_cast<std::uint32_t>(hold / 2);
  Coming coming;
  {
    const std::lock_guard guard(mutex_);
    const auto found = coming_.find(number);
    if (found == coming_.end()) return;  // the run has ended
    coming = found->second;
  }
  if (!coming.layout.whole() && spot.address != nullptr)
    std::memset(spot.address, 0, values_[number].datum->bytes);
  communicator_.placed(coming.id, number, {spot.address, spot.memory, coming.layout});
}

void DistributedRun::read(const net::EndpointCommands::Read& read) {
  if (read.release) {
    holds_.release(hold_of(read.id));
    return places_.release(read.id);
  }
  const FlowValue& value = values_[static_cast<std::uint32_t>(read.value)];
  holds_.request_hold(hold_of(read.id), held(value), AccessMode::read,
                      places_.reserve_departure(read.id, value.datum->bytes));
}

void DistributedRun::arrived(const net::EndpointCommands::Arrived& landed) {
  ArrivedOutput came{.task = landed.name.task, .output = landed.name.output};
  if (!landed.control) {
    came.number = static_cast<std::uint32_t>(landed.value);
    came.forwarded = landed.passed_on != net::no_outgoing;
    if (came.forwarded) ++pending_sends_;
    {
      const std::lock_guard guard(mutex_);
      coming_.erase(came.number);
    }
    FlowValue& value = values_[came.number];
    value.has_content.store(true, std::memory_order_relaxed);
    value.datum->ever_written = true;
    places_.release(came.number);
    holds_.release(hold_of(came.number));  // the engine processes this before any task that uses the value
  }
  if (has_failed()) return;  // the run has failed
  left_.keep(came);
  something_();
}

void DistributedRun::sent(const net::EndpointCommands::Sent& left) {
  --pending_sends_;
  if (has_failed()) return;
  left_.keep_delivered(static_cast<std::uint32_t>(left.value));
  something_();
}

void DistributedRun::failed(const std::string& why) {
  {
    const std::lock_guard guard(mutex_);
    if (failure_.empty()) failure_ = why;
  }
  has_failed_.store(true);
  something_();
  core_.world().wake(engine::WakeTarget::application());
}

std::string DistributedRun::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

}  // namespace fairlead::ptg
