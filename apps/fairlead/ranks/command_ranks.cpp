// See command_ranks.hpp.
#include "fairlead/ranks/command_ranks.hpp"

#include <fairlead/distribution.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "base/guarded_thread.hpp"
#include "base/shared_file.hpp"
#include "net/network.hpp"
#include "simulate/cluster/blueprint.hpp"
#include "solver/solver_ranks.hpp"

namespace fairlead::app {

namespace {

constexpr std::string_view usage_error_prefix = "usage error: ";
// Prefixes of the texts of SingularError: only the text of another rank's error arrives.
constexpr std::string_view singular[] = {"the matrix is singular",
                                         "the columns of the matrix are not independent"};

CyclicMap grid_of_ranks(const Config& config, std::uint32_t ranks) {
  if (!config.has("grid")) return Distribution::grid_of(ranks);
  const std::string& text = config.text("grid");
  const auto grid = simulate::grid_in(text);
  if (!grid) throw ConfigError(fmt::format("--grid {}: give rows and columns of ranks, such as 2x3", text));
  const std::int64_t of = static_cast<std::int64_t>(grid->rank_rows) * grid->rank_columns;
  if (of != ranks)
    throw ConfigError(
        fmt::format("--grid {} is for {} ranks; there {} {}", text, of, ranks == 1 ? "is" : "are", ranks));
  return *grid;
}

}  // namespace

CommandRanks::CommandRanks(const Config& config)
    : wanted_(static_cast<std::uint32_t>(config.count_or("ranks", 1))) {
  join();
  if (wanted_ != count_ && config.has("ranks"))
    throw ConfigError(fmt::format(
        "--ranks {}: mpirun started {} ranks, and --ranks starts threads of one process: leave it out",
        wanted_, count_));
  readers_ = count_;
  grid_ = grid_of_ranks(config, count_);
  grid_is_given_ = config.has("grid");
  if (!alone()) require_over_ranks(config);
}

void CommandRanks::join() {
  const Rank launched = launched_rank();
  own_ = launched.count() > 1 || wanted_ == 1 ? std::vector<Rank>{launched} : ranks_in_process(wanted_);
  count_ = own_.front().count();
  if (own_.front().network != nullptr) on_machine_ = own_.front().network->sharing().ranks;
}

void CommandRanks::renew() { join(); }

std::vector<double> CommandRanks::gather_from_processes(const Config& config, std::span<const double> own,
                                                        const std::function<void(Runtime&)>& more) {
  if (alone() || own_.size() > 1) return {own.begin(), own.end()};
  std::vector<double> all = solver::gather_in_own_run(config, own_.front(), own, more);
  renew();
  return all;
}

std::vector<double> CommandRanks::together(const Config& config, const std::function<double()>& body) {
  struct Field {
    enum : std::size_t { wrong, value, numbers };
  };
  double own[Field::numbers] = {};
  std::exception_ptr why;
  try {
    own[Field::value] = body();
  } catch (const std::exception& error) {
    why = std::current_exception();
    own[Field::wrong] = 1 + static_cast<double>(text_hash(error.what()) >> 16);
  }
  const std::vector<double> all = gather_from_processes(config, own);
  const double of_first = all[Field::wrong];
  if (why != nullptr) try {
      std::rethrow_exception(why);
    } catch (const ConfigError& error) {
      if (first() || own[Field::wrong] == of_first) throw;
      throw InputError(error.what());  // the first rank has another error or none
    } catch (const std::exception& error) {
      if (first() || own[Field::wrong] != of_first) throw;
      throw RankError(error.what());
    }
  std::vector<double> values;
  for (std::size_t r = 0; r < all.size() / Field::numbers; ++r) {
    if (all[r * Field::numbers + Field::wrong] != 0)
      throw RankError(fmt::format("rank {} could not start", r));
    values.push_back(all[r * Field::numbers + Field::value]);
  }
  return values;
}

void require_over_ranks(const Config& config) {
  for (const std::string_view option : {"event-log", "record-flow"})
    if (config.has(option))
      throw ConfigError(fmt::format("--{} records one rank and does not work with several", option));
}

std::string message_to_ranks(const std::exception& error) {
  const bool by_asking = dynamic_cast<const ConfigError*>(&error) != nullptr;
  return std::string(by_asking ? usage_error_prefix : "") + error.what();
}

ExitCode status_of_remote_error(const RankError& error) noexcept {
  const auto has = [what = std::string_view(error.what())](std::string_view text) {
    return what.find(text) != std::string_view::npos;
  };
  return has(usage_error_prefix) ? usage : std::ranges::any_of(singular, has) ? wrong_result : failure;
}

CommandRanks::~CommandRanks() {
  for (const Rank& rank : own_) solver::give_up_rank(rank, [] { return "it could not start"; });
}

void CommandRanks::give_up(const std::exception& error) const noexcept {
  for (const Rank& rank : own_) solver::give_up_rank(rank, [&] { return message_to_ranks(error); });
}

int on_ranks(const Config& config, const std::function<int(CommandRanks&)>& command) {
  CommandRanks ranks(config);
  try {
    return command(ranks);
  } catch (const std::exception& error) {
    ranks.give_up(error);
    throw;
  }
}

void CommandRanks::run(const std::function<void(const GridRank&)>& body) const {
  std::vector<std::exception_ptr> thrown(own_.size());
  const auto run_one = [&](std::size_t i) {
    try {
      body({own_[i], grid_, readers_, grid_is_given_});
    } catch (const std::exception& error) {
      thrown[i] = std::current_exception();
      solver::give_up_rank(own_[i], [&] { return message_to_ranks(error); });
    } catch (const Interrupted&) {
      thrown[i] = std::current_exception();
      solver::give_up_rank(own_[i], [] { return "it was interrupted"; });
    }
  };
  {
    JoinedThreads others;
    try {
      for (std::size_t i = 1; i < own_.size(); ++i)
        others.start([&, i] { run_one(i); }, [&, i](std::exception_ptr why) { thrown[i] = std::move(why); });
      run_one(0);
    } catch (const std::exception& error) {  // no thread, or no memory: notify the ranks that run
      thrown[0] = std::current_exception();
      give_up(error);
    }
  }
  std::exception_ptr remote;  // from another rank
  for (const std::exception_ptr& it : thrown) try {
      if (it != nullptr) std::rethrow_exception(it);
    } catch (const RankError&) {
      if (remote == nullptr) remote = it;
    }
  if (remote != nullptr) std::rethrow_exception(remote);
}

}  // namespace fairlead::app
