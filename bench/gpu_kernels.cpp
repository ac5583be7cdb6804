// What kernels of tiled Cholesky take on a device that does nothing else, each by itself in so many streams at once: of what a
// factorization at full speed would be made. Tiles are all on the device; nothing of the runtime takes part but its calls of libraries.
//
//   gpu_kernels [--device 0] [--tile 2048] [--streams 4] [--repetitions 20]
#include <atomic>
#include <barrier>
#include <cmath>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/cuda/cuda_blas.hpp"
#include "backend/cuda/launcher.hpp"
#include "gpu_common.hpp"

namespace {

using namespace gpu;
namespace fl = fairlead;
namespace la = fairlead::linalg;
using Matrix = la::CudaMatrix<double>;

/// One stream, as bodies get it, and four tiles of its own.
class Worker {
 public:
  Worker(const cu::OpenDevice& device, std::int64_t side, std::size_t place)
      : device_(device), side_(static_cast<std::size_t>(side)), first_(place * bytes_for(side)) {
    launcher_ = std::make_unique<cu::Launcher>(device, device.at(first_ + 4 * tile_bytes()), workspace_bytes);
    context_.launcher = static_cast<fl::detail::CudaLauncher*>(launcher_.get());
  }
  static std::size_t bytes_for(std::int64_t side) {
    return 4 * static_cast<std::size_t>(side * side) * sizeof(double) + workspace_bytes;
  }

  fl::CudaStream stream() const { return fl::CudaStream(context_); }
  Matrix tile(std::size_t number) const {
    return {reinterpret_cast<double*>(device_.at(first_ + number * tile_bytes())), side_};
  }
  std::size_t tile_bytes() const { return side_ * side_ * sizeof(double); }
  /// `numbers`: RAM that the device follows.
  void put(std::size_t number, const double* numbers) const {
    check(device_.driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<cu::Pointer>(tile(number).at), numbers,
                                                tile_bytes(), stream()));
    wait();
  }
  /// One tile becomes another one, on the device.
  void copy(std::size_t from, std::size_t to) const {
    check(device_.driver().cuMemcpyDtoDAsync_v2(reinterpret_cast<cu::Pointer>(tile(to).at),
                                                reinterpret_cast<cu::Pointer>(tile(from).at), tile_bytes(),
                                                stream()));
  }
  void wait() const { check(device_.driver().cuStreamSynchronize(stream())); }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
  void check(cu::Status status) const { device_.check(status, "what was put into the stream"); }

  const cu::OpenDevice& device_;
  const std::size_t side_, first_;
  std::unique_ptr<cu::Launcher> launcher_;
  fl::TaskContext context_;
};

/// Seconds for one of them when all do it at once, again and again: the time from first to last, over all that were done.
template <class Body>
double time_of_one(const cu::OpenDevice& device, const std::vector<Worker>& workers, std::int64_t repetitions,
                   const Body& body) {
  Clock::time_point begin;
  std::barrier ready(static_cast<std::ptrdiff_t>(workers.size()), [&]() noexcept { begin = Clock::now(); });
  std::vector<std::string> problems(workers.size());
  {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < workers.size(); ++i)
      all.emplace_back([&, i] {
        try {
          const cu::OpenDevice::Current current(device);
          body(workers[i]);  // libraries load
          workers[i].wait();
          ready.arrive_and_wait();
          for (std::int64_t j = 0; j < repetitions; ++j) body(workers[i]);
          workers[i].wait();
        } catch (const std::exception& error) {
          problems[i] = error.what();
          ready.arrive_and_drop();
        }
      });
  }
  const double seconds = seconds_since(begin);
  for (const std::string& problem : problems)
    if (!problem.empty()) throw fl::SystemError(problem);
  return seconds / static_cast<double>(repetitions * static_cast<std::int64_t>(workers.size()));
}

Json measure(Arguments& arguments) {
  const std::int64_t number = arguments.number("--device", 0), side = arguments.number("--tile", 2048),
                     streams = std::max<std::int64_t>(arguments.number("--streams", 4), 1),
                     repetitions = std::max<std::int64_t>(arguments.number("--repetitions", 20), 1);
  arguments.require_all_used();
  const cu::Found found = cu::find_devices();
  if (number >= static_cast<std::int64_t>(found.devices.size()))
    throw fl::SystemError(found.devices.empty() ? found.problem
                                                : fmt::format("CUDA has no device {}", number));
  const cu::FoundDevice& chosen = found.devices[static_cast<std::size_t>(number)];
  std::atomic<bool> somebody_asks{false};
  const cu::OpenDevice device(
      found.driver, chosen,
      {fmt::format("cuda {}", number), Worker::bytes_for(side) * static_cast<std::size_t>(streams),
       std::make_shared<cu::Fate>([](const std::string&) {}), &somebody_asks});
  const cu::OpenDevice::Current current(device);

  const auto n = static_cast<std::size_t>(side);
  std::vector<Worker> workers;
  for (std::int64_t i = 0; i < streams; ++i) workers.emplace_back(device, side, static_cast<std::size_t>(i));
  {
    const std::size_t bytes = workers.front().tile_bytes();
    const std::unique_ptr<std::byte, std::function<void(std::byte*)>> memory(
        device.take_host(bytes), [&](std::byte* at) { device.release_host(at); });
    auto* const numbers = reinterpret_cast<double*>(memory.get());
    for (std::size_t tile = 0; tile < 4; ++tile) {
      // Positive definite, and as a triangle such that solving again and again leaves numbers as large as they are.
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < n; ++i)
          numbers[j * n + i] =
              i == j ? (tile == 2 ? 2 : 1) : std::sin(static_cast<double>(i + j)) / static_cast<double>(n);
      for (const Worker& worker : workers) worker.put(tile, numbers);
    }
  }
  const la::CudaBlas blas;
  Json kernels = Json::array();
  const auto timed = [&](const char* name, double flops, const auto& body) {
    const double seconds = time_of_one(device, workers, repetitions, body);
    kernels.add(Json::object({{"kernel", name}, {"seconds", seconds}, {"gflops", flops / seconds * 1e-9}}));
  };
  const auto order = static_cast<double>(side);
  timed("gemm", la::gemm_flops(order, order, order), [&](const Worker& on) {
    blas.gemm<double>(on.stream(), la::Transpose::no, la::Transpose::yes, n, n, n, -1, on.tile(0), on.tile(1),
                      1, on.tile(3));
  });
  timed("syrk", la::syrk_flops(order, order),
        [&](const Worker& on) { blas.syrk_lower<double>(on.stream(), n, n, on.tile(0), on.tile(3)); });
  timed("trsm", la::trsm_flops(order, order), [&](const Worker& on) {
    blas.solve<double>(on.stream(), la::below_cholesky, n, n, on.tile(1), on.tile(3));
  });
  timed("potrf", la::potrf_flops(order), [&](const Worker& on) {
    on.copy(2, 3);
    blas.potrf_lower<double>(on.stream(), n, on.tile(3), [](int) {});
  });
  return Json::object({{"device", chosen.name}, {"tile", side}, {"streams", streams}, {"kernels", kernels}});
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
