// Holds: the program itself accesses data between tasks. Flow::acquire() returns a hold, which is ordered like a task
// and ends with its scope.
//
//   {
//     auto hold = flow.acquire(fairlead::read(x), fairlead::update(a(0, 0)));
//     hold.get<1>()(3, 4) = *hold.get<0>();
//   }  // tasks on the tile that were submitted in the meantime can now run
#pragma once
#include <fairlead/handle.hpp>
#include <fairlead/parameter.hpp>
#include <fairlead/source_line.hpp>

#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>

namespace fairlead {

class Flow;

namespace detail {

struct HoldState;

/// A datum to acquire and its access mode; made by read(), write() and update().
template <class P>
struct Wanted {
  using Parameter = P;
  Handle<typename P::Datum> handle;
  SourceLine where;
};

template <class P>
struct IsWanted : std::false_type {};
template <class P>
struct IsWanted<Wanted<P>> : std::true_type {};
template <class P>
concept AnyWanted = IsWanted<P>::value;

/// The untyped base class of holds.
class AnyHold {
 public:
  AnyHold() noexcept = default;
  explicit AnyHold(std::shared_ptr<HoldState> state) noexcept : state_(std::move(state)) {}
  AnyHold(AnyHold&& other) noexcept = default;
  AnyHold& operator=(AnyHold&& other) noexcept {
    if (this != &other) {
      release();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  ~AnyHold() { release(); }

  /// True if the data are available and not yet released.
  explicit operator bool() const noexcept;
  /// Releases the data; the results of get() become invalid. Thread-safe; a second call does nothing.
  void release() noexcept;

 protected:
  /// Throws UsageError if the hold is empty or released, TaskError if the data are not available.
  DatumLocation location(std::size_t use) const;

 private:
  std::shared_ptr<HoldState> state_;
};

}  // namespace detail

/// Reads the current value; several holds and tasks may read at the same time.
template <class T>
detail::Wanted<In<T>> read(const Handle<T>& handle, SourceLine where = SourceLine::current()) {
  return {handle, where};
}
/// Replaces the value; the memory may have any content before.
template <class T>
detail::Wanted<Out<T>> write(const Handle<T>& handle, SourceLine where = SourceLine::current()) {
  return {handle, where};
}
/// Reads and changes the value.
template <class T>
detail::Wanted<InOut<T>> update(const Handle<T>& handle, SourceLine where = SourceLine::current()) {
  return {handle, where};
}

/// Acquired data, until destruction or release(). Movable. It may outlive the flow; the data stay in place even if the
/// matrix and the runtime are destroyed in the meantime.
template <class... P>
class Hold : public detail::AnyHold {
 public:
  Hold() = default;

  /// The I-th datum, as a body gets it: In<T>, Out<T> or InOut<T>. Throws UsageError if the hold is empty or released,
  /// TaskError if the data are not available (in a callback of acquire_then()).
  template <std::size_t I>
  auto get() const {
    return std::tuple_element_t<I, std::tuple<P...>>(location(I), std::get<I>(stored_));
  }
  /// The value, if the hold has a single datum that is a value.
  decltype(auto) operator*() const requires(sizeof...(P) == 1) { return *get<0>(); }

 private:
  friend class Flow;
  using Stored = std::tuple<typename P::Stored...>;
  Hold(std::shared_ptr<detail::HoldState> state, const Stored& stored)
      : AnyHold(std::move(state)), stored_(stored) {}
  Stored stored_;
};

}  // namespace fairlead
