// Writes whole columns to a .npy file whose elements may have another precision.
#pragma once
#include <fairlead/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include "data/npy/npy_writer.hpp"

namespace fairlead::data {

/// Writes `rows` x `columns` elements, `ld` from one column to the next, rounded to `element`, the type of the file. Throws
/// UsageError unless both types are real or both complex, and as NpyWriter::write_block().
template <class T>
void write_columns(NpyWriter& out, ElementType element, const T* x, std::uint64_t ld, std::uint64_t rows,
                   std::uint64_t columns, std::span<std::byte> staging);

}  // namespace fairlead::data
