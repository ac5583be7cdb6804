// The C beside the C++: prologue and epilogue, the globals as a struct, inline C and bodies as functions.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "front/jdf/emit.hpp"
#include "front/jdf/emit_expression.hpp"
#include "front/jdf/emit_text.hpp"

namespace fairlead::jdf {

/// The bodies of a class that a core runs, in order: not those of accelerators, and not those that would divide the
/// task (RECURSIVE), which leave the work to the next one.
std::vector<const Body*> emit_bodies_of(const File& file, const TaskClass& task_class);
/// It does nothing: there is nothing in it but comments, braces and semicolons.
bool is_idle(const File& file, const TaskClass& task_class);

/// Why C behind the prologue is left out: it is the program around the graph in PaRSEC. Empty: it is not.
std::string reason_to_leave_out(std::string_view epilogue);
/// Of the epilogues that are left out, a line each: "file.jdf:12:1: ...".
std::vector<std::string> left_out_notes(const File& file);

class EmitBodies {
 public:
  EmitBodies(const File& file, const EmitNames& names, const std::vector<EmitGlobal>& globals,
             const EmitExpressions& expressions)
      : file_(file),
        names_(names),
        globals_(globals),
        expressions_(expressions),
        text_(names.bodies, file.source) {}

  std::string all();
  /// For a program that reads the file itself (emit_shared.hpp has what it calls): a function for each of File::c_leaves, and
  /// for each class that is marked one that runs its bodies.
  std::string shared(const std::vector<bool>& with_bodies);

  /// Of the i-th of the bodies: "cholesky_POTRF_body".
  static std::string name_of(const EmitNames& names, const TaskClass& task_class, std::size_t i);

 private:
  void begin();
  void globals_struct();
  void globals();
  void new_global(const EmitGlobal& it);
  void external_after();
  std::string without_generated_headers(std::string_view text) const;
  void shared_globals();
  void leaf(const CLeaf& it);
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

  const File& file_;
  const EmitNames& names_;
  const std::vector<EmitGlobal>& globals_;
  const EmitExpressions& expressions_;
  EmitText text_;
};

}  // namespace fairlead::jdf
