// Generates the C file: prologue and epilogue, the globals as a struct, inline C and bodies as functions.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "front/jdf/emit.hpp"
#include "front/jdf/emit_expression.hpp"
#include "front/jdf/emit_text.hpp"

namespace fairlead::jdf {

/// The bodies of a class for cores, in order. Omits those for accelerators, and RECURSIVE ones, which divide the task.
std::vector<const Body*> emit_bodies_of(const JdfFile& file, const TaskClass& task_class);
/// Whether the bodies of the class do nothing: they contain only comments, braces and semicolons.
bool is_idle(const JdfFile& file, const TaskClass& task_class);
/// The access of a flow in runs: a task whose body does nothing only reads a value that it passes on to other tasks.
FlowAccess access_in_runs(const JdfFile& file, const TaskClass& task_class, const Flow& flow);

/// Why an epilogue is omitted: it is the main program around the graph in PaRSEC. Empty if it is kept.
std::string reason_to_leave_out(std::string_view epilogue);
/// Notes about the omitted epilogues, one line each: "file.jdf:12:1: ...".
std::vector<std::string> omission_notes(const JdfFile& file);

class EmitBodies {
 public:
  EmitBodies(const JdfFile& file, const EmitNames& names, const std::vector<EmitGlobal>& globals,
             const EmitExpressions& expressions)
      : file_(file),
        names_(names),
        globals_(globals),
        expressions_(expressions),
        text_(names.bodies, file.source) {}

  std::string all();
  /// The C for a program that reads the file itself (emit_dynamic_c.hpp declares the functions): a function for each of
  /// File::c_leaves, and a function that runs the bodies of each class marked in `with_bodies`.
  std::string shared(const std::vector<bool>& with_bodies);

  /// The function of the i-th body: "cholesky_POTRF_body".
  static std::string name_of(const EmitNames& names, const TaskClass& task_class, std::size_t i);

 private:
  void begin();
  void execution_stream();
  void globals_struct();
  void globals();
  void new_global(const EmitGlobal& it);
  void external_after();
  std::string without_generated_headers(std::string_view text) const;
  void shared_globals();
  void leaf(const CExpression& it);
  void class_bodies(const TaskClass& it);
  void shared_bodies(const TaskClass& it);
  void readers();
  void function(const EmitCFunction& it, const std::string& type = "int64_t");
  std::string default_function(const EmitGlobal& it) const;
  void body(const TaskClass& task_class, const Body& body, std::size_t i);
  void unpack(const std::vector<std::string>& hidden);
  void local_functions(const TaskClass& task_class);
  bool has_inline_c(ExpressionId id) const;
  std::string local_function(const TaskClass& task_class, const Definition& it) const;
  void locals(const TaskClass& task_class);
  void inner_functions(const EmitCFunction& it, ExpressionId id, EmitExpressions::InnerFunctions& inner);
  void value(ExpressionId id, const std::string& before, const EmitExpressions::InnerFunctions& inner);

  const JdfFile& file_;
  const EmitNames& names_;
  const std::vector<EmitGlobal>& globals_;
  const EmitExpressions& expressions_;
  EmitText text_;
};

}  // namespace fairlead::jdf
