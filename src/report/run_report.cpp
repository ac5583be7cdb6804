// What figures of a report say together.
#include "report/run_report.hpp"

#include <algorithm>

namespace fairlead::report {

std::optional<Bytes> RunReport::outside_limit_bytes() const {
  if (!peak_resident_bytes) return {};
  Bytes inside = peak_memory_bytes;
  for (const NodeReport& node : nodes)
    if (node.capacity && (node.name != "RAM" || memory_limit_bytes == 0)) inside += node.peak;
  return *peak_resident_bytes - std::min(*peak_resident_bytes, inside);
}

}  // namespace fairlead::report
