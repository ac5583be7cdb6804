// Search of BLAS libraries by name on the loader's path.
#include "algorithms/linalg/blas/find_libraries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fairlead/error.hpp>
#include <fstream>

namespace fairlead::linalg {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class Finding : public testing::Test {
 protected:
  Finding() {
    places.directories = {};
    places.cache = folder / "no cache";
  }
  ~Finding() override { fs::remove_all(folder); }

  fs::path file(const std::string& name) const {
    const fs::path path = folder / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << name;
    return path;
  }
  void link(const std::string& name, const std::string& to) const {
    fs::create_directories((folder / name).parent_path());
    fs::create_symlink(folder / to, folder / name);
  }
  /// The cache that ldconfig writes: a header, entries of 24 bytes, and their strings.
  std::string cache(const std::vector<std::pair<std::string, fs::path>>& libraries) const {
    std::string strings, entries, header = "glibc-ld.so.cache1.1";
    const auto number = [](std::size_t value) {
      const auto four = static_cast<std::uint32_t>(value);
      return std::string(reinterpret_cast<const char*>(&four), 4);
    };
    const std::size_t begin = 48 + 24 * libraries.size();
    for (const auto& [name, path] : libraries) {
      entries += number(0x303) + number(begin + strings.size());
      strings += name + '\0';
      entries += number(begin + strings.size()) + std::string(12, '\0');
      strings += path.string() + '\0';
    }
    header += number(libraries.size()) + number(strings.size()) + std::string(20, '\0');
    return header + entries + strings;
  }
  void write_cache(const std::string& bytes) {
    places.cache = folder / "cache";
    std::ofstream(places.cache, std::ios::binary) << bytes;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const FoundLibrary& library : find_blas_libraries(places)) names.push_back(library.name);
    return names;
  }

  static fs::path make_folder() {
    std::string name = (fs::temp_directory_path() / "fairlead-finding-XXXXXX").string();
    return fs::canonical(::mkdtemp(name.data()));
  }
  const fs::path folder = make_folder();
  LoaderPlaces places;
};

TEST_F(Finding, ReturnsBlasLibrariesWithTheReferenceLast) {
  for (const char* name :
       {"libblas.so.3", "libblis-mt.so.4", "libblis.so.4", "libopenblas.so.0", "libmkl_rt.so.2",
        "libnvpl_blas_lp64_core.so.0", "libm.so.6", "liblapack.so.3", "libblasfeo.so.0", "libopenblas64.so.0",
        "libblas64.so.3", "libopenblas.a", "openblas.so", "libscipy_openblas.so", "libscipy_openblas64_.so"})
    file(std::string("lib/") + name);
  places.directories = {folder / "lib", folder / "not there"};
  EXPECT_THAT(names(),
              ElementsAre("libscipy_openblas.so", "libopenblas.so.0", "libmkl_rt.so.2", "libblis-mt.so.4",
                          "libblis.so.4", "libnvpl_blas_lp64_core.so.0", "libblas.so.3"));
}

TEST_F(Finding, ReadsTheLoadersCache) {
  const auto here = file("somewhere/libopenblas.so.0");
  write_cache(cache({{"libz.so.1", file("somewhere/libz.so.1")},
                     {"libopenblas.so.0", here},
                     {"libblis.so.4", folder / "removed since"}}));
  const auto found = find_blas_libraries(places);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "libopenblas.so.0");
  EXPECT_EQ(found[0].path, here);
}

TEST_F(Finding, SearchesTheFirstDirectoriesBeforeTheCache) {
  file("second/libopenblas.so.0");
  file("third/libopenblas.so.0");
  const auto first = file("first/libopenblas.so.0");
  places.first = {folder / "first", folder / "second"};
  places.directories = {folder / "third"};
  write_cache(cache({{"libopenblas.so.0", folder / "third/libopenblas.so.0"}}));
  const auto found = find_blas_libraries(places);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, first);
}

// Debian has its alternatives as links, and a link without the version for compilers.
TEST_F(Finding, ReturnsAFileWithSeveralNamesOnce) {
  file("variants/libopenblas.so.0");
  link("lib/libopenblas.so", "variants/libopenblas.so.0");
  link("lib/libopenblas.so.0", "variants/libopenblas.so.0");
  link("lib/libblas.so.3", "variants/libopenblas.so.0");
  places.directories = {folder / "lib"};
  EXPECT_EQ(names().size(), 1u);
  EXPECT_THAT(names(), testing::Not(ElementsAre("libopenblas.so")));
}

TEST_F(Finding, IgnoresADamagedCache) {
  const std::string whole = cache({{"libopenblas.so.0", file("lib/libopenblas.so.0")}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_cache(whole.substr(0, length));
    EXPECT_LE(names().size(), 1u);  // and no crash
  }
  std::string wild = whole;
  for (std::size_t at = 20; at < wild.size(); ++at) {
    wild[at] = '\xff';
    write_cache(wild);
    EXPECT_LE(names().size(), 1u);
  }
}

TEST_F(Finding, AcceptsShortNamesNamesAndPaths) {
  for (const char* name : {"libblis-mt.so.4", "libblis.so.4", "libopenblas.so.0"})
    file(std::string("lib/") + name);
  places.directories = {folder / "lib"};
  const auto found = find_blas_libraries(places);
  EXPECT_THAT(match_libraries("blis", found), ElementsAre("libblis-mt.so.4", "libblis.so.4"));
  EXPECT_THAT(match_libraries("libopenblas", found), ElementsAre("libopenblas.so.0"));
  EXPECT_THAT(match_libraries("libnot_found.so.1", found), ElementsAre("libnot_found.so.1"));
  EXPECT_THAT(match_libraries("/opt/x/blas", found), ElementsAre("/opt/x/blas"));
  try {
    match_libraries("mkl", found);
    FAIL() << "nothing was thrown";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("no BLAS \"mkl\" is found; there are: libopenblas.so.0, libblis"));
  }
}

// The tests of the kernels need a BLAS on this machine.
TEST(FindingHere, FindsABlas) { EXPECT_FALSE(find_blas_libraries({}).empty()); }

}  // namespace
}  // namespace fairlead::linalg
