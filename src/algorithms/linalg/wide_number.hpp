// A nonnegative number with the precision of a double and a wider range: products of norms neither overflow nor
// underflow.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

namespace fairlead::linalg {

class WideNumber {
 public:
  constexpr WideNumber() = default;
  /// The number value x 2^exponent. NaN and infinity ignore the exponent.
  explicit WideNumber(double value, int exponent = 0) noexcept {
    fraction_ = std::frexp(value, &exponent_);
    exponent_ = is_zero() || !std::isfinite(value) ? 0 : exponent_ + exponent;
  }

  double fraction() const noexcept { return fraction_; }
  int exponent() const noexcept { return exponent_; }
  bool is_zero() const noexcept { return fraction_ == 0; }
  bool is_finite() const noexcept { return std::isfinite(fraction_); }
  /// The nearest double; infinite on overflow.
  double value() const noexcept { return std::ldexp(fraction_, exponent_); }

  friend WideNumber operator*(const WideNumber& a, const WideNumber& b) noexcept {
    return WideNumber(a.fraction_ * b.fraction_, a.exponent_ + b.exponent_);
  }
  /// 0 / 0 is NaN.
  friend WideNumber operator/(const WideNumber& a, const WideNumber& b) noexcept {
    return WideNumber(a.fraction_ / b.fraction_, a.exponent_ - b.exponent_);
  }
  friend WideNumber operator+(const WideNumber& a, const WideNumber& b) noexcept { return sum(a, b, 1); }
  /// The difference a - b, or zero if that is negative.
  friend WideNumber difference(const WideNumber& a, const WideNumber& b) noexcept {
    const WideNumber signed_one = sum(a, b, -1);
    return signed_one.fraction_ < 0 ? WideNumber() : signed_one;
  }
  friend bool operator<(const WideNumber& a, const WideNumber& b) noexcept {
    if (a.is_zero() || b.is_zero() || a.exponent_ == b.exponent_ || !a.is_finite() || !b.is_finite())
      return a.fraction_ < b.fraction_;
    return a.exponent_ < b.exponent_;
  }
  /// The larger number; NaN if one is NaN.
  friend WideNumber larger(const WideNumber& a, const WideNumber& b) noexcept {
    if (std::isnan(a.fraction_)) return a;
    return std::isnan(b.fraction_) || a < b ? b : a;
  }

 private:
  static WideNumber sum(const WideNumber& a, const WideNumber& b, double sign) noexcept {
    if (b.is_zero()) return a;
    if (a.is_zero()) return WideNumber(sign * b.fraction_, b.exponent_);
    const int exponent = std::max(a.exponent_, b.exponent_);
    return WideNumber(std::ldexp(a.fraction_, a.exponent_ - exponent) +
                          sign * std::ldexp(b.fraction_, b.exponent_ - exponent),
                      exponent);
  }

  double fraction_ = 0;  // from 1/2 to 1, or zero, or not finite
  int exponent_ = 0;
};

}  // namespace fairlead::linalg
