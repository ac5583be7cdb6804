// `fairlead solve` and `fairlead bench cholesky` as processes: results, messages, exit codes, and no leftover
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "algorithms/linalg/generated_matrix.hpp"
#include "at_length.hpp"
#include "command/answer.hpp"
#include "data/npy/npy_file.hpp"
#include "data/npy/npy_writer.hpp"
#include "sanitized.hpp"
#include "shim/shim.hpp"

namespace fairlead {
namespace {

using data::ElementType;
using data::NpyFile;
using data::NpyWriter;
using data::StorageOrder;
using testing::HasSubstr;
using testing::Not;

/// A folder with a system, removed at the end of the test.
class Files : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  template <class T>
  void write(const std::string& name, std::uint64_t rows, std::uint64_t columns,
             const std::vector<T>& elements, bool vector = false) const {
    NpyWriter out(path(name), sizeof(T) == 8 ? ElementType::float64 : ElementType::float32, StorageOrder::c,
                  vector ? std::vector{rows} : std::vector{rows, columns});
    out.template write_block<T>(0, rows, 0, columns, elements.data(), rows);
    out.commit();
  }
  template <class T>
  static std::vector<T> matrix(std::int64_t n) {
    std::vector<T> a(static_cast<std::size_t>(n * n));
    linalg::GeneratedSpd<T>(n, 4).read(0, n, 0, n, a.data(), n);
    return a;
  }
  /// A system whose solution is 1, 2, 3, ...
  template <class T>
  void write_system(std::int64_t n) const {
    const auto a = matrix<T>(n);
    std::vector<T> b(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        b[static_cast<std::size_t>(i)] += a[static_cast<std::size_t>(i + j * n)] * static_cast<T>(j + 1);
    write("A.npy", static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(n), a);
    write("b.npy", static_cast<std::uint64_t>(n), 1, b, true);
  }
  Answer in_folder(const std::string& arguments) const {
    return fairlead_command(arguments + " --progress none --disk-directory '" + folder_.string() + "'",
                            kernels_kept);
  }
  Answer solve(const std::string& more = "") const {
    return in_folder("solve '" + path("A.npy") + "' '" + path("b.npy") + "' -o '" + path("x.npy") + "' " +
                     more);
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("fairlead-command-" + std::to_string(getpid()));
};

using Solve = Files;
using Bench = Files;

TEST_F(Solve, WritesTheSolutionWithTheTypeAndShapeOfTheRightHandSide) {
  write_system<double>(500);
  const Answer answer = solve("--memory 6MiB --tile 32");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("\nAccuracy        backward error "));
  const NpyFile x(path("x.npy"));
  EXPECT_EQ(x.dimensions(), 1);
  EXPECT_EQ(x.rows(), 500u);
  std::vector<double> elements(500);
  x.read_block<double>(0, 500, 0, 1, elements.data(), 500);
  for (int i = 0; i < 500; ++i) EXPECT_NEAR(elements[static_cast<std::size_t>(i)], i + 1, 1e-10);
}

// A signal while x is written leaves no x, and an old one stays; a signal after the last step has no effect.
TEST_F(Solve, IsInterruptedOrHasWrittenTheSolution) {
  using shim::FileOperation;
  write_system<double>(60);
  write("x.npy", 1, 1, std::vector<double>{7}, true);
  shim::Shim shim;
  std::string environment = kernels_kept;
  for (const std::string& one : shim.environment()) environment += " " + one;
  const auto solved = [&](const std::string& method) {
    return fairlead_command("solve '" + path("A.npy") + "' '" + path("b.npy") + "' -o '" + path("x.npy") +
                                "' --progress none --workers 1 --method " + method,
                            environment);
  };
  for (const std::string method : {"cholesky", "lu-nopivot"}) {
    if (tests::sanitized && method != "lu-nopivot") continue;  // the files are the same
    SCOPED_TRACE(method);
    ASSERT_EQ(solved(method).exit_code, 0);
    const std::uint64_t calls = shim.calls(FileOperation::any);
    int interrupted = 0, written = 0;
    // From the last file operation back to those before x is written.
    for (std::uint64_t after = calls; after-- > 0 && interrupted < 3;) {
      SCOPED_TRACE(after);
      write("x.npy", 1, 1, std::vector<double>{7}, true);
      shim.reset();
      shim.plan().operation = FileOperation::any;
      shim.plan().effect = shim::Effect::signal_before;
      shim.plan().number = SIGTERM;
      shim.plan().after = after;
      shim.plan().times = 1;
      const Answer answer = solved(method);
      const bool says_so = answer.text.find("terminated (SIGTERM)") != std::string::npos;
      EXPECT_TRUE(!says_so || answer.exit_code == 128 + SIGTERM);
      EXPECT_EQ(NpyFile(path("x.npy")).rows(), says_so ? 1u : 60u) << answer.text;
      interrupted += says_so;
      written += answer.exit_code == 0;  // neither: signals were not heeded any more
    }
    EXPECT_EQ(interrupted, 3);
    EXPECT_GE(written, 3) << "flushed, linked, renamed";
    shim.reset();
  }
}

// The short report states what was solved, its accuracy, the time and where x is; the rest on request.
TEST_F(Solve, PrintsTenLinesByDefault) {
  write_system<double>(300);
  const std::string brief = solve("--memory 6MiB --tile 64").text;
  std::istringstream lines(brief);
  int said = 0;  // long paths and advice have lines of their own, which are indented; notes are no part of it
  for (std::string line; std::getline(lines, line);)
    said += !line.starts_with(' ') && !line.starts_with("fairlead: ");
  EXPECT_LE(said, 10) << brief;
  for (const char* heading :
       {"Solved  ", "Method  ", "With  ", "Accuracy  ", "Time  ", "Speed  ", "Limited by  ", "Disk  "})
    EXPECT_THAT("\n" + brief, HasSubstr(std::string("\n") + heading));
  EXPECT_THAT(brief, HasSubstr("\nSolution        " + path("x.npy") + "\n"));
  EXPECT_THAT(solve("--report-text full").text, HasSubstr("\nWorkers  "));
  EXPECT_EQ(solve("--quiet").text, "");
  EXPECT_EQ(solve("-q --json '" + path("report.json") + "'").text, "");
  EXPECT_TRUE(std::filesystem::exists(path("report.json")));
}

// The time is the sum of its phases, the workers' tasks are all tasks, and their times the time; the bytes
// are those that were read from the file.
TEST_F(Solve, ItsFiguresAddUp) {
  write_system<double>(500);
  for (const std::string how : {"", "--refine ", "--memory 6MiB --tile 32 ", "--scheduler lws "}) {
    const Answer answer = solve(how + "--json '" + path("report.json") + "'");
    ASSERT_EQ(answer.exit_code, 0) << answer.text;
    std::ifstream file(path("report.json"));
    const auto report = nlohmann::json::parse(file);
    double seconds = 0;
    for (const auto& phase : report.at("phases"))
      if (phase.at("counted")) seconds += phase.at("seconds").get<double>();
    EXPECT_NEAR(seconds, report.at("seconds").get<double>(), 1e-9) << how;
    std::uint64_t tasks = 0;
    for (const auto& worker : report.at("worker_times")) {
      tasks += worker.at("tasks").get<std::uint64_t>();
      const double all = worker.at("busy_seconds").get<double>() +
                         worker.at("waiting_for_data_seconds").get<double>() +
                         worker.at("waiting_for_tasks_seconds").get<double>();
      EXPECT_GE(all, report.at("counted_seconds").get<double>() - 1e-9) << how;
    }
    EXPECT_EQ(tasks, report.at("tasks").get<std::uint64_t>()) << how;
    const auto& from_file = report.at("links").back();
    ASSERT_EQ(from_file.at("name"), "A.npy");
    const auto bytes = from_file.at("from_home").at("demand").at("bytes").get<std::uint64_t>();
    EXPECT_EQ(bytes, report.at("input_bytes_read"));
    const std::uint64_t once = 500 * 500 * 8;
    EXPECT_EQ(report.at("input_bytes"), once);
    EXPECT_GE(bytes, once) << how;
    // Steps of refinement read what stays in memory.
    if (how == "--refine ") {
      EXPECT_EQ(bytes, once);
    }
  }
}

TEST_F(Solve, ComputesInSinglePrecisionIfTheMatrixIs) {
  write_system<float>(150);
  const Answer answer = solve("--json '" + path("report.json") + "'");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("n = 150 in single precision"));
  EXPECT_EQ(NpyFile(path("x.npy")).element(), ElementType::float32);
  EXPECT_TRUE(std::filesystem::exists(path("report.json")));
}

TEST_F(Solve, NamesTheColumnAndLeavesNoOutputIfTheMatrixIsNotPositiveDefinite) {
  write_system<double>(100);
  auto a = matrix<double>(100);
  a[77 * 101] = -1;
  write("A.npy", 100, 100, a);
  const Answer answer = solve("--tile 16 --method cholesky");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(
      answer.text,
      HasSubstr("fairlead: the matrix is not positive definite: the factorization fails in column 77,"));
  EXPECT_EQ(files(), 2u);
}

TEST_F(Solve, NamesThePlaceOfANaN) {
  write_system<double>(100);
  std::vector<double> b(200, 1.0);
  b[142] = std::nan("");
  write("b.npy", 100, 2, b);
  const Answer answer = solve();
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.text,
              HasSubstr("b.npy: the element in row 42, column 1 (counted from 0) is not a number"));
  EXPECT_EQ(files(), 2u);
}

