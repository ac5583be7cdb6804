// See machine_report.hpp.
#include "solver/report/machine_report.hpp"

#include <fairlead/ranks.hpp>
#include <fairlead/version.hpp>

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "backend/device_list.hpp"
#include "config/environment.hpp"
#include "config/launcher.hpp"
#include "config/value.hpp"
#include "net/network.hpp"
#include "report/kept_links.hpp"

namespace fairlead::solver {

namespace {

using config::readable_size;
using machine::Disk;
using machine::Machine;

/// The origin of a setting that is not at its default: "--memory", "FAIRLEAD_MEMORY", "config.toml:3".
std::string where_set(const Config& config, std::string_view key) {
  for (const SettingReport& row : config.report())
    if (row.setting.key == key) return row.where;
  return {};
}

/// Lines in two columns.
class Rows {
 public:
  void add(std::string_view what, std::string_view text) { text_ += fmt::format("{:<12}{}\n", what, text); }
  void append(const std::string& lines) { text_ += lines; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_memory(Rows& rows, const machine::MachineMemory& memory, const Config& config) {
  rows.add("memory", fmt::format("{}, {} available", readable_size(memory.total_bytes),
                                 readable_size(memory.available_bytes)));
  if (memory.limit_bytes)
    rows.add("", fmt::format("limited to {} by {}, {} in use", readable_size(*memory.limit_bytes),
                             memory.limit_source, readable_size(memory.limit_used_bytes)));
  else
    rows.add("", "no control group or address-space limit applies");
  const std::string usable =
      fmt::format("{}: {} free, less a margin of {}", readable_size(memory.usable_bytes()),
                  readable_size(memory.free_bytes), readable_size(memory.margin_bytes));
  if (config.has("memory"))
    rows.add("", fmt::format("a run takes up to {} ({}); by default, {}", config.written("memory"),
                             where_set(config, "memory"), usable));
  else
    rows.add("", fmt::format("a run takes up to {}", usable));
}

void add_disk(Rows& rows, const Disk& disk) {
  rows.add("disk",
           fmt::format("{} ({} mounted at {}): {} free of {}", disk.directory, disk.file_system,
                       disk.mounted_at, readable_size(disk.free_bytes), readable_size(disk.total_bytes)));
  if (disk.in_memory) rows.add("", "this is memory, not a disk: data written there still take memory");
  if (!disk.writable)
    rows.add("", fmt::format("cannot be written to: {}", disk.write_error));
  else if (disk.direct_io)
    rows.add("", fmt::format("direct I/O in multiples of {} bytes", disk.offset_alignment_bytes));
  else
    rows.add("", "no direct I/O: it goes through the page cache, which is slower and takes memory");
}

void add_machine(Rows& rows, const Machine& machine, const Disk& disk, const Config& config) {
  rows.append(fmt::format("Fairlead {}\n\n", version()));
  if (config.has("workers"))
    rows.add("workers", fmt::format("{} ({}); by default, {}: {}", config.count("workers"),
                                    where_set(config, "workers"), machine.workers, machine.workers_reason));
  else
    rows.add("workers", fmt::format("{}: {}", machine.workers, machine.workers_reason));
  std::string_view heading = "NUMA";
  for (const machine::NumaNode& node : machine.processors.numa_nodes) {
    rows.add(heading, fmt::format("node {}: {} usable core{}, {}", node.number, node.cores,
                                  node.cores == 1 ? "" : "s", readable_size(node.memory_bytes)));
    heading = "";
  }
  add_memory(rows, machine.memory, config);
  rows.add("pages", fmt::format("{}; huge pages{}: {}", readable_size(machine.pages.page_bytes),
                                machine.pages.huge_page_bytes == 0
                                    ? ""
                                    : fmt::format(" of {}", readable_size(machine.pages.huge_page_bytes)),
                                name_of(machine.pages.huge_pages)));
  add_disk(rows, disk);
}

std::string describe(const backend::cu::CudaDeviceInfo& device) {
  return fmt::format("{} (compute capability {}.{}), {} of memory", device.name, device.major, device.minor,
                     readable_size(device.memory_bytes));
}
std::string describe(const backend::cl::OpenclDeviceInfo& device) {
  return fmt::format("{} ({}), {} of memory, at most {} for one device of a run{}", device.name,
                     device.platform_name, readable_size(device.memory_bytes),
                     readable_size(device.largest_buffer_bytes),
                     device.doubles ? "" : ", without double precision");
}
Json as_json(const backend::cu::CudaDeviceInfo& device) {
  return Json::object({{"name", device.name},
                       {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
                       {"memory_bytes", device.memory_bytes}});
}
Json as_json(const backend::cl::OpenclDeviceInfo& device) {
  return Json::object({{"name", device.name},
                       {"platform", device.platform_name},
                       {"version", device.version},
                       {"memory_bytes", device.memory_bytes},
                       {"largest_bytes", device.largest_buffer_bytes},
                       {"double_precision", device.doubles}});
}

/// Adds devices with the indices that --devices uses.
template <class Found>
void add_devices(Rows& rows, std::string_view kind, const Found& found) {
  if (found.devices.empty()) return rows.add(kind, "no device: " + found.problem);
  for (std::size_t i = 0; i < found.devices.size(); ++i)
    rows.add(i == 0 ? kind : "", fmt::format("{}: {}", i, describe(found.devices[i])));
}

/// Pairs of CUDA devices between which the driver permits copies. A run tries them and reports the result.
struct Pairs {
  std::vector<std::pair<std::size_t, std::size_t>> peers, others;
};
Pairs pairs_of(const backend::cu::CudaDevices& found) {
  Pairs pairs;
  for (std::size_t second = 0; second < found.devices.size(); ++second)
    for (std::size_t first = 0; first < second; ++first)
      (may_be_peers(found, first, second) ? pairs.peers : pairs.others).emplace_back(first, second);
  return pairs;
}
void add_pairs(Rows& rows, const backend::cu::CudaDevices& found) {
  const auto print = [&](const auto& pairs, std::string_view how) {
    std::string all;
    for (const auto& [first, second] : pairs)
      all += fmt::format("{}{} and {}", all.empty() ? "" : ", ", first, second);
    if (!all.empty()) rows.add("", fmt::format("{} copy to each other {}", all, how));
  };
  const Pairs pairs = pairs_of(found);
  print(pairs.peers, "directly");
  print(pairs.others, "through RAM: the driver provides no peer access");
}

/// Adds the devices of each rank of this machine. The default is all CUDA devices, as in solve.
void add_devices_by_rank(Rows& rows, const Config& config, const backend::cu::CudaDevices& cuda,
                         std::uint32_t ranks) {
  std::string list = config.text_or("devices", "auto");
  if (list == "auto") {
    list.clear();
    for (std::size_t i = 0; i < cuda.devices.size(); ++i)
      list += fmt::format("{}cuda:{}", i == 0 ? "" : " + ", i);
  }
  if (const std::string by_rank = backend::devices_by_rank(list, backend::default_backends(), ranks);
      !by_rank.empty())
    rows.add("", by_rank);
}

template <class Found>
Json devices_json(const Found& found) {
  Json devices = Json::array();
  for (const auto& device : found.devices) devices.add(as_json(device));
  return Json::object(
      {{"devices", devices}, {"problem", found.problem.empty() ? Json() : Json(found.problem)}});
}

Json cuda_json(const backend::cu::CudaDevices& found) {
  Json json = devices_json(found), peers = Json::array();
  for (const auto& [first, second] : pairs_of(found).peers) {
    Json pair = Json::array();
    pair.add(first);
    pair.add(second);
    peers.add(std::move(pair));
  }
  json.add("peers", std::move(peers));
  return json;
}

std::string describe(const linalg::BlasTiming& timing, bool own_products = false) {
  return fmt::format("{}{}{}{}, {:.0f} GF/s on one core", timing.path, timing.core_type.empty() ? "" : " as ",
                     timing.core_type, own_products ? ", products by Fairlead" : "",
                     own_products ? timing.own_gflops() : timing.gflops());
}

void add_kernels(Rows& rows, const linalg::KernelChoice& choice) {
  rows.add("kernels", describe(choice.best, choice.own_products));
  if (choice.gain() > 1)
    rows.add("", fmt::format("{:.2f} times the speed of the system's default: {}", choice.gain(),
                             describe(choice.default_timing)));
  else
    rows.add("", "also the system's default: nothing else is faster");
  rows.add("", choice.from_cache ? "timed by an earlier run" : "timed now");
  if (!choice.cache_problem.empty())
    rows.add("", fmt::format("the timings could not be kept: {}", choice.cache_problem));
}

void add_measurements(Rows& rows, const front::KeptMeasurements& known) {
  if (!known.file) return rows.add("measured", "nothing is kept: there is no cache-directory");
  if (!known.facts.problem.empty()) return rows.add("measured", known.facts.problem);
  std::size_t codelets = 0;
  const std::string* last = nullptr;
  for (const model::DurationRecord& kept : known.facts.durations) {  // in the order of codelets
    codelets += last == nullptr || *last != kept.codelet;
    last = &kept.codelet;
  }
  rows.add("measured", known.facts.durations.empty()
                           ? "no durations of tasks are kept"
                           : fmt::format("durations of {} codelet{}, {} in all, kept in {}", codelets,
                                         codelets == 1 ? "" : "s", known.facts.durations.size(),
                                         known.file->path().string()));
  if (known.facts.links.empty())
    rows.add("", "no links: fairlead calibrate measures them");
  else
    rows.append("\n");
  rows.append(report::links_text(known.facts.links));
}

void add_mpi(Rows& rows, const MpiReport& facts) {
  std::string_view heading = "MPI";
  for (const net::MpiSupport& it : facts.mpis) {
    rows.add(heading,
             it.plugin.empty()
                 ? fmt::format("none for {}: {} were missing when Fairlead was built", it.name, it.packages)
                 : fmt::format("{}: {}", it.name, it.plugin.lexically_normal().string()));
    heading = "";
  }
  if (facts.description.empty())
    return rows.add("", "this process is a single rank: mpirun -n 2 fairlead info reports more");
  rows.add("", fmt::format("{} ranks by {}", facts.ranks, facts.description));
  rows.add("", fmt::format("driven by {}", facts.driver));
  rows.add("", "values arrive in " +
                   (facts.why_not_into_devices.empty()
                        ? std::string("RAM or directly in the memory of CUDA devices, as the MPI reports")
                        : "RAM: " + facts.why_not_into_devices));
  if (facts.ranks > 1)
    rows.add(
        "", facts.eager_bytes == 0
                ? "no message is sent before a thread waits for it"
                : fmt::format("messages of up to {} bytes are sent before a thread waits for them (measured)",
                              facts.eager_bytes));
}

Json mpi_json(const MpiReport& facts) {
  Json plugins = Json::array();
  for (const net::MpiSupport& it : facts.mpis)
    plugins.add(Json::object({{"name", it.name}, {"plugin", it.plugin.lexically_normal().string()}}));
  Json all = Json::object({{"plugins", plugins}, {"ranks", facts.ranks}});
  if (facts.description.empty()) return all;
  all.add("description", facts.description);
  all.add("driven_by", facts.driver);
  all.add("into_cuda_devices", facts.why_not_into_devices.empty());
  if (facts.ranks > 1) all.add("eager_bytes", facts.eager_bytes);
  return all;
}

Json timing_json(const linalg::BlasTiming& timing) {
  return Json::object({{"path", timing.path},
                       {"core_type", timing.core_type},
                       {"gemm_gflops", timing.rates.gemm},
                       {"potrf_gflops", timing.rates.potrf}});
}

}  // namespace

Json json(const MachineReport& report, const Config& config) {
  const Machine& machine = report.machine;
  const Disk& disk = report.disk;
  Json nodes = Json::array();
  for (const machine::NumaNode& node : machine.processors.numa_nodes)
    nodes.add(
        Json::object({{"number", node.number}, {"cores", node.cores}, {"memory_bytes", node.memory_bytes}}));
  const machine::MachineMemory& memory = machine.memory;
  Json settings = Json::object();
  for (const SettingReport& row : config.report())
    settings.add(std::string(row.setting.key),
                 Json::object({{"value", row.value}, {"origin", name_of(row.origin)}, {"where", row.where}}));
  return Json::object({
      {"version", version()},
      {"workers", machine.workers},
      {"workers_because", machine.workers_reason},
      {"cores", machine.processors.cores.size()},
      {"cores_present", machine.processors.cores_present},
      {"hardware_threads", machine.processors.hardware_threads},
      {"cpu_quota", machine.cpu_quota ? Json(machine.cpu_quota->processors) : Json()},
      {"numa_nodes", nodes},
      {"memory", Json::object({{"total_bytes", memory.total_bytes},
                               {"available_bytes", memory.available_bytes},
                               {"limit_bytes", memory.limit_bytes ? Json(*memory.limit_bytes) : Json()},
                               {"limit_source", memory.limit_source},
                               {"limit_used_bytes", memory.limit_used_bytes},
                               {"free_bytes", memory.free_bytes},
                               {"margin_bytes", memory.margin_bytes},
                               {"usable_bytes", memory.usable_bytes()}})},
      {"pages", Json::object({{"page_bytes", machine.pages.page_bytes},
                              {"huge_page_bytes", machine.pages.huge_page_bytes},
                              {"huge_pages", name_of(machine.pages.huge_pages)}})},
      {"disk", Json::object({{"directory", disk.directory},
                             {"file_system", disk.file_system},
                             {"mounted_at", disk.mounted_at},
                             {"in_memory", disk.in_memory},
                             {"total_bytes", disk.total_bytes},
                             {"free_bytes", disk.free_bytes},
                             {"writable", disk.writable},
                             {"direct_io", disk.direct_io},
                             {"offset_alignment_bytes", disk.offset_alignment_bytes},
                             {"memory_alignment_bytes", disk.memory_alignment_bytes}})},
      {"kernels", Json::object({{"best", timing_json(report.kernels.best)},
                                {"by_default", timing_json(report.kernels.default_timing)},
                                {"own_products", report.kernels.own_products},
                                {"gain", report.kernels.gain()}})},
      {"cuda", cuda_json(report.cuda)},
      {"opencl", devices_json(report.opencl)},
      {"links", report::links_json(report.kept.facts.links)},
      {"mpi", mpi_json(report.mpi)},
      {"durations_kept", report.kept.facts.durations.size()},
      {"settings", settings},
  });
}

std::string text(const MachineReport& report, const Config& config) {
  Rows rows;
  add_machine(rows, report.machine, report.disk, config);
  add_kernels(rows, report.kernels);
  add_devices(rows, "cuda", report.cuda);
  add_pairs(rows, report.cuda);
  add_devices(rows, "opencl", report.opencl);
  add_devices_by_rank(rows, config, report.cuda, report.mpi.on_machine);
  add_measurements(rows, report.kept);
  add_mpi(rows, report.mpi);
  return rows.take();
}

MpiReport mpi_report() {
  MpiReport facts{.mpis = net::list_mpis(net::plugin_folders())};
  const auto launched = config::detect_launcher(config::process_environment());
  const Rank rank = launched_rank();
  if (!launched || rank.network == nullptr) return facts;
  facts.rank = rank.number();
  facts.ranks = rank.count();
  facts.on_machine = rank.network->sharing().ranks;
  facts.description = rank.network->description();
  facts.driver = rank.network->driven_by_one_thread() ? "the program's thread, while it waits"
                                                      : "workers, before each task and while idle, or a "
                                                        "thread if a core has no worker (--network-thread)";
  facts.why_not_into_devices = rank.network->why_not_into_devices();
  facts.eager_bytes = net::eager_bytes_of(*launched, net::plugin_folders());
  return facts;
}

MachineReport machine_report(const Config& config, const KernelEnvironment& environment, MpiReport mpi) {
  const Machine machine = machine::discover();
  return {.machine = machine,
          .disk = machine::disk_of(config.text("disk-directory")),
          .kernels = choose_kernels(config, environment),
          .cuda = backend::cu::find_devices(),
          .opencl = backend::cl::find_devices(),
          .kept = front::KeptMeasurements(config, machine),
          .mpi = std::move(mpi)};
}

}  // namespace fairlead::solver
