// Values of expressions for given globals, by C's rules. What only C can say, and what C leaves undefined, is an error
// with its place.
#pragma once
#include <fairlead/error.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/jdf/in_c.hpp"
#include "front/jdf/tree.hpp"
#include "front/jdf/value.hpp"

namespace fairlead::jdf {

/// An expression has no value here. what() begins with file:line:column and ends with the line and a caret.
class EvaluationError : public Error {
 public:
  enum class Kind : std::uint8_t {
    needs_c,   // inline C that is more than an expression, or something that C defines
    no_value,  // a global or a member that nobody has set
    division_by_zero,
    overflow,
    shift,
    operands,  // bits of a real number, a string as a number
  };
  EvaluationError(Kind kind, Range where, const std::string& text, std::string message = {})
      : Error(text), kind_(kind), where_(where), message_(std::move(message)) {}
  Kind kind() const noexcept { return kind_; }
  Range where() const noexcept { return where_; }
  /// Without the place.
  const std::string& message() const noexcept { return message_; }

 private:
  Kind kind_;
  Range where_;
  std::string message_;
};

class Constants;
struct IntegerType;

/// A matrix that `--matrix` describes.
struct MatrixShape {
  std::int64_t rows = 0, columns = 0, tile_rows = 0, tile_columns = 0;

  /// Of the tiled descriptor that it stands for: mt, nt, m, n, mb, nb, lm, ln, lmt, lnt, i, j, bsiz.
  std::optional<std::int64_t> member(std::string_view name) const;
};

/// What the globals of a file are, and the members of what they point to.
class Settings {
 public:
  explicit Settings(const File& file);

  /// "NT=6", "descA->mt=6", "alpha=0.5": throws ConfigError with the nearest name if the file has no such thing.
  void set(std::string_view assignment);
  /// "descA=4000,4000,500,500": rows, columns, and those of a tile.
  void describe(std::string_view matrix);
  void describe(std::uint32_t global, const MatrixShape& shape) { matrices_[global] = shape; }

  std::optional<Value> global(std::uint32_t index) const { return globals_[index]; }
  std::optional<Value> member(std::uint32_t index) const { return members_[index]; }
  std::optional<Value> c_name(std::uint32_t index) const { return c_names_[index]; }
  const std::optional<MatrixShape>& matrix(std::uint32_t global) const { return matrices_[global]; }

  /// Asks it from now on for what only C can say; null: that is an error.
  void use(std::shared_ptr<const InC> in_c) noexcept { in_c_ = std::move(in_c); }
  const InC* in_c() const noexcept { return in_c_.get(); }

 private:
  const File& file_;
  std::vector<std::optional<Value>> globals_;
  std::vector<std::optional<Value>> members_;
  std::vector<std::optional<Value>> c_names_;
  std::vector<std::optional<MatrixShape>> matrices_;
  std::shared_ptr<const InC> in_c_;
};

class Evaluator {
 public:
  /// They must outlive it. `constants`: what they know needs no evaluating; null: nothing.
  Evaluator(const File& file, const Settings& settings, const Constants* constants = nullptr);

  /// `slots` are those of a task: TaskClass::slots many, of which inline C sets its own. Throws EvaluationError.
  Value value(ExpressionId id, std::span<Value> slots);
  bool truth(ExpressionId id, std::span<Value> slots) { return value(id, slots).truth(); }
  /// As an int, which parameters, indices and priorities are.
  std::int32_t integer(ExpressionId id, std::span<Value> slots);
  Value global(std::uint32_t index, Range asked);

 private:
  Value name(const Expression& it, std::span<Value> slots);
  Value held(Value value, const IntegerType& type, const Global& of) const;
  Value member(std::uint32_t index, Range asked);
  Value binary(const Expression& it, std::span<Value> slots);
  Value call(const Expression& it, std::span<Value> slots);
  Value evaluated(const Expression& it, std::span<Value> slots);
  Value ternary(const Expression& it, std::span<Value> slots);
  Value by_c(const Expression& it, std::span<Value> slots, const std::string& otherwise);
  Value::Type type(ExpressionId id) const;
  Value checked(const Computed& computed, const Expression& it);
  [[noreturn]] void fail(EvaluationError::Kind kind, Range where, const std::string& message) const;

  const File& file_;
  const Settings& settings_;
  const Constants* constants_;
  // Empty until a global is asked for: most are constants.
  std::vector<std::optional<Value>> known_;  // values of globals that have been asked for
  std::vector<bool> under_way_;
  std::vector<Value> global_slots_;
  int globals_deep_ = 0;
};

}  // namespace fairlead::jdf
