// The effect of the number of tasks that a thread keeps from thieves, on this machine (the experiment
// dague/placeholder simulates it without caches). Bosilca et al. 2011 (DAGuE), section III, argue for one,
// without a figure: zero would lead to excessive stealing and poor locality, and many would keep tasks from
// migrating.
//
//   lfq_placeholder [--n 2048] [--tile 64] [--threads 2] [--rounds 31] [--json]
//
// A Cholesky factorization of many small tasks, in memory, under LFQ with placeholders of 0, 1, 4 and 10^6,
// and under LWS. The policies alternate, each round starting with another one. The criterion is the median
// over rounds of the time relative to one place in the same round, with its 95 % interval: a claim whose
// limit lies within it is open.
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>
#include <fairlead/fairlead.hpp>
#include <fairlead/linalg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace fairlead;

struct Asked {
  int n = 2048, tile = 64, threads = 2, rounds = 31;
  bool json = false;
};

Asked asked_by(int argc, char** argv) {
  Asked asked;
  const std::array<std::pair<std::string_view, int*>, 4> numbers{{{"--n", &asked.n},
                                                                  {"--tile", &asked.tile},
                                                                  {"--threads", &asked.threads},
                                                                  {"--rounds", &asked.rounds}}};
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto found = std::ranges::find(numbers, option, &std::pair<std::string_view, int*>::first);
    if (option == "--json") {
      asked.json = true;
    } else if (found != numbers.end() && i + 1 < argc) {
      *found->second = std::atoi(argv[++i]);
      if (*found->second < 1) throw ConfigError(fmt::format("{} must be a number above 0", option));
    } else {
      throw ConfigError(fmt::format("{} is unknown or lacks a number", option));
    }
  }
  return asked;
}

/// A median, and its 95 % interval by order statistics.
struct Median {
  double value = 0, least = 0, most = 0;
};
Median median(std::vector<double> values) {
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  const double from = std::max(0.0, std::floor((count - 1.96 * std::sqrt(count)) / 2));
  const auto rank = static_cast<std::size_t>(from);
  return {values[values.size() / 2], values[rank], values[values.size() - 1 - rank]};
}

/// Whether the median is above the limit; open if the limit lies within the interval.
const char* verdict(const Median& it, double limit) {
  return it.least > limit ? "reproduced" : it.most <= limit ? "differs" : "open";
}

/// One policy, with its own runtime and matrix.
class Way {
 public:
  Way(const Asked& asked, const linalg::Kernels& kernels, const std::string& scheduler)
      : kernels_(kernels), runtime_(config_of(asked, scheduler)), flow_(runtime_) {
    a_.emplace(runtime_.tiled<double>("A", asked.n, asked.n, asked.tile, Tiles::lower));
  }
  /// Seconds of one factorization; the matrix is generated before.
  double seconds() {
    const auto fill = codelet("fill").cpu([](Out<Tile<double>> tile, std::int32_t row, std::int32_t column) {
      for (std::int32_t j = 0; j < tile.columns(); ++j)
        for (std::int32_t i = 0; i < tile.rows(); ++i)
          tile(i, j) = row == column && i == j ? 1e4 : 1.0 / (1 + (row + i + column + j) % 7);
    });
    for (std::int32_t j = 0; j < a_->tile_columns(); ++j)
      for (std::int32_t i = j; i < a_->tile_rows(); ++i) flow_.submit(fill((*a_)(i, j), i, j));
    flow_.wait();
    const auto begin = std::chrono::steady_clock::now();
    linalg::cholesky(flow_, kernels_, *a_);
    flow_.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  static Config config_of(const Asked& asked, const std::string& scheduler) {
    Config config;
    config.set("workers", asked.threads);
    config.set("scheduler", scheduler);
    config.set("window", 100'000);
    return config;
  }
  const linalg::Kernels kernels_;
  Runtime runtime_;
  Flow flow_;
  std::optional<TiledMatrix<double>> a_;
};

}  // namespace

int main(int argc, char** argv) try {
  const Asked asked = asked_by(argc, argv);
  const linalg::Kernels kernels = linalg::Kernels::load();
  const std::array<const char*, 5> names{"lfq:placeholder=0", "lfq:placeholder=1", "lfq:placeholder=4",
                                         "lfq:placeholder=1000000", "lws"};
  constexpr std::size_t one = 1;
  std::vector<std::unique_ptr<Way>> ways;
  for (const char* name : names) ways.push_back(std::make_unique<Way>(asked, kernels, name));
  for (const auto& way : ways) static_cast<void>(way->seconds());
  std::array<std::vector<double>, names.size()> times, ratios;
  for (int round = 0; round < asked.rounds; ++round) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round)) % ways.size();
      times[turn].push_back(ways[turn]->seconds());
    }
    for (std::size_t i = 0; i < ways.size(); ++i) ratios[i].push_back(times[i].back() / times[one].back());
  }
  if (!asked.json)
    fmt::print("Cholesky, n = {}, tile {}, {} threads, {} rounds\n  {:<26} seconds  over one place (95 %)\n",
               asked.n, asked.tile, asked.threads, asked.rounds, "");
  std::array<Median, names.size()> over;
  for (std::size_t i = 0; i < names.size(); ++i) {
    over[i] = median(ratios[i]);
    const auto& [ratio, least, most] = over[i];
    const double seconds = median(times[i]).value;
    if (asked.json)
      fmt::print(
          R"({{"scheduler": "{}", "seconds": {:.5f}, "over_one": {:.4f}, "least": {:.4f}, "most": {:.4f}}})"
          "\n",
          names[i], seconds, ratio, least, most);
    else
      fmt::print("  {:<26} {:7.4f}  {:5.3f} ({:.3f} to {:.3f})\n", names[i], seconds, ratio, least, most);
  }
  // The claims of experiments/dague/placeholder.toml.
  const char* const none = verdict(over[0], 1.03);
  const char* const all = verdict(over[3], 1);
  if (asked.json)
    fmt::print(R"({{"none_is_3_percent_worse": "{}", "all_kept_is_worse": "{}"}})"
               "\n",
               none, all);
  else
    fmt::print(
        "none leads to poor locality, one is better by 3 %: {}\na large one keeps tasks from migrating, all "
        "kept "
        "is worse: {}\n",
        none, all);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "lfq_placeholder: {}\n", error.what());
  return 2;
}
