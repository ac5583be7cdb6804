// The tiled Cholesky factorization under a limit of a device's memory, in double precision (or single), data
// and results in RAM. Checks the factor without a solve: for one x, || A x - L (L^T x) || / || A x ||, on the
// cores, with a newly generated A.
//
//   gpu_cholesky --devices LIST --memory BYTES [--n 61440] [--tile 2048] [--workers 1] [--repetitions 5] [--scheduler NAME]
//     [--precision double] [--fixed-order no] [--seed 1] [--trace FILE]
#include <map>

#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "algorithms/linalg/tile_digest.hpp"
#include "gpu_checked.hpp"

namespace {

using namespace gpu;

template <class T>
Json measure_in(const fl::Config& config, std::int64_t n, std::int32_t tile, std::int64_t repetitions,
                std::uint64_t seed) {
  const std::shared_ptr<const fl::linalg::MatrixSource<T>> a =
      std::make_shared<fl::linalg::GeneratedSpd<T>>(n, seed);
  const std::vector<double> x = known_vector(n), ax = times(*a, x);
  fl::Runtime runtime(config);
  const auto kernels = fl::linalg::Kernels::load();
  fl::Flow flow(runtime);
  Json runs = Json::array();
  std::vector<double> times;
  std::map<std::uint64_t, double> residuals;  // by digest
  for (std::int64_t run = 0; run <= repetitions; ++run) {
    const auto matrix = runtime.tiled<T>("A", n, n, tile, fl::Tiles::lower);
    fl::linalg::fill<T>(flow, a, matrix, fl::Tiles::lower);
    flow.wait();
    const fl::Statistics before = runtime.statistics();
    const auto begin = Clock::now();
    fl::linalg::cholesky(flow, kernels, matrix);
    fl::linalg::wait_for_results(flow);
    const double seconds = seconds_since(begin);
    const fl::Bytes moved = crossed(runtime.statistics()) - crossed(before);
    fl::linalg::TileDigest<T> digest(fl::Tiles::lower);
    digest.submit(flow, matrix);
    flow.wait();
    digest.combine_ranks(runtime);
    const auto [known, is_new] = residuals.try_emplace(digest.value());  // equal bits have equal residuals
    if (is_new) known->second = residual_of_cholesky<T>(runtime, flow, matrix, x, ax);
    const double error = known->second;
    if (run == 0 && repetitions > 1) continue;  // libraries load, policies learn
    times.push_back(seconds);
    runs.add(Json::object({{"seconds", seconds},
                           {"bytes_over_wires", moved},
                           {"digest", fmt::format("{:016x}", digest.value())},
                           {"residual", error}}));
    if (!(error < right_below<T>))
      throw fl::NumericalError(fmt::format("the factor is wrong: its residual is {}", error));
    if (repetitions <= 1) break;
  }
  if (config.has("trace")) fl::write_recorded(runtime, config);
  const auto size = static_cast<double>(n);
  return Json::object({{"n", n},
                       {"tile", tile},
                       {"element_bytes", sizeof(T)},
                       {"devices", config.text("devices")},
                       {"scheduler", runtime.statistics().scheduler},
                       {"deputy", runtime.statistics().active_policy},
                       {"seconds", median(times)},
                       {"gflops", size * size * size / 3 / median(times) * 1e-9},
                       {"nodes", devices_json(runtime.statistics())},
                       {"runs", runs}});
}

Json measure(Arguments& arguments) {
  const std::int64_t n = arguments.number("--n", 61440), tile = arguments.number("--tile", 2048),
                     repetitions = arguments.number("--repetitions", 5);
  const auto seed = static_cast<std::uint64_t>(arguments.number("--seed", 1));
  const fl::Config config = config_of(arguments);
  const bool single = arguments.text("--precision", "double") == "single";
  arguments.require_all_used();
  return single ? measure_in<float>(config, n, static_cast<std::int32_t>(tile), repetitions, seed)
                : measure_in<double>(config, n, static_cast<std::int32_t>(tile), repetitions, seed);
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
