// See load_rule.hpp.
#include "schedule/placement/load_rule.hpp"

#include <fmt/format.h>

#include <cctype>

namespace fairlead::schedule {

namespace {
constexpr double largest_tolerance = 1000;

double factor(const PolicyOptions& options) {
  const std::string& written = options.text("tolerance");
  if (written == "reuse-only") return 0;
  if (written == "load-only") return 1;
  if (std::isdigit(static_cast<unsigned char>(written.front())) == 0 && written.front() != '.')
    options.refuse("tolerance",
                   fmt::format("is \"{}\", but must be reuse-only, load-only, or a number from 0 to {}",
                               written, largest_tolerance));
  return 1 / (1 + options.number("tolerance", 0, largest_tolerance));
}
}  // namespace

LoadRule::LoadRule(const PolicyOptions& options) : factor_(factor(options)) {}

const Candidate& LoadRule::choose(std::span<const Candidate> candidates) const {
  const Candidate* earliest = &candidates.front();
  const Candidate* nearest = nullptr;  // holds the most bytes; ties go to the earliest completion
  for (const Candidate& it : candidates) {
    if (it.completion < earliest->completion) earliest = &it;
    if (it.held != 0 && (nearest == nullptr || it.held > nearest->held ||
                         (it.held == nearest->held && it.completion < nearest->completion)))
      nearest = &it;
  }
  const auto count = [](Duration duration) { return static_cast<double>(duration.count()); };
  return nearest != nullptr && factor_ * count(nearest->completion) <= count(earliest->completion)
             ? *nearest
             : *earliest;
}

}  // namespace fairlead::schedule
