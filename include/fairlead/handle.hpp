// A handle names a datum that is registered with a runtime, and knows its type. Small and copied freely;
// valid as long as the datum is registered.
#pragma once
#include <fairlead/tile.hpp>

#include <cstdint>

namespace fairlead {

namespace engine {
struct RegisteredDatum;
}

namespace detail {
/// A registered datum. The place where it is described is used again after it is gone; the generation tells
/// which of those that were there is meant, so that a handle that has outlived its datum is found out.
struct DatumReference {
  engine::RegisteredDatum* datum = nullptr;
  std::uint32_t generation = 0;
};
}  // namespace detail

/// A datum that is one value of type T.
template <class T>
class Handle {
 public:
  Handle() = default;
  explicit Handle(const detail::DatumReference& datum) noexcept : datum_(datum) {}
  const detail::DatumReference& datum() const noexcept { return datum_; }

 private:
  detail::DatumReference datum_;
};

/// A datum that is a tile.
template <class Element>
class Handle<Tile<Element>> {
 public:
  Handle() = default;
  Handle(const detail::DatumReference& datum, TileShape shape) noexcept : datum_(datum), shape_(shape) {}
  const detail::DatumReference& datum() const noexcept { return datum_; }
  const TileShape& shape() const noexcept { return shape_; }
  std::int32_t rows() const noexcept { return shape_.rows; }
  std::int32_t columns() const noexcept { return shape_.columns; }

 private:
  detail::DatumReference datum_;
  TileShape shape_;
};

}  // namespace fairlead
