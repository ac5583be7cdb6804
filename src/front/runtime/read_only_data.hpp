// Data that are stored elsewhere, such as in a file with factors: they are read where a task needs them, and dropped when
// memory is full. No space on disk is allocated for them.
#pragma once
#include <fairlead/runtime.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace fairlead::front {

/// The content of data that no task may write: an eviction would have no place for the new value.
struct ReadOnlyFill {
  detail::Fill content;

  void operator()(void* to, std::int64_t row, std::int64_t rows, std::int64_t column,
                  std::int64_t columns) const {
    content(to, row, rows, column, columns);
  }
};
inline bool is_read_only(const detail::Fill& fill) noexcept { return fill.target<ReadOnlyFill>() != nullptr; }

std::shared_ptr<detail::TileCollection> make_read_only_tiles(Runtime& runtime, const std::string& name,
                                                             const detail::Tiling& tiling,
                                                             std::size_t element_bytes, detail::Fill content);
detail::DatumReference make_read_only_datum(Runtime& runtime, const std::string& name, detail::Description as,
                                            detail::Fill content);

// `content` writes rectangles, as a generator does (generated_by.hpp). Tasks may only read the data. Errors are those
// of Runtime's functions.

template <class T>
TiledMatrix<T> read_only_tiles(Runtime& runtime, const std::string& name, const detail::Tiling& tiling,
                               detail::Fill content) {
  return TiledMatrix<T>(make_read_only_tiles(runtime, name, tiling, sizeof(T), std::move(content)));
}

/// A vector or a tile, column-major.
template <class Array>
Handle<Array> read_only_array(Runtime& runtime, const std::string& name, const typename Array::Shape& shape,
                              detail::Fill content) {
  const Strided packed = Array::strided(shape).packed();
  return {
      make_read_only_datum(
          runtime, name,
          {.kind = "datum", .kept = true, .array = packed, .element_bytes = sizeof(typename Array::Element)},
          std::move(content)),
      Array::shaped(packed)};
}

}  // namespace fairlead::front