TEST_F(Solve, RefusesShapesThatDoNotMatch) {
  write_system<double>(50);
  write("b.npy", 49, 1, std::vector<double>(49), true);
  const Answer answer = solve();
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.text, HasSubstr("A.npy has the shape (50, 50) and "));
  EXPECT_THAT(answer.text, HasSubstr("b.npy the shape (49,)"));
  write("A.npy", 50, 49, std::vector<double>(50 * 49));
  EXPECT_THAT(
      solve("--method cholesky").text,
      HasSubstr(
          "A.npy has the shape (50, 49): solving needs a square matrix; for least squares: --method qr\n"));
  EXPECT_EQ(files(), 2u);
}

TEST_F(Solve, MissingOutputOrFilesAreAUsageError) {
  write_system<double>(10);
  const Answer answer = in_folder("solve '" + path("A.npy") + "' '" + path("b.npy") + "'");
  EXPECT_EQ(answer.exit_code, 2);
  EXPECT_EQ(answer.text, "fairlead: the file for the solution is missing: give -o x.npy\n");
  EXPECT_EQ(fairlead_command("solve A.npy -o x.npy").exit_code, 2);
  EXPECT_EQ(fairlead_command("solve '" + path("none.npy") + "' '" + path("b.npy") + "' -o x.npy").exit_code,
            1);
}

