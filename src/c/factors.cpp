// Solves with factors, their determinant and their files, in the C interface.
#include "c/factors.hpp"

#include <fairlead/solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/scalar.hpp"
#include "c/options.hpp"
#include "c/status.hpp"
#include "c/versioned_struct.hpp"

namespace fairlead::c {

std::unique_ptr<fairlead_factors> make_factors(
    const CancelQuestion& is_cancelled, const std::function<linalg::Factorization(std::stop_token)>& make) {
  auto factors = std::make_unique<fairlead_factors>(is_cancelled);
  factors->thread.run([&](std::stop_token stop) { factors->factorization.emplace(make(std::move(stop))); },
                      is_cancelled);
  return factors;
}

namespace {

/// Runs body(the factorization) on its thread.
template <class Body>
void with_factors(fairlead_factors* factors, const Body& body) {
  fairlead_factors& it = *required(factors, "factors");
  it.thread.run(
      [&](std::stop_token stop) {
        it.factorization->stop_by(std::move(stop));
        body(*it.factorization);
      },
      it.is_cancelled);
}

template <class T>
void solve_with_factors(linalg::Factorization& factorization, fairlead_form form, const T* b,
                        std::int64_t columns, T* x) {
  const std::span<const T> sides(b, elements_of(factorization.rows(), columns));
  switch (form) {
    case FAIRLEAD_PLAIN:
      std::ranges::copy(factorization.solve(sides, columns), x);
      return;
    case FAIRLEAD_TRANSPOSED:
      std::ranges::copy(factorization.solve_transposed(sides, columns), x);
      return;
    case FAIRLEAD_ADJOINT: {  // A^H x = b is A^T conj(x) = conj(b)
      std::vector<T> conjugates(sides.size());
      std::ranges::transform(sides, conjugates.begin(), conjugate<T>);
      std::ranges::transform(factorization.solve_transposed(conjugates, columns), x, conjugate<T>);
      return;
    }
  }
  throw UsageError("the form is " + std::to_string(static_cast<int>(form)) +
                   ", which is none of fairlead_form");
}

}  // namespace
}  // namespace fairlead::c

using namespace fairlead;

fairlead_status fairlead_factors_load(const char* path, const fairlead_options* options,
                                      fairlead_factors** factors) {
  return c::status_of([&] {
    c::required(path, "path");
    c::required(factors, "factors");
    const c::CallOptions read = c::options_of(options);
    *factors = c::make_factors(read.is_cancelled, [&](const std::stop_token&) {
                 return linalg::load_factorization(path, read.solver);
               }).release();
  });
}

fairlead_status fairlead_factors_solve(fairlead_factors* factors, fairlead_form form,
                                       fairlead_element element, const void* b, int64_t right_hand_sides,
                                       void* x) {
  return c::status_of([&] {
    c::required(b, "b");
    c::required(x, "x");
    c::with_factors(factors, [&](linalg::Factorization& factorization) {
      c::with_element(element, [&]<class T>(T) {
        c::solve_with_factors(factorization, form, static_cast<const T*>(b), right_hand_sides,
                              static_cast<T*>(x));
      });
    });
  });
}

fairlead_status fairlead_factors_multiply_lower(fairlead_factors* factors, fairlead_element element,
                                                const void* z, int64_t columns, void* x) {
  return c::status_of([&] {
    c::required(z, "z");
    c::required(x, "x");
    c::with_factors(factors, [&](linalg::Factorization& factorization) {
      c::with_element(element, [&]<class T>(T) {
        const std::span<const T> of_z(static_cast<const T*>(z),
                                      c::elements_of(factorization.rows(), columns));
        std::ranges::copy(factorization.multiply_lower(of_z, columns), static_cast<T*>(x));
      });
    });
  });
}

fairlead_status fairlead_factors_log_determinant(fairlead_factors* factors, double phase[2],
                                                 double* log_absolute) {
  return c::status_of([&] {
    c::required(phase, "phase");
    c::required(log_absolute, "log_absolute");
    linalg::LogDeterminant determinant;
    c::with_factors(factors, [&](linalg::Factorization& factorization) {
      determinant = factorization.log_determinant();
    });
    phase[0] = determinant.phase.real();
    phase[1] = determinant.phase.imag();
    *log_absolute = determinant.log_absolute;
  });
}

fairlead_status fairlead_factors_inertia(fairlead_factors* factors, int64_t* positive, int64_t* negative,
                                         int64_t* zero) {
  return c::status_of([&] {
    linalg::Inertia inertia;
    c::with_factors(factors,
                    [&](linalg::Factorization& factorization) { inertia = factorization.inertia(); });
    if (positive != nullptr) *positive = inertia.positive;
    if (negative != nullptr) *negative = inertia.negative;
    if (zero != nullptr) *zero = inertia.zero;
  });
}

fairlead_status fairlead_factors_save(fairlead_factors* factors, const char* path) {
  return c::status_of([&] {
    c::required(path, "path");
    c::with_factors(factors, [&](linalg::Factorization& factorization) { factorization.save(path); });
  });
}

fairlead_status fairlead_factors_describe(fairlead_factors* factors, fairlead_factors_properties* properties,
                                          size_t properties_bytes) {
  return c::status_of([&] {
    const linalg::Factorization& factorization = *c::required(factors, "factors")->factorization;
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    c::write_versioned<fairlead_factors_properties>(
        {.struct_bytes = sizeof(fairlead_factors_properties),
         .method = c::number_of(factorization.method()),
         .precision = c::number_of(factorization.precision()),
         .rows = factorization.rows(),
         .columns = factorization.columns(),
         .condition = factorization.condition().value_or(unknown),
         .growth = factorization.growth().value_or(unknown),
         .backward_error = factorization.backward_error().value_or(unknown)},
        properties, properties_bytes, "properties");
  });
}

void fairlead_factors_free(fairlead_factors* factors) {
  // In a forked child their thread does not exist: they are left to the end of the process.
  if (factors != nullptr && factors->thread.same_process()) delete factors;
}
