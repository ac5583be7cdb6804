// Finds the BLAS libraries of this machine: by name, in the places where the loader searches.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::linalg {

/// The places where the loader searches, in its order.
struct LoaderPlaces {
  std::vector<std::filesystem::path> first = {};     ///< as SharedLibrary::first_directories()
  std::filesystem::path cache = "/etc/ld.so.cache";  ///< the cache of ldconfig
  std::vector<std::filesystem::path> directories = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
};

struct FoundLibrary {
  std::string name;            ///< as for Blas::load: "libopenblas.so.0"
  std::filesystem::path path;  ///< the file that the loader uses, links followed
};

/// OpenBLAS, MKL, BLIS (and thus AOCL), ArmPL, NVPL, ATLAS and others, each file once. The last ones are libblas.so.3,
/// whatever it links to, and the reference implementation. Excludes libraries whose names indicate 64-bit integers.
std::vector<FoundLibrary> find_blas_libraries(const LoaderPlaces& places);

/// The libraries that the user's `name` selects: itself if it is a path or a file name ("/opt/x/libblis.so.4",
/// "libblis.so.4"), else the found libraries with this prefix ("blis", "openblas"). Throws ConfigError that lists the
/// found libraries if none matches.
std::vector<std::string> match_libraries(std::string_view name, const std::vector<FoundLibrary>& found);

}  // namespace fairlead::linalg
