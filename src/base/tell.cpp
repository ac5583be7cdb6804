// All of it at once, and whatever comes of it.
#include "base/tell.hpp"

#include <cstdio>

namespace fairlead {

void tell(std::string_view text) noexcept {
  [[maybe_unused]] const auto written = std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace fairlead
