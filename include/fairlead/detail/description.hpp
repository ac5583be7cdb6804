// Type-erased descriptions of data: the typed registration functions of Runtime reduce to these.
#pragma once
#include <fairlead/generated_by.hpp>
#include <fairlead/ids.hpp>
#include <fairlead/strided.hpp>

#include <functional>

namespace fairlead::detail {

/// A datum to register.
struct Description {
  const char* kind = "datum";  ///< the kind of datum, for messages: "vector"
  bool kept = false;           ///< true: stored by the runtime, with a home on disk; false: in the user's
                               ///< memory
  void* address = nullptr;     ///< the address in the user's memory
  /// The memory layout of an array: packed if the runtime stores it. Other data are one element.
  Strided array;
  Bytes element_bytes = 0;
  /// For user-defined objects: copies to and from other memories call these.
  std::function<void(const void* object, void* packed)> pack{};
  std::function<void(const void* packed, void* object)> unpack{};
  /// The initial content of a stored array, if it is computed.
  Fill fill{};
  int owner = -1;  ///< with several ranks: the owner, if all ranks share the datum; below 0: each rank has
                   ///< its own datum
};

}  // namespace fairlead::detail
