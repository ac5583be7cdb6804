// From settings and environment to a loaded BLAS.
#include "fairlead/kernels.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "algorithms/linalg/blas/blas.hpp"

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
  const bool kept = !settings.cache_directory.empty();
  settings.before_timing = [kept] {
    fmt::print(stderr, "fairlead: timing the BLAS libraries of this machine, for some seconds; {}\n",
               kept ? "later runs will know" : "each time, since there is no cache-directory to keep it in");
  };
  return linalg::choose_kernels(settings);
}

linalg::Kernels load_kernels(const Config& config) {
  const linalg::KernelChoice choice = choose_kernels(config);
  linalg::use_kernels(choice.best.candidate);
  return linalg::Kernels::load(choice.best.candidate.library);
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
