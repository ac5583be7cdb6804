// No memory, in the command: of the allocations of a run one fails, or all from one on. The command must end with status 0 and
// the output of an undisturbed run, or with another status, an error and no output; never by a signal, and it never hangs. Eight
// allocations of each command are tried. With --long every one of most commands fails, in several runs at once: some 18,000 runs
// of 10 ms of processor time. Of Ranks, with three times as many, and Bench, whose runs take longer, it is one in ten.
// tests/shim/failing_allocations.cpp states which allocations are Fairlead's.
#include <gtest/gtest.h>
#include <unistd.h>
#include <fairlead/linalg.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/blas/choose_kernels.hpp"
#include "algorithms/linalg/blas/core_types.hpp"
#include "algorithms/linalg/blas/find_libraries.hpp"
#include "algorithms/linalg/blas/timing_cache.hpp"
#include "at_length.hpp"
#include "misuse/command/folder.hpp"

namespace fairlead::misuse {
namespace {

#if !defined(FAIRLEAD_ADDRESS_SANITIZED) && \
    !defined(FAIRLEAD_THREAD_SANITIZED)  // these have their own operator new

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max() / 2;

/// A command, and the file that it makes, which exists only if the command succeeds. With --long, one of `step` of its
/// allocations fails. Where two right outputs may differ as files, `reader` makes x.npy from the output.
struct Command {
  const char *name, *words, *output;
  std::uint64_t step = 1;
  const char* reader = nullptr;
};
/// The name of the test's case.
void PrintTo(const Command& command, std::ostream* out) { *out << command.name; }
constexpr Command commands[] = {
    {"Cholesky", "solve A.npy b.npy -o x.npy --tile 16 --workers 2 --progress none", "x.npy"},
    {"UnpivotedLu", "solve A.npy b.npy -o x.npy --method lu-nopivot --tile 16 --workers 2 --progress none",
     "x.npy"},
    {"Lu", "solve A.npy b.npy -o x.npy --method lu --tile 16 --workers 2 --progress none", "x.npy"},
    {"Ldlt", "solve A.npy b.npy -o x.npy --method ldlt --tile 16 --workers 2 --progress none", "x.npy"},
    {"Qr", "solve A.npy b.npy -o x.npy --method qr --tile 16 --workers 2 --progress none", "x.npy"},
    {"Refine", "solve A.npy b.npy -o x.npy --refine --tile 16 --workers 2 --progress none", "x.npy"},
    {"Ranks", "solve A.npy b.npy -o x.npy --ranks 2 --tile 16 --workers 1 --progress none", "x.npy", 10},
    {"Devices",
     "solve A.npy b.npy -o x.npy --tile 16 --workers 1 --devices emulated:memory=1MiB --progress none",
     "x.npy"},
    {"Bench", "bench cholesky --n 64 --tile 16 --workers 2 --memory 16MiB --progress none --json report.json",
     "report.json", 10},
    {"Jdf", "jdf run cholesky.jdf --matrix descA=A.npy -o descA=L.npy --tile 16 --workers 2 --progress none",
     "L.npy"},
    {"Factor", "factor A.npy -o new.factor --tile 16 --workers 2 --progress none", "new.factor", 1,
     "solve --factor new.factor b.npy -o x.npy --workers 1 --progress none"},
    {"StoredFactor", "solve --factor A.factor b.npy -o x.npy --workers 2 --progress none", "x.npy"},
};

/// A folder with a cached timing of one BLAS, so none is measured.
class Prepared : public Folder {
 public:
  Prepared() {
    std::filesystem::copy_file(JDF_EXAMPLES "/cholesky.jdf", path() / "cholesky.jdf");
    const linalg::KernelSettings settings;
    std::vector<std::string> names;
    for (const auto& found : linalg::find_blas_libraries(settings.loader)) names.push_back(found.name);
    const linalg::Kernels loaded = linalg::Kernels::load(names.at(0));
    linalg::BlasTiming timing;
    timing.candidate.library = names[0];
    timing.path = loaded.blas().path();
    timing.core_type = loaded.blas().core_type();
    timing.rates = {1, 1, 1, 1};
    linalg::TimingCache(path() / "cache", {linalg::this_processor(), settings.tile, names, ""})
        .write({{timing}, {}});
    const Answer factored =
        run("factor A.npy -o A.factor --tile 16 --workers 1 --progress none --cache-directory cache");
    if (factored.exit_code != 0) throw std::runtime_error(factored.errors);
  }

  /// What a command has made, to be compared.
  std::string output_of(const Command& command) const {
    if (command.reader == nullptr) return content(command.output);
    const Answer read = run(std::string(command.reader) + " --cache-directory cache");
    EXPECT_EQ(read.exit_code, 0) << read.errors;
    std::string made = content("x.npy");
    std::filesystem::remove(path() / "x.npy");
    return made;
  }

  Answer run_with(const Command& command, std::uint64_t first, std::uint64_t in_a_row) {
    std::filesystem::remove(path() / command.output);
    return run(
        std::string(command.words) + " --cache-directory cache",
        {"LD_PRELOAD=" FAILING_ALLOCATIONS, "HWLOC_PLUGINS_PATH=/dev/null/plugins",
         "ALLOCATIONS=" + std::to_string(first) + ":" + std::to_string(in_a_row) + ":" + counted().string()});
  }
  std::uint64_t count() const {
    std::uint64_t count = 0;
    const std::string bytes = content("counted");
    if (bytes.size() == sizeof count) std::memcpy(&count, bytes.data(), sizeof count);
    return count;
  }
  /// The files of a run, without its cache.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      all.push_back(entry.path().filename());
    std::ranges::sort(all);
    return all;
  }

