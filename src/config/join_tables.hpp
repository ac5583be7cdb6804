// Joins tables of settings or options, for programs that share some.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>

namespace fairlead {

template <class Row, std::size_t A, std::size_t B>
constexpr std::array<Row, A + B> both(const std::array<Row, A>& a, const std::array<Row, B>& b) {
  std::array<Row, A + B> all{};
  std::ranges::copy(b, std::ranges::copy(a, all.begin()).out);
  return all;
}

}  // namespace fairlead