TEST_F(Solve, ComputesTheMatrixFromPoints) {
  // Points on a line; their kernel matrix, computed here, gives the right-hand side of a known solution.
  constexpr std::size_t n = 300;
  std::vector<double> points(n), b(n);
  for (std::size_t i = 0; i < n; ++i) points[i] = static_cast<double>(i) / 20;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double distance = points[i] - points[j];
      b[i] += (std::exp(-distance * distance / (2 * 0.25)) + (i == j ? 0.5 : 0)) * static_cast<double>(j % 7);
    }
  write("points.npy", n, 1, points, true);
  write("b.npy", n, 1, b, true);
  const Answer answer =
      in_folder("solve --kernel rbf --points '" + path("points.npy") + "' --length-scale 0.5 --nugget 0.5 '" +
                path("b.npy") + "' -o '" + path("x.npy") + "' --memory 7MiB --tile 64");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  std::vector<double> x(n);
  NpyFile(path("x.npy")).read_block<double>(0, n, 0, 1, x.data(), n);
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(x[i], static_cast<double>(i % 7), 1e-10) << i;
}

// 10 x 10 tiles of 64 x 64: 55 on and below the diagonal, of 32 KiB, all but the last row's, which have
// 24 of 64 rows. Memory for about 35 of them. Each tile is computed once, when its first update needs it, and
// then belongs to the factor; nothing else is written to the disk. A tile that is evicted between updates is
// written twice: 1.5 times the bytes must be enough.
TEST_F(Solve, StoresOnlyTheFactorOfAMatrixOfPoints) {
  constexpr std::size_t n = 600, tile_bytes = 64 * 64 * 8, border_bytes = 24 * 64 * 8,
                        corner_bytes = 24 * 24 * 8,
                        factor = 45 * tile_bytes + 9 * border_bytes + corner_bytes;
  std::vector<double> points(n), b(n, 1);
  for (std::size_t i = 0; i < n; ++i) points[i] = static_cast<double>(i) / 20;
  write("points.npy", n, 1, points, true);
  write("b.npy", n, 1, b, true);
  const auto solve = [&](const std::string& memory, const std::string& more) {
    const Answer answer = in_folder("solve --kernel rbf --points '" + path("points.npy") +
                                    "' --length-scale 0.5 --nugget 0.5 '" + path("b.npy") + "' -o '" +
                                    path("x.npy") + "' --tile 64 --workers 2 --memory " + memory +
                                    " --report-text full --json '" + path("report.json") + "'" + more);
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("Generated       55 tiles, "));
    std::ifstream file(path("report.json"));
    return nlohmann::json::parse(file);
  };
  const auto in_core = solve("64MiB", "");
  EXPECT_EQ(in_core.at("bytes_written"), 0);
  EXPECT_EQ(in_core.at("generated_bytes"), factor);
  // Of the limit, 1.1 MiB are left for tiles.
  const auto out_of_core = solve("4500KiB", "");
  EXPECT_EQ(out_of_core.at("generated_tiles"), 55);
  EXPECT_EQ(out_of_core.at("generated_bytes"), factor);
  EXPECT_GT(out_of_core.at("bytes_read"), 0);
  EXPECT_GT(out_of_core.at("bytes_written"), 0);
  EXPECT_LE(out_of_core.at("bytes_written"), factor * 3 / 2);
  EXPECT_LE(out_of_core.at("backward_error"), 1e-15);
}

