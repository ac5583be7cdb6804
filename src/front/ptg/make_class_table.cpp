// Compiles the definitions of a graph to its class table: resolves names, inverts inputs, and refuses invalid
// definitions.
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/suggest.hpp"
#include "front/ptg/copied_values.hpp"
#include "front/ptg/counted_readers.hpp"
#include "front/ptg/edge_ends.hpp"
#include "front/ptg/inverse.hpp"
#include "front/ptg/memory_place.hpp"
#include "front/ptg/parts.hpp"
#include "front/ptg/proven_edges.hpp"
#include "front/ptg/repacked_parts.hpp"
#include "front/ptg/write_backs.hpp"

namespace fairlead::ptg {

namespace {

class TableMaker {
 public:
  /// `come_home`: values are written back to the data in which they are to be stored.
  TableMaker(const RepackedParts& recut, bool come_home)
      : recut_(recut),
        copied_(come_home ? with_write_backs(recut.definitions()) : recut.definitions()),
        definitions_(copied_.definitions()) {
    table_.has_write_backs = come_home;
    for (std::size_t i = 0; i < definitions_.size(); ++i) number_of_[definitions_[i].get()] = i;
  }

  ClassTable make() {
    for (const auto& definition : definitions_) add_class(*definition);
    for (std::size_t i = 0; i < definitions_.size(); ++i) {
      table_.classes[i].definition = definitions_[i];
      add_flows(i);
      add_place(i);
    }
    name_tasks();
    for (std::size_t i = 0; i < definitions_.size(); ++i) add_edges(i);
    count_readers(table_);
    for (TableClass& it : table_.classes) sum_up(it);
    prove_edges(table_);
    for (TableClass& it : table_.classes)
      for (TableFlow& flow : it.flows)
        for (ClassEdge& edge : flow.edges) sum_up(edge);
    return std::move(table_);
  }

 private:
  [[noreturn]] static void refuse(const ClassDefinition& of, const std::string& why) {
    throw UsageError(fmt::format("the parameterized class {}: {}", text_of(of), why));
  }

  void add_class(const ClassDefinition& definition) {
    TableClass& it = table_.classes.emplace_back();
    it.name = definition.name;
    if (definition.maker.make == nullptr) refuse(definition, "its tasks have no body: call runs()");
    std::set<const ExpressionNode*> seen;
    for (const Range& range : definition.indices) {
      if (!seen.insert(range.index.node().get()).second)
        refuse(definition, fmt::format("the index {} is repeated", range.index.text()));
      it.loops.push_back(loop_of(range, it.places));
      if (!range.derived) it.parameters.push_back(it.loops.back().place);
    }
    if (it.loops.size() > Walk::most_loops)
      refuse(definition, fmt::format("it has more than {} indices", Walk::most_loops));
    it.bounds = intervals_of(definition.indices, it.places);
    it.priority = Formula(definition.priority, it.places);
    for (const Expression& number : definition.numbers) it.numbers.emplace_back(number, it.places);
  }

  static bool speaks_of(const Expression& expression, const std::vector<Range>& ranges) {
    const ExpressionNode& node = *expression.node();
    return std::ranges::any_of(ranges,
                               [&](const Range& range) { return range.index.node().get() == &node; }) ||
           std::ranges::any_of(node.operands,
                               [&](const Expression& operand) { return speaks_of(operand, ranges); });
  }
  /// Splits a place's condition into the part that does not depend on the ranges (`before`) and the rest (`each`).
  static void add_condition(const Expression& condition, const std::vector<Range>& ranges,
                            const Places& places, Conditions& before, Conditions& each) {
    const ExpressionNode& node = *condition.node();
    if (node.operation != Operation::both)
      return (speaks_of(condition, ranges) ? each : before).add(condition, places);
    for (const Expression& operand : node.operands) add_condition(operand, ranges, places, before, each);
  }
  /// The range as a loop over a new place.
  static Loop loop_of(const Range& range, Places& places) {
    Loop loop;
    loop.first.push_back({Formula(range.first, places)});
    loop.last.push_back({Formula(range.last, places)});
    loop.step = Formula(range.step, places);
    loop.by_one = range.step.node()->operation == Operation::constant && range.step.node()->value == 1;
    loop.derived = range.derived;
    loop.place = places.add(range.index);
    return loop;
  }
  static std::vector<Loop> loops_of(const std::vector<Range>& ranges, Places& places) {
    std::vector<Loop> loops;
    for (const Range& range : ranges) loops.push_back(loop_of(range, places));
    return loops;
  }

