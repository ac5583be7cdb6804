// Factors of the C interface, with the thread that made them and uses them.
#pragma once
#include <fairlead.h>
#include <fairlead/factorization.hpp>

#include <functional>
#include <memory>
#include <optional>

#include "c/call_thread.hpp"

struct fairlead_factors {
  explicit fairlead_factors(fairlead::c::CancelQuestion question) : is_cancelled(std::move(question)) {}
  /// The factors end on their thread.
  ~fairlead_factors() {
    if (factorization) thread.run([this](const std::stop_token&) { factorization.reset(); }, {});
  }
  fairlead_factors(const fairlead_factors&) = delete;
  fairlead_factors& operator=(const fairlead_factors&) = delete;

  fairlead::c::CancelQuestion is_cancelled;
  std::optional<fairlead::linalg::Factorization> factorization;  ///< made by `thread`
  fairlead::c::CallThread thread;
};

namespace fairlead::c {

/// Factors that make(stop) returns, which runs on their thread.
std::unique_ptr<fairlead_factors> make_factors(
    const CancelQuestion& is_cancelled, const std::function<linalg::Factorization(std::stop_token)>& make);

}  // namespace fairlead::c
