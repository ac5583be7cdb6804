// The tiled Cholesky factorization on the simulated backend: the same graph, engine and policy as in a real
// run, in virtual time. Prints the bytes read and written, for comparison with the real run.
//
//   simulated_cholesky --n N --tile T --capacity BYTES --scheduler NAME --workers W --bandwidth BYTES/S
//     --gemm GFLOPS --syrk GFLOPS --trsm GFLOPS --potrf GFLOPS [--noise PERCENT] [--seed S]
//
// The capacity is that of the memory node, the rates are those of one core: both are in the real run's JSON.
#include <fairlead/codelet_info.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/linalg/blas/flops.hpp"
#include "backend/sim/sim_world.hpp"
#include "front/flow/flow_source.hpp"
#include "machine/topology.hpp"
#include "schedule/policies.hpp"

namespace {

using namespace fairlead;

constexpr Duration disk_latency{100'000};
constexpr Bytes page = 4096;

class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) given_[argv[i]] = argv[i + 1];
    if (argc % 2 == 0) throw ConfigError("every option needs a value");
  }
  std::string text(const std::string& name, const char* fallback = nullptr) {
    const auto found = given_.extract(name);
    if (!found.empty()) return found.mapped();
    if (fallback == nullptr) throw ConfigError(name + " is missing");
    return fallback;
  }
  double number(const std::string& name, const char* fallback = nullptr) {
    return std::atof(text(name, fallback).c_str());
  }
  void require_all_used() const {
    if (!given_.empty()) throw ConfigError("unknown option " + given_.begin()->first);
  }

 private:
  std::map<std::string, std::string> given_;
};

/// One of the four kinds of task: its codelet and duration.
struct Kernel {
  CodeletInfo info;
  double gflops = 1;
};

struct Kernels {
  Kernel potrf, trsm, syrk, gemm;
};

/// Tiles of the lower triangle, all at home on disk.
class Tiles {
 public:
  Tiles(engine::RuntimeCore& core, std::int64_t n, std::int64_t tile) : n_(n), tile_(tile) {
    Bytes offset = 0;
    for (std::int64_t i = 0; i < count(); ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        auto& datum = data_.emplace_back(std::make_unique<engine::RegisteredDatum>());
        const Bytes bytes = static_cast<Bytes>(side(i) * side(j)) * sizeof(double);
        core.register_datum(*datum,
                            {.bytes = bytes,
                             .home = core.topology().store(),
                             .home_offset = offset,
                             .coordinates = {0, static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)}});
        datum->ever_written = true;
        offset += (bytes + page - 1) / page * page;
      }
  }
  std::int64_t count() const { return (n_ + tile_ - 1) / tile_; }
  std::int64_t side(std::int64_t i) const { return std::min(tile_, n_ - i * tile_); }
  engine::RegisteredDatum* operator()(std::int64_t i, std::int64_t j) const {
    return data_[static_cast<std::size_t>(i * (i + 1) / 2 + j)].get();
  }

 private:
  std::int64_t n_, tile_;
  std::vector<std::unique_ptr<engine::RegisteredDatum>> data_;
};

/// In the order of algorithms/linalg/cholesky.cpp.
void submit(front::FlowSource& flow, const Tiles& a, const Kernels& kernels) {
  using enum AccessMode;
  const std::int64_t nt = a.count();
  const auto task = [&](const Kernel& kernel, std::vector<front::Submission::Use> uses, std::int64_t m,
                        std::int64_t j, std::int64_t k) {
    front::Submission submission;
    submission.codelet = &kernel.info;
    submission.uses = uses;
    submission.priority = static_cast<std::int32_t>(3 * nt - (m + j + k));
    submission.file = "simulated_cholesky.cpp";
    flow.submit(submission);
  };
  for (std::int64_t k = 0; k < nt; ++k) {
    task(kernels.potrf, {{a(k, k), read_write}}, k, k, k);
    for (std::int64_t m = k + 1; m < nt; ++m)
      task(kernels.trsm, {{a(k, k), read}, {a(m, k), read_write}}, m, k, k);
    for (std::int64_t j = k + 1; j < nt; ++j) {
      task(kernels.syrk, {{a(j, k), read}, {a(j, j), read_write}}, j, j, k);
      for (std::int64_t m = j + 1; m < nt; ++m)
        task(kernels.gemm, {{a(m, k), read}, {a(j, k), read}, {a(m, j), read_write}}, m, j, k);
    }
  }
}