  std::uint32_t collection(const std::shared_ptr<const CollectionDefinition>& definition) {
    const auto found = std::ranges::find(table_.collections, definition);
    if (found == table_.collections.end()) {
      table_.collections.push_back(definition);
      return static_cast<std::uint32_t>(table_.collections.size() - 1);
    }
    return static_cast<std::uint32_t>(found - table_.collections.begin());
  }

  MemoryPlace memory(const ClassDefinition& of, const FlowDefinition& flow, const Place& place,
                     const Places& places) {
    const std::vector<Interval>& bounds = table_.classes[number_of_.at(&of)].bounds;
    return memory_place(of, flow, place, collection(place.collection), places, bounds);
  }

  void add_place(std::size_t number) {
    const ClassDefinition& definition = *definitions_[number];
    if (!definition.at) return;
    if (definition.at->kind != Place::Kind::memory)
      refuse(definition, "its placement must be a datum of a collection (at())");
    const CollectionDefinition& data = *definition.at->collection;
    if (definition.at->indices.size() != data.extents.size())
      refuse(definition, fmt::format("it names {} with {} indices; it has {}", data.name,
                                     definition.at->indices.size(), data.extents.size()));
    TableClass& of = table_.classes[number];
    of.runs_at = MemoryPlace{.collection = collection(definition.at->collection), .indices = {}};
    for (const Expression& index : definition.at->indices) of.runs_at->indices.emplace_back(index, of.places);
  }

  void add_flows(std::size_t number) {
    const ClassDefinition& definition = *definitions_[number];
    std::set<std::string> names;
    for (const FlowDefinition& flow : definition.flows) {
      if (!names.insert(flow.name).second)
        refuse(definition, fmt::format("it has two flows \"{}\"", flow.name));
      if (writes_in_any_order(flow.mode))
        refuse(definition, fmt::format("its flow \"{}\" is changed in any order (Commute, Reduce); in a "
                                       "parameterized graph the edges are the order",
                                       flow.name));
      TableFlow& it = table_.classes[number].flows.emplace_back();
      it.name = flow.name;
      it.control = flow.control;
      it.mode = flow.mode;
      if (!flow.control) ++table_.classes[number].data_flows;
      if (!flow.control && flow.inputs.empty())
        refuse(definition, fmt::format("its flow \"{}\" has no input: call from()", flow.name));
      for (const Alternative& alternative : flow.inputs) add_input(definition, flow, alternative, it, number);
      for (const Alternative& alternative : flow.outputs)
        if (alternative.place.kind == Place::Kind::memory)
          add_leaving(definition, flow, alternative, it, number);
      it.surely_from_task = it.comes_surely_from_task();
    }
  }

