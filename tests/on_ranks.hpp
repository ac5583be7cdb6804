// What ranks do that are threads of a test, each with a runtime of its own. Where mpirun has started the test program, they
// are its processes instead: each does what one of them does, and tests of other numbers of ranks do nothing.
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

/// What each throws, as text; of processes this one knows its own. `config_of(i)`: the settings of the i-th. `thrown_by(i)`:
/// it has thrown. The others are told if it has no runtime, for which they would wait.
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
