// See emit.hpp.
#include "front/jdf/emit.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "front/jdf/emit_bodies.hpp"
#include "front/jdf/emit_expression.hpp"
#include "front/jdf/emit_tasks.hpp"
#include "front/jdf/emit_text.hpp"

namespace fairlead::jdf {

namespace {

/// Keywords of C++ that C does not have, and names that the generated code uses itself.
constexpr std::array<std::string_view, 67> reserved_names{
    "alignas",  "alignof",   "and",      "asm",       "bitand",    "bitor",     "bool",     "catch",
    "class",    "compl",     "concept",  "constexpr", "consteval", "constinit", "decltype", "delete",
    "explicit", "export",    "false",    "friend",    "mutable",   "namespace", "new",      "noexcept",
    "not",      "nullptr",   "operator", "or",        "private",   "protected", "public",   "requires",
    "template", "this",      "throw",    "true",      "try",       "typeid",    "typename", "using",
    "virtual",  "xor",       "auto",     "body",      "flow",      "returned",  "fairlead", "ptg",
    "std",      "c_globals", "graph_",   "hidden",    "graph",     "choose",    "min",      "max",
    "in_c",     "home",      "value",    "from",      "to",        "goes",      "tasks",    "Datum",
    "Lent",     "Globals",   "part"};

/// Generates the C++ of a file. Only a first pass determines which C functions it needs, so that it is generated twice.
class EmitSource {
 public:
  EmitSource(const JdfFile& file, const EmitNames& names, const std::vector<EmitGlobal>& globals,
             Diagnostics& diagnostics)
      : file_(file),
        names_(names),
        globals_(globals),
        expressions_(file, names.function, globals_),
        tasks_(file, names, globals_, expressions_, diagnostics) {}

  const EmitExpressions& expressions() const noexcept { return expressions_; }

  std::string members() {
    EmitText text(names_.source, file_.source);
    for (const TaskClass& it : file_.classes) tasks_.members(it, text);
    return text.text();
  }
  /// `needed`: from the first pass; `members`: the result of its members().
  std::string source(const EmitExpressions& needed, const std::string& members) {
    EmitText text(names_.source, file_.source);
    text.comment({fmt::format("The tasks of {} as a parameterized graph; what they do is in {}.", names_.jdf,
                              names_.bodies),
                  "Made by \"fairlead jdf compile\"."});
    text.line(fmt::format("#include \"{}\"", names_.header));
    text.line();
    text.line("#include <fairlead/codelet.hpp>");
    text.line("#include <fairlead/parameter.hpp>");
    text.line();
    for (const char* header :
         {"algorithm", "cstdint", "memory", "new", "optional", "span", "utility", "vector"})
      text.line(fmt::format("#include <{}>", header));
    text.line();
    in_c(needed, text);
    text.line();
    text.line("namespace {");
    text.line();
    text.line("namespace ptg = fairlead::ptg;");
    for (const char* name : {"In", "InOut", "Out", "parsec::Datum", "parsec::Lent"})
      text.line(fmt::format("using fairlead::{};", name));
    text.line(fmt::format("using Globals = std::shared_ptr<{}_globals>;", names_.function));
    for (const TaskClass& it : file_.classes) tasks_.indices(it, text);
    for (const TaskClass& it : file_.classes) tasks_.codelet(it, text);
    tasks(needed, members, text);
    text.line();
    text.line(
        "}  /"
        "/ namespace");
    function(members, text);
    return text.text();
  }

  std::string header() const {
    EmitText text(names_.header, file_.source);
    text.comment({fmt::format("The tasks of {}. Made by \"fairlead jdf compile\".", names_.jdf)});
    text.line("#pragma once");
    text.line("#include <fairlead/parsec.hpp>");
    text.line("#include <fairlead/ptg.hpp>");
    text.line();
    if (has_hidden()) {
      text.line("#include <optional>");
      text.line();
      text.document("What need not be given: each has a value by default.");
      text.line(fmt::format("struct {}_hidden {{", names_.function));
      for (const EmitGlobal& it : globals_)
        if (it.settable) text.line(fmt::format("  std::optional<{}> {}{{}};", it.cpp_type, it.cpp_name));
      const std::vector<std::string> types = tasks_.open_types();
      if (!types.empty()) text.document("Which parts of a tile the types of dependencies are.", 2);
      for (const std::string& type : types)
        text.line(fmt::format("  std::optional<fairlead::ptg::Part> {}{{}};", type));
      text.line("};");
      text.line();
    }
    text.document("Adds the tasks to the graph. What is given by its address stays as long as the graph.");
    std::vector<std::string> parameters = this->parameters();
    if (has_hidden()) parameters.back() += " = {}";
    text.list(fmt::format("void {}(", names_.function), parameters, ");");
    return text.text();
  }

