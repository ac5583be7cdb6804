// The ranks that a command computes on: this process alone, those that mpirun has started, or threads of this one.
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

#include "fairlead/place.hpp"
#include "fairlead/subcommand.hpp"

namespace fairlead::app {

inline constexpr std::array rank_options{
    Setting{.key = "ranks",
            .type = SettingType::count,
            .minimum = "1",
            .maximum = "1024",
            .help = "number of ranks, as threads of this process, each with its own --memory and --workers: "
                    "to try out what mpirun -n does with processes",
            .default_shown = "1, or the number that mpirun started"},
    Setting{.key = "grid",
            .type = SettingType::text,
            .value_name = "PxQ",
            .help = "distribution of tiles: cyclic over P rows and Q columns of ranks",
            .default_shown = "the squarest grid with P <= Q"}};

class CommandRanks {
 public:
  /// Joins the others, if there are some. Throws ConfigError for a grid of another size, and SystemError where the MPI
  /// that has started this process is not there.
  explicit CommandRanks(const Config& config);
  CommandRanks(const CommandRanks&) = delete;
  CommandRanks& operator=(const CommandRanks&) = delete;
  /// The others hear of ranks that did not come to run anything; why, if that was said.
  ~CommandRanks();
  /// They hear this. Nothing if these ranks have run.
  void give_up(const std::exception& error) const noexcept;

  std::uint32_t count() const noexcept { return count_; }
  bool alone() const noexcept { return count_ == 1; }
  /// This process has rank 0, and says what there is to say.
  bool first() const noexcept { return own_.front().number() == 0; }
  const CyclicMap& grid() const noexcept { return grid_; }
  /// Of so many cores of this process, each of its ranks' part.
  std::size_t part_of(std::size_t cores) const noexcept {
    return cores < own_.size() ? 1 : cores / own_.size();
  }
  /// Ranks that share the memory of this machine.
  std::uint32_t on_machine() const noexcept { return on_machine_; }
  /// On each rank of this process, once. Throws what one of them has thrown, when all have ended.
  void run(const std::function<void(const Place&)>& body) const;
  /// The same of bodies that return something: what the first of them does.
  template <class Body>
  auto results(const Body& body) const {
    std::optional<decltype(body(Place()))> first;
    run([&](const Place& place) {
      auto own = body(place);
      if (place.rank.number() == own_.front().number()) first = std::move(own);
    });
    return *std::move(first);
  }
  /// Once more: what has run is over.
  void renew();
  /// Of files that are given, so many ranks read; unless somebody says otherwise, all.
  void set_readers(std::uint32_t ranks) noexcept { readers_ = ranks; }
  /// What each process has to tell, one after the other, before there is a run. All call it; `more` also does something with
  /// the others meanwhile. Throws as Runtime, and RankError if one of them will not come.
  std::vector<double> told_by_processes(const Config& config, std::span<const double> own,
                                        const std::function<void(Runtime&)>& more = {});
  /// What all processes do before there is a run. If it fails on one, all throw: the same text is said by the first
  /// alone. Else what it has returned on each.
  std::vector<double> together(const Config& config, const std::function<double()>& body);

 private:
  void join();

  const std::uint32_t wanted_;
  std::vector<Rank> own_;
  std::uint32_t count_ = 1, on_machine_ = 1, readers_ = 1;
  CyclicMap grid_;
};

/// What a command does on the ranks that it was started on; of what is thrown before they run, the others hear.
int on_ranks(const Config& config, const std::function<int(CommandRanks&)>& command);

/// As it is told to other ranks. They end as this one does: a launcher may join the exit statuses of all by "or", and
/// `failure` and `usage` would say that a result is wrong.
std::string told_of(const std::exception& error);
ExitCode status_of_heard(const RankError& error) noexcept;

/// Throws ConfigError for what goes with one rank only.
void require_over_ranks(const Config& config);

/// Each rank's workers, where the settings leave it open.
void set_workers_of_ranks(Config& config, const CommandRanks& ranks);

}  // namespace fairlead::app