 private:
  std::filesystem::path counted() const { return path() / "counted"; }
};

/// The same numbers up to the rounding of another order of sums, or another BLAS.
void expect_same_array(const std::string& got, const std::string& right, const std::string& what) {
  ASSERT_EQ(got.size(), right.size()) << what;
  constexpr std::size_t header = 128;
  ASSERT_EQ(got.substr(0, header), right.substr(0, header)) << what;
  std::vector<double> numbers((got.size() - header) / sizeof(double)), right_numbers(numbers.size());
  std::memcpy(numbers.data(), got.data() + header, numbers.size() * sizeof(double));
  std::memcpy(right_numbers.data(), right.data() + header, numbers.size() * sizeof(double));
  double largest = 0;
  for (const double number : right_numbers) largest = std::max(largest, std::abs(number));
  ASSERT_GT(largest, 0) << what;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    ASSERT_NEAR(numbers[i], right_numbers[i], 1e-13 * largest) << "number " << i << ": " << what;
}

/// Reports of the same run, whose times differ.
void expect_same_report(const std::string& got, const std::string& right, const std::string& what) {
  const auto report = nlohmann::json::parse(got, nullptr, false);
  const auto undisturbed = nlohmann::json::parse(right);
  ASSERT_TRUE(report.is_object()) << what;
  for (const char* key : {"operation", "n", "element", "tile", "tiles", "workers", "tasks", "kernel_calls"})
    EXPECT_EQ(report.value(key, nlohmann::json()), undisturbed.at(key)) << key << ": " << what;
  EXPECT_LE(report.value("backward_error", 1.0), undisturbed.at("backward_error_limit").get<double>())
      << what;
}

void expect_alike(const std::string& got, const std::string& right, const std::string& what) {
  right.starts_with('{') ? expect_same_report(got, right, what) : expect_same_array(got, right, what);
}

/// The allocations of a command, of so many, that fail in separate runs.
std::vector<std::uint64_t> points_of(const Command& command, std::uint64_t all) {
  std::vector<std::uint64_t> points;
  constexpr std::uint64_t runs = 8;
  if (tests::at_length())
    for (std::uint64_t i = 1; i <= all; i += command.step) points.push_back(i);
  else
    for (std::uint64_t i = 0; i < runs; ++i) points.push_back(all * (2 * i + 1) / (2 * runs));
  return points;
}

/// The undisturbed run.
struct Whole {
  std::uint64_t allocations = 0;
  std::string output;
  std::vector<std::string> names;
};

class FailingAllocations : public testing::TestWithParam<Command> {
 protected:
  /// True if the command has ended with an error.
  static bool fail_one(Prepared& folder, const Whole& whole, std::uint64_t point, std::uint64_t in_a_row) {
    const Command& command = GetParam();
    const Answer answer = folder.run_with(command, point, in_a_row);
    const std::string what = std::string(command.words) + "\nallocation " + std::to_string(point) + " of " +
                             std::to_string(whole.allocations) + "\n" + answer.errors;
    EXPECT_GE(answer.exit_code, 0) << "ended by a signal, after " << answer.seconds << " s: " << what;
    if (answer.exit_code == 0) {
      expect_alike(folder.output_of(command), whole.output, what);
      return false;
    }
    EXPECT_NE(answer.errors.find("fairlead"), std::string::npos) << "without a word: " << what;
    // Only the report may fail, with an error.
    const bool said = answer.errors.find("complete") != std::string::npos ||
                      answer.errors.find("all the same") != std::string::npos;
    auto expected = whole.names;
    if (!said) std::erase(expected, command.output);
    const auto names = folder.names();
    EXPECT_EQ(names, expected) << what;
    for (const auto& name : names)  // what one run leaves is no failure of the next one
      if (!std::ranges::binary_search(whole.names, name)) std::filesystem::remove_all(folder.path() / name);
    return true;
  }

  void fail_some(std::uint64_t in_a_row) {
    const Command& command = GetParam();
    Prepared first;
    const Answer undisturbed = first.run_with(command, never, 1);
    ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.errors;
    const Whole whole{first.count(), first.output_of(command), first.names()};
    ASSERT_GT(whole.allocations, 1000u) << "the allocations of the command are not counted";
    const auto points = points_of(command, whole.allocations);
    std::atomic<std::size_t> next{0};
    std::atomic<std::uint64_t> errors{0};
    const auto fail_further_ones = [&](Prepared& folder) {
      for (std::size_t i; (i = next++) < points.size();)
        errors += fail_one(folder, whole, points[i], in_a_row);
    };
    // Half of a run's time is waiting: for its threads, and for the disk.
    std::vector<std::thread> more;
    for (unsigned i = 1; tests::at_length() && i < 2 * std::thread::hardware_concurrency(); ++i)
      more.emplace_back([&] {
        Prepared folder;
        fail_further_ones(folder);
      });
    fail_further_ones(first);
    for (auto& thread : more) thread.join();
    EXPECT_GT(errors, 0u) << "no allocation has failed";
    std::printf("%s: %zu of %llu allocations failed%s, %llu of these runs ended in an error\n", command.name,
                points.size(), static_cast<unsigned long long>(whole.allocations),
                in_a_row > 1 ? " with all later ones" : "", static_cast<unsigned long long>(errors));
  }
};

INSTANTIATE_TEST_SUITE_P(Commands, FailingAllocations, testing::ValuesIn(commands),
                         [](const auto& command) { return std::string(command.param.name); });

TEST_P(FailingAllocations, Once) { fail_some(1); }
TEST_P(FailingAllocations, FromOneOn) { fail_some(never); }

#endif

}  // namespace
}  // namespace fairlead::misuse
