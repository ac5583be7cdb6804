// In which of a rank's memories the values of other ranks land. PaRSEC 2025 (placement), section 3.2.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::front {

enum class Landing : std::uint8_t {
  automatic,  // that of the device where the task will run that reads them, as far as that can be known
  host,     // the host's: from there they are taken to devices like all else, and what goes comes there first
  advised,  // that of the device where what they are for should live, as far as the program has said so
  random,   // that of any device, by chance; for comparison
};

constexpr std::optional<Landing> landing_in(std::string_view text) noexcept {
  if (text == "auto") return Landing::automatic;
  if (text == "host") return Landing::host;
  if (text == "advised") return Landing::advised;
  if (text == "random") return Landing::random;
  return std::nullopt;
}

/// What a rank makes of that.
struct LandingChoice {
  Landing landing = Landing::host;
  /// By number; what others have is simulated: whatever comes may land in each, and what goes, goes from there.
  std::optional<std::vector<bool>> devices{};
  std::string text{};  ///< for people: where, and why
};

}  // namespace fairlead::front
