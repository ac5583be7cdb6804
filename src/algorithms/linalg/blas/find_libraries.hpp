// Which BLAS libraries this machine has: by their names, in the places where the loader looks.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::linalg {

/// Where the loader looks, in its order.
struct LoaderPlaces {
  std::string library_path;                          ///< LD_LIBRARY_PATH, which this does not read
  std::filesystem::path cache = "/etc/ld.so.cache";  ///< what ldconfig found in the directories of its own
  std::vector<std::filesystem::path> directories = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
};

struct FoundLibrary {
  std::string name;            ///< as Blas::load takes it: "libopenblas.so.0"
  std::filesystem::path path;  ///< the file that the loader will take, links followed
};

/// OpenBLAS, MKL, BLIS (and so AOCL), ArmPL, NVPL, ATLAS and others, each file once; in the end libblas.so.3,
/// whatever that leads to, and the reference implementation. Not those whose names say that they have 64-bit
/// integers.
std::vector<FoundLibrary> find_blas_libraries(const LoaderPlaces& places);

/// The names of those that a user means with `name`: itself, if it is a path or the name of a file ("/opt/x/
/// libblis.so.4", "libblis.so.4"); else those found whose names begin so: "blis", "openblas". Throws
/// ConfigError naming what there is.
std::vector<std::string> libraries_named(std::string_view name, const std::vector<FoundLibrary>& found);

}  // namespace fairlead::linalg
