// Parses the setting, and maps it to kernels.
#include "simulate/estimate_errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <charconv>

namespace fairlead::simulate {

std::vector<EstimateError> misjudged_in(std::string_view written) {
  constexpr double most_times = 1000;
  std::vector<EstimateError> all;
  for (std::size_t begin = 0; begin <= written.size();) {
    const std::size_t end = std::min(written.find(',', begin), written.size());
    const std::string_view word = written.substr(begin, end - begin);
    const std::size_t colon = word.rfind(':');  // kernel names may contain colons
    double times = 0;
    const char* const after = word.data() + word.size();
    const bool is_number =
        colon != word.npos && colon != 0 &&
        std::from_chars(word.data() + colon + 1, after, times) == std::from_chars_result{after, std::errc{}};
    if (!is_number || !(times >= 1 / most_times && times <= most_times))
      throw ConfigError(
          fmt::format("misjudged is \"{}\", which is not like gemm:2 (policies expect gemm to take twice as "
                      "long as it does), "
                      "potrf:0.5 (half as long), or several of these with commas between them",
                      written));
    all.push_back({std::string(word.substr(0, colon)), times});
    begin = end + 1;
  }
  return all;
}

std::vector<double> by_kernel(const std::vector<EstimateError>& misjudged, const Program& program) {
  std::vector<double> times(program.kernels.size(), 1);
  for (const EstimateError& one : misjudged) {
    if (std::ranges::find(program.kernels, one.kernel) == program.kernels.end())
      throw ConfigError(fmt::format("misjudged names {}, which is not among the program's kernels: {}",
                                    one.kernel, fmt::join(program.kernels, ", ")));
    for (std::size_t kernel = 0; kernel < times.size(); ++kernel)  // several may have that name
      if (program.kernels[kernel] == one.kernel) times[kernel] *= one.times;
  }
  return times;
}

}  // namespace fairlead::simulate
