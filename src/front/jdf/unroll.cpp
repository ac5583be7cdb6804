// See unroll.hpp.
#include "front/jdf/unroll.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>

#include "front/jdf/diagnostics.hpp"
#include "front/jdf/emit_bodies.hpp"
#include "front/jdf/reshapes.hpp"

namespace fairlead::jdf {

namespace {

constexpr int deepest_loops = 200;

class Unroller {
 public:
  Unroller(const JdfFile& file, const Settings& settings, const UnrollOptions& limits)
      : file_(file),
        settings_(settings),
        evaluator_(file, settings),
        limits_(limits),
        reshapes_(file, [this](const std::string& type) { return covers_whole_tile(limits_.types, type); }) {}

  UnrolledGraph all() {
    graph().warns_of_lost_results = true;
    for (std::uint32_t i = 0; i < file_.globals.size(); ++i) {
      graph().collections.push_back(file_.globals[i].name.text);
      graph().extents.push_back(extents(i));
    }
    for (const TaskClass& it : file_.classes) describe(it);
    for (const TaskClass& it : file_.classes) {
      class_ = &it;
      slots_.assign(it.slots, Value());
      definitions(0, 0);
    }
    return std::move(out_);
  }

 private:
  unrolled::TaskGraph& graph() { return out_.graph; }

  void describe(const TaskClass& it) {
    const bool idle = !it.bodies.empty() && !emit_bodies_of(file_, it).empty() && is_idle(file_, it);
    unrolled::Class& reported = graph().classes.emplace_back();
    reported.name = it.name.text;
    reported.where = file_.source.where(it.name.where);
    for (const Name& name : it.parameters) reported.parameters.push_back(name.text);
    for (const Flow& flow : it.flows)
      reported.flows.push_back(
          {flow.name.text, access_in_runs(file_, it, flow), file_.source.where(flow.name.where), idle});
  }

  /// The number of tiles of a matrix by each index, -1 if unknown. A single column of tiles has one index.
  std::vector<std::int64_t> extents(std::uint32_t global) const {
    const Global& it = file_.globals[global];
    if (!it.is_collection || it.dimensions > 2) return {};
    std::optional<std::int64_t> rows, columns;
    if (const std::optional<MatrixShape>& matrix = settings_.matrix(aligned_with(file_, global))) {
      rows = matrix->member("mt");
      columns = matrix->member("nt");
    } else {
      for (std::uint32_t i = 0; i < file_.members.size(); ++i) {
        const Member& member = file_.members[i];
        const bool own = aligned_with(file_, member.global) == global;
        if (own && member.last == "mt" && settings_.member(i)) rows = settings_.member(i)->integer();
        if (own && member.last == "nt" && settings_.member(i)) columns = settings_.member(i)->integer();
      }
    }
    // the program chooses how its tiles are numbered
    if (it.dimensions == 1 && columns.value_or(1) != 1) return {};
    std::vector<std::int64_t> out{rows.value_or(-1), columns.value_or(-1)};
    out.resize(it.dimensions);
    return out;
  }

  [[noreturn]] void too_large(const char* what, std::size_t limit) const {
    throw InputError(fmt::format("{}: {} has more than {} {} for these values: check smaller ones",
                                 file_.source.name(), class_->name.text, limit, what));
  }

  void step() {
    if (++steps_ > limits_.steps) too_large("steps of its ranges", limits_.steps);
  }

  /// Calls `body` for each value of a range, or for a single value.
  template <class F>
  void each_value(ExpressionId id, F&& body) {
    const Expression& it = file_.at(id);
    if (it.kind != Expression::Kind::range) {
      step();
      body(evaluator_.integer(id, slots_));
      return;
    }
    const std::int64_t first = evaluator_.integer(it.parts[0], slots_),
                       last = evaluator_.integer(it.parts[1], slots_);
    const std::int64_t by = it.parts[2] == no_expression ? 1 : evaluator_.integer(it.parts[2], slots_);
    if (by == 0) {
      Diagnostic zero{Severity::error, file_.at(it.parts[2]).where, "the step of a range must not be 0", {}};
      throw EvaluationError(EvaluationError::Kind::invalid_operands, zero.where, shown(zero, file_.source));
    }
    for (std::int64_t value = first; by > 0 ? value <= last : value >= last; value += by) {
      step();
      body(static_cast<std::int32_t>(value));
    }
  }

  template <class F>
  void each_index(const std::vector<Index>& indices, std::size_t from, int depth, F&& body) {
    if (from == indices.size()) return body();
    if (depth > deepest_loops) too_large("nested ranges", deepest_loops);
    each_value(indices[from].range, [&](std::int32_t value) {
      slots_[indices[from].slot] = Value::of_int(value);
      each_index(indices, from + 1, depth + 1, body);
    });
  }

