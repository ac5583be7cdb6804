// See over_ranks.hpp.
#include "front/ptg/over_ranks.hpp"

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

OverRanks::OverRanks(engine::RuntimeCore& core, net::Communicator& communicator, const ClassTable& table,
                     Values& values, FreshData& fresh, LeftOver& left, const front::LandingChoice& landing,
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
          core, TaskRole::visit, [this](std::uint64_t hold, const net::Spot& spot) { granted(hold, spot); },
          [this](const std::string& why) { failed(why); }) {}

void OverRanks::begin(Bytes largest_footprint) {
  for (const auto& data : table_.collections)
    for (const std::uint32_t owner : data->owners.all())
      if (owner >= communicator_.ranks())
        throw UsageError(fmt::format("the distribution of {} gives a datum to rank {}; there are {}",
                                     data->name, owner, communicator_.ranks()));
  Bytes largest = 0;
  for (std::uint32_t i = 0; i < values_.of_collections(); ++i)
    if (const engine::RegisteredDatum* const datum = values_[i].datum; datum != nullptr) {
      if (datum->in_place)
        throw UsageError(
            fmt::format("{} lies in the program's memory: over several ranks a graph takes data that the "
                        "runtime keeps",
                        datum->text()));
      largest = std::max(largest, whole_pages_for(datum->bytes));
    }
  // What others read here, and what is on its way, share what the largest task leaves (rule 10 of docs/memory.md).
  const Bytes capacity = front::host_capacity(core_);
  const Bytes beside = capacity > largest_footprint ? capacity - largest_footprint : 0;
  if (communicator_.ranks() > 1 && beside < 2 * largest)
    throw FootprintError(
        fmt::format("over several ranks a graph needs memory for its largest task ({}) and for two values "
                    "that come and go ({} each); "
                    "there is {}: {}",
                    mebibytes(largest_footprint), mebibytes(largest), mebibytes(capacity),
                    core_.more_memory(core_.engine().view().host(), largest_footprint + 2 * largest)));
  places_.begin(largest_footprint);
  // Each of them takes a record beside its page, which is in nobody's limit: so there is a number that is always enough.
  fresh_.hold_back_beyond(std::min(beside / 4, most_small_values));
  owed_.store(0);
  has_begun_ = true;
  communicator_.begin(run_, placement_.fingerprint(), net::room_of(beside / 2, largest, page_bytes), *this);
}

void OverRanks::give_up() noexcept {
  communicator_.fail("its run was stopped");
  end_in_network();
}

void OverRanks::end_in_network() noexcept {
  if (!std::exchange(has_begun_, false)) return;
  communicator_.end(run_);
  ++run_.run;
}

void OverRanks::end() {
  end_in_network();
  std::map<std::uint32_t, Coming> open;
  {
    const std::lock_guard guard(mutex_);
    open.swap(coming_);
    placeless_.clear();
  }
  for (std::uint32_t kind = 0; kind < values_.kinds().size(); ++kind) fresh_.want(kind, 0);
  for (const auto& [number, coming] : open) holds_.let_go(hold_of(number), true);
}

std::optional<std::uint64_t> OverRanks::moved() const {
  const std::optional<std::uint64_t> moved = communicator_.moved();
  if (!moved || !holds_.none()) return std::nullopt;
  return fresh_.visitors_wait() ? std::nullopt : moved;
}

void OverRanks::tell(const ActiveTask& over, Going going) {
  owed_ += static_cast<std::int64_t>(
      std::ranges::count_if(going.outputs, [](const auto& output) { return output.bytes != 0; }));
  communicator_.over(run_, over.name, std::move(going.outputs));
}

