// A word to whoever runs the program, on the standard error stream. Nobody may be listening: that it was
// closed, is a file on a full disk or a pipe that nobody reads ends nothing.
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace fairlead {

void tell(std::string_view text) noexcept;

template <class... Values>
requires(sizeof...(Values) > 0) void tell(fmt::format_string<Values...> text, Values&&... values) noexcept {
  try {
    tell(std::string_view(fmt::format(text, std::forward<Values>(values)...)));
  } catch (...) {
    // Without memory for the words there are none.
  }
}

}  // namespace fairlead
