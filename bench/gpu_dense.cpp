// Baselines for Fairlead's runs, on whole matrices: cuSOLVER's Cholesky and QR factorizations and cuBLAS's
// products in device memory, and cublasXt's blocked products of matrices in RAM.
//
//   gpu_dense [--device 0] [--potrf 16384] [--geqrf 0] [--gemm 8192] [--xt 0] [--xt-seconds 60] [--repetitions 3]
//
// Sizes of matrices, in double precision; 0 skips a measurement.
#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "gpu_common.hpp"

struct cublasContext;
struct cusolverDnContext;
struct cublasXtContext;
struct cusolverDnParams;

namespace {

using namespace gpu;
using fairlead::SharedLibrary;
using fairlead::SystemError;

SharedLibrary first_of(std::initializer_list<const char*> names) {
  std::string said;
  for (const char* name : names) try {
      return SharedLibrary::open(name);
    } catch (const SystemError& error) {
      if (said.empty()) said = error.what();
    }
  throw SystemError(said);
}
void check(int status, const char* what) {
  if (status != 0) throw SystemError(fmt::format("{}: error {}", what, status));
}

constexpr int lower = 0, as_it_is = 0;
constexpr int doubles = 1;  // CUDA_R_64F

/// Fills matrices on the device, column by column from a few in RAM: positive definite, n on the diagonal,
/// other numbers between -1 and 1. (Zeros would make products faster.)
class Filler {
 public:
  Filler(const Device& device, const Stream& stream, std::int64_t n)
      : device_(device), stream_(stream), n_(n) {
    device.check(
        device.driver().cuMemHostAlloc(reinterpret_cast<void**>(&host_), bytes(at_once), cu::host_for_all),
        "cuMemHostAlloc");
    fairlead::Random random(7);
    for (std::int64_t i = 0; i < n * at_once; ++i)
      host_[i] = 2 * static_cast<double>(random.below(1 << 20)) / (1 << 20) - 1;
  }
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;
  ~Filler() { device_.driver().cuMemFreeHost(host_); }

  void fill(const Block& a) const {
    for (std::int64_t column = 0; column < n_; column += at_once) {
      const std::int64_t count = std::min(at_once, n_ - column);
      std::vector<double> without(static_cast<std::size_t>(count));
      for (std::int64_t j = 0; j < count; ++j)
        without[static_cast<std::size_t>(j)] =
            std::exchange(host_[j * n_ + column + j], static_cast<double>(n_));
      device_.check(
          device_.driver().cuMemcpyHtoDAsync_v2(a.at + bytes(column), host_, bytes(count), stream_.stream),
          "a copy to the device");
      stream_.wait();
      for (std::int64_t j = 0; j < count; ++j)
        host_[j * n_ + column + j] = without[static_cast<std::size_t>(j)];
    }
  }

 private:
  static constexpr std::int64_t at_once = 64;
  std::size_t bytes(std::int64_t columns) const {
    return static_cast<std::size_t>(n_ * columns) * sizeof(double);
  }

  const Device& device_;
  const Stream& stream_;
  const std::int64_t n_;
  double* host_ = nullptr;
};

template <class Body>
std::vector<double> times(std::int64_t repetitions, const Body& body) {
  std::vector<double> all;
  for (std::int64_t i = 0; i <= repetitions; ++i) {
    const double seconds = body();
    if (i > 0) all.push_back(seconds);  // the first loads kernels
  }
  return all;
}

SharedLibrary cusolver() { return first_of({"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so.10"}); }

/// A handle for that stream. The library and the stream outlive it.
struct CusolverHandle {
  CusolverHandle(const SharedLibrary& library, const Stream& stream)
      : destroy(library.require<int(cusolverDnContext*)>("cusolverDnDestroy")) {
    const auto set_stream = library.require<int(cusolverDnContext*, CUstream_st*)>("cusolverDnSetStream");
    check(library.require<int(cusolverDnContext**)>("cusolverDnCreate")(&handle), "cusolverDnCreate");
    check(set_stream(handle, stream.stream), "cusolverDnSetStream");
  }
  CusolverHandle(const CusolverHandle&) = delete;
  CusolverHandle& operator=(const CusolverHandle&) = delete;
  ~CusolverHandle() { destroy(handle); }

