// The options of the C interface as those of the solver, and the numbers of its enumerations.
#pragma once
#include <fairlead.h>
#include <fairlead/config.hpp>
#include <fairlead/solver.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

#include "c/call_thread.hpp"
#include "c/status.hpp"

namespace fairlead::c {

struct CallOptions {
  linalg::SolverOptions solver;
  CancelQuestion is_cancelled;
};

/// The configuration file and the environment with these settings.
Config config_with(const fairlead_setting* settings, std::size_t count);

/// Null: the defaults. Throws UsageError, ConfigError and UnsupportedError.
CallOptions options_of(const fairlead_options* given);

fairlead_method number_of(linalg::Method method) noexcept;
fairlead_element number_of(ElementType element) noexcept;

/// The elements of a vector with this number of columns. Throws UsageError if it is below 1, or no memory holds as many.
std::size_t elements_of(std::int64_t rows, std::int64_t right_hand_sides);

/// Returns run(T()) with the type of the elements. Throws UsageError for a number that is none.
template <class Run>
auto with_element(fairlead_element element, const Run& run) {
  switch (element) {
    case FAIRLEAD_FLOAT32:
      return run(float());
    case FAIRLEAD_FLOAT64:
      return run(double());
    case FAIRLEAD_COMPLEX64:
      return run(std::complex<float>());
    case FAIRLEAD_COMPLEX128:
      return run(std::complex<double>());
  }
  throw UsageError("the element type is " + std::to_string(static_cast<int>(element)) +
                   ", which is none of fairlead_element");
}

}  // namespace fairlead::c
