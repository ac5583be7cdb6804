// The header of a file with factors: what was factored, how, and how well (docs/factor-files.md). Integers and
// floating-point numbers are little-endian.
#pragma once
#include <fairlead/ids.hpp>
#include <fairlead/stored.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "solver/factor_layout.hpp"

namespace fairlead::solver {

/// The matrix that was factored. A number that was not determined is absent.
struct FactoredMatrix {
  std::string name;
  Bytes file_bytes = 0;                          ///< of its file; 0: it was not in a file
  std::int64_t modified_at_ns = 0;               ///< of its file, since 1970
  linalg::Stored stored = linalg::Stored::both;  ///< which of its triangles count
  std::optional<double> norm{};                  ///< in the infinity norm
  std::optional<double> largest{};               ///< the largest absolute value of an element
  std::optional<double> growth{};                ///< of LU
  std::optional<double> condition{};             ///< an estimate
  std::optional<double> asymmetry{};             ///< of a matrix that is not quite symmetric
  std::optional<double> backward_error{};        ///< of a solution with these factors, without refinement
};

struct FactorHeader {
  FactorShape shape;
  FactoredMatrix matrix;

  static constexpr std::size_t bytes = 4096;
  /// In the table that follows the header, of each datum: its place, size and checksum.
  static constexpr std::size_t bytes_of_entry = 24;
  static constexpr std::uint32_t version = 1;

  /// The first datum is after the header and the table.
  static Bytes first_offset(std::uint64_t data) noexcept;
  std::vector<std::byte> encoded(std::uint64_t data, Bytes file_bytes, std::uint32_t checksum_of_table) const;
};

struct DecodedFactorHeader {
  FactorHeader header;
  std::uint64_t data = 0;
  Bytes file_bytes = 0;
  std::uint32_t checksum_of_table = 0;
};

/// True if these are the first bytes of a file with factors, of any version.
bool has_magic_of_factors(std::string_view first_bytes) noexcept;
/// `bytes`: the first FactorHeader::bytes of the file, or fewer if it is shorter. Throws InputError that starts with
/// `name`: another kind of file, a newer version, damaged.
DecodedFactorHeader decode_factor_header(const std::string& name, std::string_view bytes);

}  // namespace fairlead::solver