  /// Evaluates the definitions from `from` on; a range is a loop around the definitions after it.
  void definitions(std::size_t from, int depth) {
    const auto& all = class_->definitions;
    for (; from < all.size(); ++from) {
      const Definition& it = all[from];
      if (it.indices.empty() && file_.at(it.value).kind != Expression::Kind::range) {
        slots_[it.slot] = derived(it);
        continue;
      }
      if (depth > deepest_loops) too_large("nested ranges", deepest_loops);
      each_index(it.indices, 0, depth, [&] {
        each_value(it.value, [&](std::int32_t value) {
          slots_[it.slot] = Value::of_int(value);
          definitions(from + 1, depth + 1);
        });
      });
      return;
    }
    step();
    task();
  }

  /// The value of a local, or unknown if it needs C: it is an error only where it is used, since many locals are only
  /// for bodies.
  Value derived(const Definition& it) {
    if (only_for_c_.contains(&it)) return Value::unknown();
    try {
      return Value::of_int(evaluator_.integer(it.value, slots_));
    } catch (const EvaluationError& error) {
      if (error.kind() != EvaluationError::Kind::needs_c || it.parameter != unbound_index) throw;
      only_for_c_.insert(&it);
      return Value::unknown();
    }
  }

  std::uint32_t add_numbers(const std::vector<std::int32_t>& numbers) {
    if (graph().numbers.size() + numbers.size() > unrolled::none) too_large("parameters", unrolled::none);
    const auto first = static_cast<std::uint32_t>(graph().numbers.size());
    graph().numbers.insert(graph().numbers.end(), numbers.begin(), numbers.end());
    return first;
  }

  void task() {
    if (graph().tasks.size() >= limits_.tasks) too_large("tasks", limits_.tasks);
    numbers_.assign(class_->parameters.size(), 0);
    for (const Definition& it : class_->definitions)
      if (it.parameter != unbound_index)
        numbers_[it.parameter] = static_cast<std::int32_t>(slots_[it.slot].integer());
    task_ = static_cast<unrolled::TaskId>(graph().tasks.size());
    const auto of = static_cast<std::uint32_t>(class_ - file_.classes.data());
    graph().tasks.push_back({of, add_numbers(numbers_), priority()});
    graph().runs_at.push_back(placement());
    for (std::size_t i = 0; i < class_->flows.size(); ++i) {
      flow_ = static_cast<std::uint16_t>(i);
      given_ = false;
      for (const Dependency& it : class_->flows[i].dependencies) dependency(it);
    }
  }

  unrolled::RunsAt placement() {
    const Target& at = class_->placement.datum;
    if (class_->placement.kind != Placement::Kind::at_datum || at.index == unbound_index ||
        without_placement_.contains(class_))
      return {};
    numbers_.clear();
    try {
      for (const ExpressionId argument : at.arguments)
        numbers_.push_back(evaluator_.integer(argument, slots_));
    } catch (const EvaluationError& error) {
      const bool unknown =
          error.kind() == EvaluationError::Kind::needs_c || error.kind() == EvaluationError::Kind::no_value;
      if (limits_.placements || !unknown) throw;
      without_placement_.insert(class_);
      return {};
    }
    return {at.index, add_numbers(numbers_), static_cast<std::uint16_t>(numbers_.size()), place(at)};
  }

  std::int32_t priority() {
    if (class_->priority == no_expression || without_priority_.contains(class_)) return 0;
    try {
      return evaluator_.integer(class_->priority, slots_);
    } catch (const EvaluationError& error) {
      if (error.kind() != EvaluationError::Kind::needs_c && error.kind() != EvaluationError::Kind::no_value)
        throw;
      without_priority_.insert(class_);
      out_.notes.push_back(fmt::format("{}: the priority of {} is omitted: its value is unknown",
                                       file_.source.where(error.where()), class_->name.text));
      return 0;
    }
  }

  void dependency(const Dependency& it) {
    const bool input = it.direction == Direction::in && class_->flows[flow_].access != FlowAccess::control;
    // An input without a guard is the fallback after guarded inputs.
    if (input && given_ && it.indices.empty() && it.branches[0].guard == no_expression) return;
    each_index(it.indices, 0, 0, [&] {
      for (const Branch& branch : it.branches) {
        if (branch.guard != no_expression && !evaluator_.truth(branch.guard, slots_)) continue;
        each_index(branch.target.indices, 0, 0, [&] {
          numbers_.clear();
          target(it, branch.target, 0);
        });
        break;
      }
    });
  }

