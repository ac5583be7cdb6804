// See clock_of_ranks.hpp.
#include "report/clock_of_ranks.hpp"

#include <fairlead/flow.hpp>
#include <fairlead/messages.hpp>

#include <chrono>
#include <cmath>

#include "base/random.hpp"
#include "engine/runtime_core.hpp"
#include "machine/system_files.hpp"

namespace fairlead::report {

namespace {

constexpr int rounds = 16;
constexpr std::uint32_t tag_of_clocks = 0xc10c;

/// Alike for all processes that see the same clock, as far as the system tells.
std::uint64_t machine_number() {
  const std::string boot = machine::SystemFiles("/").text("/proc/sys/kernel/random/boot_id").value_or("");
  std::uint64_t number = 1;
  for (const char letter : boot) number = Random::mix(number ^ static_cast<unsigned char>(letter));
  return boot.empty() ? 0 : number;
}

Time machine_time() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

/// An answer: the time, and what does not change.
struct Answers {
  Answers(Runtime& runtime, Flow& flow)
      : runtime_(runtime), flow_(flow), numbers_(runtime.vector<std::int64_t>("a rank's clock", 4)) {
    put({});
  }
  void put(const Clock& clock) {
    auto hold = flow_.acquire(write(numbers_));
    const auto numbers = hold.template get<0>();
    numbers(0) = clock.now ? clock.now().count() : 0;
    numbers(1) = clock.machine_at_zero.count();
    numbers(2) = static_cast<std::int64_t>(clock.machine);
    numbers(3) = clock.at.count();
  }
  Clock get(Time& at) {
    auto hold = flow_.acquire(read(numbers_));
    const auto numbers = hold.template get<0>();
    at = Time(numbers(0));
    return {.machine_at_zero = Time(numbers(1)),
            .at = Time(numbers(3)),
            .machine = static_cast<std::uint64_t>(numbers(2))};
  }
  void give(std::uint32_t rank) { send(runtime_, numbers_, rank, tag_of_clocks); }
  void take(std::uint32_t rank) { receive(runtime_, numbers_, rank, tag_of_clocks); }

 private:
  Runtime& runtime_;
  Flow& flow_;
  const Handle<Vector<std::int64_t>> numbers_;
};

ClockReading reading_of(Answers& answers, const Clock& own, std::uint32_t rank) {
  ClockReading best{.within = Duration::max()};
  Clock its;
  for (int round = 0; round < rounds; ++round) {
    const Time asked = own.now();
    answers.give(rank);
    answers.take(rank);
    const Time answered = own.now();
    Time at{};
    its = answers.get(at);
    const Duration within = (answered - asked + Duration(1)) / 2;
    if (within < best.within) best = {.at = at, .ahead = at - (asked + within), .within = within};
  }
  // Two processes of one machine have its clock, if the messages do not say otherwise.
  const Duration by_machine = own.machine_at_zero - its.machine_at_zero;
  const Duration apart = best.ahead > by_machine ? best.ahead - by_machine : by_machine - best.ahead;
  if (own.machine != 0 && own.machine == its.machine && apart <= best.within + std::chrono::microseconds(100))
    return {.at = best.at, .ahead = by_machine, .within = {}, .own = its, .first = own};
  return best;
}

}  // namespace

Clock clock_of(Runtime& runtime) {
  Clock clock{.now = [&runtime] { return runtime.core().world().now(); }, .machine = machine_number()};
  Duration best = Duration::max();
  for (int times = 0; times < 50; ++times) {  // read as close to each other as can be
    const Time before = machine_time(), own = clock.now(), after = machine_time();
    if (after - before >= best) continue;
    best = after - before;
    clock.machine_at_zero = before + best / 2 - own;
    clock.at = own;
  }
  return clock;
}

std::vector<ClockReading> read_clocks(Runtime& runtime, const Clock& own) {
  Flow flow(runtime);
  Answers answers(runtime, flow);
  if (runtime.rank() != 0) {
    for (int round = 0; round < rounds; ++round) {
      answers.take(0);
      answers.put(own);
      answers.give(0);
    }
    return {};
  }
  std::vector<ClockReading> all(1);
  for (std::uint32_t rank = 1; rank < runtime.ranks(); ++rank) all.push_back(reading_of(answers, own, rank));
  return all;
}

namespace {
/// By how much the machine's clock gets ahead of this one in a nanosecond.
double drift(const Clock& before, const Clock& after) {
  const double between = static_cast<double>((after.at - before.at).count());
  return between > 0 ? static_cast<double>((after.machine_at_zero - before.machine_at_zero).count()) / between
                     : 0;
}
}  // namespace

Time as_of_first(Time at, const ClockReading& before, const ClockReading& after) {
  const auto part = [](double rate, Duration of) {
    return Duration(std::llround(rate * static_cast<double>(of.count())));
  };
  if (before.own.machine != 0 && after.own.machine != 0) {
    const Time machine =
        at + before.own.machine_at_zero + part(drift(before.own, after.own), at - before.own.at);
    // The other way round: what comes of it is itself the time at which that clock is looked at, but for what is too small.
    const Time first = machine - before.first.machine_at_zero;
    return first - part(drift(before.first, after.first), first - before.first.at);
  }
  const Duration between = after.at - before.at;
  if (between <= Duration{}) return at - after.ahead;
  const double rate =
      static_cast<double>((after.ahead - before.ahead).count()) / static_cast<double>(between.count());
  return at - before.ahead - part(rate, at - before.at);
}

}  // namespace fairlead::report