OverRanks::Going OverRanks::going(ActiveTask& over, const std::int64_t* numbers) {
  Going going;
  const TableClass& of = table_.classes[over.task_class];
  const std::uint32_t* const values = over.values(of.parameters.size());
  for (const std::uint16_t at : of.told) {
    const TableFlow& flow = of.flows[at];
    std::vector<std::pair<net::RankId, Part>> to;
    for (const Edge& edge : flow.edges) {
      Numbers further;
      std::copy_n(numbers, Places::most, further.data());
      SpaceWalk walk(table_.stop);
      if (!edge.before(further.data()) || !walk.begin(edge.loops, further.data())) continue;
      const std::int64_t different = edge.loops.size() == 1 ? periods_.of(edge, walk.step(1)) : 0;
      std::int64_t seen = 0;
      do {
        if (!edge.after.empty() && !edge.holds(further.data())) continue;
        std::array<std::int64_t, Walk::most_loops> parameters;
        edge.find_parameters(further.data(), parameters.data());
        const std::optional<net::RankId> rank =
            placement_.rank_of_parameters(table_.classes[edge.to_class], parameters.data());
        if (!rank) throw UsageError(nowhere(over, at, edge, parameters.data()));
        if (*rank == placement_.own()) continue;
        if (edge.said != nullptr) require_taken(over, at, edge, parameters.data());
        const auto known = std::ranges::find(to, *rank, &std::pair<net::RankId, Part>::first);
        if (known == to.end())
          to.emplace_back(*rank, edge.part);
        else if (known->second != edge.part)
          known->second = Part{};  // one value for all of that rank
      } while (++seen != different && walk.next(edge.loops, further.data()));
    }
    if (to.empty()) continue;
    std::ranges::sort(to, {}, &std::pair<net::RankId, Part>::first);
    const bool has_value = at < of.data_flows && values[at] != no_value;
    for (const auto& [rank, part] : to) {
      const auto number = static_cast<std::uint8_t>(has_value ? of.output_number(at, part) : std::size_t{at});
      const auto told = std::ranges::find(going.outputs, number, &net::Endpoint::Output::number);
      if (told != going.outputs.end()) {
        told->to.push_back(rank);
        continue;
      }
      net::Endpoint::Output output{.number = number, .to = {rank}};
      if (has_value) {
        const Value& value = values_[values[at]];
        output.value = values[at];
        output.like = value.kind;
        output.takes = value.datum->bytes;
        output.layout = layout_of(value, part);
        output.bytes = output.layout.whole() ? output.takes : output.layout.bytes();
      }
      ++going.flows[at];
      going.outputs.push_back(std::move(output));
    }
  }
  std::ranges::sort(going.outputs, {}, &net::Endpoint::Output::number);
  return going;
}

/// Here, too: a rank to which nothing but a surplus value goes may have finished before it comes.
void OverRanks::require_taken(const ActiveTask& over, std::uint16_t flow, const Edge& edge,
                              const std::int64_t* parameters) const {
  const Giver giver{over.task_class, flow, over.parameters()};
  const TableClass& to = table_.classes[edge.to_class];
  Numbers numbers;
  if (!has_task(to, parameters, numbers.data()) ||
      !takes_from(to, to.flows[edge.to_flow], numbers.data(), giver))
    throw UsageError(wrong_end(table_, giver, edge, parameters));
}

std::string OverRanks::nowhere(const ActiveTask& over, std::uint16_t flow, const Edge& edge,
                               const std::int64_t* parameters) const {
  std::string why = wrong_end(table_, {over.task_class, flow, over.parameters()}, edge, parameters);
  if (!why.empty()) return why;
  const TableClass& to = table_.classes[edge.to_class];
  return fmt::format("{}, of {}, is to run where a datum of {} is that does not exist",
                     called(to, parameters), text_of(*to.definition),
                     table_.collections[to.runs_at->collection]->name);
}

net::Layout OverRanks::layout_of(const Value& value, const Part& part) const {
  const auto extents_of = table_.collections[value.collection]->extents_of;
  return part.is_all() || extents_of == nullptr ? net::Layout{}
                                                : layout_within(extents_of(value.handle), part);
}

std::string OverRanks::owner_of(const MemoryPlace& place, const std::int64_t* numbers) const {
  const std::optional<net::RankId> owner = placement_.owner_of(place, numbers);
  if (!owner || *owner == placement_.own()) return {};
  return fmt::format("which belongs to rank {}, and this is rank {}: a task there has to pass it on",
                     net::index(*owner), net::index(placement_.own()));
}

// ---- what the network wants

void OverRanks::find_place(const net::Commands::Place& place) {
  if (place.like >= values_.kinds().size())
    return communicator_.fail("a value came that looks like nothing that this rank knows");
  {
    const std::lock_guard guard(mutex_);
    placeless_[place.like].push_back(place);
  }
  give_places(place.like);
}

