// See measure_devices.hpp.
#include "simulate/measured/measure_devices.hpp"

#include <fairlead/cuda.hpp>
#include <fairlead/error.hpp>
#include <fairlead/fairlead.hpp>
#include <fairlead/opencl.hpp>
#include <fairlead/qr.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "algorithms/linalg/fill.hpp"
#include "algorithms/linalg/generated_matrix.hpp"
#include "backend/cuda/driver.hpp"
#include "backend/opencl/driver.hpp"
#include "base/core_time.hpp"
#include "base/pages.hpp"
#include "config/value.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"
#include "machine/machine.hpp"
#include "trace/snapshot.hpp"

namespace fairlead::simulate {

namespace {

constexpr std::array<std::string_view, 11> measured_kernels{
    "gemm", "syrk", "trsm", "potrf", "getrf", "geqrt", "unmqr", "tsqrt", "tsmqr", "ttqrt", "ttmqr"};
constexpr int largest_of_cores = 1024;
constexpr int few_tiles = 5, many_tiles = 8, most_tiles = 12;  // a side
constexpr std::size_t enough = 3;                              // tasks, for a median

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string processor_of(const WorkerSpec& worker, NodeId host) {
  return worker.node == host ? std::string(name_of_cores) : worker.processor;
}

/// With a trace, to read tasks and copies.
Config with_records(const Config& config) {
  Config own = config;
  own.set("trace", "measured");
  return own;
}

using Durations = std::map<std::tuple<std::string, std::string, std::string, int>, std::vector<double>>;

/// The processors of all workers of that runtime.
void add_core_times(Runtime& runtime, CoreTime& to) {
  const std::size_t workers = front::core_of(runtime).topology().workers.size();
  for (std::size_t i = 0; i < workers; ++i)
    if (const auto one = front::core_of(runtime).world().core_time_of_worker(static_cast<WorkerId>(i)))
      to += *one;
}

/// Durations of all but each worker's first task of a codelet, which may have loaded or compiled code.
void take_durations(Runtime& runtime, std::string_view precision, int tile, Durations& into) {
  const trace::Snapshot snapshot = front::recorded_by(runtime);
  const Topology& topology = front::core_of(runtime).topology();
  std::set<std::pair<WorkerId, std::string>> seen;
  for (const trace::TaskRecord& task : snapshot.tasks) {
    const std::string& kernel = snapshot.codelets[task.codelet];
    if (task.failed() || std::ranges::find(measured_kernels, kernel) == measured_kernels.end()) continue;
    if (seen.emplace(task.worker, kernel).second) continue;
    const std::string processor = processor_of(topology.workers[index(task.worker)], topology.host());
    into[{processor, kernel, std::string(precision), tile}].push_back(
        std::chrono::duration<double>(task.duration()).count());
  }
}

/// Runs the factorizations of a matrix with that many tiles a side, several times.
template <class T>
void run_kernels(const Config& config, const linalg::Kernels& kernels, int tiles, int tile,
                 std::string_view precision, Durations& into, CoreTime& core_times) {
  Runtime runtime(with_records(config));
  Flow flow(runtime);
  const std::int64_t n = std::int64_t{tile} * tiles;
  const auto spd = std::make_shared<linalg::GeneratedSpd<T>>(n, 1);
  for (int round = 0; round < (tiles < many_tiles ? 3 : 1); ++round) {
    {
      const TiledMatrix<T> a = runtime.tiled<T>("A", n, n, tile, Tiles::lower);
      linalg::fill<T>(flow, spd, a, Tiles::lower);
      flow.wait();
      linalg::cholesky(flow, kernels, a);
      linalg::wait_for_results(flow);
    }
    const TiledMatrix<T> a = runtime.tiled<T>("A", n, n, tile);
    linalg::fill<T>(flow, spd, a, Tiles::all);
    flow.wait();
    linalg::lu(flow, kernels, a);
    linalg::wait_for_results(flow);
  }
  // Once, since it takes as long as the others together: of few tiles, by both trees.
  const auto& workers = front::core_of(runtime).topology().workers;
  const bool qr = kernels.has_cuda_kernels() &&
                  std::ranges::find(workers, WorkerKind::cuda, &WorkerSpec::kind) != workers.end();
  const std::int64_t m = std::int64_t{tile} * std::min(tiles, few_tiles);
  for (const linalg::QrTree tree : {linalg::QrTree::flat, linalg::QrTree::binary}) {
    if (!qr) break;
    const TiledMatrix<T> a = runtime.tiled<T>("A", m, m, tile);
    const linalg::QrReflectors<T> reflectors(runtime, a, tree);
    linalg::fill<T>(flow, spd, a, Tiles::all);
    flow.wait();
    linalg::factor_qr(flow, kernels, a, reflectors);
    linalg::wait_for_results(flow);
  }
  take_durations(runtime, precision, tile, into);
  add_core_times(runtime, core_times);
}

/// Whether tiles of that side fit: those of a task into each device, the matrix into RAM.
bool tiles_fit(const Topology& topology, int tile, std::size_t element_bytes, int tiles_a_side) {
  const auto side = static_cast<Bytes>(tile);
  const Bytes bytes = whole_pages_for(side * side * element_bytes);
  for (const NodeId node : topology.devices())
    if (topology.nodes[index(node)].capacity < 4 * bytes) return false;
  const auto count = static_cast<Bytes>(tiles_a_side);
  return topology.nodes[index(topology.host())].capacity >= (count * count + 4) * bytes;
}

/// A program whose tasks only move data. On devices their bodies are empty.
class Carried {
 public:
  explicit Carried(const Config& config) : runtime_(with_records(config)), flow_(runtime_) {}
  Handle<Vector<double>> made(Bytes bytes) {
    auto v = runtime_.vector<double>("v", static_cast<std::int64_t>(bytes / sizeof(double)));
    flow_.submit(begin_(v));
    return v;
  }
  /// Moves the datum to that memory by a task there that changes it.
  void put(const Handle<Vector<double>>& v, NodeId node) {
    if (node == topology().host())
      flow_.submit(core_(v));
    else
      flow_.submit(device_(v).on(node));
  }
  void wait() { flow_.wait(); }
  const Topology& topology() { return front::core_of(runtime_).topology(); }
  trace::Snapshot recorded_here() { return front::recorded_by(runtime_); }
  Bytes capacity(NodeId first, NodeId second) {
    return std::min(topology().nodes[index(first)].capacity, topology().nodes[index(second)].capacity);
  }

