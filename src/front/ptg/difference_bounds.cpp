// The closure of difference constraints.
#include "front/ptg/difference_bounds.hpp"

#include <algorithm>

namespace fairlead::ptg {

DifferenceBounds::Pair DifferenceBounds::pair_of(const Affine& sum) const {
  const std::size_t zero = size_ - 1;
  Pair pair{.is = sum.terms.size() <= 2 && sum.constant > -unbounded && sum.constant < unbounded,
            .larger = zero,
            .smaller = zero};
  for (const auto& [place, factor] : sum.terms) {
    std::size_t& at = factor > 0 ? pair.larger : pair.smaller;
    pair.is &= (factor == 1 || factor == -1) && at == zero;
    at = place;
  }
  return pair;
}

void DifferenceBounds::add(const Affine& sum) {
  const Pair pair = pair_of(sum);
  if (!pair.is || most(pair.smaller, pair.larger) <= sum.constant) return;
  // larger - smaller + constant >= 0, that is, smaller - larger <= constant.
  for (std::size_t i = 0; i < size_; ++i)
    for (std::size_t k = 0; k < size_; ++k)
      // Contradictory constraints must not overflow.
      most(i, k) = std::max(
          -unbounded, std::min(most(i, k), most(i, pair.smaller) + sum.constant + most(pair.larger, k)));
}

bool DifferenceBounds::implies(const Affine& sum) const {
  const Pair pair = pair_of(sum);
  return pair.is && most(pair.smaller, pair.larger) <= sum.constant;
}

}  // namespace fairlead::ptg
