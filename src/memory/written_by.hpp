// A field that any code may read and one class writes, enforced by the compiler. To find the origin of a value, read
// that class.
#pragma once
#include <cstddef>
#include <type_traits>

namespace fairlead::memory {

template <class T, class Writer>
class WrittenBy {
 public:
  constexpr WrittenBy() = default;
  /// The initial value comes from the code that makes the whole object.
  constexpr WrittenBy(T value) noexcept : value_(static_cast<T&&>(value)) {}
  constexpr WrittenBy(const WrittenBy&) = default;
  constexpr WrittenBy(WrittenBy&&) noexcept = default;

  constexpr operator const T&() const noexcept { return value_; }
  constexpr const T& get() const noexcept { return value_; }
  constexpr auto operator->() const noexcept {
    if constexpr (std::is_pointer_v<T>) {
      return value_;
    } else {
      return &value_;
    }
  }

 private:
  friend Writer;
  WrittenBy& operator=(const WrittenBy&) = default;
  constexpr T& operator=(const T& value) noexcept { return value_ = value; }
  constexpr T& operator++() noexcept { return ++value_; }
  constexpr T operator++(int) noexcept { return value_++; }
  constexpr T& operator--() noexcept { return --value_; }
  constexpr T& operator+=(const T& more) noexcept { return value_ += more; }
  constexpr T& operator-=(const T& less) noexcept { return value_ -= less; }
  constexpr T& write() noexcept { return value_; }

  T value_{};
};

/// As index() of the id itself.
template <class T, class Writer>
constexpr std::size_t index(const WrittenBy<T, Writer>& id) noexcept {
  return static_cast<std::size_t>(id.get());
}

}  // namespace fairlead::memory
