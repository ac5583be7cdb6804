// Where a test does not care how much memory there is. Half of the machine's, which a runtime takes by itself, is made ready
// in the background for seconds where a sanitizer watches.
#pragma once
#include <fairlead/config.hpp>

namespace fairlead::tests {

inline Config in_little_memory() {
  Config config;
  config.set("memory", "16MiB");
  return config;
}

}  // namespace fairlead::tests
