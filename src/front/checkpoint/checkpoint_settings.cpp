// See checkpoint_settings.hpp.
#include "front/checkpoint/checkpoint_settings.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace fairlead::front {

Duration time_in(std::string_view setting, std::string_view text) {
  const auto refuse = [&] {
    throw ConfigError(fmt::format("{} = \"{}\": must be a time such as 11h50m, 45m or 90s", setting, text));
  };
  constexpr double longest_seconds = 1e9;
  double seconds = 0, last_unit = longest_seconds;
  for (std::string_view left = text; !left.empty();) {
    double number = 0;
    const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), number);
    if (error != std::errc() || !(number >= 0) || number > longest_seconds) refuse();
    left.remove_prefix(static_cast<std::size_t>(end - left.data()));
    const char unit = left.empty() ? 's' : left.front();
    const double unit_seconds = unit == 'h' ? 3600 : unit == 'm' ? 60 : unit == 's' ? 1 : 0;
    if (unit_seconds == 0 || unit_seconds >= last_unit) refuse();
    if (!left.empty()) left.remove_prefix(1);
    last_unit = unit_seconds;
    seconds += number * unit_seconds;
  }
  if (seconds <= 0 || seconds > longest_seconds) refuse();
  return Duration(static_cast<std::int64_t>(seconds * 1e9));
}

Checkpointer::Settings checkpoint_settings(const Config& config) {
  const auto time_or_none = [&](std::string_view setting) {
    return config.has(setting) ? time_in(setting, config.text(setting)) : Duration{};
  };
  return {.period = time_in("checkpoint-period", config.text("checkpoint-period")),
          .stop = {.after = time_or_none("stop-after"), .limit = time_or_none("stop-limit")}};
}

}  // namespace fairlead::front