// The factor has half the bytes; the error is still that of double precision.
TEST_F(Solve, RefinesASolutionFromAFactorInSinglePrecision) {
  write_system<double>(500);
  const Answer answer = solve("--refine --memory 6MiB --tile 32 --json '" + path("report.json") + "'");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr(" of refinement)"));
  EXPECT_THAT(answer.text, Not(HasSubstr("trying again")));
  std::ifstream file(path("report.json"));
  const auto report = nlohmann::json::parse(file);
  EXPECT_EQ(report.at("element"), "FP32");
  EXPECT_GE(report.at("refinement_steps"), 2);
  EXPECT_LE(report.at("backward_error"), 4.5e-16);
  std::vector<double> elements(500);
  NpyFile(path("x.npy")).read_block<double>(0, 500, 0, 1, elements.data(), 500);
  for (int i = 0; i < 500; ++i) EXPECT_NEAR(elements[static_cast<std::size_t>(i)], i + 1, 1e-10);
}

TEST_F(Solve, RefinesForAMatrixInSinglePrecisionToo) {
  write_system<float>(200);
  const Answer answer = solve("--refine --json '" + path("report.json") + "'");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  std::ifstream file(path("report.json"));
  EXPECT_LE(nlohmann::json::parse(file).at("backward_error"), 4.5e-16);
}

