// A number as C has it: int, unsigned, long (64 bits), unsigned long or double, with C's conversions between them.
#pragma once
#include <bit>
#include <cstdint>
#include <string>

namespace fairlead::jdf {

class Value {
 public:
  enum class Type : std::uint8_t {
    int_,
    unsigned_,
    long_,
    unsigned_long,
    double_
  };  // a later one wins in C's conversions

  constexpr Value() = default;
  static constexpr Value of_int(std::int64_t value) { return of_long(value, Type::int_); }
  static constexpr Value of_long(std::int64_t value, Type type = Type::long_) {
    Value it;
    it.type_ = type;
    it.bits_ = static_cast<std::uint64_t>(value);
    return it;
  }
  static constexpr Value of_unsigned(std::uint64_t value, Type type) {
    Value it;
    it.type_ = type;
    it.bits_ = type == Type::unsigned_ ? value & UINT32_MAX : value;
    return it;
  }
  static constexpr Value of_double(double value) {
    Value it;
    it.type_ = Type::double_;
    it.bits_ = std::bit_cast<std::uint64_t>(value);
    return it;
  }
  /// An int where it fits, else a long.
  static constexpr Value of(std::int64_t value) {
    return value >= INT32_MIN && value <= INT32_MAX ? of_int(value) : of_long(value);
  }

  /// Of what only C could say.
  static constexpr Value unknown() {
    Value it;
    it.known_ = false;
    return it;
  }

  constexpr bool is_known() const noexcept { return known_; }
  constexpr Type type() const noexcept { return type_; }
  constexpr bool is_real() const noexcept { return type_ == Type::double_; }
  constexpr bool is_unsigned() const noexcept {
    return type_ == Type::unsigned_ || type_ == Type::unsigned_long;
  }
  constexpr bool is_wide() const noexcept { return type_ == Type::long_ || type_ == Type::unsigned_long; }
  constexpr bool truth() const noexcept { return is_real() ? real() != 0 : bits_ != 0; }

  /// Of the integers: with its sign; the bits of an unsigned long beyond the range of long are as in C.
  constexpr std::int64_t integer() const noexcept { return static_cast<std::int64_t>(bits_); }
  constexpr std::uint64_t bits() const noexcept { return bits_; }
  constexpr double real() const noexcept {
    if (is_real()) return std::bit_cast<double>(bits_);
    return is_unsigned() ? static_cast<double>(bits_) : static_cast<double>(integer());
  }

  std::string text() const;

 private:
  Type type_ = Type::int_;
  bool known_ = true;
  std::uint64_t bits_ = 0;  // of a double, too
};

/// What an operator gives, and what C leaves undefined.
struct Computed {
  enum class Problem : std::uint8_t { none, division_by_zero, overflow, shift, operands };
  Problem problem = Problem::none;
  Value value;
};

enum class Operator : std::uint8_t;

/// Of all operators but && and ||, which need not look at both.
Computed compute(Operator op, Value left, Value right);
Computed compute(Operator op, Value operand);
/// What ?: gives of `chosen`, when the other is of type `other`.
Value converted(Value chosen, Value::Type other);

}  // namespace fairlead::jdf
