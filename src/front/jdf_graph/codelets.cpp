// See codelets.hpp.
#include "front/jdf_graph/codelets.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "front/jdf_graph/body_run.hpp"

namespace fairlead::jdf {

namespace {

using fairlead::detail::Submission;
using fairlead::detail::TileArgument;

constexpr std::size_t most_data = 64;

/// What the tasks of a class have in common.
struct Interpreted {
  std::shared_ptr<const Program> program;
  linalg::Kernels kernels;
  std::uint32_t task_class = 0;
  std::vector<Precision> elements;   ///< by flow
  std::vector<std::uint32_t> flows;  ///< of each datum
  std::size_t parameters = 0;
  const CodeletInfo* codelet = nullptr;  ///< which has this
};

/// What one task is given; its closure has a pointer to it.
struct TaskArguments {
  std::vector<std::int64_t> parameters;
  std::vector<TileShape> shapes;  // by datum
  std::vector<std::uint8_t> accesses;
};

TaskArguments*& arguments_in(void* closure) { return *static_cast<TaskArguments**>(closure); }

TileShape shape_in(const void* handle, Precision element) {
  return element == Precision::single ? static_cast<const Handle<Tile<float>>*>(handle)->shape()
                                      : static_cast<const Handle<Tile<double>>*>(handle)->shape();
}
fairlead::detail::DatumReference datum_in(const void* handle, Precision element) {
  return element == Precision::single ? static_cast<const Handle<Tile<float>>*>(handle)->datum()
                                      : static_cast<const Handle<Tile<double>>*>(handle)->datum();
}

TileArgument tile_at(const TaskContext& context, std::uint8_t access, const TileShape& shape) {
  TileArgument tile;
  if (access == fairlead::detail::absent_access) return tile;
  const fairlead::detail::Place place = fairlead::detail::place_of(context, access);
  tile.data = place.address;
  tile.rows = shape.rows;
  tile.columns = shape.columns;
  tile.leading_dimension = place.packed ? shape.rows : shape.leading_dimension;
  return tile;
}

void run_interpreted(const void* body, TaskContext& context) {
  const Interpreted& it = *static_cast<const Interpreted*>(body);
  const TaskArguments& arguments = *arguments_in(fairlead::detail::closure_of(context));
  std::vector<TileArgument> tiles(it.elements.size());
  for (std::size_t i = 0; i < it.flows.size(); ++i)
    tiles[it.flows[i]] = tile_at(context, arguments.accesses[i], arguments.shapes[i]);
  BodyRun(*it.program, it.task_class, arguments.parameters, tiles, it.elements).run(it.kernels);
}

/// Row by row they are alike; a tile may be smaller than the place that it goes to.
template <class T>
void copy_tile(const TileArgument& from, const TileArgument& to) {
  const std::int32_t rows = std::min(from.rows, to.rows), columns = std::min(from.columns, to.columns);
  for (std::int32_t j = 0; j < columns; ++j)
    std::copy_n(static_cast<const T*>(from.data) + static_cast<std::ptrdiff_t>(j) * from.leading_dimension,
                rows, static_cast<T*>(to.data) + static_cast<std::ptrdiff_t>(j) * to.leading_dimension);
}

void run_copy(const void* body, TaskContext& context) {
  const Interpreted& it = *static_cast<const Interpreted*>(body);
  const TaskArguments& arguments = *arguments_in(fairlead::detail::closure_of(context));
  const TileArgument from = tile_at(context, arguments.accesses[0], arguments.shapes[0]),
                     to = tile_at(context, arguments.accesses[1], arguments.shapes[1]);
  if (from.rows != to.rows || from.columns != to.columns)
    throw UsageError(fmt::format("a tile of {} x {} is to be left in one of {} x {}", from.rows, from.columns,
                                 to.rows, to.columns));
  it.elements[0] == Precision::single ? copy_tile<float>(from, to) : copy_tile<double>(from, to);
}

float flops_of(const Interpreted& it, const TaskArguments& arguments,
               const std::vector<TileArgument>& tiles) {
  try {
    return static_cast<float>(
        BodyRun(*it.program, it.task_class, arguments.parameters, tiles, it.elements).amount().flops);
  } catch (const Error&) {
    return 0;  // the task's run tells what is wrong
  }
}

/// Maker::make of all of them.
void make(const void* self, const void* const* handles, const std::int64_t* numbers,
          void (*use)(void*, const Submission&), void* context) {
  const Interpreted& it = *static_cast<const Interpreted*>(self);
  TaskArguments arguments;
  arguments.parameters.assign(numbers, numbers + it.parameters);
  std::array<Submission::Use, most_data> uses;
  std::vector<TileArgument> tiles(it.elements.size());
  for (std::size_t i = 0; i < it.flows.size(); ++i) {
    const Precision element = it.elements[it.flows[i]];
    const fairlead::detail::DatumReference datum = datum_in(handles[i], element);
    uses[i] = {datum.datum, it.codelet->modes[i], datum.generation};
    const TileShape shape = arguments.shapes.emplace_back(shape_in(handles[i], element));
    tiles[it.flows[i]] = {nullptr, shape.rows, shape.columns, shape.leading_dimension};
  }
  Submission submission;
  submission.codelet = it.codelet;
  submission.uses = std::span(uses).first(it.flows.size());
  submission.workers = it.codelet->workers;
  if (it.codelet->unit == WorkUnit::flops) submission.work = flops_of(it, arguments, tiles);
  submission.arguments = &arguments;
  submission.fill_closure = [](void* closure, const void* given, const std::uint8_t* access_of_use) {
    auto* const own = new TaskArguments(*static_cast<const TaskArguments*>(given));
    own->accesses.assign(access_of_use, access_of_use + own->shapes.size());
    arguments_in(closure) = own;
  };
  use(context, submission);
}

void set(ptg::ClassDefinition& definition, std::shared_ptr<Interpreted> it, std::string name,
         void (*run)(const void*, TaskContext&), WorkUnit unit) {
  auto codelet = std::make_shared<CodeletInfo>();
  codelet->name = std::move(name);
  codelet->kinds = 0;
  codelet->hash_of_name = codelet->name_hash();
  for (const ptg::FlowDefinition& flow : definition.flows)
    if (!flow.control) codelet->modes.push_back(flow.mode);
  if (codelet->modes.size() > most_data)
    throw InputError(fmt::format("{} has more than {} flows with data", definition.name, most_data));
  codelet->unit = unit;
  codelet->closure_bytes = sizeof(TaskArguments*);
  codelet->destroy_closure = [](void* closure) { delete arguments_in(closure); };
  codelet->implement(WorkerKind::cpu, {run, it});
  codelet->implement(WorkerKind::emulated, {run, it});
  it->codelet = codelet.get();
  definition.codelet = codelet;
  definition.maker = {&make, std::move(it)};
}

}  // namespace

GraphMaker maker_of(ptg::Graph& graph, std::shared_ptr<const Program> program,
                    const linalg::Kernels& kernels) {
  GraphMaker out;
  out.add = [&graph](std::string name, std::vector<ptg::Range> indices) {
    return graph.task(ptg::NameHere(std::move(name)), std::move(indices)).definition();
  };
  out.body = [program, kernels](std::uint32_t task_class, std::span<const Precision> elements,
                                ptg::ClassDefinition& definition) {
    auto it = std::make_shared<Interpreted>(Interpreted{program, kernels, task_class, {}, {}, 0, nullptr});
    it->elements.assign(elements.begin(), elements.end());
    const TaskClass& of = program->file.classes[task_class];
    for (std::uint32_t i = 0; i < of.flows.size(); ++i)
      if (of.flows[i].access != Access::control) it->flows.push_back(i);
    it->parameters = of.parameters.size();
    const ReadBody& body = program->bodies[task_class];
    set(definition, std::move(it), body.name, &run_interpreted,
        body.calls.empty() ? WorkUnit::none : WorkUnit::flops);
  };
  out.copy = [program, kernels](Precision element, ptg::ClassDefinition& definition) {
    auto it = std::make_shared<Interpreted>(
        Interpreted{program, kernels, 0, {element, element}, {0, 1}, 0, nullptr});
    set(definition, std::move(it), "copy", &run_copy, WorkUnit::none);
  };
  return out;
}

}  // namespace fairlead::jdf
