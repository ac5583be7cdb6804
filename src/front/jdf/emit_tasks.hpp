// Generates the C++ of the task classes: for each its indices, its index space, a function for each of its flows, its
// codelet, and the function that defines it.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "front/jdf/emit.hpp"
#include "front/jdf/emit_expression.hpp"
#include "front/jdf/emit_text.hpp"
#include "front/jdf/reshapes.hpp"

namespace fairlead::jdf {

class EmitTasks {
 public:
  EmitTasks(const JdfFile& file, const EmitNames& names, const std::vector<EmitGlobal>& globals,
            EmitExpressions& expressions, Diagnostics& diagnostics);

  /// Writes struct IndicesOfPOTRF { ... }
  void indices(const TaskClass& it, EmitText& text) const;
  /// Declares the C functions that run its bodies.
  void declare_bodies(const TaskClass& it, EmitText& text) const;
  /// Writes auto codelet_of_POTRF(...)
  void codelet(const TaskClass& it, EmitText& text) const;
  /// Writes the class's members of the struct that makes the graph.
  void members(const TaskClass& it, EmitText& text);

  /// The names of the dependency types that the caller has to define: std::optional<ptg::Part> each.
  std::vector<std::string> open_types() const;

  /// Whether its tasks have indices.
  bool has_indices(const TaskClass& it) const { return !plan(it).needed.empty(); }

 private:
  /// Facts about a class, computed once.
  struct Plan {
    EmitScope scope;
    std::set<std::uint32_t> needed;          // slots of the class that the C++ needs
    std::vector<const Definition*> indices;  // their definitions, in order
    // JDF's numbers of the parameters, in the order of the C++ indices
    std::vector<std::uint32_t> parameters;
    bool idle = false;
  };
  const Plan& plan(const TaskClass& it) const;
  Plan make_plan(const TaskClass& it) const;

  using Statements = std::vector<std::pair<SourceRange, std::string>>;
  /// One branch of a dependency: preceding lines, ranges, its condition if it has one, and the place.
  struct BranchParts {
    std::vector<std::string> lines, ranges;
    std::string condition, where;
    std::string part;  ///< empty if the branch names no part
  };
  /// An output to memory that is in another datum than the value.
  struct CopyOut {
    const TaskClass* task_class;
    const Flow* flow;
    const Dependency* dependency;
    std::size_t branch;
  };

  void space(const TaskClass& it, EmitText& text);
  void make_class(const TaskClass& it, const std::string& name, EmitText& text);
  std::vector<std::string> ranges(const TaskClass& it, Statements& lines);
  std::string range(const Definition& it, const EmitScope& scope, const EmitExpressions::Hoist& hoist);
  std::string range_of(const std::string& index, ExpressionId id, const EmitScope& scope,
                       const EmitExpressions::Hoist& hoist);
  std::string affine_range(const Definition& it, const EmitScope& scope, const EmitExpressions::Hoist& hoist);
  bool factor_of(ExpressionId id, std::uint32_t slot, std::int64_t& factor) const;
  void flow(const TaskClass& it, const Flow& flow, EmitText& text);
  void dependency(const TaskClass& it, const Flow& flow, const Dependency& dependency,
                  std::vector<std::pair<SourceRange, std::vector<std::string>>>& statements);
  BranchParts parts_of(const TaskClass& it, const Flow& flow, const Dependency& dependency,
                       std::size_t number);
  std::vector<std::string> branch(const TaskClass& it, const Flow& flow, const Dependency& dependency,
                                  std::size_t number);
  std::string fresh(const TaskClass& it, const Dependency& dependency, SourceRange where);
  std::string part(const Flow& flow, const Dependency& dependency, const Target& target);
  std::optional<TypeReference> copied(const Flow& flow, const Dependency& dependency,
                                      const Target& target) const;
  void require_whole(const Flow& flow, const Dependency& dependency, BranchParts& parts);
  std::string place(const Target& target, EmitScope& scope, std::vector<std::string>& ranges,
                    std::vector<std::string>& lines);
  const Target* written_home(const Flow& flow) const;
  void origins(const Flow& flow, std::set<const Flow*>& seen, std::set<std::uint32_t>& out) const;
  bool needs_copy_out(const Flow& flow, const Dependency& dependency, const Target& target) const;
  std::vector<CopyOut> copy_outs(const TaskClass& it) const;
  void home(const CopyOut& home, std::size_t number, EmitText& text);
  void bind_all_indices(const TaskClass& it, EmitText& text) const;
  void define(const TaskClass& it, EmitText& text);
  void bind_indices(const TaskClass& it, const std::vector<std::string>& lines, EmitText& text) const;
  static bool is_placed(const TaskClass& it);
  std::string shape_source(const TaskClass& it, SourceRange where);
  std::string access(const TaskClass& it, const Flow& flow) const;
  std::vector<const Flow*> data_flows(const TaskClass& it) const;
  bool is_left_out(const Flow& flow) const;

  const JdfFile& file_;
  const EmitNames& names_;
  const std::vector<EmitGlobal>& globals_;
  EmitExpressions& expressions_;
  Diagnostics& diagnostics_;
  Reshapes reshapes_;
  std::map<const TaskClass*, Plan> plans_;
};

}  // namespace fairlead::jdf
