// A handle identifies a datum that is registered with a runtime, and has the datum's type. It is small and cheap to
// copy. It is valid as long as the datum is registered.
#pragma once
#include <fairlead/block.hpp>
#include <fairlead/packable.hpp>
#include <fairlead/tile.hpp>
#include <fairlead/vector.hpp>

#include <cstdint>

namespace fairlead {

namespace engine {
struct RegisteredDatum;
}

namespace detail {
/// A reference to a registered datum. Descriptors are reused after their data are removed; the generation detects a
/// handle that has outlived its datum.
struct DatumReference {
  engine::RegisteredDatum* datum = nullptr;
  std::uint32_t generation = 0;
};
}  // namespace detail

/// The handle of a single value of type T.
template <class T>
class Handle {
 public:
  Handle() = default;
  explicit Handle(const detail::DatumReference& datum) noexcept : datum_(datum) {}
  const detail::DatumReference& datum() const noexcept { return datum_; }

 private:
  detail::DatumReference datum_;
};

/// The handle of a datum with a shape: a tile, a vector, a block or a user-defined object.
template <Shaped T>
class Handle<T> {
 public:
  using Shape = typename T::Shape;
  Handle() = default;
  Handle(const detail::DatumReference& datum, const Shape& shape) noexcept : datum_(datum), shape_(shape) {}
  const detail::DatumReference& datum() const noexcept { return datum_; }
  const Shape& shape() const noexcept { return shape_; }
  auto rows() const noexcept requires requires(Shape s) { s.rows; }
  { return shape_.rows; }
  auto columns() const noexcept requires requires(Shape s) { s.columns; }
  { return shape_.columns; }
  auto size() const noexcept requires requires(Shape s) { s.size; }
  { return shape_.size; }
  auto extent(std::size_t dimension) const noexcept requires requires(Shape s) { s.extents; }
  { return shape_.extents[dimension]; }

 private:
  detail::DatumReference datum_;
  Shape shape_{};
};

}  // namespace fairlead
