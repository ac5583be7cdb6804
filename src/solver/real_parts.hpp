// A real matrix solves the real parts of complex columns and the imaginary ones, as twice as many real columns.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace fairlead::solver {

/// `solve` returns the solutions of the real parts of all columns, followed by the imaginary ones.
template <class Part, class Solve>
std::vector<std::complex<Part>> solved_by_parts(std::span<const std::complex<Part>> b, const Solve& solve) {
  std::vector<Part> parts(2 * b.size());
  std::ranges::transform(b, parts.begin(), [](std::complex<Part> x) { return x.real(); });
  std::ranges::transform(b, parts.begin() + std::ssize(b), [](std::complex<Part> x) { return x.imag(); });
  const std::vector<Part> x = solve(std::span<const Part>(parts));
  std::vector<std::complex<Part>> solution(x.size() / 2);
  for (std::size_t i = 0; i < solution.size(); ++i) solution[i] = {x[i], x[i + solution.size()]};
  return solution;
}

}  // namespace fairlead::solver
