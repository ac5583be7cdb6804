// The block type: a 3-D block of a grid.
#pragma once
#include <fairlead/strided.hpp>

namespace fairlead {

struct BlockShape {
  std::array<std::int32_t, 3> extents{0, 0, 0};
  std::array<std::int64_t, 2> strides{
      0, 0};  ///< elements from j to j + 1 and from k to k + 1, if the block is used in place
};

/// A body's view of a block. Element (i, j, k) is data()[i + j * strides()[0] + k * strides()[1]]. Element is const if
/// the task only reads.
template <class Element>
class BlockView {
 public:
  BlockView(Element* data, std::array<std::int32_t, 3> extents, std::array<std::int64_t, 2> strides) noexcept
      : data_(data), extents_(extents), strides_(strides) {}

  Element* data() const noexcept { return data_; }
  const std::array<std::int32_t, 3>& extents() const noexcept { return extents_; }
  std::int32_t extent(std::size_t dimension) const noexcept { return extents_[dimension]; }
  const std::array<std::int64_t, 2>& strides() const noexcept { return strides_; }
  [[gnu::always_inline]] Element& operator()(std::int32_t i, std::int32_t j, std::int32_t k) const {
    detail::check_element("block", {i, j, k}, {extents_[0], extents_[1], extents_[2]});
    return data_[i + j * strides_[0] + k * strides_[1]];
  }

 private:
  Element* data_;
  std::array<std::int32_t, 3> extents_;
  std::array<std::int64_t, 2> strides_;
};

/// The datum's type, as in `In<Block<double>>`.
template <class T>
struct Block {
  using Element = T;
  using Shape = BlockShape;
  template <bool Const>
  using View = BlockView<ConstIf<Const, Element>>;
  template <bool Const>
  static View<Const> view(void* address, bool packed, const Shape& shape) noexcept {
    return {static_cast<Element*>(address), shape.extents,
            packed ? shaped(strided(shape).packed()).strides : shape.strides};
  }
  static Strided strided(const Shape& shape) noexcept {
    return {{shape.extents[0], shape.extents[1], shape.extents[2]}, {1, shape.strides[0], shape.strides[1]}};
  }
  static Shape shaped(const Strided& strided) noexcept {
    const auto extent = [&](std::size_t i) { return static_cast<std::int32_t>(strided.extents[i]); };
    return {{extent(0), extent(1), extent(2)}, {strided.strides[1], strided.strides[2]}};
  }
};

}  // namespace fairlead
