// From settings and environment to a loaded BLAS.
#include "solver/load_kernels.hpp"

#include <fmt/format.h>

#include <fairlead/error.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/cuda/own_kernels.hpp"
#include "backend/device_list.hpp"
#include "backend/disk/spill_file.hpp"
#include "base/file_descriptor.hpp"
#include "base/ignoring_case.hpp"
#include "base/shared_file.hpp"
#include "base/shared_library.hpp"
#include "config/value.hpp"
#include "machine/machine.hpp"
#include "report/report_file.hpp"

namespace fairlead::solver {

namespace {

linalg::KernelSettings kernel_settings_in(const Config& config, const KernelEnvironment& environment) {
  linalg::KernelSettings settings;
  settings.loader.first = SharedLibrary::first_directories();
  if (config.has("blas"))
    settings.libraries =
        linalg::match_libraries(config.text("blas"), linalg::find_blas_libraries(settings.loader));
  settings.core_type = config.text_or("blas-coretype", "");
  settings.inherited_core_type = environment.inherited_core_type;
  if (const std::string products = config.text_or("blas-products", "auto"); products != "auto")
    settings.own_products = products == "own";
  settings.helper = environment.timing_helper;
  settings.cache_directory = config.text_or("cache-directory", "");
  settings.before_timing = [directory = settings.cache_directory, before = environment.before_timing] {
    if (before)
      before(fmt::format("timing the BLAS libraries of this machine, for some seconds; {}",
                         directory.empty()                ? "each time, since no cache-directory is set"
                         : !why_unsafe(directory).empty() ? "each time, since the cache-directory is not safe"
                                                          : "later runs use the result"));
  };
  return settings;
}

/// Assumed rate of a core without timings, to decide whether a device gains.
constexpr double assumed_gflops = 20;

/// The choice if library and core type are both named: no timing, which would take long under valgrind. Only
/// for OpenBLAS, whose core type can be set; its own products are used unless the settings say otherwise.
std::optional<linalg::KernelChoice> named_in_full(const linalg::KernelSettings& settings) {
  if (settings.libraries.size() != 1 || settings.core_type.empty() ||
      settings.libraries.front().find("openblas") == std::string::npos)
    return {};
  linalg::KernelChoice choice;
  choice.best.candidate = {settings.libraries.front(), settings.core_type};
  choice.best.core_type = settings.core_type;
  choice.best.rates = {assumed_gflops, assumed_gflops, assumed_gflops, assumed_gflops};
  choice.best.own_rates = choice.best.rates;
  choice.default_timing = choice.best;
  choice.timings = {choice.best};
  choice.own_products = settings.own_products.value_or(false);
  return choice;
}

/// Whether the user has set it, rather than the program or a default.
bool is_set_by_user(const Config& config, std::string_view key) {
  const auto report = config.report();
  const auto given = std::ranges::find(report, key, [](const SettingReport& row) { return row.setting.key; });
  return given != report.end() && given->origin != Origin::code && given->origin != Origin::default_value;
}

/// Workers on cores and devices.
std::size_t computing_threads(const Config& config) {
  const std::size_t workers =
      config.has("workers") ? config.count("workers") : std::size_t{machine::discover().workers};
  return workers + backend::workers_of_devices(config.text_or("devices", ""), backend::default_backends());
}

/// Reserves address space for each computing thread while failure can still be reported: buffers of the BLAS,
/// then, under a limit of addresses, stacks and memory.
void take_addresses(const linalg::Kernels& kernels, Config& config) {
  const std::size_t threads = computing_threads(config);
  kernels.blas().reserve_buffers(threads);
  const machine::MachineMemory memory =
      machine::detect_memory(machine::SystemFiles(), static_cast<unsigned>(threads));
  if (!memory.free_address_space) return;
  constexpr std::size_t other_threads = 4;  // progress, signals, the monitor
  const Bytes stacks =
      machine::address_space_per_thread * (threads + config.count("disk-threads") + other_threads);
  const Bytes room = *memory.free_address_space > stacks ? *memory.free_address_space - stacks : 0;
  const Bytes wanted = config.bytes_or("memory", memory.usable_bytes());
  if (wanted < room) return;
  // No limit was given: use as much as fits.
  constexpr Bytes unit = Bytes{1} << 20, least = 16 * unit;
  if (!is_set_by_user(config, "memory") && room >= least) {
    config.set("memory", room / unit * unit);
    return;
  }
  throw ConfigError(fmt::format(
      "{} of memory and {} for the stacks of {} worker{} do not fit into the {} of address space that are "
      "left (ulimit -v).\n  {}",
      config::readable_size(wanted), config::readable_size(stacks), threads, threads == 1 ? "" : "s",
      config::readable_size(*memory.free_address_space),
      room > (Bytes{1} << 20) ? fmt::format("Use --memory {}MiB or less, {}or a higher limit.", room >> 20,
                                            threads > 1 ? "fewer workers, " : "")
      : threads > 1           ? std::string("Use fewer workers, or a higher limit.")
                              : std::string("Use a higher limit.")));
}

/// Checks settings that a run would refuse, before some seconds of timing.
void check_before_timing(const Config& config) {
  backend::workers_of_devices(config.text_or("devices", ""), backend::default_backends());
  // The default directory may never be needed.
  if (is_set_by_user(config, "disk-directory")) backend::SpillFile{config.text("disk-directory")};
  if (config.has("record-flow")) report::require_place_for(config.text("record-flow"));
}

constexpr std::string_view no_cuda_kernels = "none";

std::string content_of(const std::string& file) {
  const std::optional<std::string> content = read_file(file);
  if (!content || content->empty())
    throw ConfigError(fmt::format("cuda-kernels: {} cannot be read, or is empty", file));
  return *content;
}

}  // namespace

linalg::KernelChoice choose_kernels(const Config& config, const KernelEnvironment& environment) {
  return linalg::choose_kernels(kernel_settings_in(config, environment));
}

std::string cuda_kernels(const Config& config) {
  if (!config.has("cuda-kernels")) return std::string(linalg::embedded_cuda_kernels());
  return config.text("cuda-kernels") == no_cuda_kernels ? "" : content_of(config.text("cuda-kernels"));
}

bool has_cuda_kernels(const Config& config) {
  if (config.has("cuda-kernels")) return config.text("cuda-kernels") != no_cuda_kernels;
  return !linalg::embedded_cuda_kernels().empty();
}

linalg::Kernels load_kernels(Config& config, const KernelEnvironment& environment,
                             const std::function<void(const linalg::KernelChoice&)>& settle) {
  check_before_timing(config);
  if (config.has("cuda-kernels")) static_cast<void>(cuda_kernels(config));
  const linalg::KernelSettings settings = kernel_settings_in(config, environment);
  const std::optional<linalg::KernelChoice> named = named_in_full(settings);
  const linalg::KernelChoice choice = named ? *named : linalg::choose_kernels(settings);
  linalg::set_blas_environment(choice.best.candidate);
  linalg::Kernels kernels = linalg::Kernels::load(
      choice.best.candidate.library,
      choice.own_products ? linalg::Kernels::Products::own : linalg::Kernels::Products::of_library);
  if (named && !equal_ignoring_case(kernels.blas().core_type(), settings.core_type))
    throw ConfigError(fmt::format("{} has no core type \"{}\"{}; without it Fairlead takes the fastest",
                                  settings.libraries.front(), settings.core_type,
                                  kernels.blas().core_type().empty()
                                      ? ""
                                      : fmt::format(" here, and takes {}", kernels.blas().core_type())));
  if (config.has("cuda-kernels")) kernels = kernels.with_cuda_kernels(cuda_kernels(config));
  if (settle) settle(choice);
  take_addresses(kernels, config);
  return kernels;
}

linalg::Kernels load_kernels_unchanged(const Config& config) {
  std::string library;  // the default of Kernels::load
  if (config.has("blas"))
    library =
        linalg::match_libraries(config.text("blas"),
                                linalg::find_blas_libraries({.first = SharedLibrary::first_directories()}))
            .front();
  const bool own = config.text_or("blas-products", "auto") == "own";
  linalg::Kernels kernels = linalg::Kernels::load(
      library, own ? linalg::Kernels::Products::own : linalg::Kernels::Products::of_library);
  if (config.has("cuda-kernels")) kernels = kernels.with_cuda_kernels(cuda_kernels(config));
  kernels.blas().reserve_buffers(computing_threads(config));
  return kernels;
}

std::string name_of(const linalg::Kernels& kernels) {
  const linalg::Blas& blas = kernels.blas();
  // OpenBLAS describes itself in a line of options: "OpenBLAS 0.3.21 NO_AFFINITY USE64BITINT ...
  // MAX_THREADS=64".
  const std::string& version = blas.version();
  const auto name_end = version.find(' ');
  std::string name =
      version.substr(0, name_end == std::string::npos ? name_end : version.find(' ', name_end + 1));
  if (name.empty()) name = blas.path();
  if (!blas.core_type().empty()) name += " " + blas.core_type();
  return blas.has_own_products() ? name + ", products by Fairlead" : name;
}

}  // namespace fairlead::solver
