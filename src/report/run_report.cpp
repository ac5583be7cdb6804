// What figures of a report say together.
#include "report/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/units.hpp"

namespace fairlead::report {

const IoBounds* RunReport::bounds_of_what_moved() const noexcept {
  return bounds && bytes_read + bytes_written != 0 ? &*bounds : nullptr;
}

std::optional<double> RunReport::times_the_floor() const noexcept {
  const IoBounds* const known = bounds_of_what_moved();
  if (known == nullptr || known->floor() == 0 || bytes_read + bytes_written < known->floor()) return {};
  return static_cast<double>(bytes_read + bytes_written) / static_cast<double>(known->floor());
}

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
