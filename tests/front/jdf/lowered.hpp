// Unrolls the classes to which a JDF file is lowered, with the names of the file, for comparison with the
// unroller.
#pragma once
#include <fairlead/tile.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "front/jdf/read.hpp"
#include "front/jdf_graph/known_outputs.hpp"
#include "front/jdf_graph/lower.hpp"
#include "front/ptg/unrolled_graph.hpp"

namespace fairlead::jdf::tests {

inline std::shared_ptr<RunnableJdf> program_of(const std::string& text, Assignments assignments,
                                               const std::vector<std::string>& matrices = {}) {
  ReadText it = read_text(text);
  if (it.errors != 0) throw InputError(it.messages);
  Diagnostics of_bodies;
  auto program = std::make_shared<RunnableJdf>(std::move(it.file), TileTable{}, of_bodies);
  for (const std::string& matrix : matrices) program->settings.describe(matrix);
  for (const char* assignment : assignments) program->settings.set(assignment);
  return program;
}

/// Parameters in the order of the file, and only indices of the file.
inline void put_in_order(unrolled::TaskGraph& graph, const JdfFile& file) {
  std::map<std::uint32_t, std::vector<std::size_t>> places;
  for (std::uint32_t i = 0; i < file.classes.size(); ++i)
    for (const Name& name : file.classes[i].parameters) {
      const auto& all = graph.classes[i].parameters;
      places[i].push_back(static_cast<std::size_t>(std::ranges::find(all, name.text) - all.begin()));
    }
  const auto put = [&](std::uint32_t of, std::uint32_t first) {
    const std::size_t before = graph.numbers.size();
    for (const std::size_t place : places.at(of)) {
      const std::int32_t number = graph.numbers.at(first + place);
      graph.numbers.push_back(number);
    }
    return static_cast<std::uint32_t>(before);
  };
  for (unrolled::Task& task : graph.tasks)
    if (task.of < file.classes.size()) task.first_number = put(task.of, task.first_number);
  for (auto* ends : {&graph.inputs, &graph.outputs})
    for (unrolled::EdgeEnd& end : *ends)
      if (end.kind == unrolled::EdgeEnd::Kind::task && end.of < file.classes.size()) {
        end.first_number = put(end.of, end.first_number);
        end.count = static_cast<std::uint16_t>(places.at(end.of).size());
      }
  for (std::uint32_t i = 0; i < file.classes.size(); ++i) {
    graph.classes[i].parameters.clear();
    for (const Name& name : file.classes[i].parameters) graph.classes[i].parameters.push_back(name.text);
  }
}

inline unrolled::TaskGraph lowered(const std::shared_ptr<RunnableJdf>& program,
                                   const KnownOutputs& known = {}) {
  std::vector<BoundData> data(program->file.globals.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Global& global = program->file.globals[i];
    if (!global.is_collection) continue;
    data[i].collection = std::make_shared<ptg::CollectionDefinition>(
        ptg::CollectionDefinition{.name = global.name.text,
                                  .extents = std::vector<std::int64_t>(global.dimensions, 1000),
                                  .type = typeid(Tile<double>)});
  }
  std::vector<std::shared_ptr<const ptg::ClassDefinition>> all;
  GraphBuilder make;
  make.add = [&](std::string name, std::vector<ptg::Range> indices) {
    auto definition = std::make_shared<ptg::ClassDefinition>();
    definition->name = std::move(name);
    definition->indices = std::move(indices);
    all.push_back(definition);
    return definition;
  };
  const auto no_body = [](ptg::ClassDefinition& definition) {
    definition.maker.make = [](const void*, const void* const*, const std::int64_t*,
                               void (*)(void*, const fairlead::detail::Submission&), void*) {};
  };
  make.body = [&](std::uint32_t, std::span<const TilePrecision>, ptg::ClassDefinition& it) { no_body(it); };
  make.copy = [&](TilePrecision, const ptg::Part&, const std::string&, ptg::ClassDefinition& it) {
    no_body(it);
  };
  const LoweredGraph made = lower(program, data, known, make);
  unrolled::TaskGraph out = ptg::unrolled_graph(ptg::make_class_table(all), 1'000'000);
  put_in_order(out, program->file);
  return out;
}

using Ends = std::multiset<std::pair<std::string, std::string>>;

/// The sources or destinations of flows: for inputs the first that applies, for outputs those to existing
/// tasks.
inline Ends ends_of(const unrolled::TaskGraph& graph, bool outputs) {
  const std::set<std::string> tasks = task_names(graph);
  Ends out;
  std::set<std::pair<unrolled::TaskId, std::uint16_t>> given;  // of inputs of data the first counts
  for (const unrolled::EdgeEnd& end : outputs ? graph.outputs : graph.inputs) {
    if (!outputs && graph.flow(end.task, end.flow).access != unrolled::FlowAccess::control &&
        !given.emplace(end.task, end.flow).second)
      continue;
    if (end.kind == unrolled::EdgeEnd::Kind::null) continue;
    const std::string other = unrolled::label(graph, end);
    if (outputs && end.kind == unrolled::EdgeEnd::Kind::task &&
        !tasks.contains(other.substr(other.find(" of ") + 4)))
      continue;
    out.emplace(unrolled::label(graph, end.task, end.flow), other);
  }
  return out;
}

}  // namespace fairlead::jdf::tests
