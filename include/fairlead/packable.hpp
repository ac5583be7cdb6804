// User-defined objects as data. CPU cores use the object in place; in any other memory it is a sequence of bytes that
// user functions pack and unpack.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/strided.hpp>

#include <span>

namespace fairlead {

struct PackableShape {
  Bytes bytes = 0;  ///< size when packed
};

/// What a body gets: either the object or its packed bytes, const if the task only reads.
template <class Object, class Byte>
class PackableView {
 public:
  PackableView(void* address, bool packed, Bytes bytes) noexcept
      : address_(address), packed_(packed), bytes_(bytes) {}

  bool packed() const noexcept { return packed_; }
  /// Throws UsageError if the object is packed here.
  Object& object() const {
    if (packed_)
      throw UsageError("a body called object(), but the object is packed bytes here: check packed() first");
    return *static_cast<Object*>(address_);
  }
  /// Throws UsageError if the object is used in place here.
  std::span<Byte> bytes() const {
    if (!packed_)
      throw UsageError("a body called bytes(), but the object is used in place here: check packed() first");
    return {static_cast<Byte*>(address_), bytes_};
  }

 private:
  void* address_;
  bool packed_;
  Bytes bytes_;
};

/// The datum's type, as in `In<Packable<Mesh>>`.
template <class Object>
struct Packable {
  using Shape = PackableShape;
  template <bool Const>
  using View = PackableView<ConstIf<Const, Object>, ConstIf<Const, std::byte>>;
  template <bool Const>
  static View<Const> view(void* address, bool packed, const Shape& shape) noexcept {
    return {address, packed, shape.bytes};
  }
};

}  // namespace fairlead
