// Messages on the standard error stream. Errors are ignored: a closed stream, a full disk or a pipe without a reader
// does not end the program.
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace fairlead {

/// Writes the text, with control characters escaped.
void log_message(std::string_view text) noexcept;
/// Writes the same text at most once per process, whichever runtimes or ranks report it.
void log_once(std::string_view text) noexcept;

template <class... Values>
requires(sizeof...(Values) > 0) void log_message(fmt::format_string<Values...> text,
                                                 Values&&... values) noexcept {
  try {
    log_message(std::string_view(fmt::format(text, std::forward<Values>(values)...)));
  } catch (...) {
    // Out of memory: the message is lost.
  }
}

}  // namespace fairlead
