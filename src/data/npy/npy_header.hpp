// The header of a NumPy .npy file: element type, order, shape, offset of the elements. Format versions 1.0, 2.0 and
// 3.0 (NumPy Enhancement Proposal 1 and numpy.lib.format).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/matrix/array_layout.hpp"

namespace fairlead::data {

struct NpyHeader : ArrayLayout {
  Bytes data_offset = 0;
};

/// Whether a file with these first bytes is an .npy file, complete or not.
bool is_npy(std::string_view first_bytes) noexcept;

/// The fixed part: magic string, version, length of the dictionary.
struct NpyPreamble {
  static constexpr Bytes longest = 12;
  Bytes bytes = 0;       ///< offset of the dictionary
  Bytes dictionary = 0;  ///< bytes of the dictionary
};

/// Parses the first NpyPreamble::longest bytes of a file, or all of a shorter one. `name` is for errors. Throws
/// InputError: not an .npy file, unknown version, truncated.
NpyPreamble parse_npy_preamble(std::string_view first_bytes, const std::string& name);

/// Parses the dictionary. Throws InputError naming the file and the problem: malformed; an element type that is
/// not supported (with the type and a remedy); a shape beyond 64 bits.
NpyHeader parse_npy_dictionary(std::string_view dictionary, const std::string& name);

/// The header that NumPy would write on this machine, padded so that the elements start at a multiple of 64 bytes.
std::string make_npy_header(ElementType element, StorageOrder order, const std::vector<std::uint64_t>& shape);

}  // namespace fairlead::data
