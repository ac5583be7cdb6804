// Validates the result of a user's duration formula.
#include <fairlead/detail/submission.hpp>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fairlead::detail {

float checked_work(const CodeletInfo& codelet, double work) {
  if (!std::isfinite(work) || work < 0)
    throw UsageError(fmt::format("the formula of the codelet {} says that a task has {} {}", codelet.name,
                                 work, codelet.unit == WorkUnit::flops ? "flops" : "nanoseconds"));
  return static_cast<float>(std::min(work, 9e18));
}

}  // namespace fairlead::detail
