// See linear_system.hpp.
#include "solver/linear_system.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include "data/matrix/numpy_type.hpp"

namespace fairlead::solver {

namespace {

using data::StoredMatrix;

void require_shape(const StoredMatrix& a, const DenseOperation& method) {
  const std::string shape = data::shape_text(a.shape());
  const bool least_squares = method.solve->least_squares;
  if (a.dimensions() == 2 && (a.rows() == a.columns() || least_squares)) return;
  const char* const why =
      a.dimensions() != 2 ? (least_squares ? "it is not a matrix" : "solving needs a square matrix")
      : a.rows() > a.columns()
          ? "solving needs a square matrix; for least squares: --method qr"
          : "solving needs a square matrix; for the solution of smallest norm: --method qr";
  throw InputError(fmt::format("{} has the shape {}: {}", a.name(), shape, why));
}

void require_match_of_factors(const LinearSystem& system) {
  const FactorFile& factors = *system.factors;
  const StoredMatrix& b = *system.b;
  const FactorShape& shape = factors.shape();
  if (static_cast<std::int64_t>(b.rows()) != shape.rows)
    throw InputError(
        fmt::format("{} has factors of a matrix of {} x {}, and {} has the shape {}: they need the same "
                    "number of rows",
                    factors.name(), shape.rows, shape.columns, b.name(), data::shape_text(b.shape())));
  if (is_single(shape.element) && !is_single(b.element()))
    throw InputError(fmt::format(
        "{} has factors in single precision, and {} is in double: convert it, in NumPy by "
        "b.astype('{}'), or factor the matrix in double precision",
        factors.name(), b.name(), data::numpy_letters(element_type(true, is_complex(b.element())))));
  if (!is_complex(shape.element))
    for (const auto& file : {system.b, system.a})
      if (file != nullptr && is_complex(file->element()))
        throw InputError(fmt::format(
            "{} has factors of a real matrix, and {} is complex: solve for its real and imaginary "
            "parts, in NumPy b.real and b.imag",
            factors.name(), file->name()));
  if (system.a == nullptr) return;
  const StoredMatrix& a = *system.a;
  if (a.dimensions() != 2 || static_cast<std::int64_t>(a.rows()) != shape.rows ||
      static_cast<std::int64_t>(a.columns()) != shape.columns)
    throw InputError(
        fmt::format("{} has factors of a matrix of {} x {}, and {} has the shape {}: they are not of this "
                    "matrix",
                    factors.name(), shape.rows, shape.columns, a.name(), data::shape_text(a.shape())));
}

}  // namespace

void require_match(const LinearSystem& system, const DenseOperation& method) {
  if (system.factors != nullptr) return require_match_of_factors(system);
  const StoredMatrix &a = *system.a, &b = *system.b;
  if (!system.of_points()) require_shape(a, method);
  if (a.rows() != b.rows())
    throw InputError(fmt::format("{} has the shape {} and {} the shape {}: they need the same number of rows",
                                 a.name(), data::shape_text(a.shape()), b.name(),
                                 data::shape_text(b.shape())));
}

data::ElementType LinearSystem::solution() const noexcept {
  const data::ElementType of_matrix = factors != nullptr ? factors->shape().element : a->element(),
                          of_sides = b->element();
  return element_type(is_single(of_matrix) && is_single(of_sides),
                      is_complex(of_matrix) || is_complex(of_sides));
}

bool LinearSystem::has_complex_numbers() const noexcept {
  const bool of_matrix = factors != nullptr ? is_complex(factors->shape().element) : is_complex(a->element());
  return of_matrix || (b != nullptr && is_complex(b->element()));
}

std::string LinearSystem::changed_input() const {
  for (const auto& file : {a, b})
    if (file != nullptr && file->changed()) return file->name();
  if (factors != nullptr && factors->changed()) return factors->name();
  return {};
}

}  // namespace fairlead::solver
