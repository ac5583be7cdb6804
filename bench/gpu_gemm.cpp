// The tiled product C := A B under a limit of a device's memory, in double precision, data and results in
// RAM, repeated. Checks it for one x: || A (B x) - C x || / || A (B x) ||, on the cores, with newly generated
// A and B.
//
//   gpu_gemm --devices LIST --memory BYTES [--n 40960] [--tile 2048] [--workers 1] [--repetitions 5] [--scheduler NAME]
//     [--fixed-order no] [--seed 1] [--trace FILE]
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "gpu_checked.hpp"

namespace {

using namespace gpu;

double difference(fl::Runtime& runtime, fl::Flow& flow, const fl::TiledMatrix<double>& c,
                  const std::vector<double>& x, const std::vector<double>& wanted) {
  VectorProducts products(runtime, flow, static_cast<std::int64_t>(x.size()), c.tile());
  const auto add = fl::codelet("C x").cpu(
      [](fl::In<fl::Tile<double>> t, fl::InOut<fl::Vector<double>> sum, const double* from) {
        for (int j = 0; j < t.columns(); ++j)
          for (int i = 0; i < t.rows(); ++i) sum.data()[i] += t(i, j) * from[j];
      });
  const VectorProducts::Sums sums = products.zeros();
  for (std::int32_t j = 0; j < c.tile_columns(); ++j)
    for (std::int32_t i = 0; i < c.tile_rows(); ++i)
      flow.submit(add(c(i, j), sums[static_cast<std::size_t>(i)], x.data() + j * c.tile()));
  return products.apart(sums, wanted);
}

Json measure(Arguments& arguments) {
  const std::int64_t n = arguments.number("--n", 40960), repetitions = arguments.number("--repetitions", 5);
  const auto tile = static_cast<std::int32_t>(arguments.number("--tile", 2048));
  const auto seed = static_cast<std::uint64_t>(arguments.number("--seed", 1));
  const fl::Config config = config_of(arguments);
  arguments.require_all_used();
  using Source = const fl::linalg::MatrixSource<double>;
  const std::shared_ptr<Source> of_a = std::make_shared<fl::linalg::GeneratedUniform<double>>(n, n, seed),
                                of_b = std::make_shared<fl::linalg::GeneratedUniform<double>>(n, n, seed + 1);
  const std::vector<double> x = known_vector(n), wanted = times(*of_a, times(*of_b, x));
  fl::Runtime runtime(config);
  const auto kernels = fl::linalg::Kernels::load();
  fl::Flow flow(runtime);
  const auto a = runtime.tiled<double>("A", n, n, tile), b = runtime.tiled<double>("B", n, n, tile),
             c = runtime.tiled<double>("C", n, n, tile);
  fl::linalg::fill<double>(flow, of_a, a, fl::Tiles::all);
  fl::linalg::fill<double>(flow, of_b, b, fl::Tiles::all);
  flow.wait();
  Json runs = Json::array();
  std::vector<double> times_taken;
  double first_seconds = 0;
  for (std::int64_t run = 0; run <= repetitions; ++run) {
    const fl::Statistics before = runtime.statistics();
    const auto begin = Clock::now();
    fl::linalg::multiply(flow, kernels, 1.0, a, b, 0.0, c);
    fl::linalg::wait_for_results(flow);
    const double seconds = seconds_since(begin);
    const fl::Bytes moved = crossed(runtime.statistics()) - crossed(before);
    const double error = difference(runtime, flow, c, x, wanted);  // and C is in RAM
    if (!(error < 1e-12))
      throw fl::NumericalError(fmt::format("the product is wrong: relative error {} for one vector", error));
    if (run == 0) first_seconds = seconds;
    if (run == 0 && repetitions > 1) continue;  // libraries load, RAM is registered, policies learn
    times_taken.push_back(seconds);
    runs.add(Json::object({{"seconds", seconds}, {"bytes_over_wires", moved}, {"difference", error}}));
    if (repetitions <= 1) break;
  }
  if (config.has("trace")) fl::write_recorded(runtime, config);
  const auto size = static_cast<double>(n);
  return Json::object({{"n", n},
                       {"tile", tile},
                       {"devices", config.text("devices")},
                       {"scheduler", runtime.statistics().scheduler},
                       {"deputy", runtime.statistics().active_policy},
                       {"first_seconds", first_seconds},
                       {"seconds", median(times_taken)},
                       {"gflops", fl::linalg::gemm_flops(size, size, size) / median(times_taken) * 1e-9},
                       {"nodes", devices_json(runtime.statistics())},
                       {"runs", runs}});
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
