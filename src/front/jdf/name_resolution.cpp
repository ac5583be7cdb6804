// See name_resolution.hpp.
#include "front/jdf/name_resolution.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "front/jdf/scope.hpp"

namespace fairlead::jdf {

namespace {

constexpr std::array<std::string_view, 13> matrix_members{"mt", "nt",  "m",   "n", "mb", "nb",  "lm",
                                                          "ln", "lmt", "lnt", "i", "j",  "bsiz"};

std::uint32_t class_named(const JdfFile& file, std::string_view name) {
  return file.class_numbers.find(name);
}

class Binder {
 public:
  Binder(JdfFile& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  void all() {
    for (std::size_t i = 0; i < file_.classes.size(); ++i)
      file_.class_numbers.add(file_.classes[i].name.text, static_cast<std::uint32_t>(i));
    for (const TaskClass& it : file_.classes) {
      NameIndex& flows = flows_.emplace_back();
      for (std::size_t i = 0; i < it.flows.size(); ++i)
        flows.add(it.flows[i].name.text, static_cast<std::uint32_t>(i));
    }
    implicit_collections();
    for (std::size_t i = 0; i < file_.globals.size(); ++i)
      file_.global_numbers.add(file_.globals[i].name.text, static_cast<std::uint32_t>(i));
    globals();
    class_names();
    for (TaskClass& it : file_.classes) task_class(it);
  }

 private:
  template <class F>
  void each_target(F&& f) {
    for (TaskClass& it : file_.classes) {
      if (it.placement.kind == Placement::Kind::at_datum) f(it.placement.datum);
      for (Flow& flow : it.flows)
        for (Dependency& dependency : flow.dependencies)
          for (Branch& branch : dependency.branches) f(branch.target);
    }
  }

  /// Whether a task is placed there, or reads or writes there.
  bool is_place(const std::string& name) const { return places_.contains(name); }
  /// Adds undeclared collections as globals. They come first among the generated function's arguments.
  void implicit_collections() {
    std::set<std::string> known;
    std::vector<std::string_view> declared;
    for (const Global& global : file_.globals)
      known.insert(global.name.text), declared.push_back(global.name.text);
    std::vector<Global> implicit;
    each_target([&](Target& it) {
      if (it.kind != Target::Kind::memory || class_named(file_, it.owner.text) != unbound_index) return;
      places_.insert(it.owner.text);
      if (!known.insert(it.owner.text).second) return;
      if (const std::string near = suggestion(diagnostics_, it.owner.text, declared); !near.empty())
        diagnostics_.warning(
            it.owner.where,
            fmt::format("{} is not declared, so it is treated as a collection{}", it.owner.text, near));
      Global global;
      global.name = it.owner;
      global.implicit = true;
      implicit.push_back(std::move(global));
    });
    file_.globals.insert(file_.globals.begin(), std::make_move_iterator(implicit.rbegin()),
                         std::make_move_iterator(implicit.rend()));
  }

  void globals() {
    for (std::size_t i = 0; i < file_.globals.size(); ++i) {
      const Name name = file_.globals[i].name;
      if (const std::uint32_t first = global_named(file_, name.text, i); first != unbound_index)
        diagnostics_.error(name.where, fmt::format("a second global \"{}\"", name.text),
                           {{file_.globals[first].name.where, "the first is here"}});
      if (const std::uint32_t of = class_named(file_, name.text); of != unbound_index)
        diagnostics_.error(file_.classes[of].name.where, fmt::format("\"{}\" is already a global", name.text),
                           {{name.where, "it is here"}});
      Scope scope(file_, diagnostics_, nullptr, i, file_.global_slots);
      scope.bind(file_.globals[i].value);
    }
  }

  void class_names() {
    for (std::size_t i = 0; i < file_.classes.size(); ++i) {
      const Name& name = file_.classes[i].name;
      if (const std::uint32_t first = class_named(file_, name.text); first != i)
        diagnostics_.error(name.where, fmt::format("a second task class \"{}\"", name.text),
                           {{file_.classes[first].name.where, "the first is here"}});
    }
  }

  void task_class(TaskClass& it) {
    parameters(it);
    Scope scope(file_, diagnostics_, &it, file_.globals.size(), it.slots);
    for (Definition& definition : it.definitions) {
      const std::size_t before = scope.depth();
      scope.bind(definition.indices);
      scope.bind(definition.value);
      scope.pop_to(before);
      definition.slot = scope.add(definition.name.text);
      if (global_named(file_, definition.name.text, file_.globals.size()) != unbound_index)
        diagnostics_.warning(definition.name.where, fmt::format("{} hides the global of that name in {}",
                                                                definition.name.text, it.name.text));
    }
    // Parameters without a range are already reported; their uses are no errors.
    for (const Name& name : it.parameters)
      if (scope.find(name.text) == unbound_index) scope.add(name.text);
    scope.bind(it.simulation_cost);
    scope.bind(it.priority);
    scope.bind(it.placement.predicate);
    if (it.placement.kind == Placement::Kind::at_datum) target(scope, it.placement.datum);
    flow_names(it);
    for (Flow& flow : it.flows)
      for (Dependency& dependency : flow.dependencies) this->dependency(scope, dependency);
  }

  void parameters(TaskClass& it) {
    NameIndex parameters, definitions;
    for (std::size_t i = 0; i < it.parameters.size(); ++i) {
      const Name& name = it.parameters[i];
      if (parameters.find(name.text) != unbound_index)
        diagnostics_.error(name.where,
                           fmt::format("a second parameter \"{}\" of {}", name.text, it.name.text));
      parameters.add(name.text, static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = 0; i < it.definitions.size(); ++i) {
      Definition& definition = it.definitions[i];
      definition.parameter = parameters.find(definition.name.text);
      if (definition.parameter == unbound_index && file_.at(definition.value).kind == Expression::Kind::range)
        diagnostics_.warning(
            definition.name.where,
            fmt::format(
                "{} is a range but not a parameter of {}: several values give several tasks of the same name",
                definition.name.text, it.name.text));
      if (const std::uint32_t first = definitions.find(definition.name.text); first != unbound_index)
        diagnostics_.error(definition.name.where,
                           fmt::format("{} is defined a second time", definition.name.text),
                           {{it.definitions[first].name.where, "the first time is here"}});
      definitions.add(definition.name.text, static_cast<std::uint32_t>(i));
    }
    for (const Name& name : it.parameters)
      if (definitions.find(name.text) == unbound_index) without_range(it, name);
  }

  void without_range(const TaskClass& it, const Name& name) {
    std::vector<std::string_view> defined;
    if (diagnostics_.may_suggest())
      for (const Definition& definition : it.definitions) defined.push_back(definition.name.text);
    diagnostics_.error(name.where, fmt::format("the parameter {} of {} has no range{}", name.text,
                                               it.name.text, suggestion(diagnostics_, name.text, defined)));
  }

  void flow_names(const TaskClass& it) {
    NameIndex flows, definitions;
    for (std::size_t i = 0; i < it.definitions.size(); ++i)
      definitions.add(it.definitions[i].name.text, static_cast<std::uint32_t>(i));
    for (std::size_t i = 0; i < it.flows.size(); ++i) {
      const Name& name = it.flows[i].name;
      if (const std::uint32_t first = flows.find(name.text); first != unbound_index)
        diagnostics_.error(name.where, fmt::format("a second flow \"{}\" of {}", name.text, it.name.text),
                           {{it.flows[first].name.where, "the first is here"}});
      flows.add(name.text, static_cast<std::uint32_t>(i));
      if (const std::uint32_t global = file_.global_numbers.find(name.text); global != unbound_index) {
        const std::string message = fmt::format("the flow \"{}\" has the name of a global", name.text);
        const std::vector<Note> remarks{{file_.globals[global].name.where, "the global is here"}};
        // In bodies such a flow hides the collection, as in DAGuE's first compilers; in dependencies the syntax
        // distinguishes them.
        if (is_place(name.text))
          diagnostics_.warning(name.where, message, remarks);
        else
          diagnostics_.error(name.where, message, remarks);
      }
      if (const std::uint32_t local = definitions.find(name.text); local != unbound_index)
        diagnostics_.error(name.where,
                           fmt::format("the flow \"{}\" has the name of a parameter or local", name.text),
                           {{it.definitions[local].name.where, "that is here"}});
    }
  }

  void dependency(Scope& scope, Dependency& it) {
    const std::size_t before = scope.depth();
    scope.bind(it.indices);
    for (Branch& branch : it.branches) {
      scope.bind(branch.guard);
      const std::size_t inside = scope.depth();
      scope.bind(branch.target.indices);
      target(scope, branch.target);
      scope.pop_to(inside);
    }
    scope.pop_to(before);
  }

  void target(Scope& scope, Target& it) {
    for (const ExpressionId argument : it.arguments) scope.bind(argument);
    if (it.kind == Target::Kind::memory) memory(it);
    if (it.kind == Target::Kind::task) task(it);
  }

  void memory(Target& it) {
    if (const std::uint32_t of = class_named(file_, it.owner.text); of != unbound_index) {
      std::string flows;
      for (const Flow& flow : file_.classes[of].flows) flows += (flows.empty() ? "" : ", ") + flow.name.text;
      diagnostics_.error(
          it.owner.where,
          fmt::format("{} is a task class: say which of its flows ({}) is meant, as in \"{} {}(...)\"",
                      it.owner.text, flows.empty() ? "it has none" : flows,
                      file_.classes[of].flows.empty() ? "T" : file_.classes[of].flows[0].name.text,
                      it.owner.text));
      return;
    }
    it.index = aligned_with(file_, global_named(file_, it.owner.text, file_.globals.size()));
    Global& global = file_.globals[it.index];
    const auto dimensions = static_cast<std::uint32_t>(it.arguments.size());
    if (global.is_collection && global.dimensions != dimensions)
      diagnostics_.error(it.where,
                         fmt::format("{} has {} here, and {} elsewhere", it.owner.text,
                                     indices_text(dimensions), indices_text(global.dimensions)),
                         {{first_use_[it.index], "as here"}});
    if (!global.is_collection) first_use_[it.index] = it.where;
    if (!global.is_collection) global.dimensions = dimensions;
    global.is_collection = true;
  }

  static std::string indices_text(std::uint32_t count) {
    return fmt::format("{} {}", count, count == 1 ? "index" : "indices");
  }

  void task(Target& it) {
    it.index = class_named(file_, it.owner.text);
    if (it.index == unbound_index) {
      std::vector<std::string_view> known;
      if (diagnostics_.may_suggest())
        for (const TaskClass& of : file_.classes) known.push_back(of.name.text);
      diagnostics_.error(it.owner.where, fmt::format("there is no task class \"{}\"{}", it.owner.text,
                                                     suggestion(diagnostics_, it.owner.text, known)));
      return;
    }
    const TaskClass& of = file_.classes[it.index];
    if (of.parameters.size() != it.arguments.size())
      diagnostics_.error(it.where,
                         fmt::format("{} has {} parameter{}, not {}", of.name.text, of.parameters.size(),
                                     of.parameters.size() == 1 ? "" : "s", it.arguments.size()),
                         {{of.name.where, fmt::format("{} is here", of.name.text)}});
    it.flow_index = flows_[it.index].find(it.flow.text);
    if (it.flow_index != unbound_index) return;
    std::vector<std::string_view> known;
    for (const Flow& flow : of.flows) known.push_back(flow.name.text);
    diagnostics_.error(
        it.flow.where,
        fmt::format("{} has no flow \"{}\"{}", of.name.text, it.flow.text,
                    suggestion(diagnostics_, it.flow.text, known)),
        {{of.name.where, fmt::format("{} is here; its flows: {}", of.name.text, fmt::join(known, ", "))}});
  }

  JdfFile& file_;
  Diagnostics& diagnostics_;
  std::vector<NameIndex> flows_;  // by class
  std::set<std::string> places_;
  std::map<std::uint32_t, SourceRange> first_use_;  // by collection
};

}  // namespace

bool is_matrix_member(std::string_view name) noexcept {
  return std::ranges::find(matrix_members, name) != matrix_members.end();
}

void resolve_names(JdfFile& file, Diagnostics& diagnostics) {
  Binder(file, diagnostics).all();
  check_flows(file, diagnostics);
}

}  // namespace fairlead::jdf
