// A type-erased reduction: how the partial results of a datum are folded.
#pragma once
#include <array>
#include <cstddef>

namespace fairlead::detail {

struct DatumLocation;

/// The shape of a handle, if it has one, stored for folding.
struct ReducedShape {
  alignas(16) std::array<std::byte, 48> bytes{};
};

/// Combines the value at `from` into the value at `into`. Its address identifies the operation: equal addresses mean
/// equal operations.
using FoldFunction = void (*)(const DatumLocation& into, const DatumLocation& from,
                              const ReducedShape& shape);

/// The reduction of one parameter of a codelet.
struct ReductionInfo {
  FoldFunction fold = nullptr;  ///< null: the parameter is not a reduction
  /// Copies the shape from a call's arguments.
  void (*remember)(ReducedShape& shape, const void* arguments) = nullptr;
};

}  // namespace fairlead::detail
