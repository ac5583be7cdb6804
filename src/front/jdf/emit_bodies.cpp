// See emit_bodies.hpp.
#include "front/jdf/emit_bodies.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "front/jdf/body.hpp"
#include "front/jdf/c_expressions.hpp"

namespace fairlead::jdf {

std::vector<const Body*> emit_bodies_of(const JdfFile& file, const TaskClass& task_class) {
  std::vector<const Body*> out;
  for (const Body& body : task_class.bodies)
    if (runs_on_cores(body, file)) out.push_back(&body);
  return out;
}

bool is_idle(const JdfFile& file, const TaskClass& task_class) {
  return std::ranges::all_of(emit_bodies_of(file, task_class), [&](const Body* body) {
    std::string_view text = file.source.text(body->code);
    while (!text.empty()) {
      const bool comment = text[0] == '/' && text.size() > 1, block = comment && text[1] == '*';
      if (block || (comment && text[1] == '/')) {
        const std::size_t end = block ? text.find("*/", 2) : text.find('\n');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + (block ? 2 : 1));
        continue;
      }
      if (std::string_view(" \t\r\n{};").find(text[0]) == std::string_view::npos) return false;
      text.remove_prefix(1);
    }
    return true;
  });
}

FlowAccess access_in_runs(const JdfFile& file, const TaskClass& task_class, const Flow& flow) {
  if (flow.access != FlowAccess::read_write || emit_bodies_of(file, task_class).empty() ||
      !is_idle(file, task_class))
    return flow.access;
  bool has_input = false;
  for (const Dependency& dependency : flow.dependencies)
    for (const Branch& branch : dependency.branches) {
      const bool in = dependency.direction == Direction::in;
      // A value for memory stays the task's own, and a fresh one is first written here.
      if (branch.target.kind != (in ? Target::Kind::memory : Target::Kind::task)) return flow.access;
      has_input = has_input || in;
    }
  return has_input ? FlowAccess::read : flow.access;
}

namespace {

/// The code without comments and strings, so that all names in it are identifiers.
std::string bare_code(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("/*") || rest.starts_with("//")) {
      const std::size_t end = rest[1] == '*' ? rest.find("*/", 2) : rest.find('\n');
      i = end == std::string_view::npos ? text.size() : i + end + (rest[1] == '*' ? 2 : 0);
      out += ' ';
    } else if (rest[0] == '"') {
      std::size_t end = 1;
      while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
      i += end + 1;
    } else {
      out += text[i++];
    }
  }
  return out;
}

/// "zgemm" for the line `#include "zgemm.h"`; empty for any other line.
std::string included_name(std::string_view line) {
  const auto skip = [&](std::string_view what) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || !line.substr(begin).starts_with(what)) return false;
    line.remove_prefix(begin + what.size());
    return true;
  };
  if (!skip("#") || !skip("include") || !skip("\"")) return {};
  const std::size_t end = line.find(".h\"");
  return end == std::string_view::npos ? std::string() : std::string(line.substr(0, end));
}

}  // namespace

std::string reason_to_leave_out(std::string_view epilogue) {
  const std::string code = bare_code(epilogue);
  for (const std::string& word : words_of_c(code)) {
    if (word == "main") {
      std::size_t after = 0;
      for (std::size_t at = 0; (at = code.find("main", at)) != std::string::npos; at = after) {
        after = code.find_first_not_of(" \t\r\n", at + 4);
        if (after == std::string::npos) break;
        if (code[after] == '(') return "it has a main()";
      }
    }
    if (word.starts_with("parsec_") && word.ends_with("_taskpool_t") && word != "parsec_taskpool_t")
      return "it makes PaRSEC's graph, " + word;
    if (word.starts_with("dague_") && word.ends_with("_handle_t") && word != "dague_handle_t")
      return "it makes DAGuE's graph, " + word;
  }
  return {};
}

std::vector<std::string> omission_notes(const JdfFile& file) {
  std::vector<std::string> out;
  for (std::size_t i = 1; i < file.external.size(); ++i)
    if (const std::string why = reason_to_leave_out(file.source.text(file.external[i])); !why.empty())
      out.push_back(fmt::format("{}: note: the C behind the task classes is left out: {}",
                                file.source.where(file.external[i]), why));
  return out;
}

