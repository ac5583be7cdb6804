// See lower.hpp.
#include "front/jdf_graph/lower.hpp"

#include <fairlead/error.hpp>
#include <fairlead/tile.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "front/jdf/emit_bodies.hpp"
#include "front/jdf/reshapes.hpp"
#include "front/jdf_graph/class_indices.hpp"
#include "front/jdf_graph/elements.hpp"
#include "front/jdf_graph/loops.hpp"
#include "front/ptg/repacked_parts.hpp"

namespace fairlead::jdf {

namespace {

std::type_index type_of(TilePrecision element) {
  return element == TilePrecision::single ? std::type_index(typeid(Tile<float>))
                                          : std::type_index(typeid(Tile<double>));
}

AccessMode mode_of(FlowAccess access) {
  switch (access) {
    case FlowAccess::read:
      return AccessMode::read;
    case FlowAccess::write:
      return AccessMode::write;
    default:
      return AccessMode::read_write;
  }
}

class Lowering {
 public:
  Lowering(std::shared_ptr<const RunnableJdf> program, std::span<const BoundData> data,
           const KnownOutputs& known, const GraphBuilder& make)
      : program_(std::move(program)),
        file_(program_->file),
        data_(data),
        known_(known),
        make_(make),
        expressions_(program_),
        indices_(program_, expressions_, make.on_progress),
        elements_(elements_of_flows(*program_, data)),
        reshapes_(file_,
                  [this](const std::string& type) { return covers_whole_tile(program_->types, type); }) {}

  LoweredGraph lower() {
    for (std::uint32_t i = 0; i < file_.classes.size(); ++i) {
      own_.push_back(indices_.of(file_.classes[i]));
      out_.classes.push_back(add(file_.classes[i].name.text, own_.back().ranges, file_.classes[i]));
      out_.classes.back()->called = order_of(own_.back().parameters);
    }
    for (class_ = 0; class_ < file_.classes.size(); ++class_) fill();
    return std::move(out_);
  }

 private:
  std::shared_ptr<ptg::ClassDefinition> add(std::string name, std::vector<ptg::Range> ranges,
                                            const TaskClass& of) {
    auto definition = make_.add(std::move(name), std::move(ranges));
    definition->file = file_.source.name().c_str();
    const auto at = file_.source.position(of.name.where.begin);
    definition->line = at.line;
    definition->column = at.column;
    return definition;
  }

