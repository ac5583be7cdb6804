// The task classes of a file in C++: for each its indices, its space, a function for each of its flows, its codelet, and what
// puts them together.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "front/jdf/emit.hpp"
#include "front/jdf/emit_expression.hpp"
#include "front/jdf/emit_text.hpp"

namespace fairlead::jdf {

class EmitTasks {
 public:
  EmitTasks(const File& file, const EmitNames& names, const std::vector<EmitGlobal>& globals,
            EmitExpressions& expressions, Diagnostics& diagnostics);

  /// struct IndicesOfPOTRF { ... }
  void indices(const TaskClass& it, EmitText& text) const;
  /// Declares the functions of C that run its bodies.
  void declare_bodies(const TaskClass& it, EmitText& text) const;
  /// auto codelet_of_POTRF(...)
  void codelet(const TaskClass& it, EmitText& text) const;
  /// The members of the class that makes the graph.
  void members(const TaskClass& it, EmitText& text);

  /// There is something that its tasks are told apart by.
  bool has_indices(const TaskClass& it) const { return !plan(it).needed.empty(); }

 private:
  /// What is found out about a class once.
  struct Plan {
    EmitScope scope;
    std::set<std::uint32_t> needed;          // slots of its own that C++ knows
    std::vector<const Definition*> indices;  // those, in order
    std::vector<std::uint32_t> parameters;   // JDF's numbers of the parameters, in the order of C++
    bool idle = false;
  };
  const Plan& plan(const TaskClass& it) const;
  Plan make_plan(const TaskClass& it) const;

  void space(const TaskClass& it, EmitText& text);
  std::string range(const Definition& it, const EmitScope& scope, const EmitExpressions::Hoist& hoist);
  std::string range_of(const std::string& index, ExpressionId id, const EmitScope& scope,
                       const EmitExpressions::Hoist& hoist);
  std::string affine_range(const Definition& it, const EmitScope& scope, const EmitExpressions::Hoist& hoist);
  bool factor_of(ExpressionId id, std::uint32_t slot, std::int64_t& factor) const;
  void flow(const TaskClass& it, const Flow& flow, EmitText& text);
  void dependency(const TaskClass& it, const Flow& flow, const Dependency& dependency,
                  std::vector<std::pair<Range, std::vector<std::string>>>& statements);
  std::vector<std::string> branch(const TaskClass& it, const Flow& flow, const Dependency& dependency,
                                  std::size_t number, EmitScope scope);
  std::string place(const TaskClass& it, const Target& target, EmitScope& scope,
                    std::vector<std::string>& ranges, std::vector<std::string>& lines);
  void define(const TaskClass& it, EmitText& text);
  void bind_indices(const TaskClass& it, const std::vector<std::string>& lines, EmitText& text) const;
  std::string like(const TaskClass& it, Range where);
  std::string access(const TaskClass& it, const Flow& flow) const;
  std::vector<const Flow*> data_flows(const TaskClass& it) const;
  bool is_left_out(const Flow& flow) const;

  const File& file_;
  const EmitNames& names_;
  const std::vector<EmitGlobal>& globals_;
  EmitExpressions& expressions_;
  Diagnostics& diagnostics_;
  std::map<const TaskClass*, Plan> plans_;
  bool condition_is_weak_ = false;  // of the condition that is put together
};

}  // namespace fairlead::jdf
