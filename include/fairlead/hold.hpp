// Data in the hands of the program: between tasks, without a task. A hold is given by Flow::acquire, ordered
// like a task, and ends with its scope.
//
//   {
//     auto hold = flow.acquire(fairlead::read(x), fairlead::update(a(0, 0)));
//     hold.get<1>()(3, 4) = *hold.get<0>();
//   }  // tasks submitted meanwhile that use the tile go on here
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

/// One datum that is to be acquired, and how: what read(), write() and update() make.
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

/// The part of a hold that has no types.
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

  /// The data are there and have not been released.
  explicit operator bool() const noexcept;
  /// Lets go: what get() gave must not be used any more. Any thread may call it; a second time does nothing.
  void release() noexcept;

 protected:
  /// Throws UsageError if there is nothing, TaskError if the data could not be had.
  Place place(std::size_t use) const;

 private:
  std::shared_ptr<HoldState> state_;
};

}  // namespace detail

/// Looks at the current value; several holds and tasks may at once.
template <class T>
detail::Wanted<In<T>> read(const Handle<T>& handle, SourceLine where = SourceLine::current()) {
  return {handle, where};
}
/// Replaces the value; what is in the memory before is anything.
template <class T>
detail::Wanted<Out<T>> write(const Handle<T>& handle, SourceLine where = SourceLine::current()) {
  return {handle, where};
}
/// Looks at the value and changes it.
template <class T>
detail::Wanted<InOut<T>> update(const Handle<T>& handle, SourceLine where = SourceLine::current()) {
  return {handle, where};
}

/// What was acquired, until its end or release(). Movable. May outlive the flow; the data stay where they
/// are even if the matrix and the runtime are destroyed meanwhile.
template <class... P>
class Hold : public detail::AnyHold {
 public:
  Hold() = default;

  /// The I-th datum, as a body would have it: In<T>, Out<T> or InOut<T>. Throws UsageError if the hold is
  /// empty or released, TaskError if the data could not be had (in a callback of acquire_then).
  template <std::size_t I>
  auto get() const {
    return std::tuple_element_t<I, std::tuple<P...>>(place(I), std::get<I>(stored_));
  }
  /// The only datum, if it is a value.
  decltype(auto) operator*() const requires(sizeof...(P) == 1) { return *get<0>(); }

 private:
  friend class Flow;
  using Stored = std::tuple<typename P::Stored...>;
  Hold(std::shared_ptr<detail::HoldState> state, const Stored& stored)
      : AnyHold(std::move(state)), stored_(stored) {}
  Stored stored_;
};

}  // namespace fairlead
