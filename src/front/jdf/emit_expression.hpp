// Expressions of JDF in C++: sums, comparisons and conditions as they are, over indices or numbers that are known when the
// graph is made. Where C is needed, all of the expression becomes a function in C, which C++ calls.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "front/jdf/emit_globals.hpp"
#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

/// A piece of C++.
struct EmitPiece {
  std::string text;
  int strength = 0;     ///< of its outermost operator; see emit_expression.cpp
  bool varies = false;  ///< over indices: a ptg::Expression. Else a number.
};

/// A function in C: int64_t name(globals, indices).
struct EmitCFunction {
  std::string name;
  ExpressionId value = no_expression;
  std::vector<std::string> indices;  ///< what `indices` are, as C calls them
};

/// What names stand for where an expression stands.
struct EmitScope {
  const TaskClass* task_class = nullptr;
  std::map<std::uint32_t, std::string> cpp_names;            ///< by slot
  std::vector<std::pair<std::string, std::string>> visible;  ///< in C, in C++: what C may use
  std::string purpose;                                       ///< "POTRF_priority"
};

class EmitExpressions {
 public:
  /// Takes a line of C++ that is to stand before the statement under way.
  using Hoist = std::function<void(const std::string& line)>;

  EmitExpressions(const File& file, std::string function, const std::vector<EmitGlobal>& globals)
      : file_(file), function_(std::move(function)), globals_(globals) {}

  EmitPiece cpp(ExpressionId id, const EmitScope& scope, const Hoist& hoist);
  /// The same in C. `inner`: functions that stand for inline C.
  using InnerFunctions = std::map<ExpressionId, std::string>;
  std::string c(ExpressionId id, const InnerFunctions& inner) const;
  bool needs_c(ExpressionId id) const;
  /// A number alone, as 2 or -1.
  bool is_literal(ExpressionId id, std::int64_t& value) const;
  /// Adds the slots that C++ has to know for it.
  void collect(ExpressionId id, const EmitScope& scope, std::set<std::uint32_t>& slots) const;

  const std::vector<EmitCFunction>& functions() const noexcept { return functions_; }
  /// Names in C++ that are read by C when the graph is made: of members ("descA_mt") and globals.
  const std::map<std::string, std::string>& read_by_c() const noexcept { return read_by_c_; }
  /// "part3", unique.
  std::string part(const char* what);
  void begin_function() { parts_ = 0; }

 private:
  EmitPiece direct(ExpressionId id, const EmitScope& scope, const Hoist& hoist);
  EmitPiece name(const Expression& it, const EmitScope& scope);
  EmitPiece unary(const Expression& it, const EmitScope& scope, const Hoist& hoist);
  EmitPiece binary(const Expression& it, const EmitScope& scope, const Hoist& hoist);
  EmitPiece ternary(const Expression& it, const EmitScope& scope, const Hoist& hoist);
  EmitPiece extreme(const Expression& it, const EmitScope& scope, const Hoist& hoist);
  EmitPiece by_c(ExpressionId id, const EmitScope& scope);
  void shorten(EmitPiece& piece, std::size_t others, const Hoist& hoist);
  void add_function(ExpressionId id, const EmitScope& scope, std::vector<std::string>& cpp_arguments,
                    std::string& name);

  const File& file_;
  std::string function_;
  const std::vector<EmitGlobal>& globals_;
  std::vector<EmitCFunction> functions_;
  std::map<std::string, std::string> read_by_c_;
  std::map<std::string, int> purposes_;
  int parts_ = 0;
};

/// Whether the word occurs in a text of C.
bool mentions(std::string_view text, std::string_view word);

}  // namespace fairlead::jdf
