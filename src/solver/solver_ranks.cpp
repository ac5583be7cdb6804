// See solver_ranks.hpp.
#include "solver/solver_ranks.hpp"

#include <fairlead/distribution.hpp>
#include <fairlead/error.hpp>
#include <fairlead/gather.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/scalar.hpp"
#include "base/shared_file.hpp"
#include "data/matrix/stored_matrix.hpp"
#include "machine/machine.hpp"
#include "net/network.hpp"

namespace fairlead::solver {

std::vector<double> gather_in_own_run(const Config& config, const Rank& rank, std::span<const double> own,
                                      const std::function<void(Runtime&)>& more) {
  Config small;  // a run without records
  for (const std::string_view key : {"rank-timeout", "disk-directory", "workers", "bind-threads"})
    if (config.has(key)) small.set(key, config.written(key));
  small.set("memory", Bytes{16} << 20);
  small.set("scheduler", "eager");
  Runtime runtime(small, rank);
  std::vector<double> all = fairlead::gather(runtime, own);
  if (more) more(runtime);
  return all;
}

void give_up_rank(const Rank& rank, const std::function<std::string()>& why) noexcept {
  try {
    rank.give_up(why());
  } catch (...) {
    try {
      rank.give_up("no memory");  // without an allocation
    } catch (...) {
      // They detect the end of this process.
    }
  }
}

SolverRanks::SolverRanks(std::function<Rank()> join, Config config)
    : join_(std::move(join)), config_(std::move(config)), count_(joined().count()) {}

const Rank& SolverRanks::joined() {
  if (!unused_) unused_ = join_();
  return *unused_;
}

GridRank SolverRanks::next_place() {
  joined();
  return {.rank = *std::exchange(unused_, std::nullopt),
          .grid = Distribution::grid_of(count_),
          .readers = count_};
}

Config SolverRanks::settings_of_run(Config config) {
  for (const std::string_view option : {"checkpoint", "event-log", "record-flow"})
    if (config.has(option))
      throw ConfigError(fmt::format("the setting {} does not work over several ranks", option));
  const machine::Machine machine = machine::discover();
  const Rank& rank = joined();
  if (!config.has("memory"))
    config.set("memory", machine.memory.usable_bytes() / rank.network->sharing().ranks);
  // Processes are bound to their processors, so these are their own.
  const std::uint32_t here = rank.in_process() ? count_ : 1;
  if (!config.has("workers")) config.set("workers", std::uint64_t{std::max(1U, machine.workers / here)});
  return config;
}

namespace {

/// Of the elements of some rows, in the leading columns.
std::uint64_t digest_of(const data::StoredMatrix& matrix, std::uint64_t rows, std::uint64_t columns) {
  return with_scalar(matrix.element(), [&]<class T>() {
    constexpr std::uint64_t rows_at_once = 8192;
    std::vector<T> block(std::min(rows, rows_at_once));
    std::uint64_t digest = 0;
    for (std::uint64_t column = 0; column < columns; ++column)
      for (std::uint64_t row = 0; row < rows; row += rows_at_once) {
        const std::uint64_t count = std::min(rows - row, rows_at_once);
        matrix.read_block(row, count, column, 1, block.data(), count);
        digest = text_hash(fmt::format("{} {}", digest,
                                       text_hash({reinterpret_cast<const char*>(block.data()),
                                                  static_cast<std::size_t>(count) * sizeof(T)})));
      }
    return digest;
  });
}

/// Exact as a double.
double number_of(std::uint64_t digest) noexcept {
  constexpr int kept_bits = 52;
  return static_cast<double>(digest >> (64 - kept_bits));
}

}  // namespace

SystemDigests digests_of(const LinearSystem& system, const SolveOptions& options) {
  constexpr std::uint64_t sampled_rows = 64;
  const std::string shape = fmt::format(
      "{}x{} {} {} {} {} {} {} {} {}", system.rows(), system.unknowns(), system.right_hand_sides(),
      static_cast<int>(system.a->element()), static_cast<int>(system.stored), options.method->key,
      static_cast<int>(options.factor), options.condition, options.rank_tolerance.value_or(-1),
      options.required_digits.value_or(0));
  return {number_of(text_hash(shape)),
          number_of(digest_of(*system.a, std::min(system.a->rows(), sampled_rows), 1)),
          number_of(digest_of(*system.b, system.b->rows(), system.b->columns()))};
}

void SolverRanks::require_same(const SystemDigests& own) {
  constexpr std::array<const char*, std::tuple_size_v<SystemDigests>> different = {
      "solve different systems: all ranks must pass matrices and right-hand sides of the same shape and "
      "type, "
      "and the same options",
      "have different matrices: all ranks must pass the same system",
      "have different right-hand sides: all ranks must pass the same system"};
  const std::vector<double> all = gather(own);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != all[i % own.size()])
      throw UsageError(fmt::format("ranks 0 and {} {}", i / own.size(), different[i % own.size()]));
}

void SolverRanks::give_up(const std::exception& why) noexcept {
  try {
    give_up_rank(next_place().rank, [&] { return std::string(why.what()); });
  } catch (...) {
    // The others cannot be joined either.
  }
}

std::vector<double> SolverRanks::gather(std::span<const double> own) {
  return gather_in_own_run(config_, next_place().rank, own);
}

}  // namespace fairlead::solver