std::string EmitBodies::name_of(const EmitNames& names, const TaskClass& task_class, std::size_t i) {
  return fmt::format("{}_{}_body{}", names.function, task_class.name.text,
                     i == 0 ? "" : std::to_string(i + 1));
}

std::string EmitBodies::all() {
  begin();
  globals();
  readers();
  for (const EmitCFunction& it : expressions_.functions()) function(it);
  for (const TaskClass& it : file_.classes)
    if (!is_idle(file_, it)) class_bodies(it);
  external_after();
  return text_.text();
}

void EmitBodies::class_bodies(const TaskClass& it) {
  const auto bodies = emit_bodies_of(file_, it);
  local_functions(it);
  for (std::size_t i = 0; i < bodies.size(); ++i) body(it, *bodies[i], i);
}

void EmitBodies::external_after() {
  for (std::size_t i = 1; i < file_.external.size(); ++i) {
    const std::string text = without_generated_headers(file_.source.text(file_.external[i]));
    if (!reason_to_leave_out(text).empty()) continue;
    text_.line();
    text_.from(file_.external[i]);
    text_.verbatim(text);
  }
  text_.own();
}

void EmitBodies::begin() {
  text_.line(
      fmt::format("/* What {} has in C: its prologue, bodies and inline C. Made by \"fairlead jdf compile\".",
                  names_.jdf));
  text_.line(fmt::format(" * {} calls it.", names_.source));
  text_.line(" */");
  text_.line("#include <fairlead/parsec_compat.h>");
  if (file_.external.empty()) return execution_stream();
  text_.line();
  text_.from(file_.external[0]);
  text_.verbatim(without_generated_headers(file_.source.text(file_.external[0])));
  text_.own();
  execution_stream();
}

/// Bodies may pass `es`, the thread of PaRSEC that runs them, to functions that take one; here there is none.
void EmitBodies::execution_stream() {
  const auto uses_it = [&](const TaskClass& it) {
    return std::ranges::any_of(emit_bodies_of(file_, it), [&](const Body* body) {
      return words_of_c(bare_code(file_.source.text(body->code))).contains("es");
    });
  };
  if (!std::ranges::any_of(file_.classes, uses_it)) return;
  text_.line();
  text_.line("__attribute__((unused)) static parsec_execution_stream_t *const es = NULL;");
}

