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
#include "front/jdf/reshapes.hpp"

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

  /// The types of dependencies that the file leaves open: std::optional<ptg::Part> each, by these names.
  std::vector<std::string> open_types() const;

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

  using Statements = std::vector<std::pair<Range, std::string>>;
  /// One branch of a dependency: lines before it, ranges, its condition if it has one, and the place.
  struct BranchParts {
    std::vector<std::string> lines, ranges;
    std::string condition, where;
    std::string part;  ///< empty: nothing is said of it
  };
  /// An output to memory in which the value is not.
  struct Home {
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
                  std::vector<std::pair<Range, std::vector<std::string>>>& statements);
  BranchParts parts_of(const TaskClass& it, const Flow& flow, const Dependency& dependency,
                       std::size_t number);
  std::vector<std::string> branch(const TaskClass& it, const Flow& flow, const Dependency& dependency,
                                  std::size_t number);
  std::string fresh(const TaskClass& it, const Dependency& dependency, Range where);
  std::string part(const Flow& flow, const Dependency& dependency, const Target& target);
  std::optional<TypeName> copied(const Flow& flow, const Dependency& dependency, const Target& target) const;
  void require_whole(const Flow& flow, const Dependency& dependency, BranchParts& parts);
  std::string place(const Target& target, EmitScope& scope, std::vector<std::string>& ranges,
                    std::vector<std::string>& lines);
  const Target* written_home(const Flow& flow) const;
  void origins(const Flow& flow, std::set<const Flow*>& seen, std::set<std::uint32_t>& out) const;
  bool goes_elsewhere(const Flow& flow, const Dependency& dependency, const Target& target) const;
  std::vector<Home> homes(const TaskClass& it) const;
  void home(const Home& home, std::size_t number, EmitText& text);
  void bind_all_indices(const TaskClass& it, EmitText& text) const;
  void define(const TaskClass& it, EmitText& text);
  void bind_indices(const TaskClass& it, const std::vector<std::string>& lines, EmitText& text) const;
  static bool is_placed(const TaskClass& it);
  std::string like(const TaskClass& it, Range where);
  std::string access(const TaskClass& it, const Flow& flow) const;
  std::vector<const Flow*> data_flows(const TaskClass& it) const;
  bool is_left_out(const Flow& flow) const;

  const File& file_;
  const EmitNames& names_;
  const std::vector<EmitGlobal>& globals_;
  EmitExpressions& expressions_;
  Diagnostics& diagnostics_;
  Reshapes reshapes_;
  std::map<const TaskClass*, Plan> plans_;
};

}  // namespace fairlead::jdf
