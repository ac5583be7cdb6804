// Searches the loader's directories and its cache (the format "glibc-ld.so.cache1.1" of glibc 2.2 and later).
#include "algorithms/linalg/blas/find_libraries.hpp"
#include "base/file_descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fairlead/error.hpp>
#include <iterator>
#include <map>
#include <system_error>

namespace fairlead::linalg {
namespace {

namespace fs = std::filesystem;

/// Prefixes of names, the fastest library first as far as known: if time runs out, the last ones are not timed.
constexpr std::array families{"scipy_openblas",      "openblas",  "mkl_rt", "blis", "armpl_lp64",
                              "nvpl_blas_lp64_core", "flexiblas", "satlas", "blas"};

/// The index of the file's family; -1 if it is not a BLAS.
int family_of(std::string_view file) {
  if (!file.starts_with("lib") || file.find(".so") == std::string_view::npos) return -1;
  const std::string_view name = file.substr(3, file.find(".so") - 3);
  if (name.ends_with("64") || name.ends_with("64_") || name.find("ilp64") != std::string_view::npos)
    return -1;
  for (std::size_t i = 0; i < families.size(); ++i) {
    const std::string_view family = families[i];
    if (!name.starts_with(family)) continue;
    const std::string_view rest = name.substr(family.size());
    if (rest.find("64") != std::string_view::npos) return -1;
    // A variant has a separator ("blis-mt", "openblasp-r0"). "blas" must match the whole name: "blasfeo" is another
    // library.
    const bool variant =
        rest.starts_with('-') || rest.starts_with('_') || rest.starts_with("p-") || rest.starts_with("o-");
    if (rest.empty() || (variant && family != "blas")) return static_cast<int>(i);
  }
  return -1;
}

/// Calls each(name, path) for the entries of ldconfig's cache.
template <class Each>
void for_each_cached(const fs::path& cache, Each each) {
  const std::string bytes = read_file(cache).value_or("");
  constexpr std::string_view magic = "glibc-ld.so.cache1.1";
  constexpr std::size_t header = 48, entry = 24;
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    if (at + sizeof(value) <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof(value));
    return std::size_t{value};
  };
  const auto text = [&](std::size_t at) {
    const auto end = at < bytes.size() ? bytes.find('\0', at) : std::string::npos;
    return end == std::string::npos ? std::string_view() : std::string_view(bytes).substr(at, end - at);
  };
  if (!std::string_view(bytes).starts_with(magic)) return;
  for (std::size_t i = 0, count = number(magic.size()); i < count; ++i) {
    const std::size_t at = header + i * entry;
    if (at + entry > bytes.size()) return;
    each(text(number(at + 4)), text(number(at + 8)));
  }
}

}  // namespace

std::vector<FoundLibrary> find_blas_libraries(const LoaderPlaces& places) {
  std::map<std::string, fs::path, std::less<>> by_name;  // the file that the loader uses for each name
  const auto add = [&](std::string_view name, const fs::path& path) {
    std::error_code error;
    if (family_of(name) >= 0 && !by_name.contains(name) && fs::is_regular_file(path, error))
      by_name.emplace(name, path);
  };
  const auto add_directory = [&](const fs::path& directory) {
    for (const std::string& name : list_directory(directory)) add(name, directory / name);
  };
  for (const fs::path& directory : places.first) add_directory(directory);
  for_each_cached(places.cache, add);
  for (const fs::path& directory : places.directories) add_directory(directory);

  // "libopenblas.so" and "libopenblas.so.0" are the same file; the name with the version fixes the interface.
  std::map<fs::path, std::string> by_file;
  for (const auto& [name, path] : by_name) {
    std::error_code error;
    const fs::path file = fs::canonical(path, error);
    if (error) continue;
    std::string& kept = by_file[file];
    if (kept.empty() || kept.ends_with(".so")) kept = name;
  }
  std::vector<FoundLibrary> found;
  for (const auto& [file, name] : by_file) found.push_back({name, file});
  std::ranges::sort(found, [](const FoundLibrary& a, const FoundLibrary& b) {
    const int family_a = family_of(a.name), family_b = family_of(b.name);
    return family_a != family_b ? family_a < family_b : a.name < b.name;
  });
  return found;
}

std::vector<std::string> match_libraries(std::string_view name, const std::vector<FoundLibrary>& found) {
  if (name.find('/') != std::string_view::npos || name.find(".so") != std::string_view::npos)
    return {std::string(name)};
  const std::string begin = "lib" + std::string(name.starts_with("lib") ? name.substr(3) : name);
  std::vector<std::string> names;
  std::string all;
  for (const FoundLibrary& library : found) {
    if (library.name.starts_with(begin)) names.push_back(library.name);
    all += (all.empty() ? "" : ", ") + library.name;
  }
  if (names.empty())
    throw ConfigError(
        fmt::format("no BLAS \"{}\" is found; there are: {}. Give one of these, or the path of a file", name,
                    all.empty() ? "none" : all));
  return names;
}

}  // namespace fairlead::linalg
