// Evaluates expressions for given globals, by C's rules. An expression that needs C code, or that C leaves undefined,
// is an error with its position.
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

#include "front/jdf/ast.hpp"
#include "front/jdf/c_evaluator.hpp"
#include "front/jdf/value.hpp"

namespace fairlead::jdf {

/// An expression has no value. what() starts with file:line:column and ends with the source line and a caret.
class EvaluationError : public Error {
 public:
  enum class Kind : std::uint8_t {
    needs_c,   // inline C that is more than an expression, or a name that C defines
    no_value,  // a global or a member without a value
    division_by_zero,
    overflow,
    invalid_shift,
    invalid_operands,  // bit operators on a real number, or a string used as a number
  };
  EvaluationError(Kind kind, SourceRange where, const std::string& text, std::string message = {})
      : Error(text), kind_(kind), where_(where), message_(std::move(message)) {}
  Kind kind() const noexcept { return kind_; }
  SourceRange where() const noexcept { return where_; }
  /// Without the position.
  const std::string& message() const noexcept { return message_; }

 private:
  Kind kind_;
  SourceRange where_;
  std::string message_;
};

class Constants;
struct IntegerType;

/// The shape of a matrix, from the option `--matrix`, in elements.
struct MatrixShape {
  std::int64_t rows = 0, columns = 0, tile_rows = 0, tile_columns = 0;

  /// The value of a descriptor member: mt, nt, m, n, mb, nb, lm, ln, lmt, lnt, i, j or bsiz.
  std::optional<std::int64_t> member(std::string_view name) const;
};

/// The values of a file's globals, and of the members that they point to.
class Settings {
 public:
  explicit Settings(const JdfFile& file);

  /// Sets a value: "NT=6", "descA->mt=6", "alpha=0.5". Throws ConfigError with the nearest name if the file has no such
  /// name.
  void set(std::string_view assignment);
  /// Sets a matrix: "descA=4000,4000,500,500" are rows, columns, rows of a tile, columns of a tile.
  void describe(std::string_view matrix);
  void describe(std::uint32_t global, const MatrixShape& shape) { matrices_[global] = shape; }

  std::optional<Value> global(std::uint32_t index) const { return globals_[index]; }
  std::optional<Value> member(std::uint32_t index) const { return members_[index]; }
  std::optional<Value> c_name(std::uint32_t index) const { return c_names_[index]; }
  const std::optional<MatrixShape>& matrix(std::uint32_t global) const { return matrices_[global]; }

  /// Sets the compiled C code that evaluates what needs C; null: needing C is an error.
  void use(std::shared_ptr<const CEvaluator> in_c) noexcept { in_c_ = std::move(in_c); }
  const CEvaluator* in_c() const noexcept { return in_c_.get(); }

 private:
  const JdfFile& file_;
  std::vector<std::optional<Value>> globals_;
  std::vector<std::optional<Value>> members_;
  std::vector<std::optional<Value>> c_names_;
  std::vector<std::optional<MatrixShape>> matrices_;
  std::shared_ptr<const CEvaluator> in_c_;
};

class Evaluator {
 public:
  /// The arguments must outlive the evaluator. Expressions in `constants` are not evaluated again; null: there are
  /// none.
  Evaluator(const JdfFile& file, const Settings& settings, const Constants* constants = nullptr);

  /// `slots`: TaskClass::slots values of a task, of which inline C sets its own variables. Throws EvaluationError.
  Value value(ExpressionId id, std::span<Value> slots);
  bool truth(ExpressionId id, std::span<Value> slots) { return value(id, slots).truth(); }
  /// As an int, the type of parameters, indices and priorities.
  std::int32_t integer(ExpressionId id, std::span<Value> slots);
  Value global(std::uint32_t index, SourceRange asked);

 private:
  Value name(const Expression& it, std::span<Value> slots);
  Value converted_to_type(Value value, const IntegerType& type, const Global& of) const;
  Value member(std::uint32_t index, SourceRange asked);
  Value binary(const Expression& it, std::span<Value> slots);
  Value call(const Expression& it, std::span<Value> slots);
  Value evaluated(const Expression& it, std::span<Value> slots);
  Value ternary(const Expression& it, std::span<Value> slots);
  Value by_c(const Expression& it, std::span<Value> slots, const std::string& otherwise);
  Value::Type type(ExpressionId id) const;
  Value checked(const ArithmeticResult& computed, const Expression& it);
  [[noreturn]] void fail(EvaluationError::Kind kind, SourceRange where, const std::string& message) const;

  const JdfFile& file_;
  const Settings& settings_;
  const Constants* constants_;
  // Empty until the first global is evaluated: most expressions are constants.
  std::vector<std::optional<Value>> known_;  // the values of globals evaluated so far
  std::vector<bool> in_progress_;
  std::vector<Value> global_slots_;
  int globals_deep_ = 0;
};

}  // namespace fairlead::jdf