// Too ill-conditioned, not positive definite after rounding, or too large for single precision: solved in
// double.
TEST_F(Solve, FallsBackToDoublePrecisionIfRefinementFails) {
  constexpr std::size_t n = 200;
  std::vector<double> points(n), b(n, 1);
  for (std::size_t i = 0; i < n; ++i) points[i] = static_cast<double>(i) / 10;
  write("points.npy", n, 1, points, true);
  write("b.npy", n, 1, b, true);
  for (const auto& [nugget, reason] :
       {std::pair("3e-7", "too ill-conditioned for a factor in single"), {"3e-8", "not positive definite"}}) {
    const Answer answer =
        in_folder("solve --refine --kernel rbf --points '" + path("points.npy") +
                  "' --length-scale 0.5 --nugget " + nugget + " '" + path("b.npy") + "' -o '" +
                  path("x.npy") + "' --memory 16MiB --json '" + path("report.json") + "'");
    EXPECT_EQ(answer.exit_code, 0) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr(reason));
    EXPECT_THAT(answer.text, HasSubstr("; trying again in double precision\n"));
    EXPECT_THAT(answer.text, HasSubstr("n = 200 in double precision"));
    // The phases add up to the whole time, and the speed is that of the second attempt.
    std::ifstream file(path("report.json"));
    const auto report = nlohmann::json::parse(file);
    double all = 0, second = 0;
    int attempts = 0;
    for (const auto& phase : report.at("phases")) {
      if (!phase.at("counted")) continue;
      const std::string name = phase.at("name");
      attempts += name.starts_with("factorization");
      all += phase.at("seconds").get<double>();
      if (attempts == 2) second += phase.at("seconds").get<double>();
    }
    EXPECT_EQ(attempts, 2);
    EXPECT_NEAR(report.at("seconds").get<double>(), all, 0.01 * all);
    const double gflop = (200. * 200 * 200 / 3 + 2. * 200 * 200) * 1e-9;
    EXPECT_NEAR(report.at("gflops").get<double>() * second, gflop, 0.05 * gflop);
  }
  auto a = matrix<double>(100);
  a[0] = 1e300;
  write("A.npy", 100, 100, a);
  write("b.npy", 100, 1, std::vector<double>(100, 1), true);
  const Answer answer = solve("--refine");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("trying again in double precision"));
}

TEST_F(Solve, DoesNotFallBackIfDoublePrecisionDoesNotHelp) {
  write_system<double>(100);
  auto a = matrix<double>(100);
  a[3] += 7;
  write("A.npy", 100, 100, a);
  const Answer answer = solve("--refine --method cholesky");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.text, HasSubstr("is not symmetric"));
  EXPECT_THAT(answer.text, Not(HasSubstr("trying again")));
}

TEST_F(Solve, ReportsWhyNeitherPrecisionSolves) {
  write_system<double>(100);
  auto a = matrix<double>(100);
  a[77 * 101] = -1;
  write("A.npy", 100, 100, a);
  const Answer answer = solve("--refine --tile 16 --method cholesky");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(
      answer.text,
      HasSubstr("\nfairlead: the matrix is not positive definite: the factorization fails in column 77,"));
  EXPECT_EQ(files(), 2u);
}

TEST_F(Solve, ReportsMissingKernelOptions) {
  write("points.npy", 4, 2, std::vector<double>{0, 0, 1, 0, 0, 1, 1, std::nan("")});
  write("b.npy", 4, 1, std::vector<double>(4, 1), true);
  write("five.npy", 5, 1, std::vector<double>(5, 1), true);
  const std::string output = " -o '" + path("x.npy") + "' ", b = " '" + path("b.npy") + "' ",
                    points = " --points '" + path("points.npy") + "' ";
  const auto asked = [&](const std::string& arguments, int exit_code, const std::string& message) {
    const Answer answer = in_folder("solve" + arguments + output);
    EXPECT_EQ(answer.exit_code, exit_code) << arguments;
    EXPECT_THAT(answer.text, HasSubstr(message)) << arguments;
    EXPECT_EQ(files(), 3u);
  };
  asked(" --kernel rbf" + b, 2, "give --points points.npy");
  asked(" --kernel rdf" + points + b, 2, "rbf");
  asked(points + b, 2, "--points requires --kernel");
  asked(b, 2, "two files are needed, A.npy and b.npy; or --kernel, and b.npy alone");
  asked(" --kernel rbf" + points + b + b, 2, "give either A.npy or --kernel, not both");
  asked(" --kernel rbf --length-scale 0" + points + b, 2, "--length-scale 0");
  asked(" --kernel rbf --nugget -1" + points + b, 2, "nugget");
  asked(" --kernel rbf --points '" + path("five.npy") + "'" + b, 1, "they need the same number of rows");
  asked(" --kernel rbf" + points + b, 1,
        "points.npy: the element in row 3, column 1 (counted from 0) is not a number");
}

