// Defines the classes of write-back tasks.
#include "front/ptg/write_backs.hpp"

#include <fmt/format.h>

namespace fairlead::ptg {

namespace {

std::shared_ptr<const ClassDefinition> homecoming(const std::shared_ptr<const ClassDefinition>& of,
                                                  const FlowDefinition& flow, const Alternative& left) {
  const CollectionDefinition& data = *left.place.collection;
  auto home = std::make_shared<ClassDefinition>();
  home->name = fmt::format("{}'s {} to {}", of->name, flow.name, data.name);
  home->indices = of->indices;
  Place value{.kind = Place::Kind::task, .task = of, .flow = flow.name};
  for (const Range& range : of->indices)
    if (!range.derived) value.indices.emplace_back(range.index);
  home->indices.insert(home->indices.end(), left.ranges.begin(), left.ranges.end());
  if (left.condition) {
    const Index there("there");  // a range with one value if the condition holds, otherwise empty
    home->indices.push_back(there.in(1, *left.condition != 0));
  }
  FlowDefinition read{.name = "from", .mode = AccessMode::read, .type = flow.type};
  read.inputs.push_back({.place = std::move(value), .part = left.part});
  const bool whole = !left.part || left.part->is_all() || data.part_copier == nullptr;
  FlowDefinition written{
      .name = "into", .mode = whole ? AccessMode::write : AccessMode::read_write, .type = flow.type};
  written.inputs.push_back({.place = left.place});
  written.inputs.back().place.kind = Place::Kind::home;
  home->flows = {std::move(read), std::move(written)};
  home->priority = of->priority;
  home->at = left.place;
  const Copier copier = whole ? data.copier : data.part_copier(*left.part);
  home->codelet = copier.codelet;
  home->maker = copier.maker;
  home->file = left.where ? left.where->file_name() : of->file;
  home->line = left.where ? left.where->line() : of->line;
  home->column = left.where ? left.column : of->column;
  return home;
}

}  // namespace

std::vector<std::shared_ptr<const ClassDefinition>> with_write_backs(
    const std::vector<std::shared_ptr<const ClassDefinition>>& definitions) {
  std::vector<std::shared_ptr<const ClassDefinition>> all = definitions;
  for (const auto& of : definitions)
    for (const FlowDefinition& flow : of->flows)
      for (const Alternative& output : flow.outputs)
        if (output.place.kind == Place::Kind::memory && can_write_back(*output.place.collection))
          all.push_back(homecoming(of, flow, output));
  return all;
}

}  // namespace fairlead::ptg
