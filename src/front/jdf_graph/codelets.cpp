// See codelets.hpp.
#include "front/jdf_graph/codelets.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "front/jdf_graph/body_run.hpp"
#include "front/jdf_graph/elements.hpp"

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
  std::vector<Precision> elements{};   ///< by flow
  std::vector<std::uint32_t> flows{};  ///< of each datum
  std::size_t parameters = 0;
  const CodeletInfo* codelet = nullptr;     ///< which has this
  std::shared_ptr<const CLibrary> in_c{};   ///< of bodies that are C
  std::vector<std::int32_t> whole_tiles{};  ///< by flow: what those are promised
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

/// A tile as bodies in C expect it, whole, with as many rows from one column to the next: where it lies otherwise, a copy, which
/// is taken back.
class LentTile {
 public:
  LentTile(const TileArgument& tile, std::int32_t whole, std::size_t element_bytes, bool returns)
      : tile_(tile), whole_(whole), element_bytes_(element_bytes) {
    if (tile.data == nullptr ||
        (tile.rows == whole && tile.columns == whole && tile.leading_dimension == whole))
      return;
    const auto side = static_cast<std::size_t>(whole);
    copy_.resize(side * side * element_bytes);
    returns_ = returns;
    for (std::int32_t j = 0; j < tile_.columns; ++j) std::memcpy(lent(j), own(j), column_bytes());
  }
  LentTile(const LentTile&) = delete;
  LentTile& operator=(const LentTile&) = delete;

  void* address() noexcept { return copy_.empty() ? tile_.data : copy_.data(); }
  void give_back() noexcept {
    if (!returns_) return;
    for (std::int32_t j = 0; j < tile_.columns; ++j) std::memcpy(own(j), lent(j), column_bytes());
  }

 private:
  std::size_t column_bytes() const noexcept { return static_cast<std::size_t>(tile_.rows) * element_bytes_; }
  std::byte* lent(std::int32_t column) noexcept {
    return copy_.data() +
           static_cast<std::size_t>(column) * static_cast<std::size_t>(whole_) * element_bytes_;
  }
  std::byte* own(std::int32_t column) const noexcept {
    return static_cast<std::byte*>(tile_.data) + static_cast<std::size_t>(column) *
                                                     static_cast<std::size_t>(tile_.leading_dimension) *
                                                     element_bytes_;
  }

  TileArgument tile_;
  std::int32_t whole_;
  std::size_t element_bytes_;
  std::vector<std::byte> copy_;
  bool returns_ = false;
};

/// What a body in C has left where LAPACK's routines tell of a failure.
void require_success(const Program& program, std::uint32_t task_class,
                     std::span<const std::int64_t> parameters) {
  for (std::size_t i = 0; i < program.file.globals.size(); ++i)
    if (const std::int32_t value = program.pointed[i].load();
        value != 0 && tells_failure(program.file.globals[i]))
      throw NumericalError(fmt::format("{}({}) sets {} to {}", program.file.classes[task_class].name.text,
                                       fmt::join(parameters, ", "), program.file.globals[i].name.text,
                                       value));
}

void run_in_c(const void* body, TaskContext& context) {
  const Interpreted& it = *static_cast<const Interpreted*>(body);
  const TaskArguments& arguments = *arguments_in(fairlead::detail::closure_of(context));
  std::vector<void*> addresses(it.elements.size());
  std::deque<LentTile> lent;
  for (std::size_t i = 0; i < it.flows.size(); ++i) {
    const std::uint32_t flow = it.flows[i];
    const TileArgument tile = tile_at(context, arguments.accesses[i], arguments.shapes[i]);
    addresses[flow] =
        lent.emplace_back(tile, it.whole_tiles[flow],
                          it.elements[flow] == Precision::single ? sizeof(float) : sizeof(double),
                          it.codelet->modes[i] != AccessMode::read)
            .address();
  }
  it.in_c->run(it.task_class, arguments.parameters.data(), addresses.data());
  for (LentTile& tile : lent) tile.give_back();
  require_success(*it.program, it.task_class, arguments.parameters);
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

GraphMaker maker_of(ptg::Graph& graph, std::shared_ptr<const Program> program, const linalg::Kernels& kernels,
                    std::shared_ptr<const CLibrary> in_c, std::span<const BoundData> data) {
  GraphMaker out;
  std::vector<std::vector<std::int32_t>> whole_tiles;
  if (in_c != nullptr) whole_tiles = whole_tiles_of_flows(*program, data);
  out.add = [&graph](std::string name, std::vector<ptg::Range> indices) {
    return graph.task(ptg::NameHere(std::move(name)), std::move(indices)).definition();
  };
  out.body = [program, kernels, in_c, whole_tiles](std::uint32_t task_class,
                                                   std::span<const Precision> elements,
                                                   ptg::ClassDefinition& definition) {
    auto it = std::make_shared<Interpreted>(
        Interpreted{.program = program, .kernels = kernels, .task_class = task_class});
    it->elements.assign(elements.begin(), elements.end());
    const TaskClass& of = program->file.classes[task_class];
    for (std::uint32_t i = 0; i < of.flows.size(); ++i)
      if (of.flows[i].access != Access::control) it->flows.push_back(i);
    it->parameters = of.parameters.size();
    const ReadBody& body = program->bodies[task_class];
    if (body.is_c && in_c != nullptr) {
      it->in_c = in_c;
      it->whole_tiles = whole_tiles[task_class];
      for (const std::uint32_t flow : it->flows)
        if (it->whole_tiles[flow] == 0)
          throw InputError(fmt::format(
              "{}: tiles of several sizes meet in {}, whose body is C: give matrices in tiles of one size",
              program->file.source.where(of.flows[flow].name.where), of.flows[flow].name.text));
      set(definition, std::move(it), body.name, &run_in_c, WorkUnit::none);
      return;
    }
    set(definition, std::move(it), body.name, &run_interpreted,
        body.calls.empty() ? WorkUnit::none : WorkUnit::flops);
  };
  out.copy = [program, kernels](Precision element, ptg::ClassDefinition& definition) {
    auto it = std::make_shared<Interpreted>(
        Interpreted{.program = program, .kernels = kernels, .elements = {element, element}, .flows = {0, 1}});
    set(definition, std::move(it), "copy", &run_copy, WorkUnit::none);
  };
  return out;
}

}  // namespace fairlead::jdf