 private:
  using Data = InOut<Vector<double>>;
  Runtime runtime_;
  Flow flow_;
  const decltype(codelet("").cpu([](Out<Vector<double>>) {})) begin_ =
      codelet("begin").cpu([](Out<Vector<double>> v) { std::fill(v.data(), v.data() + v.size(), 0.0); });
  const decltype(codelet("").cpu([](Data) {})) core_ = codelet("here").cpu([](Data v) { v.data()[0] += 1; });
  const decltype(codelet("").cpu([](Data) {})) device_ =
      codelet("there").opencl([](OpenclQueue, Data) {}).cuda([](CudaStream, Data) {}).emulated([](Data) {});
};

constexpr int in_a_row = 4;

/// Copies data of that size from one memory to another and back, several times.
void copy_to_and_fro(Carried& carried, NodeId here, NodeId there, Bytes bytes, int rounds) {
  std::vector<decltype(carried.made(bytes))> all;
  for (int i = 0; i < in_a_row; ++i) all.push_back(carried.made(bytes));
  const auto &first = all[0], &second = all[1];
  for (const auto& datum : all) carried.put(datum, here);
  carried.wait();
  carried.put(second, there);
  carried.wait();
  for (int round = 0; round < rounds; ++round) {  // one at a time
    carried.put(first, there);
    carried.wait();
    carried.put(first, here);
    carried.wait();
  }
  for (int round = 0; round < rounds; ++round) {  // both ways at once
    carried.put(first, there);
    carried.put(second, here);
    carried.wait();
    carried.put(first, here);
    carried.put(second, there);
    carried.wait();
  }
  for (int round = 0; round < rounds; ++round)  // one after the other
    for (const NodeId to : {there, here}) {
      for (const auto& datum : all) carried.put(datum, to);
      carried.wait();
    }
}

/// Durations of the recorded copies of that size, in seconds: alone; of consecutive copies, from one's end to
/// the next one's; and of two that overlap in both directions, from the first's start to the last's end.
struct Copied {
  std::vector<double> to, from, next_to, next_from, pairs;
};
Copied sorted(const trace::Snapshot& snapshot, NodeId here, NodeId there, Bytes bytes) {
  const auto seconds = [](Duration time) { return std::chrono::duration<double>(time).count(); };
  const auto goes = [&](const trace::CopyRecord& copy) { return copy.from == here && copy.to == there; };
  std::vector<trace::CopyRecord> copies;
  for (const trace::CopyRecord& copy : snapshot.copies)
    if (!copy.failed && copy.bytes == bytes && (goes(copy) || (copy.from == there && copy.to == here)))
      copies.push_back(copy);
  std::ranges::sort(copies, {}, &trace::CopyRecord::end);
  Copied all;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const trace::CopyRecord &copy = copies[i], *const before = i > 0 ? &copies[i - 1] : nullptr;
    const bool follows = before != nullptr && copy.start < before->end();
    const bool is_followed = i + 1 < copies.size() && copies[i + 1].start < copy.end();
    if (!follows && !is_followed)
      (goes(copy) ? all.to : all.from).push_back(seconds(copy.duration));
    else if (follows && goes(copy) == goes(*before))
      (goes(copy) ? all.next_to : all.next_from).push_back(seconds(copy.end() - before->end()));
    else if (follows)
      all.pairs.push_back(seconds(copy.end() - std::min(copy.start, before->start)));
  }
  return all;
}

/// The link between two memories of the machine that the settings describe.
WireFigures measure_wire(Carried& carried, NodeId here, NodeId there) {
  constexpr int rounds = 7;
  constexpr Bytes small = 4096, most = Bytes{64} << 20;
  WireFigures figures;
  const Bytes large = std::min(most, whole_pages_in(carried.capacity(here, there) / 8));
  copy_to_and_fro(carried, here, there, small, rounds);
  copy_to_and_fro(carried, here, there, large, rounds);
  const trace::Snapshot snapshot = carried.recorded_here();
  const Copied little = sorted(snapshot, here, there, small), much = sorted(snapshot, here, there, large);
  if (little.to.empty() || little.from.empty() || much.to.empty() || much.from.empty())
    throw SystemError("the recorded copies of a device could not be separated");
  // In a row, the latency of a copy overlaps the previous one, unless the driver makes one copy at a time.
  const auto rate = [&](const std::vector<double>& of_much, const std::vector<double>& of_little,
                        const std::vector<double>& next) {
    const double alone =
        static_cast<double>(large - small) / std::max(median(of_much) - median(of_little), 1e-9);
    return next.empty() ? alone : std::max(alone, static_cast<double>(large) / std::max(median(next), 1e-9));
  };
  figures.to_device = rate(much.to, little.to, much.next_to);
  figures.from_device = rate(much.from, little.from, much.next_from);
  figures.latency_seconds = std::max(median(little.to), median(little.from));
  figures.largest = large;
  if (!much.pairs.empty()) figures.duplex = median(much.pairs) < 0.8 * (median(much.to) + median(much.from));
  return figures;
}

/// The devices of the list, each as a list.
std::vector<std::string> each_of(const std::string& list) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find('+', at), list.size());
    all.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

