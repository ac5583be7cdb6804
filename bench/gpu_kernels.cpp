// The kernels of tiled Cholesky on an idle device, each kind alone in several streams at once: the upper
// bound for a factorization. All tiles are on the device; of the runtime only its library calls take part.
// Also all kernels of a factorization together, in random order: during seconds of computation a device may
// lower its clock, unlike during a few hundredths of a second.
//
//   gpu_kernels [--device 0] [--tile 2048] [--streams 4] [--repetitions 20] [--tiles 0]
#include <atomic>
#include <barrier>
#include <cmath>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/cuda/cuda_blas.hpp"
#include "backend/cuda/processor.hpp"
#include "base/random.hpp"
#include "gpu_common.hpp"

namespace {

using namespace gpu;
namespace fl = fairlead;
namespace la = fairlead::linalg;
using Matrix = la::CudaMatrix<double>;

/// One stream, like those of bodies, and its four tiles.
class Worker {
 public:
  Worker(const cu::CudaDevice& device, std::int64_t side, std::size_t place)
      : device_(device), side_(static_cast<std::size_t>(side)), first_(place * bytes_for(side)) {
    processor_ =
        std::make_unique<cu::CudaProcessor>(device, device.at(first_ + 4 * tile_bytes()), workspace_bytes);
    context_.launcher = static_cast<fl::detail::CudaLauncher*>(processor_.get());
  }
  static std::size_t bytes_for(std::int64_t side) {
    return 4 * static_cast<std::size_t>(side * side) * sizeof(double) + workspace_bytes;
  }

  fl::CudaStream stream() const { return fl::CudaStream(context_); }
  Matrix tile(std::size_t number) const {
    return {reinterpret_cast<double*>(device_.at(first_ + number * tile_bytes())), side_};
  }
  std::size_t tile_bytes() const { return side_ * side_ * sizeof(double); }
  /// `numbers`: RAM that the device can access.
  void put(std::size_t number, const double* numbers) const {
    check(device_.driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<cu::Pointer>(tile(number).data), numbers,
                                                tile_bytes(), stream()));
    wait();
  }
  /// Copies one tile to another, on the device.
  void copy(std::size_t from, std::size_t to) const {
    check(device_.driver().cuMemcpyDtoDAsync_v2(reinterpret_cast<cu::Pointer>(tile(to).data),
                                                reinterpret_cast<cu::Pointer>(tile(from).data), tile_bytes(),
                                                stream()));
  }
  void wait() const { check(device_.driver().cuStreamSynchronize(stream())); }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
  void check(cu::Status status) const { device_.check(status, "the work in the stream"); }

  const cu::CudaDevice& device_;
  const std::size_t side_, first_;
  std::unique_ptr<cu::CudaProcessor> processor_;
  fl::TaskContext context_;
};

