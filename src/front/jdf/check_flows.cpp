// Checks of flows that need no values: directions, kinds of targets, and that both ends of an edge name each other.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "base/suggest.hpp"
#include "front/jdf/evaluate.hpp"
#include "front/jdf/name_resolution.hpp"

namespace fairlead::jdf {

namespace {

constexpr std::array<std::string_view, 10> dependency_properties{
    "type",  "type_remote",  "type_data", "layout",       "layout_remote",
    "count", "count_remote", "displ",     "displ_remote", "layout_data"};
constexpr std::array<std::string_view, 5> body_types{"CPU", "CUDA", "HIP", "RECURSIVE", "LEVEL_ZERO"};

class FlowChecker {
 public:
  FlowChecker(const JdfFile& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  void all() {
    constant_globals();
    without_effect();
    for (std::uint32_t i = 0; i < file_.classes.size(); ++i) record_edges(i);
    for (const TaskClass& it : file_.classes) {
      for (const Flow& flow : it.flows) check(it, flow);
      for (const Body& body : it.bodies) check(body);
      for (const Definition& definition : it.definitions) look_into(definition.value, true);
      look_into(it.priority, false);
      look_into(it.simulation_cost, false);
      look_into(it.placement.predicate, false);
      for (const ExpressionId argument : it.placement.datum.arguments) {
        look_into(argument, true);
        if (file_.at(argument).kind == Expression::Kind::range)
          diagnostics_.error(file_.at(argument).where, "a task runs at one place: no range is allowed here");
      }
    }
  }

 private:
  /// Values that depend on nothing outside of the file must fit the types of their globals.
  void constant_globals() {
    if (diagnostics_.errors() != 0) return;
    const Settings none(file_);
    Evaluator evaluator(file_, none);
    for (std::uint32_t i = 0; i < file_.globals.size(); ++i) {
      if (file_.globals[i].value == no_expression) continue;
      try {
        evaluator.global(i, file_.globals[i].name.where);
      } catch (const EvaluationError& error) {
        if (error.kind() != EvaluationError::Kind::needs_c && error.kind() != EvaluationError::Kind::no_value)
          diagnostics_.error(error.where(), error.message());
      }
    }
  }

  /// Warns, once each, about options and properties of PaRSEC that have no effect in Fairlead.
  void without_effect() {
    std::set<std::string> reported;
    const auto look = [&](const std::vector<Property>& all, std::initializer_list<std::string_view> names) {
      for (const Property& it : all)
        if (std::ranges::find(names, it.name.text) != names.end() && reported.insert(it.name.text).second)
          diagnostics_.warning(it.name.where, fmt::format("\"{}\" has no effect here", it.name.text));
    };
    look(file_.options, {"termdet", "dynamic"});
    for (const TaskClass& of : file_.classes) {
      look(of.properties, {"startup_fn", "termdet", "dynamic"});
      for (const Body& body : of.bodies) look(body.properties, {"evaluate"});
    }
  }

  void check(const TaskClass& of, const Flow& flow) {
    bool fed = false, used = false;
    for (const Dependency& it : flow.dependencies) {
      (it.direction == Direction::in ? fed : used) = true;
      check(of, flow, it);
    }
    const bool reads = flow.access == FlowAccess::read || flow.access == FlowAccess::read_write;
    if (reads && !fed && !flow.broken)
      diagnostics_.error(flow.name.where,
                         fmt::format("nothing feeds the flow {} of {}: it reads, so it needs a \"<-\"",
                                     flow.name.text, of.name.text));
    if (flow.access == FlowAccess::write && !used && !flow.broken)
      diagnostics_.warning(flow.name.where,
                           fmt::format("the value that {} writes to {} is lost: the flow has no \"->\"",
                                       of.name.text, flow.name.text));
  }

  void check(const TaskClass& of, const Flow& flow, const Dependency& it) {
    properties(it.properties);
    for (const Branch& branch : it.branches) {
      look_into(branch.guard, false);
      const Target& target = branch.target;
      for (const ExpressionId argument : target.arguments) range_allowed(flow, it, target, argument);
      if (it.direction == Direction::out && target.kind == Target::Kind::fresh)
        diagnostics_.error(target.where, "NEW is only for inputs: it is memory without a value");
      if (it.direction == Direction::out && target.kind == Target::Kind::null)
        diagnostics_.error(target.where, "NULL is only for inputs; leave an output away, or guard it");
      if (flow.access == FlowAccess::control && target.kind != Target::Kind::task)
        diagnostics_.error(target.where,
                           fmt::format("{} is a control flow and carries no data: only tasks can be its ends",
                                       flow.name.text));
      if (target.kind == Target::Kind::task && target.flow_index != unbound_index)
        other_end(of, flow, it, target);
    }
  }

  void range_allowed(const Flow& flow, const Dependency& it, const Target& target, ExpressionId argument) {
    look_into(argument, true);
    if (file_.at(argument).kind != Expression::Kind::range) return;
    if (target.kind == Target::Kind::memory)
      diagnostics_.error(file_.at(argument).where, "a flow is one datum: no range is allowed here");
    else if (it.direction == Direction::in && flow.access != FlowAccess::control)
      diagnostics_.error(
          file_.at(argument).where,
          fmt::format("an input is one value: a range is allowed only for CTL, which {} is not",
                      flow.name.text));
  }

  /// Checks that both ends are of the same kind, and name each other.
  void other_end(const TaskClass& of, const Flow& flow, const Dependency& it, const Target& target) {
    const TaskClass& other = file_.classes[target.index];
    const Flow& end = other.flows[target.flow_index];
    if ((end.access == FlowAccess::control) != (flow.access == FlowAccess::control))
      return diagnostics_.error(
          target.where,
          fmt::format("{} of {} is {}, and {} of {} is {}", flow.name.text, of.name.text, kind_of(flow),
                      end.name.text, other.name.text, kind_of(end)),
          {{end.name.where, fmt::format("{} is here", end.name.text)}});
    const auto own = static_cast<std::uint32_t>(&of - file_.classes.data());
    const auto own_flow = static_cast<std::uint32_t>(&flow - of.flows.data());
    const Direction back = it.direction == Direction::in ? Direction::out : Direction::in;
    if (unresolved_flows_.contains(&end) ||
        edges_.contains({target.index, target.flow_index, own, own_flow, back}))
      return;
    const bool mentioned = neighbour_classes_.contains({target.index, target.flow_index, own});
    const bool in = it.direction == Direction::in;
    const std::string message =
        fmt::format("{} of {} {} {} of {}, which does not state the edge: it has no \"{} {} {}(...)\"",
                    flow.name.text, of.name.text, in ? "comes from" : "goes to", end.name.text,
                    other.name.text, in ? "->" : "<-", flow.name.text, of.name.text);
    std::vector<Note> remarks{{end.name.where, fmt::format("{} is here", end.name.text)}};
    if (mentioned)
      diagnostics_.warning(target.where, message, std::move(remarks));
    else
      diagnostics_.error(target.where, message, std::move(remarks));
  }

  /// Records which flows of other classes the flows of a class name, for other_end().
  void record_edges(std::uint32_t own) {
    const TaskClass& of = file_.classes[own];
    for (std::uint32_t i = 0; i < of.flows.size(); ++i) {
      if (of.flows[i].broken) unresolved_flows_.insert(&of.flows[i]);
      for (const Dependency& it : of.flows[i].dependencies)
        for (const Branch& branch : it.branches) {
          if (is_unknown(branch.target)) unresolved_flows_.insert(&of.flows[i]);
          if (branch.target.kind != Target::Kind::task) continue;
          edges_.insert({own, i, branch.target.index, branch.target.flow_index, it.direction});
          neighbour_classes_.insert({own, i, branch.target.index});
        }
    }
  }

  /// Whether the target is unresolved, which is already reported: it could be any flow.
  static bool is_unknown(const Target& it) {
    return (it.kind == Target::Kind::task && it.flow_index == unbound_index) ||
           (it.kind == Target::Kind::memory && it.index == unbound_index);
  }

  static const char* kind_of(const Flow& flow) {
    return flow.access == FlowAccess::control ? "a control flow" : "one of data";
  }

  void properties(const std::vector<Property>& all) {
    for (const Property& it : all) {
      if (it.name.text == "arena_index")
        diagnostics_.error(it.name.where, "\"arena_index\" is no longer supported: use \"type\"");
      else if (it.name.text == "nb_elt")
        diagnostics_.error(it.name.where, "\"nb_elt\" is no longer supported: use \"count\"");
      else if ((it.name.text == "displ" || it.name.text == "displ_remote") && !is_zero(it.value))
        diagnostics_.warning(
            it.name.where,
            fmt::format("\"{}\" has no effect here: a value has the same position in its datum on all ranks",
                        it.name.text));
      else if (it.value != no_expression &&
               std::ranges::find(dependency_properties, it.name.text) == dependency_properties.end())
        if (const std::string near = did_you_mean(it.name.text, dependency_properties); !near.empty())
          diagnostics_.warning(it.name.where,
                               fmt::format("\"{}\" is unknown and has no effect{}", it.name.text, near));
    }
  }

  bool is_zero(ExpressionId id) const {
    return id != no_expression && file_.at(id).kind == Expression::Kind::integer && file_.at(id).integer == 0;
  }

  void check(const Body& body) {
    const Property* type = find(body.properties, "type");
    if (type == nullptr) return;
    const std::string word = word_of(*type, file_);
    if (std::ranges::find(body_types, word) != body_types.end()) return;
    if (const std::string near = did_you_mean(word, body_types); !near.empty())
      diagnostics_.warning(type->name.where, fmt::format("no device is of type \"{}\"{}", word, near));
  }

  /// Checks that ranges stand alone, and not inside of calculations.
  void look_into(ExpressionId id, bool may_be_range) {
    if (id == no_expression) return;
    const Expression& it = file_.at(id);
    if (it.kind == Expression::Kind::range && !may_be_range)
      diagnostics_.error(it.where, "a range is not a value");
    look_at_bits(it);
    for (const ExpressionId part : it.parts) look_into(part, false);
    for (const ExpressionId argument : it.arguments) look_into(argument, false);
  }

  bool is_truth(ExpressionId id) const {
    const Expression& it = file_.at(id);
    if (it.kind == Expression::Kind::unary) return it.op == Operator::logical_not;
    if (it.kind != Expression::Kind::binary) return false;
    if (it.op == Operator::bit_and || it.op == Operator::bit_or || it.op == Operator::bit_xor)
      return is_truth(it.parts[0]) && is_truth(it.parts[1]);
    return (it.op >= Operator::less && it.op <= Operator::not_equal) || it.op == Operator::logical_and ||
           it.op == Operator::logical_or;
  }

  /// In C, & and | are bitwise; PaRSEC's compiler treats them as && and ||.
  void look_at_bits(const Expression& it) {
    if (it.kind != Expression::Kind::binary || (it.op != Operator::bit_and && it.op != Operator::bit_or))
      return;
    if (is_truth(it.parts[0]) && is_truth(it.parts[1])) return;
    const char* const once = it.op == Operator::bit_and ? "&" : "|";
    diagnostics_.warning(
        it.operator_range,
        fmt::format("{} is an operation on bits here, as in C; PaRSEC takes it for {}{}", once, once, once));
  }

  const JdfFile& file_;
  Diagnostics& diagnostics_;
  // class, flow, the other class, its flow, direction
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Direction>> edges_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> neighbour_classes_;
  std::set<const Flow*> unresolved_flows_;  // flows with a part that is invalid
};

}  // namespace

void check_flows(const JdfFile& file, Diagnostics& diagnostics) { FlowChecker(file, diagnostics).all(); }

}  // namespace fairlead::jdf
