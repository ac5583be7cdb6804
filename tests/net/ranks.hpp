// A program of random tasks on several ranks, and its run over endpoints in virtual time: messages and payloads are
// delayed without bound and overtake each other, places are assigned and values read late, and values without readers
// move. The inputs of tasks are compared with the results of a plain loop over all tasks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/random.hpp"
#include "net/endpoint.hpp"

namespace fairlead::net::tests {

struct Input {
  std::size_t task = 0;
  std::uint8_t output = 0;
};
struct ProgramTask {
  RankId rank{};
  std::vector<Bytes> outputs;  // 0: a control
  std::vector<Input> inputs;   // of previous tasks
};
using Program = std::vector<ProgramTask>;

/// The content of each output, as a number that fills its bytes.
inline std::vector<std::vector<std::uint64_t>> computed(const Program& program) {
  std::vector<std::vector<std::uint64_t>> values;
  for (std::size_t i = 0; i < program.size(); ++i) {
    std::uint64_t sum = i + 1;
    for (const Input& input : program[i].inputs) sum = Random::mix(sum ^ values[input.task][input.output]);
    std::vector<std::uint64_t> own;
    for (std::size_t k = 0; k < program[i].outputs.size(); ++k)
      own.push_back(program[i].outputs[k] == 0 ? 0 : Random::mix(sum + k));
    values.push_back(std::move(own));
  }
  return values;
}

inline Program random_program(Random& random, std::size_t ranks) {
  Program program(static_cast<std::size_t>(random.between(1, 60)));
  for (std::size_t i = 0; i < program.size(); ++i) {
    ProgramTask& task = program[i];
    task.rank = RankId{static_cast<std::uint32_t>(random.below(ranks))};
    task.outputs.resize(static_cast<std::size_t>(random.between(1, 3)));
    for (Bytes& bytes : task.outputs) bytes = random.once_in(5) ? 0 : 8 * (1 + random.below(32));
    if (i == 0) continue;
    const std::size_t near = random.once_in(2) ? i : std::min<std::size_t>(i, 4);
    for (std::size_t k = random.below(4); k != 0; --k) {
      const std::size_t from = i - 1 - random.below(near);
      task.inputs.push_back({from, static_cast<std::uint8_t>(random.below(program[from].outputs.size()))});
    }
  }
  return program;
}

/// Memory of a device: only it may dereference its addresses.
class FarMemory final : public DeviceMemory {
 public:
  static void* far(void* near) noexcept {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(near) ^ std::uintptr_t{1} << 62);
  }
  bool is_ram() const noexcept override { return false; }
  bool write(void* to, const void* from, Bytes bytes) override {
    std::memcpy(far(to), from, bytes);
    return true;
  }
  bool call(const std::function<void()>& it) override {
    it();
    return true;
  }
};

/// All ranks of one run.
class Ranks {
 public:
  struct Options {
    std::size_t starved = ~std::size_t{0};  // this task waits for one input too many
    Protocol protocol{};
    TransitLimits room{.in_transit = Bytes{64} << 20};
    std::uint64_t unreadable_in = 0;    // one copy out of this number fails; 0: none
    std::uint64_t into_devices_in = 0;  // one place out of this number is in a device's memory; 0: none
    std::size_t runs = 1;
    bool in_order = false;         // the oldest event first: for counting by hand
    std::vector<Bytes> credits{};  // announced by each rank; empty: the protocol's value for all
    std::size_t fails_after = 0;   // events until one rank fails; 0: no rank fails
  };
  Ranks(const Program& program, std::size_t count, const Options& options, std::uint64_t seed)
      : program_(program), options_(options), expected_(computed(program)), random_(seed) {
    for (std::size_t i = 0; i < count; ++i)
      ranks_.push_back(std::make_unique<Rank>(RankId{static_cast<std::uint32_t>(i)}, count, options));
  }

