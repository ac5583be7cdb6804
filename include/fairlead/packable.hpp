// An object of the user's own: cores use it where it is, everywhere else it is bytes that the user's
// functions make of it and read back.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/strided.hpp>

#include <span>

namespace fairlead {

struct PackableShape {
  Bytes bytes = 0;  ///< when packed
};

/// What a body has: either the object or its bytes. Const where a task only reads.
template <class Object, class Byte>
class PackableView {
 public:
  PackableView(void* address, bool packed, Bytes bytes) noexcept
      : address_(address), packed_(packed), bytes_(bytes) {}

  bool packed() const noexcept { return packed_; }
  /// Throws UsageError where the object is packed.
  Object& object() const {
    if (packed_) throw UsageError("a body asked for an object that is packed bytes here: see packed()");
    return *static_cast<Object*>(address_);
  }
  /// Throws UsageError where it is used in place.
  std::span<Byte> bytes() const {
    if (!packed_)
      throw UsageError("a body asked for the bytes of an object that is used in place: see packed()");
    return {static_cast<Byte*>(address_), bytes_};
  }

 private:
  void* address_;
  bool packed_;
  Bytes bytes_;
};

/// As the type of a datum: `In<Packable<Mesh>>`.
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
