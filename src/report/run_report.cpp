// What figures of a report say together.
#include "report/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/units.hpp"

namespace fairlead::report {

std::optional<Bytes> RunReport::outside_limit_bytes() const {
  if (!peak_resident_bytes) return {};
  Bytes inside = peak_memory_bytes;
  for (const NodeReport& node : nodes)
    if (node.capacity && (node.name != "RAM" || memory_limit_bytes == 0)) inside += node.peak;
  return *peak_resident_bytes - std::min(*peak_resident_bytes, inside);
}

std::string devices_text(const RunReport& report) {
  std::string all = report.devices;
  if (report.calls_in_tf32)
    all += fmt::format("{}{}", all.empty() ? "" : "; ",
                       *report.calls_in_tf32 == 0
                           ? "no CUDA device took part in the factor, so nothing was in TF32"
                           : fmt::format("{} calls of cuBLAS in TF32", with_commas(*report.calls_in_tf32)));
  for (const std::string& why : report.through_ram) all += (all.empty() ? "" : "; ") + why;
  return all;
}

}  // namespace fairlead::report
