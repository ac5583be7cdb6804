// See gainful_devices.hpp.
#include "solver/devices/gainful_devices.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "config/value.hpp"
#include "report/run_report.hpp"
#include "report/units.hpp"

namespace fairlead::solver {

namespace {

using config::readable_size;
using report::readable_seconds;

// Assumptions about a device without measurements.
constexpr double seconds_to_begin = 1;             // a context, cuBLAS and cuSOLVER
constexpr double wire_bytes_per_second = 10e9;     // half of PCI Express 3.0 x16 both ways
constexpr double worth_it = 0.8;                   // of the time on cores
constexpr double slowest_of_best = 0.5;            // a device half as fast as the best is left out
constexpr Bytes smallest_left = Bytes{512} << 20;  // for each rank's context and libraries
constexpr Bytes least_memory = Bytes{64} << 20;
constexpr Bytes workspaces_and_vectors = Bytes{256} << 20;

/// A device that might be used.
struct Candidate {
  std::size_t number = 0;
  std::string name;
  double flops_per_second = 0;
  Bytes memory = 0;
  std::string problem;  // it cannot be used
};

/// The part of the free memory that is left to other programs.
constexpr Bytes left_alone(Bytes free, std::size_t sharers) noexcept {
  return std::max<Bytes>(free / 10, smallest_left * sharers);
}

void ask(Candidate& one, const backend::cu::CudaDriver& driver, const backend::cu::CudaDeviceInfo& device,
         const std::string& own_kernels, Bytes wanted, std::size_t sharers) {
  constexpr Bytes unit = Bytes{1} << 20;
  try {
    const Bytes free = backend::cu::free_memory(driver, device, [&](Bytes all) {
      const Bytes left = left_alone(all, sharers);
      one.memory = all <= left ? 0 : std::min(all - left, wanted) / unit * unit;
      return sharers == 1 ? one.memory : 0;  // other ranks may try the same
    });
    if (!own_kernels.empty()) backend::cu::try_kernels(driver, device, own_kernels);
    if (one.memory < least_memory) one.problem = fmt::format("has {} left", readable_size(free));
  } catch (const SystemError& error) {
    one.problem = error.what();
  }
}

}  // namespace

DevicesToUse devices_for(const ProblemWork& work, std::size_t ranks, backend::cu::CudaDevices (*find_cuda)(),
                         backend::cl::OpenclDevices (*find_opencl)()) {
  const double on_cores = work.flops / std::max(work.core_flops_per_second, 1.0);
  if (!work.only_on_cores.empty())
    return {"", fmt::format("none: {} runs only on cores", work.only_on_cores)};
  if (on_cores < seconds_to_begin)
    return {"", fmt::format("{}: the cores take about {}, and starting a GPU takes {}",
                            report::no_devices_looked_for, readable_seconds(on_cores),
                            readable_seconds(seconds_to_begin))};
  const backend::cu::CudaDevices cuda = find_cuda();
  std::vector<Candidate> all;
  double best = 0;
  for (std::size_t i = 0; i < cuda.devices.size(); ++i) {
    if (cuda.devices[i].major < work.least_capability) continue;
    const double rate =
        work.part_of_peak * backend::cu::peak_flops_per_second(cuda.devices[i], work.element_bytes);
    all.push_back({i, cuda.devices[i].name, rate, 0, ""});
    best = std::max(best, rate);
  }
  if (all.empty() && !cuda.devices.empty())
    return {"", fmt::format(
                    "none: {} has compute capability {}.{}, and Fairlead's own kernels require {}.0 or later",
                    cuda.devices.front().name, cuda.devices.front().major, cuda.devices.front().minor,
                    work.least_capability)};
  if (all.empty()) {
    const backend::cl::OpenclDevices opencl = find_opencl();
    for (std::size_t i = 0; i < opencl.devices.size(); ++i) {
      if (!opencl.devices[i].is_gpu) continue;
      if (!work.without_opencl.empty())
        return {"", fmt::format("none: OpenCL has {}, but {} has no kernels for OpenCL",
                                opencl.devices[i].name, work.without_opencl)};
      return {"", fmt::format("none: the speed of the OpenCL device {} is unknown; to use it: --devices "
                              "opencl:{},memory=...",
                              opencl.devices[i].name, i)};
    }
    // Most machines: the loader's message about an unneeded library is not useful.
    if (cuda.driver == nullptr && cuda.problem.find("No such file or directory") != std::string::npos)
      return {"", fmt::format("{}: no CUDA driver is installed, and OpenCL has no GPU",
                              report::no_devices_there)};
    return {"", fmt::format("none: no GPU found ({})",
                            cuda.problem.substr(0, std::min(cuda.problem.find('\n'), cuda.problem.size())))};
  }
  std::erase_if(all, [&](const Candidate& one) { return one.flops_per_second < slowest_of_best * best; });
  double rate = 0;
  for (const Candidate& one : all) rate += one.flops_per_second;
  // In and out; repeated transfers of data that do not fit may be hidden.
  const double on_devices = seconds_to_begin + 2 * static_cast<double>(work.bytes) / wire_bytes_per_second +
                            (rate > 0 ? work.flops / rate : 2 * on_cores);
  if (on_devices > worth_it * on_cores)
    return {"", fmt::format("none: {} would take about {} ({}), the cores {}", all.front().name,
                            readable_seconds(on_devices), "by its data sheet", readable_seconds(on_cores))};
  const std::size_t sharers = (ranks + all.size() - 1) / all.size();
  const Bytes wanted = work.bytes + workspaces_and_vectors * sharers;
  DevicesToUse use;
  std::string names, problems;
  for (Candidate& one : all) {
    ask(one, *cuda.driver, cuda.devices[one.number], work.own_kernels, wanted, sharers);
    if (!one.problem.empty()) {
      problems += fmt::format("{}cuda:{}: {}", problems.empty() ? "" : "; ", one.number, one.problem);
      continue;
    }
    use.list += fmt::format("{}cuda:{},memory={}MiB,streams=2", use.list.empty() ? "" : " + ", one.number,
                            one.memory >> 20);
    names += fmt::format("{}cuda:{} ({}, {})", names.empty() ? "" : ", ", one.number, one.name,
                         readable_size(one.memory));
  }
  if (use.list.empty()) return {"", "none: " + problems};
  use.line = fmt::format("{}: about {} expected, on the cores {}{}{}", names, readable_seconds(on_devices),
                         readable_seconds(on_cores), problems.empty() ? "" : "; not used: ", problems);
  return use;
}

}  // namespace fairlead::solver
