// A handle names a datum that is registered with a runtime, and knows its type. Small and copied freely;
// valid as long as the datum is registered.
#pragma once
#include <fairlead/tile.hpp>

namespace fairlead {

namespace engine {
struct RegisteredDatum;
}

/// A datum that is one value of type T.
template <class T>
class Handle {
 public:
  Handle() = default;
  explicit Handle(engine::RegisteredDatum& datum) noexcept : datum_(&datum) {}
  engine::RegisteredDatum* datum() const noexcept { return datum_; }

 private:
  engine::RegisteredDatum* datum_ = nullptr;
};

/// A datum that is a tile.
template <class Element>
class Handle<Tile<Element>> {
 public:
  Handle() = default;
  Handle(engine::RegisteredDatum& datum, TileShape shape) noexcept : datum_(&datum), shape_(shape) {}
  engine::RegisteredDatum* datum() const noexcept { return datum_; }
  const TileShape& shape() const noexcept { return shape_; }
  std::int32_t rows() const noexcept { return shape_.rows; }
  std::int32_t columns() const noexcept { return shape_.columns; }

 private:
  engine::RegisteredDatum* datum_ = nullptr;
  TileShape shape_;
};

}  // namespace fairlead
