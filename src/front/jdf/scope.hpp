// What a name may mean at one place of a task class, the innermost first, and how the names of expressions are bound to it.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "front/jdf/diagnostics.hpp"
#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

class Scope {
 public:
  /// `of`: the class, for messages; nullptr for the values of globals, which see `visible` globals before them.
  Scope(File& file, Diagnostics& diagnostics, const TaskClass* of, std::size_t visible, std::uint32_t& slots)
      : file_(file), diagnostics_(diagnostics), class_(of), visible_globals_(visible), slots_(slots) {}

  /// A name from here on; its slot.
  std::uint32_t add(std::string_view name);
  /// The slot of a local, or `nowhere`.
  std::uint32_t find(std::string_view name) const;
  std::size_t mark() const noexcept { return names_.size(); }
  void back_to(std::size_t mark) { names_.resize(mark); }

  void bind(ExpressionId id);
  /// As in C: what is unknown is the C's.
  void bind_c(ExpressionId id);
  /// The ranges, then each name for what follows it.
  void bind(std::vector<Index>& indices);

 private:
  void bind_name(Expression& it);
  void bind_evaluated(ExpressionId id);
  bool bind_global(Expression& it);
  bool is_of_prologue(const Expression& it);
  void unknown(const Expression& it);

  File& file_;
  Diagnostics& diagnostics_;
  const TaskClass* class_;
  std::size_t visible_globals_;
  std::uint32_t& slots_;
  std::vector<std::pair<std::string_view, std::uint32_t>> names_;
  bool in_c_ = false;  // inside inline C: what is unknown is the C's
};

/// The number of the global of that name among the first `visible`, or `nowhere`.
std::uint32_t global_named(const File& file, std::string_view name, std::size_t visible);

}  // namespace fairlead::jdf
