// See command_ranks.hpp.
#include "fairlead/command_ranks.hpp"

#include <fairlead/distribution.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <exception>
#include <string>
#include <string_view>
#include <thread>

#include "fairlead/subcommand.hpp"
#include "machine/machine.hpp"
#include "net/network.hpp"

namespace fairlead::app {

namespace {

CyclicMap grid_in(const Config& config, std::uint32_t ranks) {
  if (!config.has("grid")) return Distribution::grid_of(ranks);
  const std::string& text = config.text("grid");
  const char* const end = text.data() + text.size();
  std::int32_t rows = 0, columns = 0;
  const auto first = std::from_chars(text.data(), end, rows);
  const bool parted = first.ec == std::errc{} && first.ptr != end && *first.ptr == 'x';
  const auto second = parted ? std::from_chars(first.ptr + 1, end, columns) : first;
  if (!parted || second.ec != std::errc{} || second.ptr != end || rows < 1 || columns < 1)
    throw ConfigError(fmt::format("--grid {}: say the rows and columns of ranks, such as 2x3", text));
  if (static_cast<std::int64_t>(rows) * columns != ranks)
    throw ConfigError(fmt::format("--grid {} is for {} ranks; there {} {}", text,
                                  static_cast<std::int64_t>(rows) * columns, ranks == 1 ? "is" : "are",
                                  ranks));
  return {.rank_rows = rows, .rank_columns = columns};
}

}  // namespace

CommandRanks::CommandRanks(const Config& config) {
  const Rank launched = launched_rank();
  if (launched.count() > 1 && config.has("ranks") && config.count("ranks") != launched.count())
    throw ConfigError(fmt::format(
        "--ranks {}: mpirun has started {} of them, and --ranks makes threads of one process: leave it "
        "out",
        config.count("ranks"), launched.count()));
  const auto wanted = static_cast<std::uint32_t>(config.count_or("ranks", 1));
  own_ = launched.count() > 1 || wanted == 1 ? std::vector<Rank>{launched} : ranks_in_process(wanted);
  count_ = own_.front().count();
  if (own_.front().network != nullptr) on_machine_ = own_.front().network->sharing().ranks;
  grid_ = grid_in(config, count_);
}

CommandRanks::~CommandRanks() {
  try {
    for (const Rank& rank : own_) rank.give_up("it could not begin");
  } catch (const Error&) {
    // They see that it has ended.
  }
}

void set_workers_of_ranks(Config& config, const CommandRanks& ranks) {
  if (!config.has("workers"))
    config.set("workers", static_cast<std::uint64_t>(ranks.part_of(machine::discover().workers)));
}

void CommandRanks::run(const std::function<void(const Rank&)>& body) const {
  std::vector<std::exception_ptr> thrown(own_.size());
  const auto run_one = [&](std::size_t i) {
    try {
      body(own_[i]);
    } catch (const std::exception& error) {
      thrown[i] = std::current_exception();
      own_[i].give_up(error.what());
    } catch (const Interrupted&) {
      thrown[i] = std::current_exception();
      own_[i].give_up("it was interrupted");
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < own_.size(); ++i) others.emplace_back(run_one, i);
  run_one(0);
  for (std::thread& other : others) other.join();
  std::exception_ptr heard;  // from another rank
  for (const std::exception_ptr& it : thrown) try {
      if (it != nullptr) std::rethrow_exception(it);
    } catch (const RankError&) {
      if (heard == nullptr) heard = it;
    }
  if (heard != nullptr) std::rethrow_exception(heard);
}

}  // namespace fairlead::app
