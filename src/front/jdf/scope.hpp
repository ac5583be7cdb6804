// The names visible at one point of a task class, innermost first, and the binding of names in expressions to them.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "front/jdf/ast.hpp"
#include "front/jdf/diagnostics.hpp"

namespace fairlead::jdf {

class Scope {
 public:
  /// `of`: the class, for messages; nullptr for the values of globals, where only the first `visible` globals are
  /// visible.
  Scope(JdfFile& file, Diagnostics& diagnostics, const TaskClass* of, std::size_t visible,
        std::uint32_t& slots)
      : file_(file), diagnostics_(diagnostics), class_(of), visible_globals_(visible), slots_(slots) {}

  /// Makes a name visible from here on; returns its slot.
  std::uint32_t add(std::string_view name);
  /// The slot of a local, or `nowhere`.
  std::uint32_t find(std::string_view name) const;
  std::size_t depth() const noexcept { return names_.size(); }
  void pop_to(std::size_t mark) { names_.resize(mark); }

  void bind(ExpressionId id);
  /// The same by C's rules: an unknown name is assumed to be defined by C code.
  void bind_c(ExpressionId id);
  /// Binds each range; then its name is visible for the following ones.
  void bind(std::vector<Index>& indices);

 private:
  void bind_name(Expression& it);
  void bind_evaluated(ExpressionId id);
  bool bind_global(Expression& it);
  bool is_of_prologue(const Expression& it);
  void unknown(const Expression& it);

  JdfFile& file_;
  Diagnostics& diagnostics_;
  const TaskClass* class_;
  std::size_t visible_globals_;
  std::uint32_t& slots_;
  std::vector<std::pair<std::string_view, std::uint32_t>> names_;
  bool in_c_ = false;  // inside inline C: an unknown name belongs to C
};

/// The index of the global of that name among the first `visible`, or `nowhere`.
std::uint32_t global_named(const JdfFile& file, std::string_view name, std::size_t visible);

}  // namespace fairlead::jdf