  void add_input(const ClassDefinition& definition, const FlowDefinition& flow,
                 const Alternative& alternative, TableFlow& into, std::size_t number) {
    Places places = table_.classes[number].places;
    Input input;
    input.kind = alternative.place.kind;
    input.definition = &alternative;
    if (!flow.control && !alternative.ranges.empty())
      refuse(definition,
             fmt::format("its flow \"{}\" comes from a range of tasks; only a control can", flow.name));
    input.ranges = loops_of(alternative.ranges, places);
    if (alternative.condition) {
      input.condition.emplace();
      add_condition(*alternative.condition, alternative.ranges, places, *input.condition, input.each);
    }
    switch (alternative.place.kind) {
      case Place::Kind::nothing:
        break;
      case Place::Kind::memory:
      case Place::Kind::home:
        input.memory = memory(definition, flow, alternative.place, places);
        break;
      case Place::Kind::fresh: {
        input.like_flow = alternative.place.like_flow;
        if (input.like_flow) break;
        const auto& like = alternative.place.like;
        if (like->type != flow.type)
          refuse(definition, fmt::format("its flow \"{}\" is of another type than the data of {}", flow.name,
                                         like->name));
        if (flow.mode == AccessMode::read)
          refuse(definition,
                 fmt::format("its flow \"{}\" reads a fresh datum, which has no value", flow.name));
        input.memory.collection = collection(like);
        break;
      }
      case Place::Kind::task: {
        const auto [from, from_flow] = task_flow(definition, flow, alternative.place);
        std::tie(input.from_class, input.from_flow) =
            of_copy({from, from_flow}, {number, table_.classes[number].flows.size() - 1});
        for (const Expression& index : alternative.place.indices) input.indices.emplace_back(index, places);
        break;
      }
    }
    if (flow.control && input.kind != Place::Kind::task)
      refuse(definition, fmt::format("its control \"{}\" comes from no task", flow.name));
    into.inputs.push_back(std::move(input));
  }

  void add_leaving(const ClassDefinition& definition, const FlowDefinition& flow,
                   const Alternative& alternative, TableFlow& into, std::size_t number) {
    Places places = table_.classes[number].places;
    StoredOutput leaving;
    leaving.ranges = loops_of(alternative.ranges, places);
    if (alternative.condition)
      add_condition(*alternative.condition, alternative.ranges, places, leaving.condition, leaving.each);
    leaving.memory = memory(definition, flow, alternative.place, places);
    leaving.written_back = table_.has_write_backs && can_write_back(*alternative.place.collection);
    leaving.definition = &alternative;
    into.stored_outputs.push_back(std::move(leaving));
  }

  /// The class and flow that the reader takes the value from: the producer, or the class inserted for copying or
  /// repacking.
  std::pair<std::uint32_t, std::uint16_t> of_copy(std::pair<std::size_t, std::size_t> giver,
                                                  std::pair<std::size_t, std::size_t> reader) const {
    if (const ClassDefinition* const cut = recut_.between({definitions_[giver.first].get(), giver.second},
                                                          {definitions_[reader.first].get(), reader.second}))
      return {static_cast<std::uint32_t>(number_of_.at(cut)), static_cast<std::uint16_t>(RepackedParts::to)};
    const ClassDefinition* const between = copied_.between({definitions_[giver.first].get(), giver.second},
                                                           {definitions_[reader.first].get(), reader.second});
    if (between != nullptr) giver = {number_of_.at(between), CopiedValues::to};
    return {static_cast<std::uint32_t>(giver.first), static_cast<std::uint16_t>(giver.second)};
  }

  /// The class and flow named by a place of kind task. Checks types and the number of indices.
  std::pair<std::size_t, std::uint16_t> task_flow(const ClassDefinition& of, const FlowDefinition& flow,
                                                  const Place& place) {
    const auto other = place.task.lock();
    const auto found = other == nullptr ? number_of_.end() : number_of_.find(other.get());
    if (found == number_of_.end())
      refuse(of, fmt::format("its flow \"{}\" names a task of a class that is not in this graph", flow.name));
    std::size_t parameters = 0;
    for (const Range& range : other->indices) parameters += !range.derived;
    if (place.indices.size() != parameters)
      refuse(of, fmt::format("its flow \"{}\" names a task of {} with {} indices; it has {}", flow.name,
                             other->name, place.indices.size(), parameters));
    if (flow.control && place.flow.empty()) return {found->second, no_flow};
    const auto at = std::ranges::find(other->flows, place.flow, &FlowDefinition::name);
    if (at == other->flows.end()) {
      std::vector<std::string_view> there;
      for (const FlowDefinition& each : other->flows) there.push_back(each.name);
      refuse(of, fmt::format("its flow \"{}\" names the flow \"{}\" of {}, which has no such{}", flow.name,
                             place.flow, other->name, did_you_mean(place.flow, there)));
    }
    if (!flow.control && (at->control || at->type != flow.type))
      refuse(of, fmt::format("its flow \"{}\" is of another type than the flow \"{}\" of {}", flow.name,
                             place.flow, other->name));
    return {found->second, static_cast<std::uint16_t>(at - other->flows.begin())};
  }

