// What a typed registration of a datum is reduced to before it goes into the library.
#pragma once
#include <fairlead/generated_by.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/strided.hpp>

#include <functional>

namespace fairlead::detail {

/// A datum that is to be registered.
struct Description {
  const char* kind = "datum";  ///< for messages: "vector"
  bool kept = false;           ///< by the runtime, with a home on disk; else in the user's memory
  void* address = nullptr;     ///< in the user's memory
  /// An array: how it lies there; packed if it is kept. The other data are one element.
  Strided array;
  Bytes element_bytes = 0;
  /// An object of the user's: what copies to and from other memories do.
  std::function<void(const void* object, void* packed)> pack{};
  std::function<void(const void* packed, void* object)> unpack{};
  /// An array that is kept: what it holds at first, if that is computed.
  Fill fill{};
  int owner = -1;  ///< over ranks: whose it is, if all know it; below 0: each rank has one of its own
};

}  // namespace fairlead::detail
