// The memory of a rank that receives values of other ranks. PaRSEC 2025 (placement), section 3.2.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::front {

enum class ReceivePlacement : std::uint8_t {
  automatic,  // the device where the task that reads the value will run, as far as predictable
  host,       // the host: values are copied to devices from there, and sent values pass it, too
  advised,    // the device on which the program has advised to place the destination
  random,     // a random device; for comparison
};

constexpr std::optional<ReceivePlacement> landing_in(std::string_view text) noexcept {
  if (text == "auto") return ReceivePlacement::automatic;
  if (text == "host") return ReceivePlacement::host;
  if (text == "advised") return ReceivePlacement::advised;
  if (text == "random") return ReceivePlacement::random;
  return std::nullopt;
}

/// The choice of one rank.
struct ReceivePlacementChoice {
  ReceivePlacement landing = ReceivePlacement::host;
  /// By device number: whether values can be received there. Unset in simulations: every device receives and sends
  /// values.
  std::optional<std::vector<bool>> devices{};
  std::string text{};  ///< for reports: where, and why
};

}  // namespace fairlead::front