  /// Evaluates the arguments from `from` on; `numbers_` has those before it.
  void target(const Dependency& of, const Target& it, std::size_t from) {
    for (; from < it.arguments.size(); ++from) {
      if (file_.at(it.arguments[from]).kind == Expression::Kind::range) {
        if (from > deepest_loops) too_large("nested ranges", deepest_loops);
        each_value(it.arguments[from], [&](std::int32_t value) {
          numbers_.resize(from);
          numbers_.push_back(value);
          target(of, it, from + 1);
        });
        return;
      }
      numbers_.push_back(evaluator_.integer(it.arguments[from], slots_));
    }
    end(of, it);
  }

  void end(const Dependency& of, const Target& it) {
    if (graph().inputs.size() + graph().outputs.size() >= limits_.ends)
      too_large("inputs and outputs", limits_.ends);
    step();
    unrolled::EdgeEnd end;
    end.task = task_;
    end.flow = flow_;
    switch (it.kind) {
      case Target::Kind::task:
        end.kind = unrolled::EdgeEnd::Kind::task;
        break;
      case Target::Kind::memory:
        end.kind = unrolled::EdgeEnd::Kind::memory;
        break;
      case Target::Kind::fresh:
        end.kind = unrolled::EdgeEnd::Kind::fresh;
        break;
      case Target::Kind::null:
        end.kind = unrolled::EdgeEnd::Kind::null;
        break;
    }
    end.of = it.index;
    end.of_flow = static_cast<std::uint16_t>(it.flow_index);
    end.count = static_cast<std::uint16_t>(numbers_.size());
    end.first_number = add_numbers(numbers_);
    end.place = place(it);
    end.part = part(of, end.kind == unrolled::EdgeEnd::Kind::memory);
    if (end.part == unrolled::none && of.direction == Direction::in && it.kind == Target::Kind::task)
      end.part = part_of_copy(it);
    given_ |= of.direction == Direction::in;
    (of.direction == Direction::in ? graph().inputs : graph().outputs).push_back(end);
  }

  std::uint32_t place(const Target& it) {
    const auto [found, is_new] = places_.try_emplace(it.where.begin, graph().source_lines.size());
    if (is_new) graph().source_lines.push_back(file_.source.where(it.where));
    return found->second;
  }

  /// A value taken as a copy of a type is another value, even if only the producer names the type.
  std::uint32_t part_of_copy(const Target& from) {
    const auto own = static_cast<std::uint32_t>(class_ - file_.classes.data());
    const std::optional<TypeReference> type =
        reshapes_.copy_type_of_edge({from.index, from.flow_index}, {own, flow_});
    return type ? part_named(type->name) : unrolled::none;
  }

  /// Data of different types are different parts of a tile, such as its two triangles.
  std::uint32_t part(const Dependency& of, bool in_data) {
    const Property* property = find(of.properties, in_data ? "type_data" : "type");
    if (property == nullptr) property = find(of.properties, in_data ? "type" : "type_data");
    if (property == nullptr || property->value == no_expression) return unrolled::none;
    std::string text = type_from_property(file_, *property)->name;
    if (text.empty()) text = file_.source.text(file_.at(property->value).where);
    return covers_whole_tile(limits_.types, text) ? unrolled::none : part_named(text);
  }
  std::uint32_t part_named(const std::string& text) {
    const auto [found, is_new] = parts_.try_emplace(text, graph().parts.size());
    if (is_new) graph().parts.push_back(text);
    return found->second;
  }

  const JdfFile& file_;
  const Settings& settings_;
  Evaluator evaluator_;
  UnrollOptions limits_;
  Reshapes reshapes_;
  UnrolledGraph out_;
  const TaskClass* class_ = nullptr;
  unrolled::TaskId task_ = 0;
  std::uint16_t flow_ = 0;
  bool given_ = false;  // the flow has an input already
  std::vector<Value> slots_;
  std::vector<std::int32_t> numbers_;
  std::set<const TaskClass*> without_priority_, without_placement_;
  std::set<const Definition*> only_for_c_;
  std::map<std::uint32_t, std::uint32_t> places_;  // by the byte of the file where the place is written
  std::map<std::string, std::uint32_t> parts_;
  std::size_t steps_ = 0;
};

}  // namespace

UnrolledGraph unroll(const JdfFile& file, const Settings& settings, const UnrollOptions& limits) {
  return Unroller(file, settings, limits).all();
}

}  // namespace fairlead::jdf
