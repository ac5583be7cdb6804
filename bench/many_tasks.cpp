// Time and memory of very many tasks: independent ones, ones that a single task releases, and Cholesky of up
// to 400 x 400 tiles (10.7 million tasks), as parameterized graphs with empty bodies.
//
//   many_tasks [--threads 1] [--repetitions 3] [--json] [independent|released|cholesky|cholesky-priorities SIZE]
//
// SIZE: tasks, or tiles per side. Without arguments, sizes of all orders of magnitude. Each graph runs in a
// separate process. Prints the peak resident memory, and its growth since all data were registered and the
// graph was built.
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fl = fairlead;
namespace ptg = fl::ptg;
using Value = std::uint64_t;

struct Case {
  std::string graph;
  std::int64_t size;
};
struct Options {
  int threads = 1, repetitions = 3;
  bool json = false;
};

/// Kibibytes of the named line of /proc/self/status.
double kibibytes(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (double value = 0; word == name && status >> value) return value;
  return 0;
}

void add_independent(ptg::Graph& graph, std::int64_t tasks) {
  const ptg::Index i("i");
  const auto nothing = fl::codelet("nothing").cpu([](std::int64_t) {});
  graph.task("each", i.in(0, tasks - 1)).runs(nothing, i);
}

void add_released(ptg::Graph& graph, std::int64_t tasks) {
  const ptg::Index i("i");
  const auto nothing = fl::codelet("nothing").cpu([](std::int64_t) {});
  auto first = graph.task("first");
  first.runs(nothing, std::int64_t{0});
  graph.task("each", i.in(1, tasks)).runs(nothing, i, ptg::control("after").from(first()));
}

void add_cholesky(ptg::Graph& graph, const std::vector<fl::Handle<Value>>& data, std::int64_t n,
                  bool priorities) {
  const ptg::Index k("k"), m("m"), j("j");
  const auto one = fl::codelet("one").cpu([](fl::InOut<Value>) {});
  const auto two = fl::codelet("two").cpu([](fl::In<Value>, fl::InOut<Value>) {});
  const auto three = fl::codelet("three").cpu([](fl::In<Value>, fl::In<Value>, fl::InOut<Value>) {});
  const auto A = graph.data<Value>("A", {n, n}, [&](const std::int64_t* at) {
    return at[1] > at[0] ? fl::Handle<Value>()
                         : data[static_cast<std::size_t>(at[0] * (at[0] + 1) / 2 + at[1])];
  });
  auto potrf = graph.task("potrf", k.in(0, n - 1));
  auto trsm = graph.task("trsm", k.in(0, n - 2), m.in(k + 1, n - 1));
  auto syrk = graph.task("syrk", k.in(0, n - 2), m.in(k + 1, n - 1));
  auto gemm = graph.task("gemm", k.in(0, n - 3), m.in(k + 2, n - 1), j.in(k + 1, m - 1));
  potrf.runs(one, ptg::flow("T").from(A(k, k)).when(k == 0).from(syrk["T"](k - 1, k)));
  trsm.runs(two, ptg::flow("T").from(potrf["T"](k)),
            ptg::flow("C").from(A(m, k)).when(k == 0).from(gemm["C"](k - 1, m, k)));
  syrk.runs(two, ptg::flow("A").from(trsm["C"](k, m)),
            ptg::flow("T").from(A(m, m)).when(k == 0).from(syrk["T"](k - 1, m)));
  gemm.runs(three, ptg::flow("A").from(trsm["C"](k, m)), ptg::flow("B").from(trsm["C"](k, j)),
            ptg::flow("C").from(A(m, j)).when(k == 0).from(gemm["C"](k - 1, m, j)));
  if (!priorities) return;
  // The longest path to the end, in steps.
  potrf.priority(3 * (n - k));
  trsm.priority(3 * (n - m) + 2);
  syrk.priority(3 * (n - m) + 1);
  gemm.priority(3 * (n - m) + 1);
}

void measure(const Case& with, const Options& options) {
  using Clock = std::chrono::steady_clock;
  fl::Config config;
  config.set("workers", options.threads);
  config.set("memory", "64MiB");
  config.set("scheduler", "lws");
  fl::Runtime runtime(config);
  const bool cholesky = with.graph.starts_with("cholesky");
  std::vector<Value> values(cholesky ? static_cast<std::size_t>(with.size * (with.size + 1) / 2) : 0);
  std::vector<fl::Handle<Value>> data;
  for (Value& value : values) data.push_back(runtime.value("value", value));
  ptg::Graph graph(runtime);
  if (with.graph == "independent")
    add_independent(graph, with.size);
  else if (with.graph == "released")
    add_released(graph, with.size);
  else
    add_cholesky(graph, data, with.size, with.graph != "cholesky");
  const auto tasks = static_cast<double>(graph.tasks());
  const double before = kibibytes("VmRSS:");
  std::vector<double> times;
  for (int i = 0; i < options.repetitions; ++i) {
    const auto begin = Clock::now();
    graph.run();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  std::ranges::sort(times);
  const double most = kibibytes("VmHWM:");
  if (options.json) {
    for (double& time : times) time /= tasks;
    fmt::print(
        R"({{"graph": "{}", "size": {}, "tasks": {}, "ns_per_task": [{:.1f}], "resident_mib": {:.1f}, "growth_mib": {:.1f}}})"
        "\n",
        with.graph, with.size, graph.tasks(), fmt::join(times, ", "), most / 1024, (most - before) / 1024);
    return;
  }
  fmt::print("{:>20} {:>9} {:>9} {:>12.1f} ({:.1f}-{:.1f}) {:>12.1f} {:>12.1f}\n", with.graph, with.size,
             graph.tasks(), times[times.size() / 2] / tasks, times.front() / tasks, times.back() / tasks,
             most / 1024, (most - before) / 1024);
}

/// Runs in a new process, without the memory of earlier graphs.
bool measure_apart(const Case& with, const Options& options) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    measure(with, options);
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* graph : {"independent", "released"})
    for (const int power : {10, 14, 17, 20, 24}) cases.push_back({graph, std::int64_t{1} << power});
  for (const char* graph : {"cholesky", "cholesky-priorities"})
    for (const int tiles : {40, 80, 100, 400}) cases.push_back({graph, tiles});
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<Case> cases;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view word = argv[i];
    if (word == "--json") {
      options.json = true;
      --i;
      continue;
    }
    const bool known =
        word == "independent" || word == "released" || word == "cholesky" || word == "cholesky-priorities";
    const long number = i + 1 < argc ? std::atol(argv[i + 1]) : 0;
    if ((!known && word != "--threads" && word != "--repetitions") || number <= 0) {
      fmt::print(stderr, "many_tasks: unknown or incomplete: {}\n", word);
      return 2;
    }
    if (known)
      cases.push_back({std::string(word), number});
    else
      (word == "--threads" ? options.threads : options.repetitions) = static_cast<int>(number);
  }
  if (cases.empty()) cases = all_cases();
  if (!options.json) {
    fmt::print("{} threads; nanoseconds per task: median (least-most) of {}; resident: MiB\n",
               options.threads, options.repetitions);
    fmt::print("{:>20} {:>9} {:>9} {:>26} {:>12} {:>12}\n", "graph", "size", "tasks", "ns per task",
               "resident", "growth");
  }
  bool right = true;
  for (const Case& with : cases) right &= measure_apart(with, options);
  return right ? 0 : 1;
}
