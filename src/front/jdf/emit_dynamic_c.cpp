// See emit_dynamic_c.hpp.
#include "front/jdf/emit_dynamic_c.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "front/jdf/emit_bodies.hpp"
#include "front/jdf/emit_expression.hpp"

namespace fairlead::jdf {

std::string EmitBodies::shared(const std::vector<bool>& with_bodies) {
  begin();
  globals_struct();
  shared_globals();
  for (const CExpression& it : file_.c_leaves) leaf(it);
  for (std::size_t i = 0; i < file_.classes.size(); ++i)
    if (with_bodies[i]) {
      class_bodies(file_.classes[i]);
      shared_bodies(file_.classes[i]);
    }
  if (std::ranges::find(with_bodies, true) != with_bodies.end()) external_after();
  return text_.text();
}

void EmitBodies::shared_globals() {
  text_.line();
  text_.line(
      fmt::format("size_t {}(void) {{ return sizeof({}_globals); }}", DynamicSymbols::size, names_.function));
  text_.line();
  text_.line(fmt::format("int {}(int c_global)", DynamicSymbols::kind));
  text_.line("{");
  text_.line("  switch (c_global) {");
  for (std::size_t i = 0; i < globals_.size(); ++i) {
    const std::string& type = globals_[i].c_type;
    if (globals_[i].kind == EmitGlobal::Kind::value) continue;  // for programs only, as other pointers
    if (!type.ends_with('*')) {
      text_.line(fmt::format("    case {}: return {};", i, static_cast<int>(GlobalKind::number)));
      continue;
    }
    text_.line(fmt::format("    case {}: return _Generic(({})0,", i, type));
    for (const char* of :
         {"parsec_data_collection_t", "parsec_tiled_matrix_t", "parsec_matrix_block_cyclic_t"})
      for (const char* before : {"", "const "})
        text_.line(fmt::format("      {}{} *: {},", before, of, static_cast<int>(GlobalKind::descriptor)));
    for (const char* before : {"", "const "})
      text_.line(fmt::format("      {}dplasma_data_collection_t *: {},", before,
                             static_cast<int>(GlobalKind::collection)));
    text_.line(fmt::format("      int *: {},", static_cast<int>(GlobalKind::int_pointer)));
    for (const char* before : {"", "const "})
      text_.line(fmt::format("      {}parsec_memory_pool_t *: {},", before,
                             static_cast<int>(GlobalKind::memory_pool)));
    text_.line(fmt::format("      default: {});", static_cast<int>(GlobalKind::other_pointer)));
  }
  text_.line("  }");
  text_.line(fmt::format("  return {};", static_cast<int>(GlobalKind::other_pointer)));
  text_.line("}");
  text_.line();
  text_.line(fmt::format(
      "void {}({}_globals *c_globals, int c_global, int64_t c_whole, double c_real, void *c_address)",
      DynamicSymbols::set, names_.function));
  text_.line("{");
  text_.line("  (void)c_globals; (void)c_whole; (void)c_real; (void)c_address;");
  text_.line("  switch (c_global) {");
  for (std::size_t i = 0; i < globals_.size(); ++i) {
    const EmitGlobal& it = globals_[i];
    if (it.kind == EmitGlobal::Kind::value) continue;
    const char* from = it.c_type.ends_with('*')            ? "c_address"
                       : it.kind == EmitGlobal::Kind::real ? "c_real"
                                                           : "c_whole";
    text_.line(fmt::format("    case {}: c_globals->{} = ({}){}; break;", i, it.name, it.c_type, from));
  }
  text_.line("  }");
  text_.line("}");
}

void EmitBodies::leaf(const CExpression& it) {
  const Expression& expression = file_.at(it.id);
  EmitCFunction function{DynamicSymbols::leaf(it.id), it.id, {}};
  std::vector<std::string> hidden;
  for (const auto& [name, slot] : it.locals) hidden.push_back(name);
  function.indices = hidden;
  std::string value;
  EmitExpressions::InnerFunctions inner;
  if (expression.kind == Expression::Kind::inline_c) {
    EmitCFunction code = function;
    code.name += "_code";
    this->function(code, it.real ? "static double" : "static int64_t");
    value = code.name + "(c_globals, c_indices)";
  } else {
    inner_functions(function, it.id, inner);
    value = expressions_.c(it.id, inner);
  }
  text_.line();
  text_.line(fmt::format(
      "int {}(const {}_globals *c_globals, const int64_t *c_indices, int64_t *c_whole, double *c_real)",
      function.name, names_.function));
  text_.line("{");
  unpack(hidden);
  for (std::size_t i = 0; i < hidden.size(); ++i)
    text_.line(fmt::format("  const int {0} = (int)c_indices[{1}]; (void){0};", hidden[i], i));
  text_.line("  (void)c_globals; (void)c_indices; (void)c_whole; (void)c_real;");
  text_.from(expression.where);
  text_.line(fmt::format("  const __auto_type c_value = {};", value));
  text_.own();
  text_.line("  if (_Generic(c_value, float: 1, double: 1, long double: 1, default: 0)) {");
  // A pointer cannot be converted to double, not even in a branch that is never executed.
  text_.line(
      "    *c_real = (double)_Generic(c_value, float: c_value, double: c_value, long double: c_value, "
      "default: 0);");
  text_.line("    return 1;");
  text_.line("  }");
  text_.line("  *c_whole = (int64_t)c_value;");
  text_.line("  return 0;");
  text_.line("}");
}

void EmitBodies::shared_bodies(const TaskClass& it) {
  const auto number = static_cast<std::size_t>(&it - file_.classes.data());
  std::string arguments = "(c_globals";
  for (std::size_t i = 0; i < it.parameters.size(); ++i)
    arguments += fmt::format(", (int)c_parameters[{}]", i);
  for (std::size_t i = 0; i < it.flows.size(); ++i)
    if (it.flows[i].access != FlowAccess::control) arguments += fmt::format(", c_tiles[{}]", i);
  arguments += ");";
  text_.line();
  text_.line(
      fmt::format("int {}(const {}_globals *c_globals, const int64_t *c_parameters, void *const *c_tiles)",
                  DynamicSymbols::body(number), names_.function));
  text_.line("{");
  text_.line("  int c_returned = PARSEC_HOOK_RETURN_NEXT;");
  text_.line("  (void)c_parameters; (void)c_tiles;");
  for (std::size_t i = 0; i < emit_bodies_of(file_, it).size(); ++i)
    text_.line(fmt::format("  if (c_returned == PARSEC_HOOK_RETURN_NEXT) c_returned = {}{}",
                           name_of(names_, it, i), arguments));
  text_.line("  return c_returned;");
  text_.line("}");
}

std::string emit_dynamic_c(const JdfFile& file, const std::string& own_name,
                           const std::vector<bool>& with_bodies) {
  const std::vector<EmitGlobal> globals = emit_globals(file);
  const EmitNames names{"fairlead_jdf", file.source.name(), "fairlead", "", own_name};
  const EmitExpressions expressions(file, names.function, globals);
  return EmitBodies(file, names, globals, expressions).shared(with_bodies);
}

}  // namespace fairlead::jdf
