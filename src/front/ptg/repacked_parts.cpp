// Finds edges that need repacking, and defines the repacking classes.
#include "front/ptg/repacked_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "front/ptg/class_table.hpp"

namespace fairlead::ptg {

namespace {

bool goes_to(const Alternative& output, const ClassDefinition& of, const FlowDefinition& flow) {
  return output.place.kind == Place::Kind::task && output.place.task.lock().get() == &of &&
         output.place.flow == flow.name;
}

}  // namespace

/// A full tile is represented as a block, since parts with is_all() are never repacked.
Part given_as_copy(const Part& part) {
  return part.is_all() ? Part::block(0, INT32_MAX, 0, INT32_MAX) : part;
}
/// Changes a member without effect on the elements: the corner of a triangle, or `diagonal` of a block.
Part taken_as_copy(const Part& part) {
  Part out = given_as_copy(part);
  if (out.kind == Part::Kind::block)
    out.diagonal = !out.diagonal;
  else
    out.first_row = -1;
  return out;
}

RepackedParts::RepackedParts(const Definitions& definitions) : definitions_(definitions) {
  for (const auto& giver : definitions)
    for (std::size_t i = 0; i < giver->flows.size(); ++i) {
      const FlowDefinition& flow = giver->flows[i];
      if (flow.control) continue;
      copies_ |= std::ranges::any_of(flow.inputs,
                                     [](const Alternative& it) { return it.place.like_flow.has_value(); });
      for (const Alternative& output : flow.outputs) {
        const auto taker = output.place.task.lock();
        if (output.place.kind != Place::Kind::task || taker == nullptr || !output.part) continue;
        const auto into = std::ranges::find(taker->flows, output.place.flow, &FlowDefinition::name);
        if (into == taker->flows.end()) continue;
        const std::optional<Parts> parts = parts_of(*giver, flow, *taker, *into);
        if (!parts) continue;
        const std::string edge = fmt::format("{}: {} of {} gives to {} of {}", source_line_of(output, *giver),
                                             flow.name, giver->name, into->name, taker->name);
        std::vector<Made>& made = made_[{giver.get(), i}];
        auto known = std::ranges::find(made, *parts, &Made::parts);
        if (known == made.end())
          known = made.insert(known, {*parts, add(giver, i, {parts->given, parts->taken, edge}, *into)});
        const auto number = static_cast<std::size_t>(into - taker->flows.begin());
        between_[{{giver.get(), i}, {taker.get(), number}}] = known->between;
      }
    }
}

/// Nothing if the ends agree, or if an end states several parts: their correspondence would be ambiguous.
std::optional<RepackedParts::Parts> RepackedParts::parts_of(const ClassDefinition& giver,
                                                            const FlowDefinition& flow,
                                                            const ClassDefinition& taker,
                                                            const FlowDefinition& into) {
  std::optional<Part> given, taken;
  for (const Alternative& output : flow.outputs)
    if (goes_to(output, taker, into)) {
      if (!output.part || (given && *given != *output.part)) return std::nullopt;
      given = output.part;
    }
  for (const Alternative& input : into.inputs)
    if (goes_to(input, giver, flow)) {
      if (!input.part || (taken && *taken != *input.part)) return std::nullopt;
      taken = input.part;
    }
  // A full tile and a part differ in their numbers of elements.
  if (!given || !taken || *given == *taken || given->is_all() || taken->is_all() || !into.recut)
    return std::nullopt;
  return Parts{*given, *taken};
}

const ClassDefinition* RepackedParts::add(const std::shared_ptr<const ClassDefinition>& giver,
                                          std::size_t flow, const Recut& how, const FlowDefinition& taker) {
  const FlowDefinition& given = giver->flows[flow];
  Place value{.kind = Place::Kind::task, .task = giver, .flow = given.name};
  for (const Range& range : giver->indices)
    if (!range.derived) value.indices.emplace_back(range.index);
  FlowDefinition read{.name = "from", .mode = AccessMode::read, .type = given.type};
  read.inputs.push_back({.place = std::move(value), .part = how.given});
  FlowDefinition written{.name = "to", .mode = AccessMode::write, .type = given.type};
  written.inputs.push_back({.place = {.kind = Place::Kind::fresh, .like_flow = from}});

  auto recutting = std::make_shared<ClassDefinition>();
  recutting->name = "a part of " + giver->name + "'s " + given.name;
  recutting->indices = giver->indices;
  recutting->called = giver->called;
  recutting->flows = {std::move(read), std::move(written)};
  recutting->priority = giver->priority;
  recutting->at = giver->at;
  Copier copier = taker.recut(how);
  recutting->codelet = std::move(copier.codelet);
  recutting->maker = std::move(copier.maker);
  recutting->file = giver->file;
  recutting->line = giver->line;
  recutting->column = giver->column;
  definitions_.push_back(recutting);
  return definitions_.back().get();
}

const ClassDefinition* RepackedParts::between(const Flow& giver, const Flow& taker) const {
  const auto found = between_.find({giver, taker});
  return found == between_.end() ? nullptr : found->second;
}

}  // namespace fairlead::ptg
