// The integer types of globals, and their ranges. A value out of range is an error, though C would convert it; only
// evaluated globals of unsigned types with at least 32 bits wrap.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "front/jdf/value.hpp"

namespace fairlead::jdf {

struct IntegerType {
  Value::Type type = Value::Type::int_;  ///< the type after C's integer promotion
  unsigned bits = 32;
  bool is_signed = true;

  bool holds(const Value& value) const noexcept;
  /// "-2147483648 to 2147483647".
  std::string range() const;
};

/// Nothing if `type` is no integer type of C, or is defined by C code. The empty string, a global without a type, is
/// int.
std::optional<IntegerType> integer_type(std::string_view type);

/// The value converted to the type; a fraction is truncated, as in C. Nothing if it is out of range.
std::optional<Value> as_integer(const Value& value, const IntegerType& type);

}  // namespace fairlead::jdf
