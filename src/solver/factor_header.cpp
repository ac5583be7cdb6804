// See factor_header.hpp.
#include "solver/factor_header.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "base/crc32c.hpp"

namespace fairlead::solver {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are in memory");

/// As of PNG: a transfer that converts line ends, or clears the highest bit, changes it.
constexpr std::string_view magic_of_factors =
    "\x89"
    "FAC\r\n\x1a\n";

/// The places of the fields after the magic number.
struct FactorField {
  static constexpr std::size_t version = 8, header_bytes = 12, checksum = 16, table_checksum = 20,
                               method = 24, element = 28, rows = 32, columns = 40, tile = 48,
                               inner_block = 52, form = 56, stored = 60, data = 64, file_bytes = 72,
                               norm = 80, largest = 88, growth = 96, condition = 104, backward_error = 112,
                               asymmetry = 120, matrix_bytes = 128, modified_at = 136, name_length = 144,
                               name = 148;
};
constexpr std::size_t longest_name = 3072;

std::uint32_t number_of(const DenseOperation& operation) {
  if (operation.solve && operation.solve->number != 0) return operation.solve->number;
  throw UsageError(fmt::format("{} cannot be saved", operation.name));
}

template <class Number>
void put(std::span<std::byte> bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}
void put(std::span<std::byte> bytes, std::size_t at, const std::optional<double>& number) {
  put(bytes, at, number.value_or(std::numeric_limits<double>::quiet_NaN()));
}
template <class Number>
Number get(std::string_view bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}
std::optional<double> optional_number(std::string_view bytes, std::size_t at) {
  const auto number = get<double>(bytes, at);
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

/// The checksum field itself counts as zero.
std::uint32_t checksum_of_header(std::vector<std::byte> bytes) {
  put(bytes, FactorField::checksum, std::uint32_t{0});
  return crc32c(bytes);
}

/// Bytes of an element; of a complex one with a bit that readers of real elements refuse.
constexpr std::uint32_t complex_bit = 1u << 16;
constexpr std::uint32_t code_of(ElementType element) noexcept {
  return static_cast<std::uint32_t>(bytes_of(element)) | (is_complex(element) ? complex_bit : 0);
}
std::optional<ElementType> element_of_code(std::uint32_t code) noexcept {
  for (const bool single : {true, false})
    for (const bool complex : {true, false})
      if (code_of(element_type(single, complex)) == code) return element_type(single, complex);
  return std::nullopt;
}

/// Never renumber: files have these numbers.
constexpr linalg::Stored numbered_triangles[] = {linalg::Stored::both, linalg::Stored::lower,
                                                 linalg::Stored::upper, linalg::Stored::mean};
std::uint32_t code_of(linalg::Stored stored) noexcept {
  return static_cast<std::uint32_t>(std::ranges::find(numbered_triangles, stored) - numbered_triangles);
}

bool is_possible(const FactorShape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (shape.columns < 1 || shape.rows < shape.columns || shape.rows > most || shape.tile < 1) return false;
  if (shape.rows != shape.columns && !shape.operation->solve->least_squares) return false;
  return shape.inner_block >= 0 && shape.inner_block <= shape.tile &&
         std::max(shape.tile_rows(), shape.tile_columns()) < (std::int64_t{1} << 30);
}

}  // namespace

bool has_magic_of_factors(std::string_view first_bytes) noexcept {
  return first_bytes.starts_with(magic_of_factors);
}

Bytes FactorHeader::first_offset(std::uint64_t data) noexcept {
  const Bytes end = bytes + data * bytes_of_entry;
  return (end + FactorLayout::alignment - 1) / FactorLayout::alignment * FactorLayout::alignment;
}

std::vector<std::byte> FactorHeader::encoded(std::uint64_t data, Bytes file_bytes,
                                             std::uint32_t checksum_of_table) const {
  std::vector<std::byte> to(bytes);
  std::memcpy(to.data(), magic_of_factors.data(), magic_of_factors.size());
  put(to, FactorField::version, version);
  put(to, FactorField::header_bytes, static_cast<std::uint32_t>(bytes));
  put(to, FactorField::table_checksum, checksum_of_table);
  put(to, FactorField::method, number_of(*shape.operation));
  put(to, FactorField::element, code_of(shape.element));
  put(to, FactorField::rows, static_cast<std::uint64_t>(shape.rows));
  put(to, FactorField::columns, static_cast<std::uint64_t>(shape.columns));
  put(to, FactorField::tile, shape.tile);
  put(to, FactorField::inner_block, shape.inner_block);
  // Only one of the two differs from zero: QR has a tree, LDL^T a symmetry.
  put(to, FactorField::form,
      static_cast<std::uint32_t>(shape.tree == linalg::QrTree::binary ||
                                 shape.symmetry == linalg::Symmetry::symmetric));
  put(to, FactorField::stored, code_of(matrix.stored));
  put(to, FactorField::data, data);
  put(to, FactorField::file_bytes, std::uint64_t{file_bytes});
  put(to, FactorField::norm, matrix.norm);
  put(to, FactorField::largest, matrix.largest);
  put(to, FactorField::growth, matrix.growth);
  put(to, FactorField::condition, matrix.condition);
  put(to, FactorField::backward_error, matrix.backward_error);
  put(to, FactorField::asymmetry, matrix.asymmetry);
  put(to, FactorField::matrix_bytes, std::uint64_t{matrix.file_bytes});
  put(to, FactorField::modified_at, matrix.modified_at_ns);
  // The end of a long path names the file.
  const std::string name =
      matrix.name.substr(matrix.name.size() - std::min(matrix.name.size(), longest_name));
  put(to, FactorField::name_length, static_cast<std::uint32_t>(name.size()));
  std::memcpy(to.data() + FactorField::name, name.data(), name.size());
  put(to, FactorField::checksum, checksum_of_header(to));
  return to;
}

DecodedFactorHeader decode_factor_header(const std::string& name, std::string_view bytes) {
  if (bytes.size() < magic_of_factors.size() && magic_of_factors.starts_with(bytes))
    throw InputError(
        fmt::format("{}: is truncated: it has {} bytes, too few for the header of a file with factors", name,
                    bytes.size()));
  if (!has_magic_of_factors(bytes))
    throw InputError(
        fmt::format("{}: is not a file with factors, as `fairlead factor` writes them: it starts with "
                    "other bytes",
                    name));
  if (bytes.size() < FactorHeader::bytes)
    throw InputError(fmt::format("{}: is truncated: it has {} bytes, and its header {}", name, bytes.size(),
                                 FactorHeader::bytes));
  const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
  const bool whole = get<std::uint32_t>(bytes, FactorField::checksum) ==
                     checksum_of_header({first, first + FactorHeader::bytes});
  // A newer version may have its checksum in another place.
  const auto version = get<std::uint32_t>(bytes, FactorField::version);
  if (!whole && version <= FactorHeader::version)
    throw InputError(fmt::format("{}: is damaged: its header (bytes 0 to {}) does not match its checksum",
                                 name, FactorHeader::bytes - 1));
  if (version != FactorHeader::version)
    throw InputError(
        fmt::format("{}: has version {} of the format of factors, and this Fairlead reads version {}: it "
                    "was written by a newer one, or is damaged",
                    name, version, FactorHeader::version));
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{}: its header states {}, which this Fairlead cannot read", name, what));
  };
  DecodedFactorHeader decoded;
  FactorShape& shape = decoded.header.shape;
  const auto method = get<std::uint32_t>(bytes, FactorField::method);
  shape.operation = method_numbered(method);
  if (shape.operation == nullptr) refuse(fmt::format("method {}", method));
  const auto code = get<std::uint32_t>(bytes, FactorField::element);
  const std::optional<ElementType> element = element_of_code(code);
  if (!element) refuse(fmt::format("elements of type {}", code));
  shape.element = *element;
  shape.rows = get<std::int64_t>(bytes, FactorField::rows);
  shape.columns = get<std::int64_t>(bytes, FactorField::columns);
  shape.tile = get<std::int32_t>(bytes, FactorField::tile);
  shape.inner_block = get<std::int32_t>(bytes, FactorField::inner_block);
  const bool other_form = get<std::uint32_t>(bytes, FactorField::form) != 0;
  if (other_form && shape.operation->solve->symmetric)
    shape.symmetry = linalg::Symmetry::symmetric;
  else if (other_form)
    shape.tree = linalg::QrTree::binary;
  if (!is_possible(shape))
    refuse(fmt::format("a matrix of {} x {} in tiles of {}", shape.rows, shape.columns, shape.tile));
  decoded.data = get<std::uint64_t>(bytes, FactorField::data);
  decoded.file_bytes = get<std::uint64_t>(bytes, FactorField::file_bytes);
  decoded.checksum_of_table = get<std::uint32_t>(bytes, FactorField::table_checksum);
  FactoredMatrix& matrix = decoded.header.matrix;
  const auto triangles = get<std::uint32_t>(bytes, FactorField::stored);
  if (triangles >= std::size(numbered_triangles)) refuse(fmt::format("triangles of kind {}", triangles));
  matrix.stored = numbered_triangles[triangles];
  matrix.norm = optional_number(bytes, FactorField::norm);
  matrix.largest = optional_number(bytes, FactorField::largest);
  matrix.growth = optional_number(bytes, FactorField::growth);
  matrix.condition = optional_number(bytes, FactorField::condition);
  matrix.backward_error = optional_number(bytes, FactorField::backward_error);
  matrix.asymmetry = optional_number(bytes, FactorField::asymmetry);
  matrix.file_bytes = get<std::uint64_t>(bytes, FactorField::matrix_bytes);
  matrix.modified_at_ns = get<std::int64_t>(bytes, FactorField::modified_at);
  const auto name_length = get<std::uint32_t>(bytes, FactorField::name_length);
  if (name_length > longest_name) refuse(fmt::format("a name of {} bytes", name_length));
  matrix.name = bytes.substr(FactorField::name, name_length);
  return decoded;
}

}  // namespace fairlead::solver