int run(Arguments arguments) {
  const auto n = static_cast<std::int64_t>(arguments.number("--n"));
  const auto tile = static_cast<std::int64_t>(arguments.number("--tile"));
  const auto capacity = static_cast<Bytes>(arguments.number("--capacity"));
  const auto workers = static_cast<std::size_t>(arguments.number("--workers", "2"));
  const double bandwidth = arguments.number("--bandwidth");
  if (n < 1 || tile < 1 || workers < 1 || !(bandwidth > 0))
    throw ConfigError("n, tile, workers and bandwidth must be at least 1");
  Kernels kernels;
  const auto prepare = [&](Kernel& kernel, const char* name) {
    kernel.info.name = name;
    kernel.gflops = arguments.number(std::string("--") + name);
    if (!(kernel.gflops > 0)) throw ConfigError(fmt::format("--{} must be above 0", name));
  };
  prepare(kernels.potrf, "potrf");
  prepare(kernels.trsm, "trsm");
  prepare(kernels.syrk, "syrk");
  prepare(kernels.gemm, "gemm");

  const auto side = static_cast<double>(tile);
  const auto nanoseconds = [](double flops, double gflops) { return Duration(std::llround(flops / gflops)); };
  const std::map<const CodeletInfo*, Duration> durations{
      {&kernels.potrf.info, nanoseconds(linalg::potrf_flops(side), kernels.potrf.gflops)},
      {&kernels.trsm.info, nanoseconds(linalg::trsm_flops(side, side), kernels.trsm.gflops)},
      {&kernels.syrk.info, nanoseconds(linalg::syrk_flops(side, side), kernels.syrk.gflops)},
      {&kernels.gemm.info, nanoseconds(linalg::gemm_flops(side, side, side), kernels.gemm.gflops)}};
  backend::SimOptions sim;
  sim.seed = static_cast<std::uint64_t>(arguments.number("--seed", "1"));
  sim.noise_percent = static_cast<unsigned>(arguments.number("--noise", "3"));
  sim.duration = [&](const Task& task, WorkerId) { return durations.at(task.codelet); };
  backend::SimWorld world(sim);

  engine::CoreOptions options;
  options.topology = out_of_core_topology(workers, capacity, bandwidth, disk_latency);
  options.engine.policy_name = arguments.text("--scheduler");
  options.policy = schedule::make_policy(options.engine.policy_name);
  options.engine.seed = 0;
  options.window = std::max<std::size_t>(2048, options.policy->horizon());
  arguments.require_all_used();
  engine::RuntimeCore core(std::move(options), world);
  const Tiles a(core, n, tile);
  std::uint64_t tasks = 0;
  {
    front::FlowSource flow(core);
    submit(flow, a, kernels);
    flow.wait();
    core.home_values().flush();
    tasks = flow.submitted();
  }
  const double seconds = static_cast<double>(world.now().count()) * 1e-9;

  Bytes bytes_read = 0, bytes_written = 0;
  core.engine().locked([&](const memory::Memory& memory) {
    for (const memory::LinkTraffic& traffic : memory.transfers().traffic()) {
      for (const auto& count : traffic.from_home) bytes_read += count.bytes;
      for (const auto& count : traffic.to_home) bytes_written += count.bytes;
    }
  });
  fmt::print(R"({{"bytes_read": {}, "bytes_written": {}, "seconds": {:.3f}, "tasks": {}}})"
             "\n",
             bytes_read, bytes_written, seconds, tasks);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(Arguments(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "simulated_cholesky: {}\n", error.what());
    return 1;
  }
}
