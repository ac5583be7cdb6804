// From settings and environment to a loaded BLAS.
#include "fairlead/kernels.hpp"

#include <fmt/format.h>

#include <fairlead/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "algorithms/linalg/blas/blas.hpp"
#include "config/value.hpp"
#include "machine/machine.hpp"

namespace fairlead::app {

linalg::KernelChoice choose_kernels(const Config& config) {
  linalg::KernelSettings settings;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) settings.loader.library_path = path;
  if (config.has("blas"))
    settings.libraries =
        linalg::libraries_named(config.text("blas"), linalg::find_blas_libraries(settings.loader));
  settings.core_type = config.text_or("blas-coretype", "");
  if (const char* inherited = std::getenv("OPENBLAS_CORETYPE")) settings.inherited_core_type = inherited;
  settings.helper = {"/proc/self/exe", "time-blas"};
  settings.cache_directory = config.text_or("cache-directory", "");
  return linalg::choose_kernels(settings);
}

namespace {

/// Each thread that calls the library takes a buffer there, which it gets at its first call: a library that
/// has none left crashes, and one that is refused the addresses asks for them for ever. So both are refused
/// before.
void check_buffers(const linalg::Kernels& kernels, const Config& config) {
  const std::size_t workers =
      config.has("workers") ? config.count("workers") : std::size_t{machine::discover().workers};
  const std::optional<std::size_t> most = most_threads_of(kernels.blas().version());
  if (most && workers > *most)
    throw ConfigError(fmt::format(
        "{} workers are more than the BLAS has buffers for ({}, {}): {} at most.\n  Use --workers {}.",
        workers, name_of(kernels), kernels.blas().path(), *most, *most));
  const machine::Memory memory = machine::memory(machine::SystemFiles(), static_cast<unsigned>(workers));
  if (!memory.address_room) return;
  const Bytes buffers = machine::addresses_of_each_worker * workers;
  const Bytes wanted = config.bytes_or("memory", memory.usable_bytes());
  if (*memory.address_room > buffers && wanted <= *memory.address_room - buffers) return;
  throw ConfigError(fmt::format(
      "{} of memory and {} for the stacks and BLAS buffers of {} workers do not fit into the {} of address "
      "space "
      "that are left (ulimit -v).\n  Use --memory {} or less, fewer workers, or a higher limit.",
      config::readable_size(wanted), config::readable_size(buffers), workers,
      config::readable_size(*memory.address_room),
      config::readable_size(*memory.address_room > buffers ? *memory.address_room - buffers : 0)));
}

}  // namespace

/// OpenBLAS has two for each thread that it was built for, and at least 50.
std::optional<std::size_t> most_threads_of(const std::string& version) {
  if (!version.starts_with("OpenBLAS")) return std::nullopt;
  constexpr std::string_view name = "MAX_THREADS=";
  constexpr std::size_t least = 50;
  const auto at = version.find(name);
  const auto threads =
      at == std::string::npos ? 0ul : std::strtoul(version.c_str() + at + name.size(), nullptr, 10);
  return std::max<std::size_t>(2 * threads, least);
}

linalg::Kernels load_kernels(const Config& config) {
  const linalg::KernelChoice choice = choose_kernels(config);
  linalg::use_kernels(choice.best.candidate);
  linalg::Kernels kernels = linalg::Kernels::load(choice.best.candidate.library);
  check_buffers(kernels, config);
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
  return blas.core_type().empty() ? name : fmt::format("{} {}", name, blas.core_type());
}

}  // namespace fairlead::app
