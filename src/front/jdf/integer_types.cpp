// See integer_types.hpp.
#include "front/jdf/integer_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace fairlead::jdf {

namespace {

struct NamedType {
  std::string_view name;
  IntegerType type;
};
constexpr IntegerType signed_of(unsigned bits) {
  return {bits == 64 ? Value::Type::long_ : Value::Type::int_, bits, true};
}
/// Types narrower than int become int in calculations.
constexpr IntegerType unsigned_of(unsigned bits) {
  return {bits == 64   ? Value::Type::unsigned_long
          : bits == 32 ? Value::Type::unsigned_
                       : Value::Type::int_,
          bits, false};
}
constexpr std::array<NamedType, 21> types{{{"", signed_of(32)},
                                           {"int", signed_of(32)},
                                           {"signed", signed_of(32)},
                                           {"int32_t", signed_of(32)},
                                           {"short", signed_of(16)},
                                           {"int16_t", signed_of(16)},
                                           {"char", signed_of(8)},
                                           {"int8_t", signed_of(8)},
                                           {"long", signed_of(64)},
                                           {"long int", signed_of(64)},
                                           {"long long", signed_of(64)},
                                           {"int64_t", signed_of(64)},
                                           {"ssize_t", signed_of(64)},
                                           {"unsigned", unsigned_of(32)},
                                           {"unsigned int", unsigned_of(32)},
                                           {"uint32_t", unsigned_of(32)},
                                           {"uint8_t", unsigned_of(8)},
                                           {"uint16_t", unsigned_of(16)},
                                           {"unsigned long", unsigned_of(64)},
                                           {"uint64_t", unsigned_of(64)},
                                           {"size_t", unsigned_of(64)}}};

std::int64_t least_of(const IntegerType& of) {
  return of.is_signed ? -static_cast<std::int64_t>(std::uint64_t{1} << (of.bits - 1)) : 0;
}
std::uint64_t most_of(const IntegerType& of) {
  const unsigned digits = of.is_signed ? of.bits - 1 : of.bits;
  return digits == 64 ? UINT64_MAX : (std::uint64_t{1} << digits) - 1;
}

}  // namespace

bool IntegerType::holds(const Value& value) const noexcept {
  if (value.is_real()) {
    const double whole = std::trunc(value.real()), digits = is_signed ? bits - 1 : bits;
    return whole >= static_cast<double>(least_of(*this)) && whole < std::ldexp(1.0, static_cast<int>(digits));
  }
  if (value.is_unsigned()) return value.bits() <= most_of(*this);
  if (value.integer() < 0) return is_signed && value.integer() >= least_of(*this);
  return value.bits() <= most_of(*this);
}

std::string IntegerType::range() const { return fmt::format("{} to {}", least_of(*this), most_of(*this)); }

std::optional<IntegerType> integer_type(std::string_view type) {
  if (type.starts_with("const ")) type.remove_prefix(6);
  const auto found = std::ranges::find(types, type, &NamedType::name);
  return found == types.end() ? std::nullopt : std::optional(found->type);
}

std::optional<Value> as_integer(const Value& value, const IntegerType& type) {
  if (!type.holds(value)) return std::nullopt;
  const bool is_unsigned = type.type == Value::Type::unsigned_ || type.type == Value::Type::unsigned_long;
  if (is_unsigned)
    return Value::of_unsigned(value.is_real() ? static_cast<std::uint64_t>(value.real()) : value.bits(),
                              type.type);
  return Value::of_long(value.is_real() ? static_cast<std::int64_t>(value.real()) : value.integer(),
                        type.type);
}

}  // namespace fairlead::jdf
