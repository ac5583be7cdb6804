// All of it at once, and whatever comes of it.
#include "base/tell.hpp"

#include <cstdio>
#include <new>
#include <string>

#include "base/printable.hpp"

namespace fairlead {

void tell(std::string_view text) noexcept {
  try {
    const std::string shown = printable(text);
    [[maybe_unused]] const auto written = std::fwrite(shown.data(), 1, shown.size(), stderr);
    std::fflush(stderr);
  } catch (const std::bad_alloc&) {
    // Without memory for the words there are none.
  }
}

}  // namespace fairlead
