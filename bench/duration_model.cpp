// The cost of the duration model under the engine's lock: recording a finished task, estimating one, and
// choosing between two bodies. The minimum over many short intervals, so that a busy machine matters little.
#include <fairlead/codelet_info.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

#include "model/chooser.hpp"
#include "model/duration_model.hpp"

namespace {

using namespace fairlead;

const model::Processor cpu(WorkerKind::cpu);
constexpr int stretches = 2000, calls = 512;

template <class F>
double least_ns(F&& f) {
  double least = std::numeric_limits<double>::max();
  for (int stretch = 0; stretch < stretches; ++stretch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) f(i);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count() / calls);
  }
  return least;
}

/// A footprint like the engine's: from the sizes of three data.
model::Footprint three_data(Bytes bytes) {
  model::Footprint footprint;
  for (int i = 0; i < 3; ++i) footprint.add(bytes);
  return footprint;
}

void finished(model::DurationModel& model, const CodeletInfo& codelet, Bytes bytes,
              std::int64_t duration_ns) {
  if (model.should_record(codelet, cpu)) model.record(codelet, cpu, three_data(bytes), Duration(duration_ns));
}

}  // namespace

int main() {
  CodeletInfo empty, gemm;
  empty.name = "empty";
  gemm.name = "gemm";
  empty.hash_of_name = empty.name_hash();
  gemm.hash_of_name = gemm.name_hash();
  model::DurationModel model;
  std::int64_t sum = 0;
  const auto row = [](const char* what, double ns) { std::printf("%-58s %8.1f ns\n", what, ns); };
  row("record an empty task", least_ns([&](int i) { finished(model, empty, 8, 100 + i % 16); }));
  row("record a task of 1 ms",
      least_ns([&](int i) { finished(model, gemm, 100'000, 1'000'000 + i * 37 % 1000); }));
  row("record tasks of 1 ms, 16 alternating sizes",
      least_ns([&](int i) { finished(model, gemm, 100'000 + Bytes(i % 16), 1'000'000 + i * 37 % 1000); }));
  const auto estimate = [&](const CodeletInfo& codelet, Bytes bytes) {
    sum += model.estimate(codelet, cpu, three_data(bytes)).duration.count();
  };
  row("estimate a known footprint", least_ns([&](int) { estimate(gemm, 100'000); }));
  row("estimate 16 known footprints, two codelets", least_ns([&](int i) {
        estimate(i % 2 == 0 ? empty : gemm, i % 2 == 0 ? 8 : 100'000 + Bytes(i % 16));
      }));
  row("estimate by regression", least_ns([&](int i) { estimate(gemm, 200'000 + Bytes(i)); }));
  CodeletInfo choice = gemm;
  choice.implement(WorkerKind::cpu, {nullptr, nullptr, false, "second"});
  model::ImplementationChooser chooser(model);
  row("choose between two, record, 16 alternating sizes", least_ns([&](int i) {
        const model::Footprint size = three_data(100'000 + Bytes(i % 16));
        const unsigned chosen = chooser.choose(choice, cpu, size);
        const Duration duration(1'000'000 + chosen * 1'000 + i * 37 % 1000);
        model.record(choice, cpu, size, duration, chosen);
        chooser.over(choice, cpu, size, chosen, duration, true);
      }));
  return sum == 0;
}
