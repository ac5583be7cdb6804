// fairlead info: prints the machine as Fairlead detects it; with --config, also all settings and their
// origins.
#include <fmt/format.h>
#include <fairlead/ranks.hpp>
#include <fairlead/version.hpp>

#include "backend/cuda/driver.hpp"
#include "backend/opencl/driver.hpp"
#include "base/json.hpp"
#include "config/environment.hpp"
#include "config/launcher.hpp"
#include "config/value.hpp"
#include "fairlead/devices/devices_to_use.hpp"
#include "fairlead/problem/dense_report.hpp"
#include "fairlead/problem/kept_facts.hpp"
#include "fairlead/problem/kernel_environment.hpp"
#include "fairlead/subcommand.hpp"
#include "machine/disk.hpp"
#include "machine/machine.hpp"
#include "net/launched.hpp"
#include "net/network.hpp"

namespace fairlead::app {

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

void print_row(std::string_view what, std::string_view text) { fmt::print("{:<12}{}\n", what, text); }

void print_memory(const machine::MachineMemory& memory, const Config& config) {
  print_row("memory", fmt::format("{}, {} available", readable_size(memory.total_bytes),
                                  readable_size(memory.available_bytes)));
  if (memory.limit_bytes)
    print_row("", fmt::format("limited to {} by {}, {} in use", readable_size(*memory.limit_bytes),
                              memory.limit_source, readable_size(memory.limit_used_bytes)));
  else
    print_row("", "no control group or address-space limit applies");
  const std::string usable =
      fmt::format("{}: {} free, less a margin of {}", readable_size(memory.usable_bytes()),
                  readable_size(memory.free_bytes), readable_size(memory.margin_bytes));
  if (config.has("memory"))
    print_row("", fmt::format("a run takes up to {} ({}); by default, {}", config.written("memory"),
                              where_set(config, "memory"), usable));
  else
    print_row("", fmt::format("a run takes up to {}", usable));
}

void print_disk(const Disk& disk) {
  print_row("disk",
            fmt::format("{} ({} mounted at {}): {} free of {}", disk.directory, disk.file_system,
                        disk.mounted_at, readable_size(disk.free_bytes), readable_size(disk.total_bytes)));
  if (disk.in_memory) print_row("", "this is memory, not a disk: data written there still take memory");
  if (!disk.writable)
    print_row("", fmt::format("cannot be written to: {}", disk.write_error));
  else if (disk.direct_io)
    print_row("", fmt::format("direct I/O in multiples of {} bytes", disk.offset_alignment_bytes));
  else
    print_row("", "no direct I/O: it goes through the page cache, which is slower and takes memory");
}

void print_machine(const Machine& machine, const Disk& disk, const Config& config) {
  fmt::print("Fairlead {}\n\n", version());
  if (config.has("workers"))
    print_row("workers", fmt::format("{} ({}); by default, {}: {}", config.count("workers"),
                                     where_set(config, "workers"), machine.workers, machine.workers_reason));
  else
    print_row("workers", fmt::format("{}: {}", machine.workers, machine.workers_reason));
  std::string_view heading = "NUMA";
  for (const machine::NumaNode& node : machine.processors.numa_nodes) {
    print_row(heading, fmt::format("node {}: {} usable core{}, {}", node.number, node.cores,
                                   node.cores == 1 ? "" : "s", readable_size(node.memory_bytes)));
    heading = "";
  }
  print_memory(machine.memory, config);
  print_row("pages", fmt::format("{}; huge pages{}: {}", readable_size(machine.pages.page_bytes),
                                 machine.pages.huge_page_bytes == 0
                                     ? ""
                                     : fmt::format(" of {}", readable_size(machine.pages.huge_page_bytes)),
                                 name_of(machine.pages.huge_pages)));
  print_disk(disk);
}

/// The devices that the drivers list.
struct Accelerators {
  const backend::cu::CudaDevices cuda = backend::cu::find_devices();
  const backend::cl::OpenclDevices opencl = backend::cl::find_devices();
};

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

/// Prints devices with the indices that --devices uses.
template <class Found>
void print_devices(std::string_view kind, const Found& found) {
  if (found.devices.empty()) return print_row(std::string(kind), "no device: " + found.problem);
  for (std::size_t i = 0; i < found.devices.size(); ++i)
    print_row(i == 0 ? std::string(kind) : "", fmt::format("{}: {}", i, describe(found.devices[i])));
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
void print_pairs(const backend::cu::CudaDevices& found) {
  const auto print = [](const auto& pairs, std::string_view how) {
    std::string all;
    for (const auto& [first, second] : pairs)
      all += fmt::format("{}{} and {}", all.empty() ? "" : ", ", first, second);
    if (!all.empty()) print_row("", fmt::format("{} copy to each other {}", all, how));
  };
  const Pairs pairs = pairs_of(found);
  print(pairs.peers, "directly");
  print(pairs.others, "through RAM: the driver provides no peer access");
}

/// Prints the devices of each rank of this machine. The default is all CUDA devices, as in solve.
void print_devices_by_rank(const Config& config, const backend::cu::CudaDevices& cuda, std::uint32_t ranks) {
  std::string list = config.text_or("devices", "auto");
  if (list == "auto") {
    list.clear();
    for (std::size_t i = 0; i < cuda.devices.size(); ++i)
      list += fmt::format("{}cuda:{}", i == 0 ? "" : " + ", i);
  }
  if (const std::string by_rank = devices_by_rank(list, ranks); !by_rank.empty()) print_row("", by_rank);
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

void print_kernels(const linalg::KernelChoice& choice) {
  print_row("kernels", describe(choice.best, choice.own_products));
  if (choice.gain() > 1)
    print_row("", fmt::format("{:.2f} times the speed of the system's default: {}", choice.gain(),
                              describe(choice.default_timing)));
  else
    print_row("", "also the system's default: nothing else is faster");
  print_row("", choice.from_cache ? "timed by an earlier run" : "timed now");
  if (!choice.cache_problem.empty())
    print_row("", fmt::format("the timings could not be kept: {}", choice.cache_problem));
}

void print_measurements(const KeptFacts& known) {
  if (!known.file) return print_row("measured", "nothing is kept: there is no cache-directory");
  if (!known.facts.problem.empty()) return print_row("measured", known.facts.problem);
  std::size_t codelets = 0;
  const std::string* last = nullptr;
  for (const model::DurationRecord& kept : known.facts.durations) {  // in the order of codelets
    codelets += last == nullptr || *last != kept.codelet;
    last = &kept.codelet;
  }
  print_row("measured", known.facts.durations.empty()
                            ? "no durations of tasks are kept"
                            : fmt::format("durations of {} codelet{}, {} in all, kept in {}", codelets,
                                          codelets == 1 ? "" : "s", known.facts.durations.size(),
                                          known.file->path().string()));
  if (known.facts.links.empty())
    print_row("", "no links: fairlead calibrate measures them");
  else
    fmt::print("\n");
  print_links(known.facts.links);
}

/// The supported MPI libraries, and the network between the ranks of this run.
struct MpiFacts {
  std::vector<net::MpiSupport> mpis;
  std::uint32_t rank = 0, ranks = 1, on_machine = 1;
  std::string description{}, driver{};  ///< empty: this process is the only rank
  std::uint64_t eager_bytes = 0;
  std::string why_not_into_devices{};  ///< empty: payloads can arrive in the memory of CUDA devices
};

/// Collective; call it once.
MpiFacts mpi_facts() {
  MpiFacts facts{.mpis = net::list_mpis(net::plugin_folders())};
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

void print_mpi(const MpiFacts& facts) {
  std::string_view heading = "MPI";
  for (const net::MpiSupport& it : facts.mpis) {
    print_row(heading,
              it.plugin.empty()
                  ? fmt::format("none for {}: {} were missing when Fairlead was built", it.name, it.packages)
                  : fmt::format("{}: {}", it.name, it.plugin.lexically_normal().string()));
    heading = "";
  }
  if (facts.description.empty())
    return print_row("", "this process is a single rank: mpirun -n 2 fairlead info reports more");
  print_row("", fmt::format("{} ranks by {}", facts.ranks, facts.description));
  print_row("", fmt::format("driven by {}", facts.driver));
  print_row("", "values arrive in " +
                    (facts.why_not_into_devices.empty()
                         ? std::string("RAM or directly in the memory of CUDA devices, as the MPI reports")
                         : "RAM: " + facts.why_not_into_devices));
  if (facts.ranks > 1)
    print_row(
        "", facts.eager_bytes == 0
                ? "no message is sent before a thread waits for it"
                : fmt::format("messages of up to {} bytes are sent before a thread waits for them (measured)",
                              facts.eager_bytes));
}

Json mpi_json(const MpiFacts& facts) {
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

void print_settings(const Config& config) {
  std::size_t widest = 0;
  for (const SettingReport& row : config.report()) widest = std::max(widest, row.value.size());
  fmt::print("\n{:<18}{:<{}}from\n", "setting", "value", widest + 2);
  for (const SettingReport& row : config.report()) {
    const std::string from = row.where.empty() ? std::string(name_of(row.origin))
                                               : fmt::format("{}: {}", name_of(row.origin), row.where);
    fmt::print("{:<18}{:<{}}{}\n", row.setting.key, row.value, widest + 2, from);
  }
}

Json as_json(const Machine& machine, const Disk& disk, const linalg::KernelChoice& kernels,
             const Accelerators& accelerators, const KeptFacts& known, const MpiFacts& mpi,
             const Config& config) {
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
      {"kernels", Json::object({{"best", timing_json(kernels.best)},
                                {"by_default", timing_json(kernels.default_timing)},
                                {"own_products", kernels.own_products},
                                {"gain", kernels.gain()}})},
      {"cuda", cuda_json(accelerators.cuda)},
      {"opencl", devices_json(accelerators.opencl)},
      {"links", links_json(known.facts.links)},
      {"mpi", mpi_json(mpi)},
      {"durations_kept", known.facts.durations.size()},
      {"settings", settings},
  });
}

int run(const ParsedCommandLine& given) {
  const Config& config = given.config;
  const MpiFacts mpi = mpi_facts();
  if (mpi.rank != 0) return success;  // the first rank prints
  const Machine machine = machine::discover();
  const Disk disk = machine::disk_of(config.text("disk-directory"));
  const linalg::KernelChoice kernels = solver::choose_kernels(config, kernel_environment());
  print_machine(machine, disk, config);
  print_kernels(kernels);
  const Accelerators accelerators;
  print_devices("cuda", accelerators.cuda);
  print_pairs(accelerators.cuda);
  print_devices("opencl", accelerators.opencl);
  print_devices_by_rank(config, accelerators.cuda, mpi.on_machine);
  const KeptFacts known(config, machine);
  print_measurements(known);
  print_mpi(mpi);
  if (given.list_config) print_settings(config);
  if (config.has("json"))
    write_json(config.text("json"), as_json(machine, disk, kernels, accelerators, known, mpi, config));
  return success;
}

}  // namespace

const Subcommand info{
    .name = "info",
    .summary = "Shows the machine: cores, memory, disk, kernels, devices; with --config, every setting.",
    .positionals = {},
    .options = {},
    .run = run,
    .config_lists = true};

}  // namespace fairlead::app
