// What ranks do that are threads of a test, each with a runtime of its own.
#pragma once
#include <fairlead/ranks.hpp>
#include <fairlead/runtime.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace fairlead::tests {

/// What each throws, as text. `config_of(i)`: the settings of the i-th.
inline std::vector<std::string> on_ranks(std::uint32_t count,
                                         const std::function<Config(std::uint32_t)>& config_of,
                                         const std::function<void(Runtime&)>& rank) {
  std::vector<std::string> thrown(count);
  const std::vector<Rank> places = ranks_in_process(count);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      try {
        Runtime runtime(config_of(i), places[i]);
        rank(runtime);
      } catch (const std::exception& error) {
        thrown[i] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

}  // namespace fairlead::tests