/// Seconds until all workers, running concurrently, have completed the work of `body(worker, number)` in
/// their streams.
template <class Body>
double time_of_all(const cu::CudaDevice& device, const std::vector<Worker>& workers, const Body& body) {
  Clock::time_point begin;
  std::barrier ready(static_cast<std::ptrdiff_t>(workers.size()), [&]() noexcept { begin = Clock::now(); });
  std::vector<std::string> problems(workers.size());
  {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < workers.size(); ++i)
      all.emplace_back([&, i] {
        try {
          const cu::CudaDevice::Current current(device);
          ready.arrive_and_wait();
          body(workers[i], i);
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
  return seconds;
}

/// Indices of kernels, with the multiplicities of `counts`: an equal share per stream, each in its own order.
std::vector<std::vector<std::size_t>> dealt_out(const std::vector<std::int64_t>& counts,
                                                std::size_t streams) {
  std::vector<std::vector<std::size_t>> lists(streams);
  std::size_t next = 0;
  for (std::size_t kernel = 0; kernel < counts.size(); ++kernel)
    for (std::int64_t i = 0; i < counts[kernel]; ++i) lists[next++ % streams].push_back(kernel);
  fl::Random random(1);
  for (auto& list : lists)
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
  return lists;
}

Json measure(Arguments& arguments) {
  const std::int64_t number = arguments.number("--device", 0), side = arguments.number("--tile", 2048),
                     streams = std::max<std::int64_t>(arguments.number("--streams", 4), 1),
                     repetitions = std::max<std::int64_t>(arguments.number("--repetitions", 20), 1),
                     tiles = arguments.number("--tiles", 0);
  arguments.require_all_used();
  const cu::CudaDevices found = cu::find_devices();
  if (number >= static_cast<std::int64_t>(found.devices.size()))
    throw fl::SystemError(found.devices.empty() ? found.problem
                                                : fmt::format("CUDA has no device {}", number));
  const cu::CudaDeviceInfo& chosen = found.devices[static_cast<std::size_t>(number)];
  std::atomic<bool> has_poller{false};
  const cu::CudaDevice device(
      found.driver, chosen,
      {fmt::format("cuda {}", number), Worker::bytes_for(side) * static_cast<std::size_t>(streams),
       std::make_shared<cu::LossState>([](const std::string&) {}), &has_poller});
  const cu::CudaDevice::Current current(device);

  const auto n = static_cast<std::size_t>(side);
  std::vector<Worker> workers;
  for (std::int64_t i = 0; i < streams; ++i) workers.emplace_back(device, side, static_cast<std::size_t>(i));
  {
    const std::size_t bytes = workers.front().tile_bytes();
    const std::unique_ptr<std::byte, std::function<void(std::byte*)>> memory(
        device.allocate_pinned(bytes), [&](std::byte* at) { device.release_host(at); });
    auto* const numbers = reinterpret_cast<double*>(memory.get());
    for (std::size_t tile = 0; tile < 4; ++tile) {
      // Positive definite, and as a triangle such that repeated solves keep the magnitude of the numbers.
      // Random like a real matrix: the power of a device, and so its clock, depends on its operands.
      fl::Random random(tile + 1);
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < n; ++i)
          numbers[j * n + i] =
              i == j ? (tile == 2 ? 2 : 1) : (2 * random.unit() - 1) / static_cast<double>(n);
      for (const Worker& worker : workers) worker.put(tile, numbers);
    }
  }
  const la::CudaBlas blas;
  const auto order = static_cast<double>(side);
  struct Kernel {
    const char* name;
    double flops;
    std::function<void(const Worker&)> body;
  };
  const std::vector<Kernel> kernels{
      {"gemm", la::gemm_flops(order, order, order),
       [&](const Worker& on) {
         blas.gemm<double>(on.stream(), la::Transpose::no, la::Transpose::yes, n, n, n, -1, on.tile(0),
                           on.tile(1), 1, on.tile(3));
       }},
      {"syrk", la::syrk_flops(order, order),
       [&](const Worker& on) { blas.syrk_lower<double>(on.stream(), n, n, on.tile(0), on.tile(3)); }},
      {"trsm", la::trsm_flops(order, order),
       [&](const Worker& on) {
         blas.solve<double>(on.stream(), la::below_cholesky<double>, n, n, on.tile(1), on.tile(3));
       }},
      {"potrf", la::potrf_flops(order), [&](const Worker& on) {
         on.copy(2, 3);
         blas.potrf_lower<double>(on.stream(), n, on.tile(3), [](int) {});
       }}};
  Json alone = Json::array();
  for (const Kernel& kernel : kernels) {
    time_of_all(device, workers, [&](const Worker& on, std::size_t) { kernel.body(on); });  // libraries load
    const double seconds = time_of_all(device, workers,
                                       [&](const Worker& on, std::size_t) {
                                         for (std::int64_t i = 0; i < repetitions; ++i) kernel.body(on);
                                       }) /
                           static_cast<double>(repetitions * streams);
    alone.add(Json::object(
        {{"kernel", kernel.name}, {"seconds", seconds}, {"gflops", kernel.flops / seconds * 1e-9}}));
  }
  Json result = Json::object(
      {{"device", chosen.name}, {"tile", side}, {"streams", streams}, {"kernels", std::move(alone)}});
  if (tiles > 0) {
    const auto lists = dealt_out(
        {tiles * (tiles - 1) * (tiles - 2) / 6, tiles * (tiles - 1) / 2, tiles * (tiles - 1) / 2, tiles},
        workers.size());
    std::vector<double> times;
    for (int round = 0; round < 3; ++round)
      times.push_back(time_of_all(device, workers, [&](const Worker& on, std::size_t stream) {
        for (const std::size_t kernel : lists[stream]) kernels[kernel].body(on);
      }));
    const double flops = std::pow(order * static_cast<double>(tiles), 3) / 3;
    result.add("together",
               Json::object({{"seconds", median(times)}, {"gflops", flops / median(times) * 1e-9}}));
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
