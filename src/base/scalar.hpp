// Elements of matrices that are real or complex, for code that is the same for both. For real numbers each function is
// the plain expression.
#pragma once
#include <fairlead/element_type.hpp>

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace fairlead {

/// The type of the parts of a complex number; of a real one its own.
template <class T>
struct PartType {
  using Type = T;
};
template <class T>
struct PartType<std::complex<T>> {
  using Type = T;
};
template <class T>
using RealOf = typename PartType<T>::Type;

template <class T>
inline constexpr bool is_complex_number = !std::is_same_v<T, RealOf<T>>;
/// The numbers of which an element consists, which are adjacent: std::complex guarantees it.
template <class T>
inline constexpr int parts_of_number = is_complex_number<T> ? 2 : 1;
/// The same kind of number in double precision, in which solutions are checked.
template <class T>
using WideOf = std::conditional_t<is_complex_number<T>, std::complex<double>, double>;
/// And in single precision.
template <class T>
using SingleOf = std::conditional_t<is_complex_number<T>, std::complex<float>, float>;

template <class T>
inline constexpr ElementType element_type_of = element_type(std::is_same_v<RealOf<T>, float>,
                                                            is_complex_number<T>);

template <class T>
inline constexpr double epsilon_of_scalar = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

template <class T>
T* parts_of(T* elements) noexcept {
  return elements;
}
template <class T>
T* parts_of(std::complex<T>* elements) noexcept {
  return reinterpret_cast<T*>(elements);
}
template <class T>
const T* parts_of(const std::complex<T>* elements) noexcept {
  return reinterpret_cast<const T*>(elements);
}

template <class T>
T conjugate(T x) noexcept {
  if constexpr (is_complex_number<T>)
    return {x.real(), -x.imag()};
  else
    return x;
}
template <class T>
RealOf<T> real_part(T x) noexcept {
  if constexpr (is_complex_number<T>)
    return x.real();
  else
    return x;
}
template <class T>
bool is_finite_number(T x) noexcept {
  if constexpr (is_complex_number<T>)
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  else
    return std::isfinite(x);
}
template <class T>
bool is_not_a_number(T x) noexcept {
  if constexpr (is_complex_number<T>)
    return std::isnan(x.real()) || std::isnan(x.imag());
  else
    return std::isnan(x);
}

/// The absolute value in double precision; NaN if a part is NaN.
template <class T>
double magnitude(T x) noexcept {
  if constexpr (is_complex_number<T>) {
    const auto re = static_cast<double>(x.real()), im = static_cast<double>(x.imag());
    // Between these, the square neither overflows nor loses digits; std::hypot is slow.
    constexpr double least = 0x1p-900, most = 0x1p1000;
    const double square = re * re + im * im;
    if (square > least && square < most) return std::sqrt(square);
    return std::isnan(re) || std::isnan(im) ? std::numeric_limits<double>::quiet_NaN() : std::hypot(re, im);
  } else {
    return std::abs(static_cast<double>(x));
  }
}

/// In the type To, which is real only if From is.
template <class To, class From>
To scalar_cast(From x) noexcept {
  if constexpr (is_complex_number<From>)
    return To(static_cast<RealOf<To>>(x.real()), static_cast<RealOf<To>>(x.imag()));
  else
    return To(static_cast<RealOf<To>>(x));
}

/// x times a power of two.
template <class T>
T times_power_of_two(T x, int exponent) noexcept {
  if constexpr (is_complex_number<T>)
    return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
  else
    return std::ldexp(x, exponent);
}

/// For messages: "1.5"; "1.5-2i".
template <class T>
std::string number_text(T x) {
  if constexpr (is_complex_number<T>)
    return fmt::format("{}{:+}i", x.real(), x.imag());
  else
    return fmt::format("{}", x);
}

/// Calls f.operator()<T>() with the type of such elements.
template <class F>
decltype(auto) with_scalar(ElementType type, const F& f) {
  switch (type) {
    case ElementType::float32:
      return f.template operator()<float>();
    case ElementType::complex64:
      return f.template operator()<std::complex<float>>();
    case ElementType::complex128:
      return f.template operator()<std::complex<double>>();
    case ElementType::float64:
      break;
  }
  return f.template operator()<double>();
}

}  // namespace fairlead