  /// Adds the receivers of its flows: as the class states itself, otherwise as the receivers' inputs imply.
  void add_edges(std::size_t number) {
    const ClassDefinition& definition = *definitions_[number];
    for (std::size_t i = 0; i < definition.flows.size(); ++i)
      for (const Alternative& alternative : definition.flows[i].outputs)
        if (alternative.place.kind == Place::Kind::task) {
          add_output(number, i, alternative);
        } else if (alternative.place.kind != Place::Kind::memory) {
          refuse(definition, fmt::format("its flow \"{}\" goes nowhere", definition.flows[i].name));
        }
    for (std::size_t taker = 0; taker < definitions_.size(); ++taker)
      for (std::size_t i = 0; i < definitions_[taker]->flows.size(); ++i)
        for (std::size_t k = 0; k < definitions_[taker]->flows[i].inputs.size(); ++k)
          add_inverse(number, taker, i, k);
  }

  void add_output(std::size_t number, std::size_t i, const Alternative& alternative) {
    const ClassDefinition& definition = *definitions_[number];
    const FlowDefinition& flow = definition.flows[i];
    const auto [to, to_flow] = task_flow(definition, flow, alternative.place);
    if (to_flow == no_flow || definitions_[to]->flows[to_flow].control != flow.control)
      refuse(definition, fmt::format("its flow \"{}\" goes to no flow of its kind", flow.name));
    // An inserted class has the same indices.
    const auto [giver, from_flow] = of_copy({number, i}, {to, to_flow});
    TableClass& it = table_.classes[giver];
    Places places = it.places;
    ClassEdge edge;
    edge.to_class = static_cast<std::uint32_t>(to);
    edge.to_flow = to_flow;
    edge.definition = &alternative;
    edge.may_be_missing = definition.skips_missing_receivers;
    // A repacking class already selects the part.
    const bool cut = recut_.between({&definition, i}, {definitions_[to].get(), to_flow}) != nullptr;
    const std::optional<Part> part =
        part_between(definition, flow, cut ? Alternative{} : alternative, definitions_[to]->flows[to_flow]);
    if (!part)
      refuse(definition,
             fmt::format("its flow \"{}\" goes to {}, and the ends use different parts of the tile",
                         flow.name, definitions_[to]->name));
    edge.part = *part;
    edge.loops = loops_of(alternative.ranges, places);
    if (alternative.condition)
      add_condition(*alternative.condition, alternative.ranges, places, edge.before, edge.after);
    for (const Expression& index : alternative.place.indices) edge.indices.emplace_back(index, places);
    finish(edge);
    it.flows[from_flow].edges.push_back(std::move(edge));
    said_.insert({giver, from_flow, to, to_flow});
  }

  void add_inverse(std::size_t giver, std::size_t taker, std::size_t flow, std::size_t alternative) {
    const Input& input = table_.classes[taker].flows[flow].inputs[alternative];
    if (input.kind != Place::Kind::task || input.from_class != giver) return;
    // An edge to a control that names no flow is stored with an extra flow.
    TableClass& it = table_.classes[giver];
    const std::size_t from = input.from_flow == no_flow ? ends_of(it) : input.from_flow;
    if (said_.contains({giver, from, taker, static_cast<std::uint16_t>(flow)})) return;
    std::optional<ClassEdge> edge = invert(
        {*definitions_[taker], definitions_[taker]->flows[flow], alternative}, it, table_.classes[taker]);
    if (!edge) return;
    edge->to_class = static_cast<std::uint32_t>(taker);
    edge->to_flow = static_cast<std::uint16_t>(flow);
    edge->part = definitions_[taker]->flows[flow].inputs[alternative].part.value_or(Part{});
    finish(*edge);
    it.flows[from].edges.push_back(std::move(*edge));
  }
  /// The unnamed control, added if missing, that has the edges to controls which name no flow.
  static std::size_t ends_of(TableClass& of) {
    if (of.flows.empty() || !of.flows.back().name.empty()) {
      of.flows.emplace_back();
      of.flows.back().control = true;
    }
    return of.flows.size() - 1;
  }
  void finish(ClassEdge& edge) const {
    const TableFlow& to = table_.classes[edge.to_class].flows[edge.to_flow];
    edge.to_writer = !to.control && writes(to.mode);
    if (edge.loops.size() > Walk::most_loops)
      throw UsageError(fmt::format("an edge to {} goes over more than {} ranges",
                                   table_.classes[edge.to_class].name, Walk::most_loops));
  }