TEST_F(Bench, FactorsOutOfCoreAndWritesTheReport) {
  const Answer answer = in_folder("bench cholesky --n 1200 --json '" + path("report.json") + "'");
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  std::ifstream file(path("report.json"));
  const std::string json((std::istreambuf_iterator<char>(file)), {});
  for (const char* key :
       {"seconds", "gflops", "backward_error", "bytes_read", "bytes_written", "lower_bound_bytes",
        "floor_read_bytes", "floor_bytes", "peak_memory_bytes", "peak_resident_bytes", "scheduler", "tile",
        "tiles", "workers", "kernels", "tasks", "evictions", "links"})
    EXPECT_THAT(json, HasSubstr("\"" + std::string(key) + "\": "));
  EXPECT_EQ(files(), 1u);
}

TEST_F(Bench, RunsTheSmallestProblem) {
  for (const char* what : {"cholesky", "lu-nopivot", "gemm"})
    EXPECT_EQ(in_folder(std::string("bench ") + what + " --n 1").exit_code, 0) << what;
}

// The kernels are those of the algorithm, the bytes no less than the bound.
TEST_F(Bench, ReportsOnLuAndOnProductsAsOnCholesky) {
  std::size_t turn = 0;
  for (const auto& [what, kernel, precision] : {std::tuple("lu-nopivot", "getrf", "double"),
                                                {"gemm", "gemm", "double"},
                                                {"lu-nopivot", "trsm", "single"},
                                                {"gemm", "gemm", "single"}}) {
    if (tests::left_out(turn++, 3)) continue;  // of both a sanitizer sees one precision
    const Answer answer =
        in_folder(std::string("bench ") + what + " --n 1200 --digest --tile 64 --precision " + precision +
                  " --json '" + path("report.json") + "'");
    ASSERT_EQ(answer.exit_code, 0) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("of what these kernels allow"));
    std::ifstream file(path("report.json"));
    const auto report = nlohmann::json::parse(file);
    const double rounding = std::string(precision) == "double" ? 1e-16 : 1e-7;
    EXPECT_LT(report.at("backward_error"), 100 * rounding) << what;
    EXPECT_GT(report.at("backward_error"), 1e-5 * rounding) << what;
    EXPECT_GE(report.at("bytes_read"), report.at("lower_bound_bytes")) << what;
    EXPECT_GT(report.at("kernel_calls").at(kernel).at("calls"), 0) << what;
    EXPECT_GT(report.at("tile_gflops").at(kernel), 0) << what;
    EXPECT_FALSE(report.at("kernel_calls").contains("potrf")) << what;
    EXPECT_TRUE(report.contains("factor_digest")) << what;
  }
}

TEST_F(Bench, RefusesWrongOptions) {
  EXPECT_EQ(in_folder("bench eigenvalues").exit_code, 2);
  EXPECT_THAT(in_folder("bench gem").text, HasSubstr("unknown benchmark \"gem\" (did you mean gemm?)"));
  EXPECT_EQ(in_folder("bench cholesky --n 0").exit_code, 2);
  EXPECT_EQ(in_folder("bench cholesky --tile 0").exit_code, 2);
  const Answer answer = in_folder("bench cholesky --n 2000 --scheduler datrs");
  EXPECT_EQ(answer.exit_code, 2);
  EXPECT_THAT(answer.text, HasSubstr("darts"));
  EXPECT_EQ(files(), 0u);
}

// As Ctrl-C: the run ends in the middle, and no file is left.
TEST_F(Bench, EndsWhenInterruptedAndLeavesNoFile) {
  const std::string directory = folder_.string();
  std::vector<std::string> words{FAIRLEAD_COMMAND, "bench", "cholesky",         "--n",     "20000",
                                 "--progress",     "none",  "--disk-directory", directory, "--disk-bandwidth",
                                 "50MB/s"};
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  ASSERT_EQ(posix_spawn(&child, FAIRLEAD_COMMAND, nullptr, nullptr, arguments.data(), environ), 0);
  // The run has started as soon as it catches the signal.
  const auto catches = [&] {
    std::ifstream status_file("/proc/" + std::to_string(child) + "/status");
    for (std::string line; std::getline(status_file, line);)
      if (line.starts_with("SigCgt:"))
        return ((std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1)) & 1) != 0;
    return false;
  };
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!catches() && std::chrono::steady_clock::now() < give_up) sched_yield();
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace fairlead
