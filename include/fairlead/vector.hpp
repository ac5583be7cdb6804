// The vector type: equally spaced elements.
#pragma once
#include <fairlead/strided.hpp>

namespace fairlead {

struct VectorShape {
  std::int64_t size = 0;
  std::int64_t stride = 1;  ///< distance between elements, if the vector is used in place
};

/// A body's view of a vector. Element i is data()[i * stride()], as in BLAS. Element is const if the task only reads.
template <class Element>
class VectorView {
 public:
  VectorView(Element* data, std::int64_t size, std::int64_t stride = 1) noexcept
      : data_(data), size_(size), stride_(stride) {}

  Element* data() const noexcept { return data_; }
  std::int64_t size() const noexcept { return size_; }
  std::int64_t stride() const noexcept { return stride_; }
  [[gnu::always_inline]] Element& operator()(std::int64_t i) const {
    detail::check_element("vector", {i}, {size_});
    return data_[i * stride_];
  }

 private:
  Element* data_;
  std::int64_t size_, stride_;
};

/// The datum's type, as in `In<Vector<double>>`.
template <class T>
struct Vector {
  using Element = T;
  using Shape = VectorShape;
  template <bool Const>
  using View = VectorView<ConstIf<Const, Element>>;
  template <bool Const>
  static View<Const> view(void* address, bool packed, const Shape& shape) noexcept {
    return {static_cast<Element*>(address), shape.size, packed ? 1 : shape.stride};
  }
  static Strided strided(const Shape& shape) noexcept { return {{shape.size, 1, 1}, {shape.stride, 0, 0}}; }
  static Shape shaped(const Strided& strided) noexcept { return {strided.extents[0], strided.strides[0]}; }
};

}  // namespace fairlead