  int (*const destroy)(cusolverDnContext*);
  cusolverDnContext* handle = nullptr;
};

/// Both variants of cuSOLVER, if available: with 32-bit and 64-bit sizes.
Json potrf(const Device& device, std::int64_t n, std::int64_t repetitions) {
  const SharedLibrary library = cusolver();
  const auto size =
      library.require<int(cusolverDnContext*, int, int, double*, int, int*)>("cusolverDnDpotrf_bufferSize");
  const auto factor = library.require<int(cusolverDnContext*, int, int, double*, int, double*, int, int*)>(
      "cusolverDnDpotrf");
  const auto make_parameters = library.find<int(cusolverDnParams**)>("cusolverDnCreateParams");
  const auto drop_parameters = library.find<int(cusolverDnParams*)>("cusolverDnDestroyParams");
  const auto size_64 =
      library.find<int(cusolverDnContext*, cusolverDnParams*, int, std::int64_t, int, const void*,
                       std::int64_t, int, std::size_t*, std::size_t*)>("cusolverDnXpotrf_bufferSize");
  const auto factor_64 =
      library.find<int(cusolverDnContext*, cusolverDnParams*, int, std::int64_t, int, void*, std::int64_t,
                       int, void*, std::size_t, void*, std::size_t, int*)>("cusolverDnXpotrf");
  const auto bytes = static_cast<std::size_t>(n * n) * sizeof(double);
  Json json = Json::object({{"n", n}});
  {
    const Block a(device, bytes), info(device, 4096);
    const Stream stream(device);
    const Filler filler(device, stream, n);
    const CusolverHandle of_cusolver(library, stream);
    cusolverDnContext* const handle = of_cusolver.handle;
    const auto timed = [&](const auto& act) {
      return times(repetitions, [&] {
        filler.fill(a);
        const auto begin = Clock::now();
        act();
        stream.wait();
        return seconds_since(begin);
      });
    };
    const auto add = [&](const char* name, const std::vector<double>& all) {
      const auto size_of = static_cast<double>(n);
      json.add(std::string(name) + "_gflops", size_of * size_of * size_of / 3 / median(all) * 1e-9);
    };
    auto* const at = reinterpret_cast<double*>(a.at);
    auto* const said = reinterpret_cast<int*>(info.at);
    int elements = 0;
    check(size(handle, lower, static_cast<int>(n), at, static_cast<int>(n), &elements),
          "cusolverDnDpotrf_bufferSize");
    {
      const Block work(device, static_cast<std::size_t>(std::max(elements, 1)) * sizeof(double));
      add("dpotrf", timed([&] {
            check(factor(handle, lower, static_cast<int>(n), at, static_cast<int>(n),
                         reinterpret_cast<double*>(work.at), elements, said),
                  "cusolverDnDpotrf");
          }));
    }
    if (make_parameters != nullptr && size_64 != nullptr && factor_64 != nullptr) {
      cusolverDnParams* parameters = nullptr;
      check(make_parameters(&parameters), "cusolverDnCreateParams");
      std::size_t there = 0, here = 0;
      check(size_64(handle, parameters, lower, n, doubles, at, n, doubles, &there, &here),
            "cusolverDnXpotrf_bufferSize");
      {
        const Block work(device, std::max<std::size_t>(there, 256));
        std::vector<std::byte> host_work(std::max<std::size_t>(here, 1));
        add("xpotrf", timed([&] {
              check(factor_64(handle, parameters, lower, n, doubles, at, n, doubles,
                              reinterpret_cast<void*>(work.at), there, host_work.data(), here, said),
                    "cusolverDnXpotrf");
            }));
      }
      drop_parameters(parameters);
    }
  }
  return json;
}

Json geqrf(const Device& device, std::int64_t n, std::int64_t repetitions) {
  const SharedLibrary library = cusolver();
  const auto size =
      library.require<int(cusolverDnContext*, int, int, double*, int, int*)>("cusolverDnDgeqrf_bufferSize");
  const auto factor =
      library.require<int(cusolverDnContext*, int, int, double*, int, double*, double*, int, int*)>(
          "cusolverDnDgeqrf");
  const auto bytes = static_cast<std::size_t>(n * n) * sizeof(double);
  std::vector<double> all;
  {
    const Block a(device, bytes), tau(device, static_cast<std::size_t>(n) * sizeof(double)),
        info(device, 4096);
    const Stream stream(device);
    const Filler filler(device, stream, n);
    const CusolverHandle of_cusolver(library, stream);
    cusolverDnContext* const handle = of_cusolver.handle;
    auto* const at = reinterpret_cast<double*>(a.at);
    const auto side = static_cast<int>(n);
    int elements = 0;
    check(size(handle, side, side, at, side, &elements), "cusolverDnDgeqrf_bufferSize");
    const Block work(device, static_cast<std::size_t>(std::max(elements, 1)) * sizeof(double));
    all = times(repetitions, [&] {
      filler.fill(a);
      const auto begin = Clock::now();
      check(factor(handle, side, side, at, side, reinterpret_cast<double*>(tau.at),
                   reinterpret_cast<double*>(work.at), elements, reinterpret_cast<int*>(info.at)),
            "cusolverDnDgeqrf");
      stream.wait();
      return seconds_since(begin);
    });
  }
  const auto size_of = static_cast<double>(n);
  return Json::object(
      {{"n", n}, {"dgeqrf_gflops", 4 * size_of * size_of * size_of / 3 / median(all) * 1e-9}});
}

SharedLibrary cublas() { return first_of({"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"}); }

double product_gflops(std::int64_t n, const std::vector<double>& all) {
  const auto size = static_cast<double>(n);
  return 2 * size * size * size / median(all) * 1e-9;
}

Json gemm(const Device& device, std::int64_t n, std::int64_t repetitions) {
  const SharedLibrary library = cublas();
  const auto create = library.require<int(cublasContext**)>("cublasCreate_v2");
  const auto destroy = library.require<int(cublasContext*)>("cublasDestroy_v2");
  const auto set_stream = library.require<int(cublasContext*, CUstream_st*)>("cublasSetStream_v2");
  const auto set_workspace =
      library.require<int(cublasContext*, void*, std::size_t)>("cublasSetWorkspace_v2");
  Json json = Json::object({{"n", n}});
  const auto one = [&]<class T>(T, const char* name, const char* key) {
    const auto multiply = library.require<int(cublasContext*, int, int, int, int, int, const T*, const T*,
                                              int, const T*, int, const T*, T*, int)>(name);
    const auto bytes = static_cast<std::size_t>(n * n) * sizeof(T);
    constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
    const Block a(device, bytes), b(device, bytes), c(device, bytes), workspace(device, workspace_bytes);
    const Stream stream(device);
    cublasContext* handle = nullptr;
    check(create(&handle), "cublasCreate");
    check(set_stream(handle, stream.stream), "cublasSetStream");
    check(set_workspace(handle, reinterpret_cast<void*>(workspace.at), workspace_bytes),
          "cublasSetWorkspace");
    const T alpha = 1, beta = 0;
    const auto size = static_cast<int>(n);
    json.add(key, product_gflops(n, times(repetitions, [&] {
                                   const auto begin = Clock::now();
                                   check(
                                       multiply(handle, as_it_is, as_it_is, size, size, size, &alpha,
                                                reinterpret_cast<T*>(a.at), size, reinterpret_cast<T*>(b.at),
                                                size, &beta, reinterpret_cast<T*>(c.at), size),
                                       name);
                                   stream.wait();
                                   return seconds_since(begin);
                                 })));
    destroy(handle);
  };
  one(double{}, "cublasDgemm_v2", "double_gflops");
  one(float{}, "cublasSgemm_v2", "single_gflops");
  return json;
}

/// A matrix in RAM with numbers between 0 and 1, written by one thread per core.
class InRam {
 public:
  explicit InRam(std::size_t count) : count_(count), numbers_(new double[count]) {
    const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < threads; ++i)
      all.emplace_back([this, first = count * i / threads, last = count * (i + 1) / threads] {
        std::uint64_t state = first;
        for (std::size_t at = first; at < last; ++at) {
          state = state * 6364136223846793005ull + 1442695040888963407ull;
          numbers_[at] = static_cast<double>(state >> 11) * 0x1p-53;
        }
      });
  }
  void pin(const Device& device) {
    device.check(device.driver().cuMemHostRegister_v2(data(), count_ * sizeof(double), cu::register_for_all),
                 "cuMemHostRegister");
  }
  void unpin(const Device& device) { device.driver().cuMemHostUnregister(data()); }
  double* data() const noexcept { return numbers_.get(); }

