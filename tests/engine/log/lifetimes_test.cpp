// Logs of operations that random runs lack: data are added and removed, results are written back several times,
// flows are cancelled, and there are several flows and codelets.
#include <gtest/gtest.h>
#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include "at_length.hpp"
#include "backend/sim/sim_world.hpp"
#include "engine/log/log_records.hpp"
#include "engine/replay.hpp"
#include "front/flow/flow_source.hpp"
#include "schedule/policies.hpp"

namespace fairlead::tests {
namespace {

struct Lived {
  Topology machine = out_of_core_topology(3, 20 * 4096, 1e9, Duration(1000));
  std::vector<std::uint64_t> words;
  std::uint64_t digest = 0;
};

Lived live(const std::string& policy, std::uint64_t seed) {
  Lived lived;
  backend::SimOptions sim;
  sim.seed = seed;
  sim.noise_percent = 30;
  backend::SimWorld world(sim);
  engine::CoreOptions options{
      .topology = lived.machine, .policy = schedule::make_policy(policy), .engine = {}};
  options.engine.log = true;
  options.window = 40;
  Random random(seed);
  CodeletInfo first, second;
  first.name = "first";
  second.name = "second";
  engine::RuntimeCore core(std::move(options), world);
  front::FlowSource flow(core);
  Bytes offset = 0;
  for (int round = 0; round < 6; ++round) {
    std::vector<engine::RegisteredDatum> data(12);
    for (auto& datum : data) {
      core.register_datum(datum,
                          {.bytes = 4096 * (1 + random.below(3)), .home = NodeId{1}, .home_offset = offset});
      datum.ever_written = true;
      offset += 1 << 20;
    }
    front::FlowSource short_lived(core);
    for (int t = 0; t < 60; ++t) {
      const std::vector<front::Submission::Use> uses{
          {&data[random.below(data.size())], AccessMode::read},
          {&data[random.below(data.size())],
           random.once_in(2) ? AccessMode::read_write : AccessMode::commutative}};
      front::Submission submission;
      submission.codelet = random.once_in(2) ? &first : &second;
      submission.uses = uses;
      (random.once_in(3) ? short_lived : flow).submit(submission);
      if (round % 3 == 1 && t == 30) short_lived.cancel();
    }
    try {
      short_lived.wait();
    } catch (const TaskError&) {
    }
    try {
      flow.wait();  // poisoned by a cancelled task
    } catch (const TaskError&) {
    }
    core.home_values().flush();
    if (round == 3) core.home_values().flush();
    for (auto& datum : data) core.remove_datum(datum);
  }
  lived.words = core.engine().journal().log().words();
  lived.digest = core.engine().journal().digest().value();
  return lived;
}

}  // namespace

TEST(Lifetimes, DataFlowsAndCodeletsAreReplayed) {
  std::size_t turn = 0;
  for (const PolicyEntry& entry : schedule::policies())
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      if (left_out(turn++, 7)) continue;  // one or two seeds for each policy
      const Lived lived = live(std::string(entry.name), seed);
      std::size_t removals = 0, cancellations = 0, flushes = 0;
      for (const LogRecord& record : records_of(lived.words)) {
        removals += record.kind() == LogRecord::Kind::removal;
        cancellations += record.kind() == LogRecord::Kind::cancellation;
        flushes += record.is(EventKind::flush);
      }
      EXPECT_GE(removals, 6u * 12);
      EXPECT_EQ(cancellations, 2u);
      EXPECT_EQ(flushes, 7u);
      const auto again = engine::replay(lived.machine, schedule::make_policy(entry.name), {}, lived.words);
      EXPECT_EQ(again.digest, lived.digest) << entry.name << ", seed " << seed;
    }
}

// Without the record of the cancellation the engine would launch cancelled tasks.
TEST(Lifetimes, AMissingCancellationIsDetected) {
  const Lived lived = live("eager", 4);
  auto records = records_of(lived.words);
  std::erase_if(records,
                [](const LogRecord& record) { return record.kind() == LogRecord::Kind::cancellation; });
  bool noticed = false;
  try {
    noticed = engine::replay(lived.machine, schedule::make_policy("eager"), {}, words_of(records)).digest !=
              lived.digest;
  } catch (const InputError&) {
    noticed = true;
  }
  EXPECT_TRUE(noticed);
}

}  // namespace fairlead::tests
