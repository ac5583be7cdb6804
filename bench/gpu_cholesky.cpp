// The tiled Cholesky factorization under a limit of a device's memory, in double precision (or single), data and results in
// RAM; and whether it is right, without a solve: for one x, || A x - L (L^T x) || / || A x ||, on the cores, where A x is of A made
// anew.
//
//   gpu_cholesky --devices LIST --memory BYTES [--n 61440] [--tile 2048] [--workers 1] [--repetitions 5] [--scheduler NAME]
//     [--precision double] [--fixed-order no] [--seed 1]
#include <fairlead/fairlead.hpp>
#include <fairlead/linalg.hpp>

#include <cmath>
#include <thread>

#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "algorithms/linalg/tile_digest.hpp"
#include "gpu_common.hpp"

namespace {

using namespace gpu;
namespace fl = fairlead;

/// x, which is the same everywhere, and A x: by threads of its own, a piece of the rows for each, before there is a runtime.
struct Products {
  std::vector<double> x, ax;
};
template <class T>
Products products(const fl::linalg::MatrixSource<T>& a) {
  const std::int64_t n = a.rows(), threads = std::max(1U, std::thread::hardware_concurrency());
  Products made{std::vector<double>(static_cast<std::size_t>(n)),
                std::vector<double>(static_cast<std::size_t>(n))};
  for (std::size_t i = 0; i < made.x.size(); ++i) made.x[i] = std::sin(static_cast<double>(i) + 1);
  const auto rows_of = [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t height = 512, width = 64;
    std::vector<T> piece(static_cast<std::size_t>(height * width));
    for (std::int64_t row = begin; row < end; row += height)
      for (std::int64_t column = 0; column < n; column += width) {
        const std::int64_t rows = std::min(height, end - row), columns = std::min(width, n - column);
        a.read(row, rows, column, columns, piece.data(), rows);
        for (std::int64_t j = 0; j < columns; ++j)
          for (std::int64_t i = 0; i < rows; ++i)
            made.ax[static_cast<std::size_t>(row + i)] +=
                static_cast<double>(piece[static_cast<std::size_t>(j * rows + i)]) *
                made.x[static_cast<std::size_t>(column + j)];
      }
  };
  std::vector<std::thread> all;
  for (std::int64_t i = 0; i < threads; ++i)
    all.emplace_back(rows_of, i * n / threads, (i + 1) * n / threads);
  for (std::thread& one : all) one.join();
  return made;
}

/// || A x - L (L^T x) || / || A x ||, all in double precision. Each tile is a task for each of the two products, and sums are
/// vectors of their own: on a machine with many cores this takes a moment.
template <class T>
double residual(fl::Runtime& runtime, fl::Flow& flow, const fl::TiledMatrix<T>& l, const Products& given) {
  const auto n = static_cast<std::int64_t>(given.x.size());
  const std::int64_t tile = l.tile();
  const std::int32_t tiles = l.tile_rows();
  const auto height = [&](std::int64_t i) { return std::min(tile, n - i * tile); };
  std::vector<fl::Handle<fl::Vector<double>>> y, z;
  for (std::int32_t i = 0; i < tiles; ++i)
    for (auto* all : {&y, &z}) all->push_back(runtime.vector<double>("y", height(i)));
  using Tile = fl::In<fl::Tile<T>>;
  using In = fl::In<fl::Vector<double>>;
  using InOut = fl::InOut<fl::Vector<double>>;
  const auto clear = fl::codelet("clear").cpu(
      [](fl::Out<fl::Vector<double>> v) { std::fill(v.data(), v.data() + v.size(), 0.0); });
  // Of a tile on the diagonal what is above it is not L's.
  const auto transposed = fl::codelet("L^T x").cpu([](Tile t, InOut v, const double* from, bool diagonal) {
    for (int j = 0; j < t.columns(); ++j) {
      const T* const column = &t(0, j);
      double sum = 0;
      for (int i = diagonal ? j : 0; i < t.rows(); ++i) sum += static_cast<double>(column[i]) * from[i];
      v.data()[j] += sum;
    }
  });
  const auto forward = fl::codelet("L y").cpu([](Tile t, In from, InOut v, bool diagonal) {
    for (int j = 0; j < t.columns(); ++j) {
      const T* const column = &t(0, j);
      for (int i = diagonal ? j : 0; i < t.rows(); ++i)
        v.data()[i] += static_cast<double>(column[i]) * from.data()[j];
    }
  });
  for (auto* all : {&y, &z})
    for (const auto& one : *all) flow.submit(clear(one));
  for (std::int32_t i = 0; i < tiles; ++i)
    for (std::int32_t j = 0; j <= i; ++j)
      flow.submit(transposed(l(i, j), y[static_cast<std::size_t>(j)], given.x.data() + i * tile, i == j));
  for (std::int32_t j = 0; j < tiles; ++j)
    for (std::int32_t i = j; i < tiles; ++i)
      flow.submit(forward(l(i, j), y[static_cast<std::size_t>(j)], z[static_cast<std::size_t>(i)], i == j));
  std::vector<double> off(static_cast<std::size_t>(tiles)), of(off.size());
  const auto compare =
      fl::codelet("compare").cpu([](In got, const double* wanted, double* apart, double* whole) {
        for (std::int64_t i = 0; i < got.size(); ++i) {
          const double difference = got.data()[i] - wanted[i];
          *apart += difference * difference;
          *whole += wanted[i] * wanted[i];
        }
      });
  for (std::int32_t i = 0; i < tiles; ++i)
    flow.submit(compare(z[static_cast<std::size_t>(i)], given.ax.data() + i * tile,
                        &off[static_cast<std::size_t>(i)], &of[static_cast<std::size_t>(i)]));
  flow.wait();
  double apart = 0, whole = 0;
  for (std::size_t i = 0; i < off.size(); ++i) apart += off[i], whole += of[i];
  return std::sqrt(apart / whole);
}

fl::Bytes crossed(const fl::Statistics& statistics) {
  fl::Bytes bytes = 0;
  for (const auto& link : statistics.links)
    if (link.home == "RAM") bytes += link.bytes_from_home() + link.bytes_to_home();
  return bytes;
}

template <class T>
Json measure_in(const fl::Config& config, std::int64_t n, std::int32_t tile, std::int64_t repetitions,
                std::uint64_t seed) {
  const std::shared_ptr<const fl::linalg::MatrixSource<T>> a =
      std::make_shared<fl::linalg::GeneratedSpd<T>>(n, seed);
  const Products given = products(*a);
  fl::Runtime runtime(config);
  const auto kernels = fl::linalg::Kernels::load();
  fl::Flow flow(runtime);
  Json runs = Json::array();
  std::vector<double> times;
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
    digest.bring_together(runtime);
    const double error = residual<T>(runtime, flow, matrix, given);
    if (run == 0 && repetitions > 1) continue;  // libraries load, and policies learn
    times.push_back(seconds);
    runs.add(Json::object({{"seconds", seconds},
                           {"bytes_over_wires", moved},
                           {"digest", fmt::format("{:016x}", digest.value())},
                           {"residual", error}}));
    if (!(error < 1000 * static_cast<double>(sizeof(T) == 8 ? 2.3e-16 : 1.2e-7)))
      throw fl::NumericalError(fmt::format("the factor is wrong: its residual is {}", error));
    if (repetitions <= 1) break;
  }
  Json devices = Json::array();
  for (const auto& node : runtime.statistics().nodes)
    if (node.name != "RAM")
      devices.add(Json::object(
          {{"name", node.name}, {"capacity_bytes", node.capacity}, {"peak_bytes", node.peak_bytes}}));
  const auto size = static_cast<double>(n);
  return Json::object({{"n", n},
                       {"tile", tile},
                       {"element_bytes", sizeof(T)},
                       {"devices", config.text("devices")},
                       {"scheduler", runtime.statistics().scheduler},
                       {"seconds", median(times)},
                       {"gflops", size * size * size / 3 / median(times) * 1e-9},
                       {"nodes", devices},
                       {"runs", runs}});
}

Json measure(Arguments& arguments) {
  const std::int64_t n = arguments.number("--n", 61440), tile = arguments.number("--tile", 2048),
                     repetitions = arguments.number("--repetitions", 5);
  const auto seed = static_cast<std::uint64_t>(arguments.number("--seed", 1));
  fl::Config config;
  config.set("devices", arguments.text("--devices", ""));
  config.set("memory", fmt::format("{}B", arguments.number("--memory", std::int64_t{1} << 30)));
  config.set("workers", fmt::format("{}", arguments.number("--workers", 1)));
  if (const std::string policy = arguments.text("--scheduler", ""); !policy.empty())
    config.set("scheduler", policy);
  config.set("fixed-order", arguments.text("--fixed-order", "no") == "yes");
  const bool single = arguments.text("--precision", "double") == "single";
  arguments.require_all_used();
  return single ? measure_in<float>(config, n, static_cast<std::int32_t>(tile), repetitions, seed)
                : measure_in<double>(config, n, static_cast<std::int32_t>(tile), repetitions, seed);
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
