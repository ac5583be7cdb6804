// Reductions: several tasks accumulate into the same datum at the same time, each into a partial result. The runtime
// folds the partial results before any other access to the datum. The operation is part of the parameter's type:
//
//   codelet("count").cpu([](In<Tile<int>> t, Reduce<long> sum) { ... *sum += n; ... });
//   codelet("peak").cpu([](In<Tile<int>> t, Reduce<double, Maximum> peak) { ... });
//   codelet("sum up").cpu([](In<Tile<int>> t, Reduce<Tile<double>> sums) { ... });     // element by element
//
// An operation is a type with two functions. It must be associative and commutative; where it is so only approximately,
// as for floating-point sums, results depend on the order (see the setting `fixed-order`):
//
//   struct Longest {
//     static Path identity() { return {}; }                          // the neutral element
//     static void combine(Path& into, const Path& from) { if (from.length > into.length) into = from; }
//   };
#pragma once
#include <fairlead/detail/reduction_info.hpp>
#include <fairlead/parameter.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

namespace fairlead {

/// Adds with `+=`. The identity is `T{}`.
struct Sum {
  template <class T>
  static T identity() {
    return T{};
  }
  template <class T>
  requires requires(T& into, const T& from) { into += from; }
  static void combine(T& into, const T& from) { into = static_cast<T>(into + from); }
};
/// Multiplies with `*=`. The identity is `T(1)`.
struct Product {
  template <class T>
  static T identity() {
    return T(1);
  }
  template <class T>
  requires requires(T& into, const T& from) { into *= from; }
  static void combine(T& into, const T& from) { into = static_cast<T>(into * from); }
};
/// The minimum; for arithmetic types.
struct Minimum {
  template <class T>
  requires std::is_arithmetic_v<T>
  static T identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::max();
  }
  template <class T>
  static void combine(T& into, const T& from) {
    into = std::min(into, from);
  }
};
/// The maximum; for arithmetic types.
struct Maximum {
  template <class T>
  requires std::is_arithmetic_v<T>
  static T identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
  template <class T>
  static void combine(T& into, const T& from) {
    into = std::max(into, from);
  }
};

namespace detail {

template <class Operation, class T>
concept HasIdentity = requires {
  { Operation::template identity<T>() } -> std::convertible_to<T>;
}
|| requires {
  { Operation::identity() } -> std::convertible_to<T>;
};
template <class Operation, class T>
concept Combines = requires(T& into, const T& from) {
  Operation::combine(into, from);
};

template <class Operation, class T>
T identity_of() {
  if constexpr (requires { Operation::template identity<T>(); }) {
    return Operation::template identity<T>();
  } else {
    return Operation::identity();
  }
}

/// True if partial results of T can be made and folded; explains the requirement if not.
template <class Operation, class T>
constexpr bool can_reduce() {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "Reduce: partial results are copied byte by byte between memories: the type must be trivially "
      "copyable");
  static_assert(HasIdentity<Operation, T>,
                "Reduce<T, Operation>: Operation needs `static T identity()`, the neutral element");
  static_assert(Combines<Operation, T>,
                "Reduce<T, Operation>: Operation needs `static void combine(T& into, const T& from)`; Sum, "
                "the default, needs a `+=` of T, Product a `*=`");
  return true;
}

/// Initializes and combines a single value, or all elements of a tile.
template <class T, class Operation>
struct Reducer {
  static_assert(can_reduce<Operation, T>());
  static void begin(ParameterValue<T, false>& held) {
    std::construct_at(&held.get(), identity_of<Operation, T>());
  }
  static void combine(ParameterValue<T, false>& into, const ParameterValue<T, false>& from) {
    Operation::combine(into.get(), from.get());
  }
};
template <class Element, class Operation>
struct Reducer<Tile<Element>, Operation> {
  static_assert(can_reduce<Operation, Element>());
  static void begin(ParameterValue<Tile<Element>, false>& tile) {
    for (std::int32_t j = 0; j < tile.columns(); ++j)
      for (std::int32_t i = 0; i < tile.rows(); ++i)
        std::construct_at(&tile(i, j), identity_of<Operation, Element>());
  }
  static void combine(ParameterValue<Tile<Element>, false>& into,
                      const ParameterValue<Tile<Element>, false>& from) {
    for (std::int32_t j = 0; j < into.columns(); ++j)
      for (std::int32_t i = 0; i < into.rows(); ++i) Operation::combine(into(i, j), from(i, j));
  }
};

template <class T, class Operation>
class ReduceParameter : public Parameter<T, AccessMode::reduction> {
  using Base = Parameter<T, AccessMode::reduction>;

 public:
  using Stored = typename Base::Stored;
  ReduceParameter(const DatumLocation& location, const Stored& stored) : Base(location, stored) {
    if (location.fresh) Reducer<T, Operation>::begin(*this);
  }
  static void fold(const DatumLocation& into, const DatumLocation& from, const ReducedShape& shape) {
    const auto& stored = *std::launder(reinterpret_cast<const Stored*>(shape.bytes.data()));
    ParameterValue<T, false> whole(into, stored);
    Reducer<T, Operation>::combine(whole, ParameterValue<T, false>(from, stored));
  }
  static void remember(ReducedShape& shape, const Stored& stored) {
    static_assert(sizeof(Stored) <= sizeof shape.bytes && std::is_trivially_copyable_v<Stored>,
                  "the stored part of a handle must be small and trivially copyable");
    std::construct_at(reinterpret_cast<Stored*>(shape.bytes.data()), stored);
  }
};

template <class T, class Operation>
struct IsDatum<ReduceParameter<T, Operation>> : std::true_type {};

}  // namespace detail

/// Accumulates into the datum. Tasks that reduce into the same datum may run at the same time, each into a partial
/// result that is folded later. A body therefore sees the contributions of some of the other tasks only. For operations
/// other than sums see the top of this file.
template <class T, class Operation = Sum>
using Reduce = detail::ReduceParameter<T, Operation>;

}  // namespace fairlead
