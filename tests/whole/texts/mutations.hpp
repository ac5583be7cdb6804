// Nearly valid texts: seeds with a few random changes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace fairlead::tests {

/// One to six changes of one of `seeds`: bytes, words, numbers, lines that are lost, doubled, exchanged or
/// replaced by extremes or by one of `words`, parts of another seed, an end that is missing.
std::string mutated(const std::vector<std::string>& seeds, const std::vector<std::string>& words,
                    Random& random);

/// Likewise of 64-bit words.
std::vector<std::uint64_t> mutated(const std::vector<std::uint64_t>& words, Random& random);

}  // namespace fairlead::tests
