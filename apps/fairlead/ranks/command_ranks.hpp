// The ranks that a command computes on: this process alone, those that mpirun has started, or threads of this
// one.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/cyclic_map.hpp>
#include <fairlead/error.hpp>
#include <fairlead/ranks.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fairlead/subcommand.hpp"
#include "solver/grid_rank.hpp"

namespace fairlead::app {

using solver::GridRank;

inline constexpr std::array rank_options{
    Setting{.key = "ranks",
            .type = SettingType::count,
            .minimum = "1",
            .maximum = "1024",
            .help = "number of ranks, as threads of this process, each with its own --memory and --workers: "
                    "to try out what mpirun -n does with processes",
            .default_shown = "1, or the number that mpirun started",
            .advanced = true},
    Setting{.key = "grid",
            .type = SettingType::text,
            .value_name = "PxQ",
            .help = "distribution of tiles: cyclic over P rows and Q columns of ranks",
            .default_shown = "the squarest grid with P <= Q; for ldlt one column",
            .advanced = true}};

class CommandRanks {
 public:
  /// Joins the other ranks, if any. Throws ConfigError for a grid of another size, and SystemError if the MPI
  /// that started this process is missing.
  explicit CommandRanks(const Config& config);
  CommandRanks(const CommandRanks&) = delete;
  CommandRanks& operator=(const CommandRanks&) = delete;
  /// Notifies the other ranks if these ranks never ran.
  ~CommandRanks();
  /// Sends the error to the other ranks. No effect if these ranks have run.
  void give_up(const std::exception& error) const noexcept;

  std::uint32_t count() const noexcept { return count_; }
  bool alone() const noexcept { return count_ == 1; }
  /// This process has rank 0, which prints all messages.
  bool first() const noexcept { return own_.front().number() == 0; }
  const CyclicMap& grid() const noexcept { return grid_; }
  /// The share of each rank of this process of that many cores.
  std::size_t part_of(std::size_t cores) const noexcept {
    return cores < own_.size() ? 1 : cores / own_.size();
  }
  /// Ranks that share the memory of this machine.
  std::uint32_t on_machine() const noexcept { return on_machine_; }
  /// Calls `body` once for each rank of this process. Throws the error of one of them after all have
  /// finished.
  void run(const std::function<void(const GridRank&)>& body) const;
  /// As run(); returns the result of the first rank of this process.
  template <class Body>
  auto results(const Body& body) const {
    std::optional<decltype(body(GridRank()))> first;
    run([&](const GridRank& place) {
      auto own = body(place);
      if (place.rank.number() == own_.front().number()) first = std::move(own);
    });
    return *std::move(first);
  }
  /// Joins the ranks again, after a run.
  void renew();
  /// Sets how many ranks read input files; by default all.
  void set_readers(std::uint32_t ranks) noexcept { readers_ = ranks; }
  /// Gathers the values of all processes before a run, in the order of ranks. All processes call it; `more`
  /// runs on the temporary runtime. Throws as Runtime, and RankError if a process fails.
  std::vector<double> gather_from_processes(const Config& config, std::span<const double> own,
                                            const std::function<void(Runtime&)>& more = {});
  /// Runs `body` on all processes before a run; returns the result of each. If it fails on one, all throw;
  /// the first alone prints a text that all share.
  std::vector<double> together(const Config& config, const std::function<double()>& body);

 private:
  void join();

  const std::uint32_t wanted_;
  std::vector<Rank> own_;
  std::uint32_t count_ = 1, on_machine_ = 1, readers_ = 1;
  CyclicMap grid_;
  bool grid_is_given_ = false;
};

/// Runs a command on the ranks of this process; errors before the run are sent to the other ranks.
int on_ranks(const Config& config, const std::function<int(CommandRanks&)>& command);

/// The text of an error for other ranks. They end with the same status: a launcher may combine the exit
/// statuses of all by "or", and `failure` with `usage` would mean a wrong result.
std::string message_to_ranks(const std::exception& error);
ExitCode status_of_remote_error(const RankError& error) noexcept;

/// Throws ConfigError for options that work with one rank only.
void require_over_ranks(const Config& config);

}  // namespace fairlead::app
