// Translates JDF expressions to C++. Indices become ptg::Expression, all else numbers that are evaluated when the graph
// is made. An expression that needs C becomes a C function, which the C++ calls.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "front/jdf/ast.hpp"
#include "front/jdf/emit_globals.hpp"

namespace fairlead::jdf {

/// A C++ expression.
struct CppExpression {
  std::string text;
  int precedence = 0;               ///< the precedence of its outermost operator (emit_expression.cpp)
  bool depends_on_indices = false;  ///< it depends on indices, so it is a ptg::Expression; otherwise a number
};

/// A generated C function: int64_t name(globals, indices).
struct EmitCFunction {
  std::string name;
  ExpressionId value = no_expression;
  std::vector<std::string> indices;  ///< the C names of its indices, in order
};

/// The names that are visible to an expression, and their translations.
struct EmitScope {
  const TaskClass* task_class = nullptr;
  std::map<std::uint32_t, std::string> cpp_names;  ///< by slot
  /// Pairs of C and C++ names that C code may use.
  std::vector<std::pair<std::string, std::string>> visible;
  std::string purpose;  ///< prefix of generated function names: "POTRF_priority"
};

class EmitExpressions {
 public:
  /// Receives a line of C++ to put before the current statement.
  using Hoist = std::function<void(const std::string& line)>;

  EmitExpressions(const JdfFile& file, std::string function, const std::vector<EmitGlobal>& globals)
      : file_(file), function_(std::move(function)), globals_(globals) {}

  CppExpression cpp(ExpressionId id, const EmitScope& scope, const Hoist& hoist);
  /// The C text of an expression. `inner`: functions that replace inline C.
  using InnerFunctions = std::map<ExpressionId, std::string>;
  std::string c(ExpressionId id, const InnerFunctions& inner) const;
  bool needs_c(ExpressionId id) const;
  /// Whether the expression is an integer literal, such as 2 or -1.
  bool is_literal(ExpressionId id, std::int64_t& value) const;
  /// Adds the slots that the C++ translation needs.
  void collect(ExpressionId id, const EmitScope& scope, std::set<std::uint32_t>& slots) const;

  const std::vector<EmitCFunction>& functions() const noexcept { return functions_; }
  /// Members ("descA_mt") and globals that C code reads when the graph is made: from C++ names to C expressions.
  const std::map<std::string, std::string>& read_by_c() const noexcept { return read_by_c_; }
  /// A unique name: "part3".
  std::string unique_name(const char* what);
  void begin_function() { parts_ = 0; }

 private:
  CppExpression translate(ExpressionId id, const EmitScope& scope, const Hoist& hoist);
  CppExpression name(const Expression& it, const EmitScope& scope);
  CppExpression unary(const Expression& it, const EmitScope& scope, const Hoist& hoist);
  CppExpression binary(const Expression& it, const EmitScope& scope, const Hoist& hoist);
  CppExpression ternary(const Expression& it, const EmitScope& scope, const Hoist& hoist);
  CppExpression min_max(const Expression& it, const EmitScope& scope, const Hoist& hoist);
  CppExpression call_c(ExpressionId id, const EmitScope& scope);
  void shorten(CppExpression& piece, std::size_t others, const Hoist& hoist);
  void add_function(ExpressionId id, const EmitScope& scope, std::vector<std::string>& cpp_arguments,
                    std::string& name);

  const JdfFile& file_;
  std::string function_;
  const std::vector<EmitGlobal>& globals_;
  std::vector<EmitCFunction> functions_;
  std::map<std::string, std::string> read_by_c_;
  std::map<std::string, int> purposes_;
  int parts_ = 0;
};

/// Whether the word occurs as an identifier in C or C++ text.
bool mentions(std::string_view text, std::string_view word);

}  // namespace fairlead::jdf