/// To those who wait for one of the kind, in their order, as far as there are any.
void OverRanks::give_places(std::uint32_t kind) {
  for (;;) {
    net::Commands::Place place;
    std::uint32_t number = no_value;
    {
      const std::lock_guard guard(mutex_);
      std::deque<net::Commands::Place>& waiting = placeless_[kind];
      if (!waiting.empty()) number = fresh_.take(kind, FreshUse::visitor);
      if (number == no_value) {
        fresh_.want(kind, waiting.size());
        break;
      }
      place = waiting.front();
      waiting.pop_front();
    }
    give(place, number);
  }
  if (fresh_.visitors_wait()) core_.world().wake(engine::Who::application());
}

void OverRanks::give(const net::Commands::Place& place, std::uint32_t number) {
  const Value& value = values_[number];
  const auto of = std::ranges::find_if(
      table_.classes, [&](const TableClass& it) { return place.name.task - it.first_name < it.names; });
  ensure(of != table_.classes.end(), "what comes from another rank is of the same graph");
  const net::Layout layout = layout_of(value, of->output(place.name.output).second);
  if ((layout.whole() ? value.datum->bytes : layout.bytes()) != place.bytes)
    return communicator_.fail(
        fmt::format("a value of {} bytes came for {}, which has {}: its tiles differ between the ranks",
                    place.bytes, table_.collections[value.collection]->name, value.datum->bytes));
  {
    const std::lock_guard guard(mutex_);
    coming_[number] = {place.id, layout};
  }
  holds_.ask(hold_of(number), held(value), AccessMode::write,
             places_.coming(place.name, number, value.datum->bytes, layout.whole()));
}

void OverRanks::look_again() {
  for (std::uint32_t kind = 0; kind < values_.kinds().size(); ++kind) give_places(kind);
}

void OverRanks::granted(std::uint64_t hold, const net::Spot& spot) {
  if (hold % 2 == 1) return communicator_.readable(net::OutgoingId{hold / 2}, spot.address);
  const auto number = static_cast<std::uint32_t>(hold / 2);
  Coming coming;
  {
    const std::lock_guard guard(mutex_);
    const auto found = coming_.find(number);
    if (found == coming_.end()) return;  // the run is over for all
    coming = found->second;
  }
  if (!coming.layout.whole() && spot.address != nullptr)
    std::memset(spot.address, 0, values_[number].datum->bytes);
  communicator_.placed(coming.id, number, {spot.address, spot.memory, coming.layout});
}

void OverRanks::read(const net::Commands::Read& read) {
  if (read.over) {
    holds_.let_go(hold_of(read.id));
    return places_.over(read.id);
  }
  const Value& value = values_[static_cast<std::uint32_t>(read.value)];
  holds_.ask(hold_of(read.id), held(value), AccessMode::read, places_.going(read.id, value.datum->bytes));
}

void OverRanks::landed(const net::Commands::Landed& landed) {
  Came came{.task = landed.name.task, .flow = landed.name.output};
  if (!landed.control) {
    came.number = static_cast<std::uint32_t>(landed.value);
    came.passed_on = landed.passed_on != net::no_outgoing;
    if (came.passed_on) ++owed_;
    {
      const std::lock_guard guard(mutex_);
      coming_.erase(came.number);
    }
    Value& value = values_[came.number];
    value.has_content.store(true, std::memory_order_relaxed);
    value.datum->ever_written = true;
    places_.over(came.number);
    holds_.let_go(hold_of(came.number));  // the engine hears of that before it hears of a task that uses it
  }
  if (has_failed()) return;  // nobody goes on
  left_.keep(came);
  something_();
}

void OverRanks::left(const net::Commands::Left& left) {
  --owed_;
  if (has_failed()) return;
  left_.keep_given(static_cast<std::uint32_t>(left.value));
  something_();
}

void OverRanks::failed(const std::string& why) {
  {
    const std::lock_guard guard(mutex_);
    if (failure_.empty()) failure_ = why;
  }
  has_failed_.store(true);
  something_();
  core_.world().wake(engine::Who::application());
}

std::string OverRanks::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

}  // namespace fairlead::ptg