  /// The first error; empty: none.
  std::string run() {
    try {
      tell_credits();
      for (auto& rank : ranks_) later([this, &rank] { begin_run(*rank); });
      while (!events_.empty() && wrong_.empty()) {
        if (options_.fails_after != 0 && ++handled_ == options_.fails_after) {
          failing_ = random_.below(ranks_.size());
          EndpointCommands out;
          ranks_[failing_]->endpoint.fail("the disk is full", out);
          carry_out(*ranks_[failing_], out);
        }
        const std::size_t at = options_.in_order ? 0 : random_.below(events_.size());
        const std::function<void()> event = std::move(events_[at]);
        events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(at));
        event();
        for (auto& rank : ranks_) say_if_it_waits(*rank);
      }
      if (wrong_.empty()) check_end();
    } catch (const std::exception& error) {
      return error.what();
    }
    return wrong_;
  }
  const NetworkTraffic& traffic(std::size_t rank) const { return ranks_[rank]->endpoint.traffic(); }
  NetworkTraffic traffic() const {
    NetworkTraffic sum;
    for (const auto& rank : ranks_) {
      const NetworkTraffic& it = rank->endpoint.traffic();
      sum.activates += it.activates;
      sum.requests += it.requests;
      sum.credits += it.credits;
      sum.payloads += it.payloads;
      sum.payload_bytes += it.payload_bytes;
      sum.eager_bytes += it.eager_bytes;
      sum.offers += it.offers;
      sum.takings += it.takings;
      sum.reads += it.reads;
      sum.read_bytes += it.read_bytes;
      sum.into_devices += it.into_devices;
      sum.bytes_into_devices += it.bytes_into_devices;
    }
    return sum;
  }
  /// The number of activates that each rank has received.
  std::size_t received(std::size_t rank) const { return ranks_[rank]->activates_got; }

 private:
  /// A value in the memory of a rank. It moves whenever it has no readers.
  struct Value {
    std::unique_ptr<std::vector<std::byte>> bytes;
    std::size_t users = 0;    // local tasks that need it, sends, and its producer
    std::size_t readers = 0;  // while above 0, the value does not move
  };
  struct Rank {
    Rank(RankId id, std::size_t count, const Options& options)
        : own(id),
          protocol(protocol_of(id, options)),
          endpoint(id, static_cast<std::uint32_t>(count), protocol) {}
    static Protocol protocol_of(RankId id, const Options& options) {
      Protocol protocol = options.protocol;
      protocol.exchanges_credit = !options.credits.empty();
      if (protocol.exchanges_credit) protocol.credit_bytes = options.credits[index(id)];
      return protocol;
    }
    const RankId own;
    const Protocol protocol;
    Endpoint endpoint;
    std::map<std::uint64_t, Value> values;
    std::uint64_t next_value = 1;
    std::map<std::pair<std::size_t, std::uint8_t>, std::uint64_t> got;  // by output: the value
    std::vector<std::size_t> missing;                                   // by task of the program
    std::size_t left = 0, run = 0;                                      // unfinished tasks
    bool running = false;
    std::size_t pending = 0;                 // events of its own
    std::uint64_t said = ~std::uint64_t{0};  // activity() when it reported that it waits
    std::map<PayloadId, EndpointCommands::PostedReceive> expected;
    Bytes visitors = 0;                   // bytes of places requested, or filled by a transfer in flight
    std::size_t guests = 0;               // number of these places
    std::set<std::uint64_t> guest_tasks;  // tasks of these places
    std::map<RankId, Bytes> along;        // bytes of eager values without a place
    std::size_t activates_got = 0;
    std::map<std::pair<std::uint64_t, std::uint8_t>, std::set<RankId>>
        offered;  // ranks that have not answered
    std::map<PayloadId, EndpointCommands::Copy> copying;
    std::string failure;
  };
  struct Sent {
    RankId from, to;
    std::uint64_t tag;
    std::vector<std::byte> bytes;
  };

  void tell_credits() {
    if (options_.credits.empty()) return;
    for (const auto& from : ranks_)
      for (const auto& to : ranks_)
        if (from != to)
          later([this, from = from->own, to = to->own,
                 bytes = bytes_of(Allowance{from->protocol.credit_bytes})] { deliver(from, to, bytes); });
  }
  void later(std::function<void()> event) { events_.push_back(std::move(event)); }
  /// The next actions of the rank itself.
  void later(Rank& rank, std::function<void()> event) {
    ++rank.pending;
    later([&rank, event = std::move(event)] {
      --rank.pending;
      event();
    });
  }
  void say_if_it_waits(Rank& rank) {
    if (!rank.running || rank.pending != 0 || !rank.endpoint.nothing_in_flight() || !rank.failure.empty() ||
        rank.said == rank.endpoint.activity())
      return;
    rank.said = rank.endpoint.activity();
    EndpointCommands out;
    rank.endpoint.report_idle({0, static_cast<std::uint32_t>(rank.run)}, rank.said, "it waits", out);
    carry_out(rank, out);
  }
  void say(std::string text) {
    if (wrong_.empty()) wrong_ = std::move(text);
  }

  void begin_run(Rank& rank) {
    if (!rank.failure.empty()) return;
    rank.running = true;
    rank.got.clear();
    rank.missing.assign(program_.size(), 0);
    rank.left = 0;
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (program_[i].rank != rank.own) continue;
      ++rank.left;
      rank.missing[i] = program_[i].inputs.size() + (i == options_.starved);
      if (rank.missing[i] == 0) later(rank, [this, &rank, i, run = rank.run] { execute(rank, i, run); });
    }
    EndpointCommands out;
    rank.endpoint.begin({0, static_cast<std::uint32_t>(rank.run)}, 77, options_.room, out);
    carry_out(rank, out);
    end_run_if_over(rank);
  }
  void end_run_if_over(Rank& rank) {
    if (!rank.running || rank.left != 0 || !rank.endpoint.is_quiescent()) return;
    rank.running = false;
    EndpointCommands out;
    rank.endpoint.end({0, static_cast<std::uint32_t>(rank.run)}, out);
    carry_out(rank, out);
    if (++rank.run < options_.runs) later([this, &rank] { begin_run(rank); });
  }

  std::uint64_t salt(std::size_t run) const { return Random::mix(run); }

  void execute(Rank& rank, std::size_t task, std::size_t run) {
    if (!rank.failure.empty()) return;
    if (rank.run != run || !rank.running)
      return say(fmt::format("task {} starts after the end of its run", task));
    for (const Input& input : program_[task].inputs) {
      if (program_[input.task].outputs[input.output] == 0) continue;
      const auto found = rank.got.find({input.task, input.output});
      if (found == rank.got.end()) return say(fmt::format("the input of task {} is missing", task));
      const Value& value = rank.values.at(found->second);
      check(*value.bytes, expected_[input.task][input.output] ^ salt(run), task);
      unuse(rank, found->second);
    }
    std::vector<Endpoint::Output> outputs;
    for (std::uint8_t k = 0; k < program_[task].outputs.size(); ++k) {
      std::set<RankId> to;
      std::size_t here = 0;
      for (std::size_t i = 0; i < program_.size(); ++i)
        for (const Input& input : program_[i].inputs)
          if (input.task == task && input.output == k) {
            if (program_[i].rank == rank.own) {
              ++here;
            } else {
              to.insert(program_[i].rank);
            }
          }
      const Bytes bytes = program_[task].outputs[k];
      std::uint64_t number = 0;
      if (bytes != 0 && (here != 0 || !to.empty())) {
        number = make(rank, bytes);
        fill(*rank.values.at(number).bytes, expected_[task][k] ^ salt(run));
        rank.values.at(number).users = here + !to.empty();
        rank.got[{task, k}] = number;
      }
      if (!to.empty()) outputs.push_back({k, k, number, bytes, {to.begin(), to.end()}});
    }
    --rank.left;
    EndpointCommands out;
    rank.endpoint.task_finished({0, static_cast<std::uint32_t>(run)}, task, outputs, out);
    carry_out(rank, out);
    for (std::uint8_t k = 0; k < program_[task].outputs.size(); ++k) tell_here(rank, task, k, run);
    end_run_if_over(rank);
  }
  void tell_here(Rank& rank, std::size_t task, std::uint8_t output, std::size_t run) {
    for (std::size_t i = 0; i < program_.size(); ++i)
      for (const Input& input : program_[i].inputs)
        if (input.task == task && input.output == output && program_[i].rank == rank.own) {
          if (rank.missing[i] == 0) return say(fmt::format("task {} gets an input twice", i));
          if (--rank.missing[i] == 0) later(rank, [this, &rank, i, run] { execute(rank, i, run); });
        }
  }

  // ---- values

  std::uint64_t make(Rank& rank, Bytes bytes) {
    rank.values[rank.next_value].bytes = std::make_unique<std::vector<std::byte>>(bytes);
    return rank.next_value++;
  }
  static void fill(std::vector<std::byte>& bytes, std::uint64_t with) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) std::memcpy(bytes.data() + i, &with, 8);
  }
  void check(const std::vector<std::byte>& bytes, std::uint64_t expected, std::size_t task) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      std::uint64_t there = 0;
      std::memcpy(&there, bytes.data() + i, 8);
      if (there != expected) return say(fmt::format("task {} gets a wrong value", task));
    }
  }
  void unuse(Rank& rank, std::uint64_t number) {
    Value& value = rank.values.at(number);
    if (--value.users != 0) return;
    if (value.readers != 0) return say("a value is freed while it is read");
    fill(*value.bytes, 0xdeaddeaddeaddead);
    gone_.push_back(std::move(value.bytes));  // a late reader gets invalid data, but no other value's memory
    rank.values.erase(number);
  }
  /// Moves the values that have no readers.
  void move(Rank& rank) {
    for (auto& [number, value] : rank.values) {
      if (value.readers != 0) continue;
      auto moved = std::make_unique<std::vector<std::byte>>(*value.bytes);
      fill(*value.bytes, 0xbadbadbadbad);
      gone_.push_back(std::exchange(value.bytes, std::move(moved)));
    }
  }

  // ---- commands of the endpoint

  void carry_out(Rank& rank, EndpointCommands& out) {
    for (const EndpointCommands::Arrived& it : out.landed)
      if (!it.control) lands(rank, it);
    for (const EndpointCommands::PostedReceive& it : out.expected) {
      for (const auto& [id, other] : rank.expected)
        if (other.from == it.from && other.tag == it.tag) say("two payloads in flight have the same tag");
      rank.expected[it.id] = it;
    }
    for (const PayloadId payload : out.dropped) rank.copying.erase(payload);
    for (const EndpointCommands::Copy& it : out.copies) copy(rank, it);
    for (const EndpointCommands::Message& it : out.messages) watch_offers(rank, it);
    for (EndpointCommands::Message& it : out.messages)
      later([this, from = rank.own, to = it.to, bytes = std::move(it.bytes)] { deliver(from, to, bytes); });
    for (const EndpointCommands::Payload& it : out.payloads)
      later([this, &rank, it] {
        // Its bytes are read in transit, not when it is sent.
        std::vector<std::byte> bytes(it.bytes);
        if (it.from == nullptr) return say("a value without an address is sent");
        std::memcpy(bytes.data(), it.from, it.bytes);
        land(rank.own, it, bytes);
        EndpointCommands more;
        rank.endpoint.left(it.id, more);
        carry_out(rank, more);
        end_run_if_over(rank);
      });
    for (const EndpointCommands::Place& it : out.places) {
      rank.visitors += options_.room.taken_by(it.bytes);
      ++rank.guests;
      rank.guest_tasks.insert(it.name.task);
      if ((rank.visitors > options_.room.in_transit || rank.guests > options_.protocol.max_in_transit) &&
          rank.guest_tasks.size() > 1)
        say("too many values are admitted at once");
      later(rank, [this, &rank, it] {
        if (!rank.failure.empty()) return;
        const std::uint64_t number = make(rank, it.bytes);
        Value& value = rank.values.at(number);
        value.users = value.readers = 1;
        places_[{rank.own, number}] = it;
        EndpointCommands more;
        const bool far = options_.into_devices_in != 0 && random_.once_in(options_.into_devices_in);
        void* const near = value.bytes->data();
        rank.endpoint.placed(
            it.id, number,
            far ? ValueMemory{FarMemory::far(near), &far_, {}} : ValueMemory{near, nullptr, {}}, more);
        carry_out(rank, more);
      });
    }
    for (const EndpointCommands::Fill& it : out.fills) copy_to(it.memory, it.place, it.bytes);
    for (const EndpointCommands::Read& it : out.reads) {
      if (it.release) {
        --rank.values.at(it.value).readers;
        continue;
      }
      later(rank, [this, &rank, it] {
        if (!rank.failure.empty()) return;
        Value& value = rank.values.at(it.value);
        ++value.readers;
        EndpointCommands more;
        rank.endpoint.readable(it.id, value.bytes->data(), more);
        carry_out(rank, more);
      });
    }
    for (const EndpointCommands::Arrived& it : out.landed) landed(rank, it);
    for (const EndpointCommands::Sent& it : out.left) unuse(rank, it.value);
    if (!out.failure.empty()) rank.failure = out.failure;
    if (random_.once_in(3)) move(rank);
    end_run_if_over(rank);
  }
  /// Reads two halves, between which other events may happen, and checks the mark afterwards.
  void copy(Rank& rank, const EndpointCommands::Copy& it) {
    if (it.address == 0) return say("a value without an address is offered");
    rank.copying[it.id] = it;
    const bool fails = options_.unreadable_in != 0 && random_.once_in(options_.unreadable_in);
    later([this, &rank, it, fails] {
      copy_half(rank, it, 0, it.bytes / 2);
      later([this, &rank, it, fails] {
        if (!rank.copying.contains(it.id)) return;
        copy_half(rank, it, it.bytes / 2, it.bytes);
        rank.copying.erase(it.id);
        const bool marked = *reinterpret_cast<const std::uint64_t*>(it.mark_at) == it.mark;
        if (fails) std::memset(it.place, 0xee, it.bytes);
        EndpointCommands more;
        rank.endpoint.copied(it.id, marked && !fails, more);
        carry_out(rank, more);
        end_run_if_over(rank);
      });
    });
  }
  static void copy_half(Rank& rank, const EndpointCommands::Copy& it, Bytes from, Bytes to) {
    if (!rank.copying.contains(it.id)) return;
    std::memcpy(static_cast<std::byte*>(it.place) + from,
                reinterpret_cast<const std::byte*>(it.address) + from, to - from);
  }
  /// A value counts once while a rank that it is offered to has not acknowledged it.
  void watch_offers(Rank& rank, const EndpointCommands::Message& sent) {
    const std::optional<Message> message = message_of(sent.bytes);
    if (const auto* offer = std::get_if<Offer>(&*message)) {
      if (!options_.protocol.read_by[index(sent.to)]) say("a value is offered to a rank that cannot read it");
      rank.offered[{offer->name.task, offer->name.output}].insert(sent.to);
      Bytes bytes = 0;
      for (const auto& [name, to] : rank.offered)
        bytes += options_.room.taken_by(program_[name.first].outputs[name.second]);
      if (bytes > options_.room.offered) say("too many bytes are offered at once");
    }
    const auto answered = [&](std::uint64_t task, std::uint8_t output) {
      auto& offered = ranks_[index(sent.to)]->offered;
      const auto found = offered.find({task, output});
      if (found == offered.end() || found->second.erase(rank.own) == 0) return;
      if (found->second.empty()) offered.erase(found);
    };
    if (const auto* taken = std::get_if<ReadAcknowledged>(&*message))
      answered(taken->name.task, taken->name.output);
    if (const auto* request = std::get_if<Request>(&*message))
      for (std::uint8_t output = 0; output < most_outputs; ++output)
        if ((request->outputs >> output & 1) != 0) answered(request->task, output);
  }
  void lands(Rank& rank, const EndpointCommands::Arrived& it) {
    const std::size_t task = it.name.task;
    const auto place = places_.find({rank.own, it.value});
    if (place == places_.end()) return say("a value without a place arrives");
    rank.visitors -= options_.room.taken_by(place->second.bytes);
    --rank.guests;
    bool last = true;
    places_.erase(place);
    for (const auto& [key, other] : places_) last &= key.first != rank.own || other.name.task != task;
    if (last) rank.guest_tasks.erase(task);
  }
  void landed(Rank& rank, const EndpointCommands::Arrived& it) {
    const std::size_t task = it.name.task;
    if (it.control) return tell_here(rank, task, it.name.output, rank.run);
    std::size_t here = 0;
    for (const ProgramTask& user : program_)
      for (const Input& input : user.inputs)
        here += user.rank == rank.own && input.task == task && input.output == it.name.output;
    const auto found = rank.values.find(it.value);
    if (found == rank.values.end()) return;  // said
    Value& value = found->second;
    check(*value.bytes, expected_[task][it.name.output] ^ salt(rank.run), task);
    value.readers -= 1;
    value.users = here + (it.passed_on != no_outgoing);
    rank.got[{task, it.name.output}] = it.value;
    tell_here(rank, task, it.name.output, rank.run);
  }
  void deliver(RankId from, RankId to, const std::vector<std::byte>& bytes) {
    Rank& rank = *ranks_[index(to)];
    const std::optional<Message> message = message_of(bytes);
    if (const auto* activate = std::get_if<Activate>(&*message)) {
      ++rank.activates_got;
      for (const Activate::Output& output : activate->outputs) rank.along[from] += output.value.size();
    }
    if (const auto* credit = std::get_if<Credit>(&*message)) ranks_[index(from)]->along[to] -= credit->bytes;
    if (rank.along[from] > rank.protocol.credit_bytes) say("too many eager bytes are sent to one rank");
    EndpointCommands out;
    rank.endpoint.message(from, bytes, out);
    carry_out(rank, out);
  }
  static void copy_to(DeviceMemory* memory, void* to, const std::vector<std::byte>& bytes) {
    if (memory != nullptr)
      memory->write(to, bytes.data(), bytes.size());
    else
      std::memcpy(to, bytes.data(), bytes.size());
  }
  void land(RankId from, const EndpointCommands::Payload& payload, const std::vector<std::byte>& bytes) {
    Rank& rank = *ranks_[index(payload.to)];
    for (auto it = rank.expected.begin(); it != rank.expected.end(); ++it) {
      if (it->second.from != from || it->second.tag != payload.tag) continue;
      if (it->second.bytes != bytes.size()) return say("a payload has an unexpected size");
      copy_to(it->second.memory, it->second.place, bytes);
      const PayloadId id = it->first;
      rank.expected.erase(it);
      EndpointCommands out;
      rank.endpoint.landed(id, out);
      return carry_out(rank, out);
    }
    if (rank.failure.empty()) say("an unexpected payload arrives");
  }

  void check_end() {
    for (const auto& rank : ranks_) {
      if (options_.starved < program_.size()) {
        if (rank->failure.find("no rank makes progress") == std::string::npos)
          say(fmt::format("rank {} was not notified of the deadlock: {}", index(rank->own), rank->failure));
        continue;
      }
      if (!rank->failure.empty() && options_.fails_after == 0) say("a false alarm: " + rank->failure);
      if (options_.fails_after != 0 && handled_ >= options_.fails_after) {
        if (rank->failure.empty())
          say(fmt::format("rank {} was not notified of the failure", index(rank->own)));
        continue;
      }
      if (rank->run != options_.runs)
        say(fmt::format("rank {} hangs: {} tasks are unfinished", index(rank->own), rank->left));
      if (!rank->values.empty()) say("a value is left");
      if (!rank->offered.empty()) say("an offer is left");
      for (const auto& [from, bytes] : rank->along)  // less than half of the credit need not be returned
        if (bytes != 0 && 2 * bytes >= rank->protocol.credit_bytes) say("credit for eager values is lost");
    }
  }

  const Program& program_;
  const Options options_;
  const std::vector<std::vector<std::uint64_t>> expected_;
  Random random_;
  FarMemory far_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::function<void()>> events_;
  std::map<std::pair<RankId, std::uint64_t>, EndpointCommands::Place> places_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> gone_;
  std::size_t handled_ = 0, failing_ = 0;
  std::string wrong_;
};

}  // namespace fairlead::net::tests