  /// Computes the summaries that are used for each task.
  static void sum_up(TableClass& it) {
    find_repeats(it);
    if (!find_parts(it)) refuse(*it.definition, "too many parts of its flows go to other ranks");
    it.one_input = it.waits_for_one();
    it.same_places = it.parameters.size() == it.loops.size();
    for (std::size_t k = 0; k < it.flows.size(); ++k) {
      const TableFlow& flow = it.flows[k];
      if (!flow.control && writes(flow.mode)) it.written.push_back(static_cast<std::uint16_t>(k));
      if (!flow.edges.empty() || !flow.stored_outputs.empty() || flow.may_count)
        it.notified_flows.push_back(static_cast<std::uint16_t>(k));
      if (!flow.control && flow.surely_from_task) {
        ++it.sure_inputs;
      } else if (!flow.inputs.empty()) {
        it.other_inputs.push_back(static_cast<std::uint16_t>(k));
      }
    }
  }

  void sum_up(ClassEdge& edge) const {
    const TableClass& to = table_.classes[edge.to_class];
    edge.to_control = to.flows[edge.to_flow].control;
    edge.slot = to.slot_of(edge.to_flow);
    if (edge.loops.size() == 1 && edge.after.empty() && edge.key)
      edge.key_stride = edge.key->growth(edge.loops.front().place).value_or(0);
    edge.makes_ready = edge.key && to.ready_at_once();
  }
  /// Reserves a range of keys for each class: one for each point of the bounding box of its indices.
  void name_tasks() {
    constexpr auto too_many = std::uint64_t{1} << 62;
    for (TableClass& it : table_.classes) {
      it.axes.resize(it.parameters.size());
      for (std::size_t i = it.parameters.size(); i-- > 0;) {
        const Interval& bound = it.bounds[it.parameters[i]];
        TableClass::Axis& axis = it.axes[i];
        axis.first = bound.first;
        axis.stride = it.key_count;
        axis.count = bound.last < bound.first ? 0 : static_cast<std::uint64_t>(bound.last - bound.first) + 1;
        const std::uint64_t numbers = std::max<std::uint64_t>(axis.count, 1);
        if (it.key_count > too_many / numbers)
          refuse(*it.definition, "its indices have more values than there are task identifiers");
        it.key_count *= numbers;
      }
      it.first_key = table_.names;
      table_.names += it.key_count;
      if (table_.names > too_many) refuse(*it.definition, "there are more tasks than task identifiers");
    }
  }

  static constexpr std::uint16_t no_flow = 0xffff;
  const RepackedParts& recut_;
  const CopiedValues copied_;
  const CopiedValues::Definitions& definitions_;
  std::map<const ClassDefinition*, std::size_t> number_of_;
  std::set<std::tuple<std::size_t, std::size_t, std::size_t, std::uint16_t>> said_;
  ClassTable table_;
};

}  // namespace

ClassTable make_class_table(const std::vector<std::shared_ptr<const ClassDefinition>>& definitions,
                            bool over_ranks) {
  const RepackedParts recut(definitions);
  return TableMaker(recut, over_ranks || recut.any()).make();
}

}  // namespace fairlead::ptg