 private:
  std::vector<std::string> parameters() const {
    std::vector<std::string> out{"fairlead::ptg::Graph& graph"};
    for (const EmitGlobal& it : globals_)
      if (it.given) out.push_back(it.cpp_parameter());
    if (has_hidden()) out.push_back(fmt::format("const {}_hidden& hidden", names_.function));
    return out;
  }
  bool has_settable() const { return std::ranges::any_of(globals_, &EmitGlobal::settable); }
  bool has_hidden() const { return has_settable() || !tasks_.open_types().empty(); }
  /// The given globals that the generated C++ uses directly.
  std::vector<const EmitGlobal*> kept(const std::string& members) const {
    std::vector<const EmitGlobal*> out;
    for (const EmitGlobal& it : globals_)
      if (it.given && (dimensions_of_data(it) != unbound_index || mentions(members, it.cpp_name)))
        out.push_back(&it);
    return out;
  }
  bool uses_types(const std::string& members) const {
    return std::ranges::any_of(tasks_.open_types(),
                               [&](const std::string& type) { return mentions(members, type); });
  }
  /// The number of indices of the collections with this data; `nowhere` if there are none.
  std::uint32_t dimensions_of_data(const EmitGlobal& of) const {
    for (std::uint32_t i = 0; i < file_.globals.size(); ++i)
      if (file_.globals[i].is_collection && &file_.globals[aligned_with(file_, i)] == of.global)
        return file_.globals[i].dimensions;
    return unbound_index;
  }

  void in_c(const EmitExpressions& needed, EmitText& text) const {
    const std::string globals = names_.function + "_globals";
    text.line("extern \"C\" {");
    text.line(fmt::format("struct {};", globals));
    std::vector<std::string> parameters;
    for (const EmitGlobal& it : globals_) {
      if (it.given) parameters.push_back(it.cpp_parameter());
      if (it.settable) parameters.push_back("const void* " + it.cpp_name);
    }
    text.list(fmt::format("{}* {}_new_globals(", globals, names_.function), parameters, ");");
    text.line(fmt::format("void {0}_delete_globals({0}_globals* c_globals);", names_.function));
    for (const auto& [cpp, c] : needed.read_by_c())
      text.line(
          fmt::format("std::int64_t {}_{}_number(const {}* c_globals);", names_.function, cpp, globals));
    for (const EmitCFunction& it : needed.functions())
      text.list(fmt::format("std::int64_t {}(", it.name),
                {fmt::format("const {}* c_globals", globals), "const std::int64_t* c_indices"}, ");");
    for (const TaskClass& it : file_.classes) tasks_.declare_bodies(it, text);
    text.line("}");
  }

  void tasks(const EmitExpressions& needed, const std::string& members, EmitText& text) {
    text.line();
    text.document("The task classes, and what they share.");
    text.line(fmt::format("struct TasksOf_{} {{", names_.function));
    text.line("  ptg::Graph& graph_;");
    text.line("  Globals c_globals;");
    for (const EmitGlobal* it : kept(members)) text.line(fmt::format("  {};", it->cpp_parameter()));
    if (uses_types(members)) text.line(fmt::format("  {}_hidden hidden;", names_.function));
    for (const auto& [cpp, c] : needed.read_by_c())
      text.line(fmt::format("  std::int64_t {} = {}_{}_number(c_globals.get());", cpp, names_.function, cpp));
    text.line();
    text.line("  fairlead::parsec::GraphData data_{graph_};");
    for (const EmitGlobal& it : globals_)
      if (const std::uint32_t dimensions = dimensions_of_data(it); dimensions != unbound_index)
        text.line(fmt::format("  ptg::Collection data_of_{} = data_.of({}, {}, {});", it.name, it.cpp_name,
                              c_string(it.name), dimensions));
    text.line();
    for (const TaskClass& it : file_.classes)
      if (tasks_.has_indices(it))
        text.line(fmt::format("  IndicesOf{} of_{}{{}};", it.name.text, it.name.text));
    for (const TaskClass& it : file_.classes)
      text.line(fmt::format("  ptg::TaskClass tasks_{} = space_of_{}();", it.name.text, it.name.text));
    text.line();
    if (file_.classes.size() == 1) {
      text.line(fmt::format("  void define() {{ define_{}(); }}", file_.classes[0].name.text));
    } else {
      text.line("  void define() {");
      for (const TaskClass& it : file_.classes) text.line(fmt::format("    define_{}();", it.name.text));
      text.line("  }");
    }
    if (mentions(members, "in_c")) computed(text);
    for (const TaskClass& it : file_.classes) tasks_.members(it, text);
    text.line("};");
  }

