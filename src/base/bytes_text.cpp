// Formats sizes in bytes for messages.
#include "base/bytes_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fairlead {

std::string mebibytes(Bytes bytes) {
  if (bytes < 1024 * 1024) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

namespace {
// Four significant digits, as in mebibytes().
template <class Round>
std::string rounded(Bytes bytes, Round round) {
  if (bytes < 1024 * 1024) return mebibytes(bytes);
  const double mebi = static_cast<double>(bytes) / (1024.0 * 1024.0);
  const double scale = std::pow(10.0, std::max(3 - std::floor(std::log10(mebi)), 0.0));
  return fmt::format("{:.10g} MiB", round(mebi * scale) / scale);
}
}  // namespace

std::string mebibytes_needed(Bytes bytes) {
  return rounded(bytes, [](double x) { return std::ceil(x); });
}
std::string mebibytes_there(Bytes bytes) {
  return rounded(bytes, [](double x) { return std::floor(x); });
}

}  // namespace fairlead
