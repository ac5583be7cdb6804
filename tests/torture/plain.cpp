// Loops over elements.
#include "torture/plain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fairlead::torture {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double rounded(double value, bool single) {
  return single ? static_cast<double>(static_cast<float>(value)) : value;
}

double uniform(Random& random) { return 2 * random.unit() - 1; }

}  // namespace

System draw_system(Random& random, int n, int columns, Shape shape, bool single) {
  System system{.n = n, .columns = columns};
  const auto size = static_cast<std::size_t>(n);
  system.a.resize(size * size);
  // The elements off the diagonal have a norm of about 1.2 sqrt(n), or less if they are symmetric.
  const double diagonal = 1.7 * std::sqrt(n) + 2;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (shape == Shape::general || i >= j)
        system.at(i, j) = rounded(i == j ? diagonal + uniform(random) : uniform(random), single);
      else
        system.at(i, j) = system.at(j, i);
  if (shape == Shape::indefinite) {
    const int bad = static_cast<int>(random.below(size));
    system.at(bad, bad) = -1;
  }
  if (shape != Shape::general)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < j; ++i) system.at(i, j) = system.at(j, i);
  // A right-hand side of a solution known up to rounding; some with another scale.
  system.b.resize(size * static_cast<std::size_t>(columns));
  std::vector<double> x(size);
  for (int c = 0; c < columns; ++c) {
    const double scale = random.once_in(4) ? std::ldexp(1.0, static_cast<int>(random.between(-20, 20))) : 1;
    for (double& element : x) element = scale * uniform(random);
    std::vector<double> sums(size, 0.0);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        sums[static_cast<std::size_t>(i)] += system.at(i, j) * x[static_cast<std::size_t>(j)];
    for (std::size_t i = 0; i < size; ++i)
      system.b[static_cast<std::size_t>(c) * size + i] = rounded(sums[i], single);
  }
  return system;
}

double backward_error(const System& system, const std::vector<double>& x) {
  const auto size = static_cast<std::size_t>(system.n);
  if (x.size() != system.b.size()) return infinite;
  std::vector<long double> norms(size, 0);
  for (int j = 0; j < system.n; ++j)
    for (int i = 0; i < system.n; ++i) norms[static_cast<std::size_t>(i)] += std::fabs(system.at(i, j));
  const long double norm = norms.empty() ? 0 : *std::ranges::max_element(norms);
  double worst = 0;
  for (int c = 0; c < system.columns; ++c) {
    std::vector<long double> residual(size);
    long double largest_x = 0, largest_b = 0, largest = 0;
    for (int i = 0; i < system.n; ++i) residual[static_cast<std::size_t>(i)] = system.right(i, c);
    for (int j = 0; j < system.n; ++j) {
      const long double element = x[static_cast<std::size_t>(c) * size + static_cast<std::size_t>(j)];
      if (!std::isfinite(element)) return infinite;
      largest_x = std::max(largest_x, std::fabs(element));
      for (int i = 0; i < system.n; ++i) residual[static_cast<std::size_t>(i)] -= system.at(i, j) * element;
    }
    for (int i = 0; i < system.n; ++i) {
      largest_b = std::max<long double>(largest_b, std::fabs(system.right(i, c)));
      largest = std::max(largest, std::fabs(residual[static_cast<std::size_t>(i)]));
    }
    const long double below = norm * largest_x + largest_b;
    if (largest > 0) worst = std::max(worst, static_cast<double>(largest / below));
  }
  return worst;
}

double allowed_error(int n, bool single) {
  const double epsilon = single ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                : std::numeric_limits<double>::epsilon();
  return 10 * std::sqrt(n) * epsilon;
}

Eliminated eliminate(const System& system) {
  const auto n = static_cast<std::size_t>(system.n), columns = static_cast<std::size_t>(system.columns);
  Eliminated result;
  auto& f = result.factors;
  f.resize(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) f[i * n + j] = system.a[j * n + i];
  result.x = system.b;
  for (std::size_t k = 0; k < n; ++k) {
    if (!(f[k * n + k] > 0)) {
      result.not_positive = static_cast<int>(k);
      return result;
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = f[i * n + k] / f[k * n + k];
      f[i * n + k] = factor;
      const double* from = &f[k * n];
      double* to = &f[i * n];
      for (std::size_t j = k + 1; j < n; ++j) to[j] -= factor * from[j];
    }
  }
  for (std::size_t c = 0; c < columns; ++c) {
    double* x = &result.x[c * n];
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) x[i] -= f[i * n + j] * x[j];
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j < n; ++j) x[i] -= f[i * n + j] * x[j];
      x[i] /= f[i * n + i];
    }
  }
  return result;
}

double difference(const std::vector<double>& found, const std::vector<double>& right, std::size_t rows) {
  if (found.size() != right.size()) return infinite;
  double worst = 0;
  for (std::size_t begin = 0; begin < right.size(); begin += rows) {
    double largest = 0, apart = 0;
    for (std::size_t i = begin; i < std::min(begin + rows, right.size()); ++i) {
      if (!std::isfinite(found[i])) return infinite;
      largest = std::max(largest, std::abs(right[i]));
      apart = std::max(apart, std::abs(found[i] - right[i]));
    }
    if (apart > 0) worst = std::max(worst, apart / largest);
  }
  return worst;
}

}  // namespace fairlead::torture
