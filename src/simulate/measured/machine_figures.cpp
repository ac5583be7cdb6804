// Writes the figures.
#include "simulate/measured/machine_figures.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <utility>

#include "algorithms/linalg/blas/flops.hpp"

namespace fairlead::simulate {

namespace {

double flops_of(std::string_view kernel, double side) {
  if (kernel == "gemm") return linalg::gemm_flops(side, side, side);
  if (kernel == "syrk") return linalg::syrk_flops(side, side);
  if (kernel == "trsm") return linalg::trsm_flops(side, side);
  if (kernel == "potrf") return linalg::potrf_flops(side);
  if (kernel == "geqrt") return linalg::geqrt_flops(side, side);
  if (kernel == "unmqr") return linalg::unmqr_flops(side, side, side);
  if (kernel == "tsqrt") return linalg::tsqrt_flops(side, side);
  if (kernel == "tsmqr") return linalg::tsmqr_flops(side, side, side);
  if (kernel == "ttqrt") return linalg::ttqrt_flops(side, side);
  if (kernel == "ttmqr") return linalg::ttmqr_flops(side, side, side);
  return linalg::getrf_flops(side);
}

/// The processor of a worker: "core" or the name of its device.
std::string in_quotes(std::string_view text) {
  std::string result;
  for (const char letter : text)
    if (letter == '"' || letter == '\\')
      result += '\'';
    else
      result += letter;
  return '"' + result + '"';
}

/// A name for a processor in the file.
std::string short_name(std::string_view processor) {
  std::string name;
  for (const char letter : processor) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9');
    if (plain)
      name += letter;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "device" : name.substr(0, 40);
}

std::string_view kind_text(WorkerKind kind) {
  return kind == WorkerKind::cpu ? "cpu" : kind == WorkerKind::opencl ? "opencl" : "cuda";
}

}  // namespace

double gflops_of(std::string_view kernel, int side, double seconds) {
  return flops_of(kernel, side) / seconds * 1e-9;
}

std::string machine_file(const MachineFigures& figures, std::string_view name, std::string_view source) {
  std::string text = fmt::format(
      "name = {}\nsummary = {}\nsource = {}\n", in_quotes(name),
      in_quotes(fmt::format("{} core{}{}, measured by fairlead calibrate", figures.cores,
                            figures.cores == 1 ? "" : "s",
                            figures.devices.empty() ? ""
                                                    : fmt::format(" and {} device{}", figures.devices.size(),
                                                                  figures.devices.size() == 1 ? "" : "s"))),
      in_quotes(source));
  std::map<std::string, WorkerKind> processors;
  processors[std::string(name_of_cores)] = WorkerKind::cpu;
  for (const auto& device : figures.devices) processors[device.processor] = device.kind;
  for (const auto& [processor, kind] : processors) {
    // By kernel and precision, growing sides.
    std::map<std::pair<std::string, std::string>, std::vector<std::pair<int, double>>> rates;
    for (const auto& [key, seconds] : figures.seconds)
      if (std::get<0>(key) == processor)
        rates[{std::get<1>(key), std::get<2>(key)}].emplace_back(
            std::get<3>(key), gflops_of(std::get<1>(key), std::get<3>(key), seconds));
    if (rates.empty())
      throw SystemError(fmt::format("no measured task ran on {}: measure larger tiles (--tiles)", processor));
    text +=
        fmt::format("\n[processor.{}]\nkind = \"{}\"\nrate = [\n", short_name(processor), kind_text(kind));
    std::map<std::string, double> slowest;
    for (const auto& [of, sides] : rates) {
      std::string list;
      for (const auto& [side, gflops] : sides)
        list += fmt::format("{}[{}, {:.6g}]", list.empty() ? "" : ", ", side, gflops);
      text += fmt::format("  {{ kernel = \"{}\", precision = \"{}\", by_side = [{}] }},\n", of.first,
                          of.second, list);
      double& least = slowest.try_emplace(of.second, sides.back().second).first->second;
      least = std::min(least, sides.back().second);
    }
    if (kind == WorkerKind::cpu)  // assumed for other kernels
      for (const auto& [precision, gflops] : slowest)
        text +=
            fmt::format("  {{ kernel = \"*\", precision = \"{}\", gflops = {:.6g} }},\n", precision, gflops);
    text += "]\n";
  }
  if (figures.disk)
    text += fmt::format(
        "\n[disk]\nbandwidth = \"{}B/s\"\nbandwidth_back = \"{}B/s\"\nduplex = false\nlatency_microseconds = "
        "{:.3f}\n",
        figures.disk->read, figures.disk->written, figures.disk->latency_seconds * 1e6);
  text += fmt::format("\n[host]\ncores = {}\ncore = \"{}\"\nmemory = \"{}B\"\n", figures.cores, name_of_cores,
                      figures.host_memory);
  for (const auto& device : figures.devices)
    text += fmt::format(
        "\n[[device]]\nname = {}\nprocessor = \"{}\"\nmemory = \"{}B\"\nstreams = {}\n{} = {}\nbandwidth = "
        "\"{:.0f}B/s\"\nbandwidth_back = \"{:.0f}B/s\"\nduplex = {}\nlatency_microseconds = {:.3f}\n",
        in_quotes(short_name(device.name)), short_name(device.processor), device.memory, device.streams,
        device.on_cores > 0 ? "on_cores" : "together",
        device.on_cores > 0 ? device.on_cores : device.together, device.wire.to_device,
        device.wire.from_device, device.wire.duplex, device.wire.latency_seconds * 1e6);
  for (const auto& [first, second, wire] : figures.peers)
    text += fmt::format(
        "\n[[peers]]\nbetween = [[{}, {}]]\nbandwidth = \"{:.0f}B/s\"\nbandwidth_back = "
        "\"{:.0f}B/s\"\nduplex = "
        "{}\nlatency_microseconds = {:.3f}\n",
        first, second, wire.to_device, wire.from_device, wire.duplex, wire.latency_seconds * 1e6);
  return text;
}

Json figures_json(const MachineFigures& figures) {
  Json kernels = Json::array(), devices = Json::array(), peers = Json::array();
  for (const auto& [first, second, wire] : figures.peers)
    peers.add(Json::object({{"first", figures.devices[first].name},
                            {"second", figures.devices[second].name},
                            {"bytes_per_second", wire.to_device},
                            {"back_bytes_per_second", wire.from_device},
                            {"latency_seconds", wire.latency_seconds},
                            {"duplex", wire.duplex},
                            {"largest_copy_bytes", wire.largest}}));
  for (const auto& [key, seconds] : figures.seconds)
    kernels.add(Json::object({{"processor", std::get<0>(key)},
                              {"kernel", std::get<1>(key)},
                              {"precision", std::get<2>(key)},
                              {"tile", std::get<3>(key)},
                              {"seconds", seconds},
                              {"gflops", gflops_of(std::get<1>(key), std::get<3>(key), seconds)}}));
  for (const auto& device : figures.devices)
    devices.add(Json::object({{"name", device.name},
                              {"processor", device.processor},
                              {"memory_bytes", device.memory},
                              {"streams", device.streams},
                              {"together", device.together},
                              {"to_device_bytes_per_second", device.wire.to_device},
                              {"from_device_bytes_per_second", device.wire.from_device},
                              {"latency_seconds", device.wire.latency_seconds},
                              {"duplex", device.wire.duplex},
                              {"largest_copy_bytes", device.wire.largest}}));
  return Json::object({{"devices", devices}, {"peers", peers}, {"kernels", kernels}});
}

std::string figures_text(const MachineFigures& figures) {
  std::string text;
  for (const auto& device : figures.devices)
    text += fmt::format(
        "{:<14}{:.2f} GB/s to it, {:.2f} from it{}, {:.1f} us; {}{}\n", device.name,
        device.wire.to_device * 1e-9, device.wire.from_device * 1e-9,
        device.wire.duplex ? ", both at once" : ", one way at a time", device.wire.latency_seconds * 1e6,
        device.processor,
        device.streams == 1 || device.on_cores > 0
            ? ""
            : fmt::format("; {} streams are {:.2f} times as fast as one", device.streams, device.together));
  for (const auto& [first, second, wire] : figures.peers)
    text += fmt::format("{} to {}: {:.2f} GB/s, {:.2f} back{}, {:.1f} us\n", figures.devices[first].name,
                        figures.devices[second].name, wire.to_device * 1e-9, wire.from_device * 1e-9,
                        wire.duplex ? ", both at once" : ", one way at a time", wire.latency_seconds * 1e6);
  text += fmt::format("\n{:<40}{:<8}{:<10}{:>6}{:>14}{:>12}\n", "processor", "kernel", "precision", "tile",
                      "task", "GFlop/s");
  for (const auto& [key, seconds] : figures.seconds)
    text += fmt::format("{:<40}{:<8}{:<10}{:>6}{:>11.1f} us{:>12.2f}\n", std::get<0>(key).substr(0, 39),
                        std::get<1>(key), std::get<2>(key), std::get<3>(key), seconds * 1e6,
                        gflops_of(std::get<1>(key), std::get<3>(key), seconds));
  return text;
}

}  // namespace fairlead::simulate
