// Figures derived from several fields of a report.
#include "report/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/units.hpp"

namespace fairlead::report {

const IoBounds* RunReport::io_bounds() const noexcept {
  return bounds && bytes_read + bytes_written != 0 ? &*bounds : nullptr;
}

std::optional<double> RunReport::ratio_to_floor() const noexcept {
  const IoBounds* const known = io_bounds();
  if (known == nullptr || known->floor() == 0 || bytes_read + bytes_written < known->floor()) return {};
  return static_cast<double>(bytes_read + bytes_written) / static_cast<double>(known->floor());
}

std::optional<Bytes> RunReport::unaccounted_bytes() const {
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
  for (const std::string& why : report.no_peer_copy_reasons) all += (all.empty() ? "" : "; ") + why;
  return all;
}

}  // namespace fairlead::report
