// A system of equations by its definition, and a reference solution with loops over elements, without Fairlead
// and BLAS. Campaigns compare with it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"

namespace fairlead::torture {

/// A x = b. Elements that came from a type with fewer digits have been rounded to it. Column-major.
struct System {
  int n = 0, columns = 0;
  std::vector<double> a{}, b{};

  double& at(int i, int j) {
    return a[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)];
  }
  double at(int i, int j) const { return const_cast<System&>(*this).at(i, j); }
  double right(int i, int column) const {
    return b[static_cast<std::size_t>(column) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)];
  }
};

enum class Shape : std::uint8_t {
  positive_definite,  // symmetric
  indefinite,         // symmetric; one diagonal element is so small that elimination detects it
  general,            // elimination without pivoting is as good as with
};

/// Well conditioned, every element of A off the diagonal as important as any other. Rounded to float if
/// `single`.
System draw_system(Random& random, int n, int columns, Shape shape, bool single);

/// || b - A x || / (|| A || || x || + || b ||) in the infinity norm, the largest over the columns, in long
/// double. NaN and infinity in x give infinity.
double backward_error(const System& system, const std::vector<double>& x);

/// Its bound: 10 sqrt(n) roundings.
double allowed_error(int n, bool single);

/// Gauss: A = L U with ones on the diagonal of L, both in one, row-major; and x.
struct Eliminated {
  std::vector<double> factors{}, x{};
  std::optional<int> not_positive{};  ///< the first pivot that is not; then nothing else is there
};
Eliminated eliminate(const System& system);

/// The largest difference in a column of so many rows, relative to the largest element of `right` there; the
/// maximum over the columns, infinite if a value is not finite.
double difference(const std::vector<double>& found, const std::vector<double>& right, std::size_t rows);

}  // namespace fairlead::torture