  void computed(EmitText& text) const {
    text.line();
    text.document("What only C says, over these indices.", 2);
    text.line(fmt::format("  using Function = std::int64_t(const {}_globals*, const std::int64_t*);",
                          names_.function));
    text.line(
        "  ptg::Expression in_c(const char* name, Function* function, std::vector<ptg::Expression> indices) "
        "const "
        "{");
    text.line("    const auto value = [of = c_globals, function](std::span<const std::int64_t> at) {");
    text.line("      return function(of.get(), at.data());");
    text.line("    };");
    text.line("    return ptg::computed(name, value, std::move(indices));");
    text.line("  }");
  }

  void function(const std::string& members, EmitText& text) const {
    text.line();
    text.list(fmt::format("void {}(", names_.function), parameters(), ") {");
    std::vector<std::string> given, kept{"graph", "c_globals"};
    for (const EmitGlobal& it : globals_) {
      if (it.given) given.push_back(it.cpp_name);
      if (it.settable) given.push_back(fmt::format("set(hidden.{})", it.cpp_name));
    }
    if (has_settable())
      text.line(
          "  const auto set = [](const auto& value) -> const void* { return value ? &*value : nullptr; };");
    for (const EmitGlobal* it : this->kept(members)) kept.push_back(it->cpp_name);
    if (uses_types(members)) kept.emplace_back("hidden");
    text.list(fmt::format("  auto* const globals_of_c = {}_new_globals(", names_.function), given, ");");
    text.line("  if (globals_of_c == nullptr) throw std::bad_alloc();");
    text.line(fmt::format("  const Globals c_globals(globals_of_c, {}_delete_globals);", names_.function));
    text.list(fmt::format("  TasksOf_{}{{", names_.function), kept, "}.define();");
    text.line("}");
  }

  const JdfFile& file_;
  const EmitNames& names_;
  const std::vector<EmitGlobal>& globals_;
  EmitExpressions expressions_;
  EmitTasks tasks_;
};

}  // namespace

std::string cpp_name(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    const bool digit = letter >= '0' && letter <= '9';
    const bool of_word =
        (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' || digit;
    if (i == 0 && digit) out += '_';
    if (of_word)
      out += letter;
    else if (!out.ends_with('_'))
      out += '_';
  }
  if (out.empty()) out = "_";
  if (std::ranges::find(reserved_names, out) != reserved_names.end()) out += '_';
  return out;
}

EmittedFiles emit(const JdfFile& file, const EmitNames& names, Diagnostics& diagnostics) {
  const std::vector<EmitGlobal> globals = emit_globals(file);
  for (std::uint32_t i = 0; i < globals.size(); ++i)
    if (const EmitGlobal& it = globals[i];
        it.global->is_collection && !it.given && aligned_with(file, i) == i)
      diagnostics.error(it.global->name.where,
                        fmt::format("{} is a collection and hidden: its data cannot be given", it.name));
  EmitSource first(file, names, globals, diagnostics);
  const std::string members = first.members();
  Diagnostics ignored_diagnostics;
  EmitSource second(file, names, globals, ignored_diagnostics);
  return {second.source(first.expressions(), members), second.header(),
          EmitBodies(file, names, globals, first.expressions()).all()};
}

}  // namespace fairlead::jdf
