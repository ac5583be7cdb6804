// See bytes_text.hpp.
#include "base/bytes_text.hpp"

#include <fmt/format.h>

namespace fairlead {

std::string mebibytes(Bytes bytes) {
  if (bytes < 1024 * 1024) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

}  // namespace fairlead
