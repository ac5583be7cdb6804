// Finds the values to copy (or_copy), and defines the copy classes.
#include "front/ptg/copied_values.hpp"

#include <algorithm>
#include <string>

namespace fairlead::ptg {

CopiedValues::CopiedValues(const Definitions& definitions) : definitions_(definitions) {
  const bool any = std::ranges::any_of(
      definitions, [](const auto& of) { return std::ranges::any_of(of->flows, &FlowDefinition::or_copy); });
  if (!any) return;
  for (const auto& definition : definitions) find_takers(definition);
  for (const auto& definition : definitions)
    for (std::size_t i = 0; i < definition->flows.size(); ++i) {
      const auto found = takers_.find({definition.get(), i});
      if (found == takers_.end()) continue;
      const auto changed = std::ranges::find_if(found->second, &Taker::or_copy);
      const bool read = std::ranges::any_of(
          found->second, [&](const Taker& taker) { return !taker.changes && can_read_a_copy(taker.flow); });
      if (changed == found->second.end() || !read) continue;
      const auto& [of, flow] = changed->flow;
      add_copying(found->first, of->flows[flow].copier);
    }
}

const ClassDefinition* CopiedValues::between(const Flow& giver, const Flow& reader) const {
  const auto found = copying_.find(giver);
  if (found == copying_.end() || found->second == reader.first) return nullptr;
  const FlowDefinition& flow = reader.first->flows[reader.second];
  return !flow.control && !writes(flow.mode) && can_read_a_copy(reader) ? found->second : nullptr;
}

/// Unknown classes and flows are reported later.
void CopiedValues::find_takers(const std::shared_ptr<const ClassDefinition>& of) {
  for (std::size_t i = 0; i < of->flows.size(); ++i) {
    const FlowDefinition& flow = of->flows[i];
    if (flow.control) continue;
    for (const Alternative& input : flow.inputs) {
      const auto giver = input.place.task.lock();
      if (input.place.kind != Place::Kind::task || giver == nullptr) continue;
      const auto at = std::ranges::find(giver->flows, input.place.flow, &FlowDefinition::name);
      if (at == giver->flows.end()) continue;
      takers_[{giver.get(), static_cast<std::size_t>(at - giver->flows.begin())}].push_back(
          {{of.get(), i}, writes(flow.mode), flow.or_copy});
    }
  }
}

bool CopiedValues::reaches_writer(const Flow& flow, std::vector<Flow>& seen) const {
  if (std::ranges::find(seen, flow) != seen.end()) return false;
  seen.push_back(flow);
  const auto found = takers_.find(flow);
  return found != takers_.end() && std::ranges::any_of(found->second, [&](const Taker& taker) {
           return taker.changes || reaches_writer(taker.flow, seen);
         });
}

/// True if the flow neither passes the value on to a task that changes it nor names the datum to store it in: both
/// refer to the original datum.
bool CopiedValues::can_read_a_copy(const Flow& flow) const {
  const auto& outputs = flow.first->flows[flow.second].outputs;
  std::vector<Flow> seen;
  return !reaches_writer(flow, seen) && std::ranges::none_of(outputs, [](const Alternative& output) {
    return output.place.kind == Place::Kind::memory;
  });
}

void CopiedValues::add_copying(const Flow& giver, const Copier& copier) {
  const auto of = std::ranges::find(definitions_, giver.first, &std::shared_ptr<const ClassDefinition>::get);
  const FlowDefinition& given = giver.first->flows[giver.second];
  Place value{.kind = Place::Kind::task, .task = *of, .flow = given.name};
  for (const Range& range : giver.first->indices)
    if (!range.derived) value.indices.emplace_back(range.index);
  FlowDefinition read{.name = "from", .mode = AccessMode::read, .type = given.type};
  read.inputs.push_back({.place = std::move(value)});
  FlowDefinition written{.name = "to", .mode = AccessMode::write, .type = given.type};
  written.inputs.push_back({.place = {.kind = Place::Kind::fresh, .like_flow = from}});

  auto copying = std::make_shared<ClassDefinition>();
  copying->name = "copy of " + giver.first->name + "'s " + given.name;
  copying->indices = giver.first->indices;
  copying->called = giver.first->called;
  copying->flows = {std::move(read), std::move(written)};
  copying->priority = giver.first->priority;
  copying->at = giver.first->at;
  copying->codelet = copier.codelet;
  copying->maker = copier.maker;
  copying->file = giver.first->file;
  copying->line = giver.first->line;
  copying->column = giver.first->column;
  copying_[giver] = copying.get();
  definitions_.push_back(std::move(copying));
}

}  // namespace fairlead::ptg
