// The ranks of one call of linalg::Solver, which all of them make at the same time.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/ranks.hpp>
#include <fairlead/runtime.hpp>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "solver/grid_rank.hpp"
#include "solver/linear_system.hpp"

namespace fairlead::solver {

/// The numbers of all ranks, in a run of their own. Collective. `more`: called in that run. Throws as Runtime and gather().
std::vector<double> gather_in_own_run(const Config& config, const Rank& rank, std::span<const double> own,
                                      const std::function<void(Runtime&)>& more = {});

/// Sends the text of an error to the other ranks, which would wait for this one. No effect if the rank has or had a runtime.
void give_up_rank(const Rank& rank, const std::function<std::string()>& why) noexcept;

/// Of the shapes and types of a system and the options, of a part of its matrix, and of its right-hand sides.
using SystemDigests = std::array<double, 3>;
/// Reads the parts. Throws as reading does.
SystemDigests digests_of(const LinearSystem& system, const SolveOptions& options);

/// A process joins the others for each run, and all ranks run the same sequence: one that gathers numbers, then for
/// each attempt of a solve its run and another one that gathers numbers.
class SolverRanks {
 public:
  /// `join`: returns this process's place among the ranks, another one for each run. Throws as launched_rank().
  SolverRanks(std::function<Rank()> join, Config config);
  SolverRanks(const SolverRanks&) = delete;
  SolverRanks& operator=(const SolverRanks&) = delete;

  bool alone() const noexcept { return count_ == 1; }
  /// Of the next run.
  GridRank next_place();
  /// With this rank's share of the machine. Throws ConfigError for settings that do not work over ranks.
  Config settings_of_run(Config config);
  /// Throws UsageError on all ranks unless all of them solve the same system by the same method, as far as the digests
  /// show. The first run of a solve; collective.
  void require_same(const SystemDigests& own);
  /// In place of require_same(): the other ranks throw an error with this text.
  void give_up(const std::exception& why) noexcept;
  /// The numbers of all ranks, in a run of their own. Collective.
  std::vector<double> gather(std::span<const double> own);

 private:
  const Rank& joined();

  const std::function<Rank()> join_;
  const Config config_;
  std::optional<Rank> unused_;  // joined for the next run
  std::uint32_t count_;
};

}  // namespace fairlead::solver
