// A reduction with its types erased: how partial results of one parameter's datum are added up.
#pragma once
#include <array>
#include <cstddef>

namespace fairlead::detail {

struct Place;

/// What the library keeps of a handle for folding: its shape, if it has one.
struct ReducedShape {
  alignas(16) std::array<std::byte, 48> bytes{};
};

/// Adds what is at `from` to what is at `into`. Its address tells operations apart.
using FoldFunction = void (*)(const Place& into, const Place& from, const ReducedShape& shape);

/// Of one parameter of a codelet.
struct ReductionInfo {
  FoldFunction fold = nullptr;  ///< null: the parameter is no reduction
  /// Takes the shape out of a call's arguments.
  void (*remember)(ReducedShape& shape, const void* arguments) = nullptr;
};

}  // namespace fairlead::detail
