// The parameter types of a body: In, Out, InOut and Commute. They determine the access modes.
#pragma once
#include <fairlead/access.hpp>
#include <fairlead/detail/submission.hpp>
#include <fairlead/handle.hpp>
#include <fairlead/tile.hpp>

#include <type_traits>

namespace fairlead {

namespace detail {

/// The value of a parameter inside a body: a reference to a single value, or a view of data with a shape.
/// `Const`: read-only.
template <class T, bool Const>
class ParameterValue {
 public:
  using Value = std::conditional_t<Const, const T, T>;
  struct Stored {};  // the part of the handle that the task stores
  static Stored stored(const Handle<T>&) noexcept { return {}; }
  ParameterValue(DatumLocation location, Stored) noexcept : value_(static_cast<Value*>(location.address)) {}

  Value& operator*() const noexcept { return *value_; }
  Value* operator->() const noexcept { return value_; }
  operator Value&() const noexcept { return *value_; }
  Value& get() const noexcept { return *value_; }

 private:
  Value* value_;
};

template <Shaped T, bool Const>
class ParameterValue<T, Const> : public T::template View<Const> {
 public:
  using View = typename T::template View<Const>;
  using Stored = typename T::Shape;
  static Stored stored(const Handle<T>& handle) noexcept { return handle.shape(); }
  ParameterValue(DatumLocation location, const Stored& shape) noexcept
      : View(T::template view<Const>(location.address, location.packed, shape)) {}
};

template <class T, AccessMode Mode>
class Parameter : public ParameterValue<T, Mode == AccessMode::read> {
 public:
  using Datum = T;
  static constexpr AccessMode mode = Mode;
  using ParameterValue<T, Mode == AccessMode::read>::ParameterValue;
};

}  // namespace detail

/// Reads the datum.
template <class T>
using In = detail::Parameter<T, AccessMode::read>;
/// Replaces the datum. The body must not read the old value; the memory may have any content.
template <class T>
using Out = detail::Parameter<T, AccessMode::write>;
/// Reads and changes the datum.
template <class T>
using InOut = detail::Parameter<T, AccessMode::read_write>;
/// Changes the datum. Neighbouring commutative tasks on the same datum run one at a time, in any order.
template <class T>
using Commute = detail::Parameter<T, AccessMode::commutative>;

namespace detail {

template <class P>
struct IsDatum : std::false_type {};
template <class T, AccessMode Mode>
struct IsDatum<Parameter<T, Mode>> : std::true_type {};
template <class P>
inline constexpr bool is_datum = IsDatum<std::remove_cvref_t<P>>::value;

}  // namespace detail
}  // namespace fairlead
