// Runs ranks as threads of a test, each with its own runtime. If mpirun has started the test program, its processes are the
// ranks instead: each runs one of them, and tests of other numbers of ranks do nothing.
#pragma once
#include <fairlead/ranks.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "config/builder.hpp"
#include "config/launcher.hpp"

namespace fairlead::tests {

/// Returns the text of each rank's exception; with processes, only that of this process. `config_of(i)`: the settings of
/// rank i. `thrown_by(i)`: called if rank i has thrown. A rank without a runtime notifies the others, which would wait for it.
inline std::vector<std::string> on_ranks(std::uint32_t count,
                                         const std::function<Config(std::uint32_t)>& config_of,
                                         const std::function<void(Runtime&)>& rank,
                                         const std::function<void(std::uint32_t)>& thrown_by = {}) {
  std::vector<std::string> thrown(count);
  const auto run = [&](std::uint32_t i, const Rank& place) {
    try {
      Runtime runtime(config_of(i), place);
      rank(runtime);
    } catch (const std::exception& error) {
      thrown[i] = error.what();
      if (thrown_by) thrown_by(i);
      place.give_up(thrown[i]);
    }
  };
  if (const auto launched = config::detect_launcher(config::process_environment())) {
    if (launched->ranks == count) run(launched->rank, launched_rank());
    return thrown;
  }
  const std::vector<Rank> places = ranks_in_process(count);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < count; ++i) threads.emplace_back([&, i] { run(i, places[i]); });
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

}  // namespace fairlead::tests
