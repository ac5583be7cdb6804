// `fairlead jdf run --allow-c` runs bodies in C with the same results as the compiled file.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "cholesky_double.hpp"
#include "compiled_jdf/compiled.hpp"
#include "lu_float.hpp"
#include "temporary_directory.hpp"

namespace fairlead::compiled_jdf {
namespace {

/// In column-major order, as in Plain.
template <class T>
void write_npy(const std::filesystem::path& path, const Plain<T>& from) {
  std::string header = fmt::format("{{'descr': '<f{}', 'fortran_order': True, 'shape': ({}, {}), }}",
                                   sizeof(T), from.rows, from.columns);
  header.resize(117, ' ');
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  out << "\x93NUMPY\x01" << '\0' << static_cast<char>(header.size()) << '\0' << header;
  out.write(reinterpret_cast<const char*>(from.numbers.data()),
            static_cast<std::streamsize>(from.numbers.size() * sizeof(T)));
}

template <class T>
Plain<T> read_npy(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns) {
  std::ifstream in(path, std::ios::binary);
  std::string before(10, '\0');
  in.read(before.data(), 10);
  in.ignore(static_cast<unsigned char>(before[8]) + 256 * static_cast<unsigned char>(before[9]));
  Plain<T> out{rows, columns};
  in.read(reinterpret_cast<char*>(out.numbers.data()),
          static_cast<std::streamsize>(out.numbers.size() * sizeof(T)));
  EXPECT_TRUE(in.good()) << path;
  return out;
}

/// Runs the file on these numbers, with a statement in each body that only a C compiler accepts.
template <class T>
Plain<T> run_in_c(const std::string& name, const Plain<T>& a, int tile, const std::string& options) {
  const std::filesystem::path made = FAIRLEAD_COMPILED_JDF;
  const tests::TemporaryDirectory folder;
  std::filesystem::copy_file(made / "tiles.h", folder / "tiles.h");
  std::ostringstream text;
  text << std::ifstream(made / (name + ".jdf")).rdbuf();
  std::string all = text.str();
  const std::string begin = "\nBODY\n{";
  std::size_t bodies = 0;
  for (std::size_t at = all.find(begin); at != std::string::npos;
       at = all.find(begin, at + begin.size()), ++bodies)
    all.insert(at + begin.size(), "\n  typedef int only_c_knows_this;");
  EXPECT_GE(bodies, 3U);
  std::ofstream(folder / "it.jdf") << all;
  write_npy(folder / "A.npy", a);
  const std::string command = fmt::format(
      "cd '{}' && rm -f out.npy && '{}' jdf run it.jdf --matrix A=A.npy -o A=out.npy --tile {} --quiet {}",
      folder.path().string(), FAIRLEAD_COMMAND, tile, options);
  EXPECT_NE(std::system((command + " 2> errors").c_str()), 0) << "C needs --allow-c";
  EXPECT_EQ(std::system((command + " --allow-c").c_str()), 0);
  const Plain<T> out = read_npy<T>(folder / "out.npy", a.rows, a.columns);
  return out;
}

template <class T>
void expect_same(const Plain<T>& got, const Plain<T>& wanted) {
  for (std::size_t i = 0; i < got.numbers.size(); ++i)
    ASSERT_NEAR(got.numbers[i], wanted.numbers[i],
                1e2 * std::numeric_limits<T>::epsilon() * (1 + std::abs(wanted.numbers[i])))
        << i;
}

}  // namespace

TEST(JdfInC, CholeskyEqualsTheCompiledFile) {
  const std::int64_t n = 150;
  Plain<double> a = random_matrix<double>(n, n, 1, static_cast<double>(n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  Runtime runtime;
  Described<double> described(runtime, a, 32, Home::runtime);
  int info = 0;
  ptg::Graph graph(runtime);
  cholesky_double(graph, described.descriptor(), &info);
  graph.run();
  const Plain<double> wanted = described.numbers();
  expect_same(run_in_c("cholesky_double", a, 32, ""), wanted);
  expect_same(run_in_c("cholesky_double", a, 32, "--memory 3MiB --no-check"), wanted);
}

TEST(JdfInC, LuOfFloatsEqualsTheCompiledFile) {
  const Plain<float> a = random_matrix<float>(90, 130, 2, 200.0F);
  Runtime runtime;
  Described<float> described(runtime, a, 24, Home::runtime);
  int info = 0;
  ptg::Graph graph(runtime);
  lu_float(graph, described.descriptor(), &info);
  graph.run();
  expect_same(run_in_c("lu_float", a, 24, ""), described.numbers());
}

}  // namespace fairlead::compiled_jdf