  /// The order of the class's indices as the file names them in GEMM(m, n, k), whatever the order of definitions. Extra
  /// indices come last.
  static std::vector<std::size_t> order_of(const std::vector<std::uint32_t>& parameters) {
    std::vector<std::size_t> out(parameters.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
    std::ranges::stable_sort(out, {}, [&](std::size_t i) { return parameters[i]; });
    return out;
  }

  void fill() {
    const TaskClass& of = file_.classes[class_];
    ptg::ClassDefinition& definition = *out_.classes[class_];
    std::vector<ptg::FlowDefinition> controls;
    for (std::uint32_t i = 0; i < of.flows.size(); ++i) {
      ptg::FlowDefinition it = flow(i);
      (it.control ? controls : definition.flows).push_back(std::move(it));
    }
    std::ranges::move(controls, std::back_inserter(definition.flows));
    for (std::uint32_t i = 0; i < of.parameters.size(); ++i)
      for (const Definition& it : of.definitions)
        if (it.parameter == i) definition.numbers.push_back(*own_[class_].slots[it.slot]);
    priority(of, definition);
    placement(of, definition);
    make_.body(class_, elements_[class_], definition);
  }

  /// With data on several ranks: the tasks run on the rank that owns the datum. Otherwise the placement is not needed.
  void placement(const TaskClass& of, ptg::ClassDefinition& definition) {
    const Target& at = of.placement.datum;
    if (of.placement.kind != Placement::Kind::at_datum || at.index == unbound_index ||
        data_[at.index].collection == nullptr || data_[at.index].collection->owners.empty())
      return;
    Arguments arguments;
    add_arguments(at, own_[class_].slots, arguments);
    definition.at = place(at, arguments.values);
  }

  void priority(const TaskClass& of, ptg::ClassDefinition& definition) {
    if (of.priority == no_expression) return;
    try {
      definition.priority = expressions_.of(of.priority, own_[class_].slots);
    } catch (const EvaluationError& error) {
      using Kind = EvaluationError::Kind;
      if (error.kind() != Kind::needs_c && error.kind() != Kind::no_value) throw;
      out_.notes.push_back(fmt::format("{}: the priority of {} is omitted: its value is unknown",
                                       file_.source.where(error.where()), of.name.text));
    }
  }

  ptg::FlowDefinition flow(std::uint32_t number) {
    const Flow& from = file_.classes[class_].flows[number];
    flow_ = number;
    ptg::FlowDefinition it;
    it.name = from.name.text;
    it.control = from.access == FlowAccess::control;
    it.mode = mode_of(access_in_runs(file_, file_.classes[class_], from));
    if (!it.control) {
      it.type = type_of(elements_[class_][number]);
      if (make_.recut) it.recut = make_.recut(elements_[class_][number]);
    }
    for (const Dependency& dependency : from.dependencies) {
      if (dependency.direction == Direction::out)
        output(dependency, it);
      else if (it.control)
        control_input(dependency, it);
      else
        input(dependency, it);
    }
    if (!it.control) complete(from, it);
    return it;
  }

  /// A written flow without an input starts in the datum where it is stored, or in a fresh datum.
  void complete(const Flow& from, ptg::FlowDefinition& it) {
    const bool open = it.inputs.empty() || (it.inputs.back().condition && from.access == FlowAccess::write);
    if (!open) return;
    if (from.access == FlowAccess::write)
      for (const ptg::Alternative& output : it.outputs)
        if (output.place.kind == ptg::Place::Kind::memory && output.ranges.empty())
          it.inputs.push_back({.place = output.place, .condition = output.condition});
    if (!it.inputs.empty() && !it.inputs.back().condition) return;
    it.inputs.push_back({.place = from.access == FlowAccess::write ? fresh() : ptg::Place{}});
  }

  ptg::Place fresh() const {
    const TaskClass& of = file_.classes[class_];
    const auto fits = [&](std::uint32_t global) {
      return data_[global].collection != nullptr && data_[global].precision == elements_[class_][flow_];
    };
    ptg::Place place{.kind = ptg::Place::Kind::fresh};
    if (of.placement.kind == Placement::Kind::at_datum && of.placement.datum.index != unbound_index &&
        fits(of.placement.datum.index)) {
      place.like = data_[of.placement.datum.index].collection;
      return place;
    }
    for (std::uint32_t i = 0; i < data_.size(); ++i)
      if (fits(i)) {
        place.like = data_[i].collection;
        return place;
      }
    throw InputError(fmt::format("{}: no matrix defines the size of the tile that {} starts with",
                                 file_.source.where(of.flows[flow_].name.where), of.flows[flow_].name.text));
  }

  /// The arguments of a target; a range is an index of its own in `values`.
  struct Arguments {
    std::vector<ptg::Expression> values;
    std::vector<ptg::Range> ranges;
  };
  void add_ranges(const std::vector<Index>& from, Environment& slots, std::vector<ptg::Range>& ranges) {
    for (const Index& it : from) {
      const Expressions::Bounds bounds = expressions_.bounds(it.range, slots);
      if (it.slot >= slots.size()) slots.resize(it.slot + 1);
      if (bounds.single) {
        slots[it.slot] = bounds.first;
        continue;
      }
      const ptg::Index index(it.name.text);
      ranges.push_back(index.in(bounds.first, bounds.last, bounds.step));
      slots[it.slot] = index;
    }
  }
  void add_arguments(const Target& target, const Environment& slots, Arguments& into) {
    for (const ExpressionId id : target.arguments) {
      const Expressions::Bounds bounds = expressions_.bounds(id, slots);
      if (bounds.single) {
        into.values.push_back(bounds.first);
        continue;
      }
      const ptg::Index index(fmt::format("i{}", into.values.size()));
      into.ranges.push_back(index.in(bounds.first, bounds.last, bounds.step));
      into.values.push_back(index);
    }
  }

  ptg::Place place(const Target& target, const std::vector<ptg::Expression>& values) {
    switch (target.kind) {
      case Target::Kind::task: {
        ptg::Place it{.kind = ptg::Place::Kind::task};
        it.task = out_.classes[target.index];
        it.flow = target.flow.text;
        for (const std::uint32_t parameter : own_[target.index].parameters)
          it.indices.push_back(parameter == unbound_index ? ptg::Expression(0) : values[parameter]);
        return it;
      }
      case Target::Kind::memory: {
        const auto& data = data_[target.index].collection;
        if (data == nullptr)
          throw InputError(fmt::format("{}: {} is not a matrix yet: give --matrix {}=...",
                                       file_.source.where(target.where), target.owner.text,
                                       target.owner.text));
        return {.kind = ptg::Place::Kind::memory, .collection = data, .indices = values};
      }
      case Target::Kind::fresh:
        return fresh();
      default:
        return {};
    }
  }

  static std::optional<ptg::Expression> both(const std::optional<ptg::Expression>& a,
                                             const std::optional<ptg::Expression>& b) {
    return a && b ? *a && *b : a ? a : b;
  }

  static bool has_ranges(const JdfFile& file, const Dependency& dependency) {
    return !dependency.indices.empty() || std::ranges::any_of(dependency.branches, [&](const Branch& branch) {
      return !branch.target.indices.empty() ||
             std::ranges::any_of(branch.target.arguments, [&](ExpressionId id) {
               return file.at(id).kind == Expression::Kind::range;
             });
    });
  }

  void input(const Dependency& dependency, ptg::FlowDefinition& into) {
    if (has_ranges(file_, dependency)) return searched_input(dependency, into);
    for (const Branch& branch : dependency.branches) {
      ptg::Alternative it;
      const Environment& slots = own_[class_].slots;
      if (branch.guard != no_expression) it.condition = expressions_.of(branch.guard, slots);
      Arguments arguments;
      add_arguments(branch.target, slots, arguments);
      it.place = place(branch.target, arguments.values);
      it.part = taken_part(dependency, branch.target);
      say_where(branch.target, it);
      if (branch.target.kind == Target::Kind::memory)
        if (const auto type = reshapes_.copy_type_of_input({class_, flow_}, dependency))
          read_part(known_part(*type), it, into);
      into.inputs.push_back(std::move(it));
    }
  }

  /// The parts at both ends of an edge. If the edge makes a copy, given_as_copy() and taken_as_copy() have the same
  /// elements but differ, so that a class that copies is inserted.
  std::optional<ptg::Part> taken_part(const Dependency& dependency, const Target& target) const {
    if (target.kind == Target::Kind::task)
      if (const auto type = reshapes_.copy_type_of_edge({target.index, target.flow_index}, {class_, flow_}))
        return ptg::taken_as_copy(known_part(*type));
    return part_of(*program_, dependency, false);
  }
  std::optional<ptg::Part> given_part(const Dependency& dependency, const Target& target) const {
    const bool in_data = target.kind == Target::Kind::memory;
    if (!in_data)
      if (const auto type = reshapes_.copy_type_of_edge({class_, flow_}, {target.index, target.flow_index}))
        return ptg::given_as_copy(known_part(*type));
    if (in_data && !type_of_dependency(file_, dependency, true)) {  // store no more than the value contains
      const auto found = program_->types.find(reshapes_.type_of_value({class_, flow_}));
      if (found != program_->types.end()) return found->second;
    }
    return part_of(*program_, dependency, in_data);
  }
  /// The part for a type that makes a copy; throws InputError if it is undefined.
  const ptg::Part& known_part(const TypeReference& type) const {
    const auto found = program_->types.find(type.name);
    if (found != program_->types.end()) return found->second;
    throw InputError(
        fmt::format("{}: a task changes the value as a copy of this type, but the type {} is not defined as "
                    "a part of a tile: give --type {}=lower, for example, or =full",
                    file_.source.where(type.where), type.name, type.name));
  }

  /// Inserts a task that copies the part of the datum for each task that takes it: the datum stays unchanged.
  void read_part(const ptg::Part& part, ptg::Alternative& from, const ptg::FlowDefinition& of) {
    if (part.is_all()) return;
    std::optional<ptg::Expression> holds = from.condition;
    for (const ptg::Alternative& before : of.inputs) {
      if (!before.condition) return;  // that input is always taken
      holds = both(holds, !*before.condition);
    }
    const TaskClass& task_class = file_.classes[class_];
    std::vector<ptg::Range> ranges = own_[class_].ranges;
    const ptg::Index there("is_there");
    ranges.push_back(there.in(0, holds ? (*holds != 0) - 1 : ptg::Expression(0)));
    auto definition =
        add(fmt::format("a part for {}.{}, {}", task_class.name.text, of.name, of.inputs.size() + 1), ranges,
            task_class);
    ptg::FlowDefinition value{.name = "from", .mode = AccessMode::read, .type = of.type};
    value.inputs.push_back({.place = from.place});
    ptg::FlowDefinition copy{.name = "to", .mode = AccessMode::write, .type = of.type};
    copy.inputs.push_back({.place = {.kind = ptg::Place::Kind::fresh, .like_flow = 0}});
    copy.outputs.push_back({.place = {.kind = ptg::Place::Kind::task,
                                      .task = out_.classes[class_],
                                      .flow = of.name,
                                      .indices = parameters_of(own_[class_].ranges)}});
    if (!from.place.collection->owners.empty()) definition->at = from.place;
    definition->flows = {std::move(value), std::move(copy)};
    const std::string edge = fmt::format("{}:{}", file_.source.name(), from.where->line());
    ptg::Copier copier = make_.recut(elements_[class_][flow_])({part, part, edge});
    definition->codelet = std::move(copier.codelet);
    definition->maker = std::move(copier.maker);
    std::vector<ptg::Expression> own = parameters_of(own_[class_].ranges);
    own.push_back(0);
    from.place = {
        .kind = ptg::Place::Kind::task, .task = definition, .flow = "to", .indices = std::move(own)};
    from.part = std::nullopt;
  }
  void say_where(const Target& target, ptg::Alternative& it) const {
    const Position at = file_.source.position(target.where.begin);
    it.where = SourceLine(file_.source.name().c_str(), at.line);
    it.column = at.column;
  }

  /// For local indices: an input is one value, so that the indices for which a guard holds are searched for.
  void searched_input(const Dependency& dependency, ptg::FlowDefinition& into) {
    for (std::size_t branch = 0; branch < dependency.branches.size(); ++branch) {
      const Target& target = dependency.branches[branch].target;
      const auto found = [&](std::size_t argument) { return searched(dependency, branch, argument); };
      std::vector<ptg::Expression> values;
      for (std::size_t i = 0; i < target.arguments.size(); ++i) values.push_back(found(i + 1));
      into.inputs.push_back({.place = place(target, values), .condition = found(0) != 0});
      into.inputs.back().part = taken_part(dependency, target);
      say_where(target, into.inputs.back());
      if (target.kind == Target::Kind::memory)
        if (const auto type = reshapes_.copy_type_of_input({class_, flow_}, dependency);
            type && !known_part(*type).is_all())
          throw InputError(
              fmt::format("{}: an input that is searched for cannot be a copy of a type: let a task read it "
                          "and forward it with the type",
                          file_.source.where(type->where)));
    }
  }
  /// For argument 0: whether the branch is taken.
  ptg::Expression searched(const Dependency& dependency, std::size_t branch, std::size_t argument) {
    std::vector<std::uint32_t> used;
    std::vector<ptg::Expression> arguments;
    const Environment& slots = own_[class_].slots;
    for (std::uint32_t i = 0; i < slots.size(); ++i)
      if (slots[i]) {
        used.push_back(i);
        arguments.push_back(*slots[i]);
      }
    return ptg::computed(
        "the indices of " + file_.classes[class_].flows[flow_].name.text,
        [program = program_, &dependency, branch, argument, used,
         count = file_.classes[class_].slots](std::span<const std::int64_t> given) -> std::int64_t {
          std::vector<Value> values(count);
          for (std::size_t i = 0; i < used.size(); ++i) values[used[i]] = Value::of(given[i]);
          std::int64_t out = 0;
          std::vector<std::int32_t> numbers;
          const JdfFile& file = program->file;
          try {
            RangeEvaluator evaluator(file, program->settings);
            walk_indices(file, evaluator, dependency.indices, 0, values, [&] {
              for (std::size_t i = 0; i < dependency.branches.size(); ++i) {
                const Branch& it = dependency.branches[i];
                if (it.guard != no_expression && !evaluator.truth(it.guard, values)) continue;
                return walk_indices(file, evaluator, it.target.indices, 0, values, [&] {
                  return walk_arguments(file, evaluator, it.target.arguments, values, numbers, [&] {
                    if (i == branch) out = argument == 0 ? 1 : numbers[argument - 1];
                    return false;
                  });
                });
              }
              return true;
            });
          } catch (const EvaluationError& error) {
            throw UsageError(error.what());
          }
          return out;
        },
        std::move(arguments));
  }

  /// Calls f for each branch, with the condition that its guard holds and no guard before it.
  template <class F>
  void each_branch(const Dependency& dependency, const F& f) {
    Environment slots = own_[class_].slots;
    std::vector<ptg::Range> ranges;
    add_ranges(dependency.indices, slots, ranges);
    std::optional<ptg::Expression> before;
    for (const Branch& branch : dependency.branches) {
      ptg::Alternative it{.place = {}, .condition = before, .ranges = ranges};
      say_where(branch.target, it);
      if (branch.guard != no_expression) {
        const ptg::Expression guard = expressions_.of(branch.guard, slots);
        it.condition = both(before, guard);
        before = both(before, !guard);
      }
      Environment inside = slots;
      add_ranges(branch.target.indices, inside, it.ranges);
      Arguments arguments;
      add_arguments(branch.target, inside, arguments);
      std::ranges::copy(arguments.ranges, std::back_inserter(it.ranges));
      if (branch.target.kind == Target::Kind::task || branch.target.kind == Target::Kind::memory)
        f(branch.target, std::move(it), arguments.values);
    }
  }

  void control_input(const Dependency& dependency, ptg::FlowDefinition& into) {
    each_branch(dependency, [&](const Target& target, ptg::Alternative it, const auto& values) {
      it.place = place(target, values);
      into.inputs.push_back(std::move(it));
    });
  }

  void output(const Dependency& dependency, ptg::FlowDefinition& into) {
    each_branch(dependency, [&](const Target& target, ptg::Alternative it, const auto& values) {
      it.place = place(target, values);
      if (!into.control) it.part = given_part(dependency, target);
      if (target.kind == Target::Kind::task) {
        if (!known_.all_receivers_exist)
          it.condition = both(it.condition, indices_.exists(file_.classes[target.index], values));
      } else {
        const bool copied = known_.copied.contains(file_.source.where(target.where));
        if (!it.part && (copied || is_dealt_out(target) || reshapes_.any())) require_known(dependency);
        if (copied) return copy(target, std::move(it), into);
      }
      into.outputs.push_back(std::move(it));
    });
  }

  bool is_dealt_out(const Target& target) const {
    const auto& data = data_[target.index].collection;
    return data != nullptr && data->owners.several();
  }
  /// Requires a defined type where the value may be copied to the datum: copying the whole tile would give wrong
  /// results.
  void require_known(const Dependency& dependency) const {
    const std::optional<TypeReference> type = type_of_dependency(file_, dependency, true);
    if (!type) return;
    const std::string name = type->name.empty() ? "in C" : type->name;
    throw InputError(fmt::format(
        "{}: the value is stored in this datum, but the type {} is not defined as a part of a tile: "
        "give --type {}=lower, for example, or "
        "=full",
        file_.source.where(type->where), name, type->name.empty() ? "NAME" : name));
  }

  /// Inserts a task that copies the value to a datum other than the one that contains it.
  void copy(const Target& target, ptg::Alternative to, ptg::FlowDefinition& from) {
    const TaskClass& of = file_.classes[class_];
    std::vector<ptg::Range> ranges = own_[class_].ranges;
    std::ranges::copy(to.ranges, std::back_inserter(ranges));
    const ptg::Index there("is_there");
    ranges.push_back(there.in(0, to.condition ? (*to.condition != 0) - 1 : ptg::Expression(0)));
    auto definition = add(fmt::format("{}.{} to {}", of.name.text, from.name, target.owner.text), ranges, of);
    ptg::FlowDefinition value;
    value.name = "from";
    value.type = from.type;
    value.inputs.push_back({.place = {.kind = ptg::Place::Kind::task,
                                      .task = out_.classes[class_],
                                      .flow = from.name,
                                      .indices = parameters_of(own_[class_].ranges)},
                            .part = to.part});
    ptg::FlowDefinition into;
    into.name = "into";
    const ptg::Part part = to.part.value_or(ptg::Part{});
    into.mode = part.is_all() ? AccessMode::write : AccessMode::read_write;
    into.type = from.type;
    into.inputs.push_back({.place = to.place});
    definition->at = to.place;
    definition->flows = {std::move(value), std::move(into)};
    make_.copy(elements_[class_][flow_], part, file_.source.where(target.where), *definition);
    std::vector<ptg::Expression> own = parameters_of(own_[class_].ranges);
    for (const ptg::Range& range : to.ranges) own.push_back(range.index);
    own.push_back(0);
    to.place = {
        .kind = ptg::Place::Kind::task, .task = definition, .flow = "from", .indices = std::move(own)};
    from.outputs.push_back(std::move(to));
  }
  static std::vector<ptg::Expression> parameters_of(const std::vector<ptg::Range>& ranges) {
    std::vector<ptg::Expression> out;
    for (const ptg::Range& range : ranges)
      if (!range.derived) out.push_back(range.index);
    return out;
  }

  std::shared_ptr<const RunnableJdf> program_;
  const JdfFile& file_;
  std::span<const BoundData> data_;
  const KnownOutputs& known_;
  const GraphBuilder& make_;
  Expressions expressions_;
  IndexBuilder indices_;
  std::vector<std::vector<TilePrecision>> elements_;
  Reshapes reshapes_;
  LoweredGraph out_;
  std::vector<ClassIndices> own_;
  std::uint32_t class_ = 0, flow_ = 0;
};

}  // namespace

LoweredGraph lower(std::shared_ptr<const RunnableJdf> program, std::span<const BoundData> data,
                   const KnownOutputs& known, const GraphBuilder& make) {
  return Lowering(std::move(program), data, known, make).lower();
}

}  // namespace fairlead::jdf