 private:
  const std::size_t count_;
  const std::unique_ptr<double[]> numbers_;
};

/// C := A B of matrices in RAM, for several block sizes with registered memory (not timed), and for one
/// without. No measurement starts after the given number of seconds.
Json xt(const Device& device, std::int64_t n, double most_seconds) {
  const auto began = Clock::now();
  const SharedLibrary library = cublas();
  const auto create = library.require<int(cublasXtContext**)>("cublasXtCreate");
  const auto destroy = library.require<int(cublasXtContext*)>("cublasXtDestroy");
  const auto select = library.require<int(cublasXtContext*, int, int*)>("cublasXtDeviceSelect");
  const auto block = library.require<int(cublasXtContext*, int)>("cublasXtSetBlockDim");
  const auto multiply = library.require<int(
      cublasXtContext*, int, int, std::size_t, std::size_t, std::size_t, const double*, const double*,
      std::size_t, const double*, std::size_t, const double*, double*, std::size_t)>("cublasXtDgemm");
  cublasXtContext* handle = nullptr;
  check(create(&handle), "cublasXtCreate");
  int number = device.found().device;
  check(select(handle, 1, &number), "cublasXtDeviceSelect");
  const auto size = static_cast<std::size_t>(n);
  InRam a(size * size), b(size * size), c(size * size);
  const double alpha = 1, beta = 0;
  const auto product = [&](std::size_t of) {
    const auto begin = Clock::now();
    check(multiply(handle, as_it_is, as_it_is, of, of, of, &alpha, a.data(), size, b.data(), size, &beta,
                   c.data(), size),
          "cublasXtDgemm");
    return seconds_since(begin);
  };
  Json runs = Json::array();
  const auto run = [&](int side, bool pinned) {
    if (seconds_since(began) > most_seconds) return;
    check(block(handle, side), "cublasXtSetBlockDim");
    product(size / 8);  // loads kernels
    const double seconds = product(size);
    runs.add(Json::object({{"block", side},
                           {"pinned", pinned},
                           {"seconds", seconds},
                           {"gflops", product_gflops(n, {seconds})}}));
  };
  for (InRam* const one : {&a, &b, &c}) one->pin(device);
  for (const int side : {8192, 4096, 2048}) run(static_cast<int>(std::min<std::int64_t>(side, n)), true);
  for (InRam* const one : {&a, &b, &c}) one->unpin(device);
  run(static_cast<int>(std::min<std::int64_t>(4096, n)), false);
  check(destroy(handle), "cublasXtDestroy");
  return Json::object({{"n", n}, {"runs", runs}});
}

Json measure(Arguments& arguments) {
  const std::int64_t number = arguments.number("--device", 0), of_potrf = arguments.number("--potrf", 16384),
                     of_geqrf = arguments.number("--geqrf", 0), of_gemm = arguments.number("--gemm", 8192),
                     of_xt = arguments.number("--xt", 0), xt_seconds = arguments.number("--xt-seconds", 60),
                     repetitions = std::max<std::int64_t>(arguments.number("--repetitions", 3), 1);
  arguments.require_all_used();
  const Device device(number);
  Json json = Json::object({{"device", device.found().name}});
  if (of_potrf != 0) json.add("potrf", potrf(device, of_potrf, repetitions));
  if (of_geqrf != 0) json.add("geqrf", geqrf(device, of_geqrf, repetitions));
  if (of_gemm != 0) json.add("gemm", gemm(device, of_gemm, repetitions));
  if (of_xt != 0) json.add("cublasxt", xt(device, of_xt, static_cast<double>(xt_seconds)));
  return json;
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