/// The list with one task at a time on each device.
std::string one_at_a_time(const std::string& list) {
  static const std::regex count("(streams|queues) *= *[0-9]+");
  return std::regex_replace(list, count, "$1=1");
}

/// Times of products on the device alone, as many at a time as it has streams in the list.
struct Products {
  double task_seconds = 0;  ///< median
  double each_seconds = 0;  ///< time from the first to the last, divided by their number
};
template <class T>
Products products_on(Config config, const linalg::Kernels& kernels, const std::string& device,
                     unsigned streams, int tile) {
  config.set("workers", std::uint64_t{1});
  config.set("fixed-order", true);
  config.set("devices", device);
  Runtime runtime(with_records(config));
  Flow flow(runtime);
  constexpr std::int64_t side = 3;
  const std::int64_t n = side * tile;
  const auto made = [&](std::uint64_t seed) {
    auto matrix = runtime.tiled<T>("A", n, n, tile);
    linalg::fill<T>(flow, std::make_shared<linalg::GeneratedUniform<T>>(n, n, seed), matrix, Tiles::all);
    return matrix;
  };
  const TiledMatrix<T> a = made(1), b = made(2);
  std::vector<TiledMatrix<T>> all;  // as many concurrent products as streams, and more
  for (unsigned i = 0; i < streams; ++i) all.push_back(made(3 + i));
  const auto rounds = [&](int count) {
    for (int round = 0; round < count; ++round)
      for (const TiledMatrix<T>& c : all) linalg::multiply<T>(flow, kernels, 1, a, b, 1, c);
    linalg::wait_for_results(flow);
  };
  rounds(1);  // copies data and loads libraries
  Time begin{};
  for (const trace::TaskRecord& task : front::recorded_by(runtime).tasks) begin = std::max(begin, task.end());
  rounds(4);
  const trace::Snapshot snapshot = front::recorded_by(runtime);
  std::vector<double> durations;
  Time first = Time::max(), last{};
  for (const trace::TaskRecord& task : snapshot.tasks) {
    if (task.start() < begin) continue;
    first = std::min(first, task.start());
    last = std::max(last, task.end());
    durations.push_back(std::chrono::duration<double>(task.duration()).count());
  }
  if (durations.empty()) return {};
  const double whole = std::chrono::duration<double>(last - first).count();
  return {median(durations), whole / static_cast<double>(durations.size())};
}

