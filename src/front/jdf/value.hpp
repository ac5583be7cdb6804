// A number with C's type and C's conversions: int, unsigned, long (64 bits), unsigned long or double.
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
  };  // in C's conversions the later type of two wins

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
  /// An int if the value fits, otherwise a long.
  static constexpr Value of(std::int64_t value) {
    return value >= INT32_MIN && value <= INT32_MAX ? of_int(value) : of_long(value);
  }

  /// A value that only C code can compute.
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
  constexpr bool is_64_bit() const noexcept { return type_ == Type::long_ || type_ == Type::unsigned_long; }
  constexpr bool truth() const noexcept { return is_real() ? real() != 0 : bits_ != 0; }

  /// The value of an integer type. An unsigned long above the range of long keeps its bits, as in C.
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
  std::uint64_t bits_ = 0;  // the bits of the value, also of a double
};

/// The result of an operator, or the reason why C leaves it undefined.
struct ArithmeticResult {
  enum class ArithmeticError : std::uint8_t { none, division_by_zero, overflow, shift, operands };
  ArithmeticError problem = ArithmeticError::none;
  Value value;
};

enum class Operator : std::uint8_t;

/// Applies a binary operator, except && and ||, which may not evaluate their right operand.
ArithmeticResult compute(Operator op, Value left, Value right);
ArithmeticResult compute(Operator op, Value operand);
/// The value of a ?: expression: `chosen`, converted to the common type with the other operand.
Value converted(Value chosen, Value::Type other);

}  // namespace fairlead::jdf
