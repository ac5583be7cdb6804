// Errors of a computation that a stop token ends.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/factorization.hpp>

#include <stop_token>

namespace fairlead::solver {

/// Returns body(). Its error is CancelledError if a stop was requested: which task or wait failed then is an accident.
template <class Body>
auto cancelled_by(const std::stop_token& stop, const Body& body) {
  try {
    if (stop.stop_requested()) throw linalg::CancelledError("");
    return body();
  } catch (const Error&) {
    if (!stop.stop_requested()) throw;
    throw linalg::CancelledError("the computation was cancelled");
  }
}

}  // namespace fairlead::solver