/// The speedup of products in all streams of the device over one at a time.
template <class T>
double together(const Config& config, const linalg::Kernels& kernels, const std::string& device,
                unsigned streams, int tile) {
  const Products alone = products_on<T>(config, kernels, one_at_a_time(device), streams, tile),
                 concurrent = products_on<T>(config, kernels, device, streams, tile);
  if (concurrent.each_seconds <= 0) return streams;
  return std::clamp(alone.task_seconds / concurrent.each_seconds, 1.0, static_cast<double>(streams));
}

}  // namespace

MachineFigures measure_devices(const Config& config, const linalg::Kernels& kernels,
                               const MeasureSettings& settings) {
  MachineFigures figures;
  Durations durations;
  CoreTime core_times;
  Topology topology;
  {
    Runtime runtime(config);
    topology = front::core_of(runtime).topology();
  }
  figures.host_memory = machine::discover().memory.total_bytes;
  figures.cores = topology.workers_on(topology.host());
  for (const NodeId node : topology.devices()) {
    const auto worker = std::ranges::find(topology.workers, node, &WorkerSpec::node);
    figures.devices.push_back({.name = topology.nodes[index(node)].name,
                               .processor = worker->processor,
                               .kind = worker->kind,
                               .memory = topology.nodes[index(node)].capacity,
                               .streams = static_cast<unsigned>(topology.workers_on(node)),
                               .on_cores = worker->host_cores_per_task,
                               .wire = {}});
  }
  const bool cores_are_shared = std::ranges::any_of(
      figures.devices, [](unsigned cores) { return cores > 0; }, &MachineFigures::Device::on_cores);
  if (cores_are_shared) {
    figures.cores = std::max<std::size_t>(figures.cores, machine::discover().workers);
    // The driver may report more cores than this process may use.
    for (MachineFigures::Device& device : figures.devices)
      device.on_cores = static_cast<unsigned>(std::min<std::size_t>(device.on_cores, figures.cores));
  }
  const std::vector<std::string> lists = each_of(config.text_or("devices", ""));
  for (std::size_t i = 0; i < figures.devices.size(); ++i) {
    settings.report(fmt::format("{}: its link", figures.devices[i].name));
    Config alone = config;
    // Several of one entry are alike.
    if (lists.size() == figures.devices.size()) alone.set("devices", lists[i]);
    Carried carried(alone);
    figures.devices[i].wire =
        measure_wire(carried, carried.topology().host(), carried.topology().devices().front());
    // Cores make its copies; they are idle now, but compute later.
    if (figures.devices[i].on_cores > 0) figures.devices[i].wire.duplex = false;
  }
  const std::vector<NodeId> nodes = topology.devices();
  for (std::size_t second = 0; second < nodes.size(); ++second)
    for (std::size_t first = 0; first < second; ++first) {
      if (!topology.links[index(topology.link_between(nodes[first], nodes[second]))].physical_links.empty())
        continue;
      settings.report(fmt::format("the link between {} and {}", figures.devices[first].name,
                                  figures.devices[second].name));
      Carried carried(config);
      figures.peers.push_back({first, second, measure_wire(carried, nodes[first], nodes[second])});
    }
  for (const std::string& precision : settings.precisions)
    for (const int tile : settings.tiles) {
      const bool single = precision == "single";
      const auto fit = [&](int tiles) { return tiles_fit(topology, tile, single ? 4 : 8, tiles); };
      if (!fit(few_tiles)) continue;
      // Enough tasks that all processors are busy most of the time, as in a run, but at most some seconds of
      // work for the cores.
      int tiles = std::clamp(4096 / tile, few_tiles, most_tiles);
      while (!fit(tiles)) --tiles;
      settings.report(fmt::format("kernels: tiles of {} in {} precision", tile, precision));
      const auto run = [&](const Config& with, int count, Durations& into) {
        if (single)
          run_kernels<float>(with, kernels, count, tile, precision, into, core_times);
        else
          run_kernels<double>(with, kernels, count, tile, precision, into, core_times);
      };
      const auto by = [&](const Config& with, int count) {
        Durations found;
        run(with, count, found);
        for (auto& [of, values] : found) {
          auto& known = durations[of];
          if (known.size() < enough) known = std::move(values);
        }
      };
      Config each = config, on_cores = config;
      on_cores.set("devices", std::string("none"));
      if (figures.devices.empty()) {
        if (tile <= largest_of_cores) run(on_cores, tiles, durations);
        continue;
      }
      each.set("devices", one_at_a_time(config.text_or("devices", "")));
      Config on_devices = each;
      on_devices.set("fixed-order", true);  // tasks with a body for devices run there only
      if (cores_are_shared) {
        // Each alone: the simulator models what they take from each other.
        on_cores.set("workers", std::uint64_t{1});
        on_devices.set("workers", std::uint64_t{1});
        for (const std::string& one : lists) {
          on_devices.set("devices", one);
          by(on_devices, tiles);
        }
        if (tile <= largest_of_cores) by(on_cores, tiles);
        continue;
      }
      // All processors together; kernels that ran too seldom on one of them run there alone. A core would
      // take seconds for a large tile.
      if (tile <= largest_of_cores) run(each, tiles, durations);
      by(on_devices, few_tiles);
      if (tile <= largest_of_cores) by(on_cores, few_tiles);
    }
  for (std::size_t i = 0; i < figures.devices.size(); ++i) {
    MachineFigures::Device& device = figures.devices[i];
    if (device.streams == 1 || device.on_cores > 0) continue;
    device.together = device.streams;  // unless it can be measured
    // Only small tiles leave room for other streams: measure tiles that large problems use.
    constexpr int usual_tile = 2048;
    const bool single = settings.precisions.front() == "single";
    for (auto largest = settings.tiles.rbegin(); largest != settings.tiles.rend(); ++largest) {
      const int tile = *largest;
      if (tile > usual_tile && tile != settings.tiles.front()) continue;
      const int of_three_a_side = static_cast<int>(device.streams) + 2;
      if (!tiles_fit(topology, tile, single ? 4 : 8, 3 * of_three_a_side)) continue;
      settings.report(fmt::format("{}: its streams together", device.name));
      const std::string& list = lists.size() == figures.devices.size() ? lists[i] : lists.front();
      device.together = single ? together<float>(config, kernels, list, device.streams, tile)
                               : together<double>(config, kernels, list, device.streams, tile);
      break;
    }
  }
  if (durations.empty())
    throw ConfigError(
        "none of the tiles fits: raise --memory and memory= in --devices, or measure smaller tiles "
        "(--tiles)");
  if (const Duration wanted = core_times.on_core + core_times.waiting; wanted > Duration{})
    figures.without_core = seconds(core_times.waiting) / seconds(wanted);
  for (auto& [key, values] : durations)
    if (!values.empty()) figures.seconds[key] = median(std::move(values));
  return figures;
}

std::string list_gpus() {
  constexpr Bytes most_of_one = Bytes{4} << 30;
  std::string list;
  const auto add = [&](std::string_view kind, std::size_t number, Bytes memory) {
    list += fmt::format("{}{}:{},memory={}MiB", list.empty() ? "" : " + ", kind, number,
                        std::min(memory / 2, most_of_one) >> 20);
  };
  const backend::cu::CudaDevices cuda = backend::cu::find_devices();
  for (std::size_t i = 0; i < cuda.devices.size(); ++i) add("cuda", i, cuda.devices[i].memory_bytes);
  if (!list.empty()) return list;  // OpenCL would name them again
  const backend::cl::OpenclDevices opencl = backend::cl::find_devices();
  for (std::size_t i = 0; i < opencl.devices.size(); ++i)
    if (opencl.devices[i].is_gpu) add("opencl", i, opencl.devices[i].largest_buffer_bytes);
  return list;
}

}  // namespace fairlead::simulate
