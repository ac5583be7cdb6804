// The ranks that a command computes on: this process alone, those that mpirun has started, or threads of this one.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/cyclic_map.hpp>
#include <fairlead/ranks.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace fairlead::app {

inline constexpr std::array rank_options{
    Setting{.key = "ranks",
            .type = SettingType::count,
            .minimum = "1",
            .maximum = "1024",
            .help = "compute as so many ranks, each with --memory and --workers of its own, which are "
                    "threads of this "
                    "process: to try out what mpirun -n does with processes",
            .default_shown = "1, or as many as mpirun has started"},
    Setting{.key = "grid",
            .type = SettingType::text,
            .value_name = "PxQ",
            .help = "how tiles are dealt out to ranks: cyclic over P rows and Q columns of them",
            .default_shown = "the squarest with P <= Q"}};

class CommandRanks {
 public:
  /// Joins the others, if there are some. Throws ConfigError for a grid of another size, and SystemError where the MPI
  /// that has started this process is not there.
  explicit CommandRanks(const Config& config);
  CommandRanks(const CommandRanks&) = delete;
  CommandRanks& operator=(const CommandRanks&) = delete;
  /// The others hear of ranks that did not come to run anything.
  ~CommandRanks();

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
  /// On each rank of this process. Throws what one of them has thrown, when all have ended.
  void run(const std::function<void(const Rank&)>& body) const;

 private:
  std::vector<Rank> own_;
  std::uint32_t count_ = 1, on_machine_ = 1;
  CyclicMap grid_;
};

/// Each rank's workers, where the settings leave it open.
void set_workers_of_ranks(Config& config, const CommandRanks& ranks);

}  // namespace fairlead::app
