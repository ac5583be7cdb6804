// See clock_sync.hpp.
#include "report/clock_sync.hpp"
#include "front/runtime/runtime_access.hpp"

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

/// Equal for all processes with the same clock, as far as the system reports; 0: unknown.
std::uint64_t machine_number() {
  const std::string boot = machine::SystemFiles("/").text("/proc/sys/kernel/random/boot_id").value_or("");
  std::uint64_t number = 1;
  for (const char letter : boot) number = Random::mix(number ^ static_cast<unsigned char>(letter));
  return boot.empty() ? 0 : number;
}

Time machine_time() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

/// The answer of a rank: the time, and the constants of its clock.
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
  ClockReading best{.max_error = Duration::max()};
  Clock its;
  for (int round = 0; round < rounds; ++round) {
    const Time asked = own.now();
    answers.give(rank);
    answers.take(rank);
    const Time answered = own.now();
    Time at{};
    its = answers.get(at);
    const Duration within = (answered - asked + Duration(1)) / 2;
    if (within < best.max_error) best = {.at = at, .offset = at - (asked + within), .max_error = within};
  }
  // Processes of one machine share its clock, unless the messages contradict that.
  const Duration by_machine = own.machine_at_zero - its.machine_at_zero;
  const Duration apart = best.offset > by_machine ? best.offset - by_machine : by_machine - best.offset;
  if (own.machine != 0 && own.machine == its.machine &&
      apart <= best.max_error + std::chrono::microseconds(100))
    return {.at = best.at, .offset = by_machine, .max_error = {}, .own = its, .first = own};
  return best;
}

}  // namespace

Clock clock_of(Runtime& runtime) {
  Clock clock{.now = [&runtime] { return front::core_of(runtime).world().now(); },
              .machine = machine_number()};
  Duration best = Duration::max();
  for (int times = 0; times < 50; ++times) {  // the samples must be as close together as possible
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
/// The drift of the machine's clock relative to this one, ns per ns.
double drift(const Clock& before, const Clock& after) {
  const double between = static_cast<double>((after.at - before.at).count());
  return between > 0 ? static_cast<double>((after.machine_at_zero - before.machine_at_zero).count()) / between
                     : 0;
}
}  // namespace

Time to_rank0_time(Time at, const ClockReading& before, const ClockReading& after) {
  const auto part = [](double rate, Duration of) {
    return Duration(std::llround(rate * static_cast<double>(of.count())));
  };
  if (before.own.machine != 0 && after.own.machine != 0) {
    const Time machine =
        at + before.own.machine_at_zero + part(drift(before.own, after.own), at - before.own.at);
    // The inverse conversion. The drift is evaluated at the result of the first step; the error is of second order.
    const Time first = machine - before.first.machine_at_zero;
    return first - part(drift(before.first, after.first), first - before.first.at);
  }
  const Duration between = after.at - before.at;
  if (between <= Duration{}) return at - after.offset;
  const double rate =
      static_cast<double>((after.offset - before.offset).count()) / static_cast<double>(between.count());
  return at - before.offset - part(rate, at - before.at);
}

}  // namespace fairlead::report
