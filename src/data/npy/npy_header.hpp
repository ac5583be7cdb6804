// What the header of a NumPy .npy file says: element type, order, shape, and where the elements begin.
// Format versions 1.0, 2.0 and 3.0 (NumPy Enhancement Proposal 1 and numpy.lib.format).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fairlead/ids.hpp>

namespace fairlead::data {

enum class ElementType : std::uint8_t { float32, float64 };

constexpr Bytes bytes_of(ElementType type) noexcept { return type == ElementType::float32 ? 4 : 8; }

/// Which elements are neighbours in the file.
enum class StorageOrder : std::uint8_t {
  c,        // those of a row
  fortran,  // those of a column
};

struct NpyHeader {
  ElementType element = ElementType::float64;
  bool byte_swapped = false;  ///< the file's bytes have the other order than this machine's
  StorageOrder order = StorageOrder::c;
  std::vector<std::uint64_t> shape;
  Bytes data_offset = 0;

  std::uint64_t elements() const noexcept;
  Bytes data_bytes() const noexcept { return elements() * bytes_of(element); }
};

/// The fixed part: magic string, version, length of the dictionary.
struct NpyPreamble {
  static constexpr Bytes longest = 12;
  Bytes bytes = 0;       ///< where the dictionary begins
  Bytes dictionary = 0;  ///< bytes of it
};

/// Reads the first bytes of a file, all of it if it is shorter than NpyPreamble::longest. `name` is for
/// errors. Throws InputError: not an .npy file, an unknown version, truncated.
NpyPreamble parse_npy_preamble(std::string_view first_bytes, const std::string& name);

/// Reads the dictionary. Throws InputError naming the file and what is wrong: malformed, an element type
/// other than 32- and 64-bit floating point (says which, and what to do), a shape beyond 64 bits.
NpyHeader parse_npy_dictionary(std::string_view dictionary, const std::string& name);

/// The header that NumPy would write for this machine's byte order, padded so that the elements begin at a
/// multiple of 64 bytes.
std::string make_npy_header(ElementType element, StorageOrder order, const std::vector<std::uint64_t>& shape);

/// "(3, 4)", as Python writes it.
std::string shape_text(const std::vector<std::uint64_t>& shape);

}  // namespace fairlead::data
