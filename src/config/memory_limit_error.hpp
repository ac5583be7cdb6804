// The memory limit is too small for the computation, as an error of its own: other languages have one for memory.
#pragma once
#include <fairlead/error.hpp>

namespace fairlead::config {

class MemoryLimitError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

}  // namespace fairlead::config