/// PaRSEC's compiler generates a header NAME.h for each NAME.jdf, with functions that are not needed here. Lines that
/// include the header of this file, or of another JDF file in its folder, become empty, unless such a header exists.
std::string EmitBodies::without_generated_headers(std::string_view text) const {
  const std::filesystem::path own(file_.source.name());
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::string name = included_name(line);
    std::error_code error;
    const bool generated =
        !name.empty() && !std::filesystem::exists(own.parent_path() / (name + ".h"), error) &&
        (name == own.stem() || std::filesystem::exists(own.parent_path() / (name + ".jdf"), error));
    if (!generated) out += line;
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

void EmitBodies::globals_struct() {
  const std::string type = names_.function + "_globals";
  text_.line();
  text_.line(fmt::format("typedef struct {} {{", type));
  for (const EmitGlobal& it : globals_) {
    text_.from(it.global->name.where);
    text_.line("  " + c_declared(it.c_type, it.name) + ";");
  }
  text_.own();
  if (globals_.empty()) text_.line("  char none;");
  text_.line(fmt::format("}} {};", type));
}

void EmitBodies::globals() {
  const std::string type = names_.function + "_globals";
  globals_struct();
  for (const EmitGlobal& it : globals_)
    if (!it.given && has_inline_c(it.global->value))
      function({default_function(it), it.global->value, {}}, "static " + it.c_type);
  text_.line();
  std::vector<std::string> parameters;
  for (const EmitGlobal& it : globals_) {
    if (it.given)
      parameters.push_back(it.kind == EmitGlobal::Kind::address  ? "void *c_" + it.name
                           : it.kind == EmitGlobal::Kind::number ? "long long c_" + it.name
                                                                 : c_declared(it.c_type, "c_" + it.name));
    if (it.settable) parameters.push_back(fmt::format("const void *c_{}", it.name));
  }
  if (parameters.empty()) parameters.push_back("void");
  text_.list(fmt::format("{} *{}_new_globals(", type, names_.function), parameters, ")");
  text_.line("{");
  text_.line(fmt::format("  {0} *const c_globals = ({0} *)calloc(1, sizeof *c_globals);", type));
  text_.line("  if (c_globals == NULL) return NULL;");
  // Given globals come first: values of the others may refer to globals declared later.
  for (const bool given : {true, false})
    for (const EmitGlobal& it : globals_)
      if (it.given == given) new_global(it);
  text_.own();
  text_.line("  return c_globals;");
  text_.line("}");
  text_.line(
      fmt::format("void {}_delete_globals({} *c_globals) {{ free(c_globals); }}", names_.function, type));
}

void EmitBodies::new_global(const EmitGlobal& it) {
  const std::string into = fmt::format("  c_globals->{} = ", it.name);
  text_.from(it.global->name.where);
  if (it.given) {
    const std::string cast = it.kind == EmitGlobal::Kind::value ? "" : "(" + it.c_type + ")";
    text_.line(fmt::format("{}{}c_{};", into, cast, it.name));
  } else {
    const std::string set =
        it.settable ? fmt::format("c_{0} != NULL ? *({1} const *)c_{0} : ", it.name, it.c_type) : "";
    if (it.global->value == no_expression)
      text_.line(fmt::format("{}{}({})0;", into, set, it.c_type));
    else if (has_inline_c(it.global->value))
      text_.line(fmt::format("{}{}{}(c_globals, NULL);", into, set, default_function(it)));
    else
      text_.line(fmt::format("{}{}({});", into, set, expressions_.c(it.global->value, {})));
  }
  text_.line(
      fmt::format("  {} = c_globals->{}; (void){};", c_declared(it.c_type, it.name), it.name, it.name));
}

std::string EmitBodies::default_function(const EmitGlobal& it) const {
  return fmt::format("{}_default_{}", names_.function, it.name);
}

void EmitBodies::readers() {
  for (const auto& [cpp, c] : expressions_.read_by_c()) {
    text_.line();
    text_.line(fmt::format("int64_t {}_{}_number(const {}_globals *c_globals)", names_.function, cpp,
                           names_.function));
    text_.line("{");
    text_.line(fmt::format("  return (int64_t)c_globals->{};", c));
    text_.line("}");
  }
}

void EmitBodies::unpack(const std::vector<std::string>& hidden) {
  for (const EmitGlobal& it : globals_) {
    if (std::ranges::find(hidden, it.name) != hidden.end()) continue;
    text_.line(
        fmt::format("  {} = c_globals->{}; (void){};", c_declared(it.c_type, it.name), it.name, it.name));
  }
}

void EmitBodies::value(ExpressionId id, const std::string& before,
                       const EmitExpressions::InnerFunctions& inner) {
  text_.from(file_.at(id).where);
  if (file_.at(id).kind == Expression::Kind::inline_c && !inner.contains(id))
    text_.line("{" + expressions_.c(id, inner) + "}");
  else
    text_.line(fmt::format("  {}{};", before, expressions_.c(id, inner)));
  text_.own();
}

/// Generates a function for each piece of inline C inside of the expression.
void EmitBodies::inner_functions(const EmitCFunction& it, ExpressionId id,
                                 EmitExpressions::InnerFunctions& inner) {
  const Expression& expression = file_.at(id);
  const auto look_into = [&](ExpressionId part) {
    if (part == no_expression) return;
    if (file_.at(part).kind == Expression::Kind::inline_c) {
      EmitCFunction own = it;
      own.name = fmt::format("{}_inner{}", it.name, inner.size() + 1);
      own.value = part;
      function(own);
      inner.emplace(part, own.name);
    } else {
      inner_functions(it, part, inner);
    }
  };
  for (const ExpressionId part : expression.parts) look_into(part);
  for (const ExpressionId argument : expression.arguments) look_into(argument);
}

void EmitBodies::function(const EmitCFunction& it, const std::string& type) {
  EmitExpressions::InnerFunctions inner;
  inner_functions(it, it.value, inner);
  text_.line();
  text_.line(fmt::format("{}(const {}_globals *c_globals, const int64_t *c_indices)",
                         c_declared(type, it.name), names_.function));
  text_.line("{");
  unpack(it.indices);
  for (std::size_t i = 0; i < it.indices.size(); ++i)
    text_.line(fmt::format("  const int {0} = (int)c_indices[{1}]; (void){0};", it.indices[i], i));
  text_.line("  (void)c_globals; (void)c_indices;");
  value(it.value, "return ", inner);
  text_.line("}");
}

/// Generates functions for derived locals that contain inline C.
void EmitBodies::local_functions(const TaskClass& task_class) {
  std::vector<std::string> before;
  for (const Definition& it : task_class.definitions) {
    if (it.parameter == unbound_index && has_inline_c(it.value))
      function({local_function(task_class, it), it.value, before});
    before.push_back(it.name.text);
  }
}

bool EmitBodies::has_inline_c(ExpressionId id) const {
  if (id == no_expression) return false;
  const Expression& it = file_.at(id);
  const auto has = [&](ExpressionId part) { return has_inline_c(part); };
  return it.kind == Expression::Kind::inline_c || std::ranges::any_of(it.parts, has) ||
         std::ranges::any_of(it.arguments, has);
}

std::string EmitBodies::local_function(const TaskClass& task_class, const Definition& it) const {
  return fmt::format("{}_{}_local_{}", names_.function, task_class.name.text, it.name.text);
}

/// Declares the derived locals.
void EmitBodies::locals(const TaskClass& task_class) {
  std::string before;
  for (const Definition& it : task_class.definitions) {
    if (it.parameter == unbound_index) {
      text_.from(it.name.where);
      const std::string value =
          !has_inline_c(it.value)
              ? expressions_.c(it.value, {})
              : fmt::format("(int){}(c_globals, {})", local_function(task_class, it),
                            before.empty() ? "NULL" : "(const int64_t[]){" + before + "}");
      text_.line(fmt::format("  int {} = {}; (void){};", it.name.text, value, it.name.text));
    }
    before += (before.empty() ? "" : ", ") + it.name.text;
  }
  text_.own();
}

void EmitBodies::body(const TaskClass& task_class, const Body& body, std::size_t i) {
  const std::string name = name_of(names_, task_class, i);
  std::vector<std::string> parameters{fmt::format("const {}_globals *c_globals", names_.function)}, hidden;
  for (const Name& it : task_class.parameters) parameters.push_back("int " + it.text);
  for (const Definition& it : task_class.definitions) hidden.push_back(it.name.text);
  for (const Flow& it : task_class.flows) {
    if (it.access != FlowAccess::control) parameters.push_back("void *" + it.name.text);
    hidden.push_back(it.name.text);
  }
  text_.line();
  text_.list(fmt::format("int {}(", name), parameters, ")");
  text_.line("{");
  unpack(hidden);
  locals(task_class);
  text_.line("  (void)c_globals;");
  for (const std::string& it : hidden)
    if (std::ranges::any_of(task_class.flows, [&](const Flow& flow) {
          return flow.name.text == it && flow.access != FlowAccess::control;
        }))
      text_.line(fmt::format("  (void){};", it));
  for (const Name& it : task_class.parameters) text_.line(fmt::format("  (void){};", it.text));
  std::string fields;
  for (const Definition& it : task_class.definitions)
    fields += fmt::format("struct {{ int value; }} {}; ", it.name.text);
  if (!fields.empty()) {
    std::string values;
    for (const Definition& it : task_class.definitions)
      values += fmt::format("{}{{{}}}", values.empty() ? "" : ", ", it.name.text);
    text_.line(fmt::format(
        "  const struct {{ struct {{ {}}} locals; }} c_task = {{{{{}}}}}, *const this_task = &c_task;",
        fields, values));
    text_.line("  (void)this_task;");
  }
  text_.from(body.code);
  text_.verbatim(file_.source.text(body.code));
  text_.own();
  text_.line("  return PARSEC_HOOK_RETURN_DONE;");
  text_.line("}");
}

}  // namespace fairlead::jdf
