// A matrix of the C interface. Each call with it makes a source of the library, so that an error of the program's function,
// or a cancellation, concerns this call only.
#pragma once
#include <fairlead.h>
#include <fairlead/element_type.hpp>
#include <fairlead/factorization.hpp>
#include <fairlead/matrix_source.hpp>

#include <atomic>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>
#include <variant>

#include "c/status.hpp"

namespace fairlead::c {

/// The reads of a matrix in one call.
struct ReadState {
  std::stop_token stop;
  std::atomic<bool> function_failed = false;  ///< the program's
};
template <class T>
using SourceOf = std::shared_ptr<const linalg::MatrixSource<T>>;
using CallSource = std::variant<SourceOf<double>, SourceOf<std::complex<double>>>;

}  // namespace fairlead::c

struct fairlead_matrix {
  std::int64_t rows = 0, columns = 0;
  fairlead_element element = FAIRLEAD_FLOAT64;
  /// The source uses the state, which must outlive it.
  std::function<fairlead::c::CallSource(fairlead::c::ReadState&)> source_for;
};

namespace fairlead::c {

/// Throws UsageError for a number that is none.
StorageOrder order_of(fairlead_order order);

/// Returns body(source), with a source of real or complex numbers. Throws CallbackError if the program's function fails.
template <class Body>
auto reading(const fairlead_matrix& matrix, std::stop_token stop, const Body& body) {
  ReadState state{.stop = std::move(stop)};
  const CallSource source = matrix.source_for(state);
  try {
    return std::visit([&](const auto& of_type) { return body(*of_type); }, source);
  } catch (const linalg::CancelledError&) {
    throw;
  } catch (const Error&) {
    if (!state.function_failed.load()) throw;
    throw CallbackError("the function that computes the matrix has failed");
  }
}

}  // namespace fairlead::c
