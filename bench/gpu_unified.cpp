// The tiled Cholesky factorization with unified memory, where the driver moves the pages that kernels touch:
// cores and device access the matrix at the same addresses. Fairlead's tasks use a number per tile for their
// order, and copy nothing. gpu_cholesky computes the same with Fairlead's copies. Reproduces Bouteiller et
// al. 2025's unified memory (docs/papers-details.md, P5).
//
//   gpu_unified --place host|write-combined|managed|advised|prefetched --devices LIST --memory BYTES [--device 0] [--n 30720]
//     [--tile 2048] [--workers 1] [--repetitions 3] [--scheduler NAME] [--seed 1]
//
// host, write-combined: pinned host memory, which kernels read and write over the link. managed: pages move
// on access. advised: also with advice that they belong on the device. prefetched: also each task prefetches
// its tiles in its stream. The program uses no more managed memory than the device has free: oversubscription
// can make a device hang.
#include "algorithms/linalg/cholesky_tasks.hpp"
#include "algorithms/linalg/cuda/cuda_blas.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "gpu_checked.hpp"

namespace {

using namespace gpu;
namespace la = fairlead::linalg;

enum class Where { host, write_combined, managed, advised, prefetched };

Where where_of(const std::string& name) {
  const std::vector<std::string> names{"host", "write-combined", "managed", "advised", "prefetched"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw fl::ConfigError(fmt::format("--place {}: not one of {}", name, fmt::join(names, ", ")));
  return static_cast<Where>(found - names.begin());
}

/// A block that cores and the device access at the same addresses.
class SharedBlock {
 public:
  SharedBlock(const Device& device, Where where, std::size_t bytes) : device_(device), where_(where) {
    if (managed()) {
      if (const std::size_t free = device.free_bytes(); bytes > free)
        throw fl::ConfigError(
            fmt::format("{} bytes of managed memory are needed, but the device has {} free", bytes, free));
      constexpr unsigned for_all = 1;  // CU_MEM_ATTACH_GLOBAL
      cu::Pointer at = 0;
      device.check(device.function<cu::Status(cu::Pointer*, std::size_t, unsigned)>("cuMemAllocManaged")(
                       &at, bytes, for_all),
                   "cuMemAllocManaged");
      at_ = reinterpret_cast<double*>(at);
      prefetch_ =
          device.function<cu::Status(cu::Pointer, std::size_t, cu::Device, cu::Stream)>("cuMemPrefetchAsync");
      if (where == Where::managed) return;
      constexpr int prefers = 3, accessed_by = 5;  // CU_MEM_ADVISE_SET_PREFERRED_LOCATION, _ACCESSED_BY
      const auto advise =
          device.function<cu::Status(cu::Pointer, std::size_t, int, cu::Device)>("cuMemAdvise");
      for (const int advice : {prefers, accessed_by})
        device.check(advise(at, bytes, advice, device.found().device), "cuMemAdvise");
    } else {
      constexpr unsigned combined = 4;  // CU_MEMHOSTALLOC_WRITECOMBINED
      void* at = nullptr;
      device.check(
          device.driver().cuMemHostAlloc(
              &at, bytes, cu::host_for_all | cu::host_mapped | (where == Where::host ? 0 : combined)),
          "cuMemHostAlloc");
      at_ = static_cast<double*>(at);
    }
  }
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;
  ~SharedBlock() {
    if (at_ == nullptr) return;
    const Current current(device_);
    if (managed())
      device_.driver().cuMemFree_v2(reinterpret_cast<cu::Pointer>(at_));
    else
      device_.driver().cuMemFreeHost(at_);
  }
  double* at(std::int64_t element) const noexcept { return at_ + element; }
  bool managed() const noexcept { return where_ >= Where::managed; }

  /// Prefetches, in the stream, the data of its next kernel, if enabled.
  void prefetch(const fl::CudaStream& stream, const double* begin, std::int64_t elements) const {
    if (where_ == Where::prefetched)
      stream.check(
          prefetch_(reinterpret_cast<cu::Pointer>(begin), static_cast<std::size_t>(elements) * sizeof(double),
                    device_.found().device, stream),
          "cuMemPrefetchAsync");
  }

 private:
  const Device& device_;
  const Where where_;
  double* at_ = nullptr;
  cu::Status (*prefetch_)(cu::Pointer, std::size_t, cu::Device, cu::Stream) = nullptr;
};

/// The lower tiles of a matrix in a block, each contiguous.
class SharedTiles {
 public:
  SharedTiles(std::int64_t n, std::int64_t side) : n_(n), side_(side), count_((n + side - 1) / side) {
    for (std::int64_t i = 0; i < count_; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        first_.push_back(elements_);
        elements_ += rows(i) * rows(j);
      }
  }
  std::int32_t count() const noexcept { return static_cast<std::int32_t>(count_); }
  std::int64_t elements() const noexcept { return elements_; }
  std::int64_t rows(std::int64_t i) const noexcept { return std::min(side_, n_ - i * side_); }
  std::int64_t first(std::int64_t i, std::int64_t j) const { return first_[number(i, j)]; }
  static std::size_t number(std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(i * (i + 1) / 2 + j);
  }

 private:
  const std::int64_t n_, side_, count_;
  std::int64_t elements_ = 0;
  std::vector<std::int64_t> first_;
};

/// A tile as a kernel argument.
struct Tile {
  double* at = nullptr;
  std::int64_t rows = 0, columns = 0;
  la::CudaMatrix<double> matrix() const { return {at, static_cast<std::size_t>(rows)}; }
};

using Turn = fl::Vector<double>;  // orders the tasks of a tile; its value is unused

/// Submits the tasks of the factorization.
class SharedCholesky {
 public:
  SharedCholesky(fl::Flow& flow, const SharedTiles& tiles, const SharedBlock& block,
                 const std::vector<fl::Handle<Turn>>& turns, const la::CudaBlas& blas)
      : flow_(flow), tiles_(tiles), block_(block), turns_(turns), blas_(blas) {}
  SharedCholesky(const SharedCholesky&) = delete;  // bodies use it
  SharedCholesky& operator=(const SharedCholesky&) = delete;

  void potrf(std::int32_t k, int priority) {
    flow_.submit(potrf_(turn(k, k), tile(k, k), k * tiles_.rows(0)).priority(priority));
  }
  void trsm(std::int32_t m, std::int32_t k, int priority) {
    flow_.submit(trsm_(turn(k, k), turn(m, k), tile(k, k), tile(m, k)).priority(priority));
  }
  void syrk(std::int32_t j, std::int32_t k, int priority) {
    flow_.submit(syrk_(turn(j, k), turn(j, j), tile(j, k), tile(j, j)).priority(priority));
  }
  void gemm(std::int32_t m, std::int32_t j, std::int32_t k, int priority) {
    flow_.submit(
        gemm_(turn(m, k), turn(j, k), turn(m, j), tile(m, k), tile(j, k), tile(m, j)).priority(priority));
  }

 private:
  using In = fl::In<Turn>;
  using InOut = fl::InOut<Turn>;
  const fl::Handle<Turn>& turn(std::int64_t i, std::int64_t j) const {
    return turns_[SharedTiles::number(i, j)];
  }
  Tile tile(std::int64_t i, std::int64_t j) const {
    return {block_.at(tiles_.first(i, j)), tiles_.rows(i), tiles_.rows(j)};
  }
  void bring(const fl::CudaStream& stream, std::initializer_list<Tile> all) const {
    for (const Tile& one : all) block_.prefetch(stream, one.at, one.rows * one.columns);
  }
  static std::size_t size(std::int64_t rows) noexcept { return static_cast<std::size_t>(rows); }

  fl::Flow& flow_;
  const SharedTiles& tiles_;
  const SharedBlock& block_;
  const std::vector<fl::Handle<Turn>>& turns_;
  const la::CudaBlas& blas_;
  const fl::Codelet<InOut, Tile, std::int64_t> potrf_ =
      fl::codelet("potrf").cuda([this](fl::CudaStream stream, InOut, Tile a, std::int64_t first) {
        bring(stream, {a});
        blas_.potrf_lower<double>(stream, size(a.rows), a.matrix(), [first](int info) {
          if (info > 0)
            throw fl::NumericalError(fmt::format("not positive definite: column {}", first + info - 1));
        });
      });
  const fl::Codelet<In, InOut, Tile, Tile> trsm_ =
      fl::codelet("trsm").cuda([this](fl::CudaStream stream, In, InOut, Tile l, Tile a) {
        bring(stream, {l, a});
        blas_.solve<double>(stream, la::below_cholesky<double>, size(a.rows), size(a.columns), l.matrix(),
                            a.matrix());
      });
  const fl::Codelet<In, InOut, Tile, Tile> syrk_ =
      fl::codelet("syrk").cuda([this](fl::CudaStream stream, In, InOut, Tile a, Tile c) {
        bring(stream, {a, c});
        blas_.syrk_lower<double>(stream, size(c.rows), size(a.columns), a.matrix(), c.matrix());
      });
  const fl::Codelet<In, In, InOut, Tile, Tile, Tile> gemm_ =
      fl::codelet("gemm").cuda([this](fl::CudaStream stream, In, In, InOut, Tile a, Tile b, Tile c) {
        bring(stream, {a, b, c});
        blas_.gemm<double>(stream, la::Transpose::no, la::Transpose::yes, size(c.rows), size(c.columns),
                           size(a.columns), -1, a.matrix(), b.matrix(), 1, c.matrix());
      });
};

/// Tiles that the device reads in place and Fairlead copies home, so that cores can check the results of
/// kernels.
fl::TiledMatrix<double> taken(fl::Runtime& runtime, fl::Flow& flow, const Device& device,
                              const SharedTiles& tiles, const SharedBlock& block,
                              const std::vector<fl::Handle<Turn>>& turns, std::int64_t n, std::int32_t side) {
  const auto take = fl::codelet("take").cuda(
      [&device](fl::CudaStream stream, fl::In<Turn>, fl::Out<fl::Tile<double>> to, const double* from) {
        stream.check(
            device.driver().cuMemcpyDtoDAsync_v2(
                reinterpret_cast<cu::Pointer>(to.data()), reinterpret_cast<cu::Pointer>(from),
                static_cast<std::size_t>(to.rows()) * static_cast<std::size_t>(to.columns()) * sizeof(double),
                stream),
            "cuMemcpyDtoDAsync");
      });
  auto l = runtime.tiled<double>("L", n, n, side, fl::Tiles::lower);
  for (std::int32_t i = 0; i < tiles.count(); ++i)
    for (std::int32_t j = 0; j <= i; ++j)
      flow.submit(take(turns[SharedTiles::number(i, j)], l(i, j), block.at(tiles.first(i, j))));
  flow.wait();
  return l;
}

Json measure(Arguments& arguments) {
  const std::string name = arguments.text("--place", "managed");
  const Where where = where_of(name);
  const std::int64_t n = arguments.number("--n", 30720), side = arguments.number("--tile", 2048),
                     repetitions = std::max<std::int64_t>(arguments.number("--repetitions", 3), 1);
  const auto seed = static_cast<std::uint64_t>(arguments.number("--seed", 1));
  const Device device(arguments.number("--device", 0));
  const fl::Config config = config_of(arguments);
  arguments.require_all_used();

  const la::GeneratedSpd<double> a(n, seed);
  const std::vector<double> x = known_vector(n), ax = times<double>(a, x);
  const SharedTiles tiles(n, side);
  const SharedBlock block(device, where, static_cast<std::size_t>(tiles.elements()) * sizeof(double));
  const la::CudaBlas blas;
  fl::Runtime runtime(config);  // destroyed before the block
  fl::Flow flow(runtime);
  std::vector<fl::Handle<Turn>> turns;
  for (std::size_t i = 0; i < SharedTiles::number(tiles.count(), 0); ++i)
    turns.push_back(runtime.vector<double>("turn", 1));
  const auto fill =
      fl::codelet("fill").cpu([&a, side](fl::Out<Turn> turn, Tile to, std::int64_t i, std::int64_t j) {
        turn.data()[0] = 0;
        a.read(i * side, to.rows, j * side, to.columns, to.at, to.rows);
      });
  SharedCholesky tasks(flow, tiles, block, turns, blas);
  Json runs = Json::array();
  std::vector<double> seconds_of_runs;
  for (std::int64_t run = repetitions > 1 ? -1 : 0; run < repetitions;
       ++run) {  // libraries load in the first
    for (std::int64_t i = 0; i < tiles.count(); ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        flow.submit(fill(turns[SharedTiles::number(i, j)],
                         Tile{block.at(tiles.first(i, j)), tiles.rows(i), tiles.rows(j)}, i, j));
    flow.wait();
    const auto begin = Clock::now();
    la::for_each_cholesky_task(tiles.count(), tasks);
    flow.wait();
    const double seconds = seconds_since(begin);
    if (run < 0) continue;
    const double residual = residual_of_cholesky<double>(
        runtime, flow, taken(runtime, flow, device, tiles, block, turns, n, static_cast<std::int32_t>(side)),
        x, ax);
    seconds_of_runs.push_back(seconds);
    runs.add(Json::object({{"seconds", seconds}, {"residual", residual}}));
    if (!(residual < right_below<double>))
      throw fl::NumericalError(fmt::format("the factor is wrong: its residual is {}", residual));
  }
  const auto size = static_cast<double>(n);
  return Json::object({{"place", name},
                       {"n", n},
                       {"tile", side},
                       {"devices", config.text("devices")},
                       {"scheduler", runtime.statistics().scheduler},
                       {"seconds", median(seconds_of_runs)},
                       {"gflops", size * size * size / 3 / median(seconds_of_runs) * 1e-9},
                       {"runs", runs}});
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
