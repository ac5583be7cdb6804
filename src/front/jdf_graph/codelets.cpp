// See codelets.hpp.
#include "front/jdf_graph/codelets.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "base/small_array.hpp"
#include "data/task.hpp"
#include "front/jdf/emit_bodies.hpp"
#include "front/jdf_graph/body_run.hpp"
#include "front/jdf_graph/elements.hpp"

namespace fairlead::jdf {

namespace {

std::uint32_t bytes_of(TilePrecision element) {
  return element == TilePrecision::single ? sizeof(float) : sizeof(double);
}

using fairlead::detail::Submission;
using fairlead::detail::TileArgument;

constexpr std::size_t most_data = 64, usual_data = 6;

/// The closure of a task: its parameters, the shapes of its data, and the accesses that provide these.
class TaskArguments {
 public:
  struct Numbers {
    std::size_t parameters = 0, data = 0;
    std::size_t bytes() const noexcept {
      return parameters * sizeof(std::int64_t) + data * (sizeof(TileShape) + sizeof(std::uint8_t));
    }
  };
  TaskArguments(void* at, const Numbers& numbers) noexcept
      : at_(static_cast<std::byte*>(at)), numbers_(numbers) {}

  std::span<std::int64_t> parameters() const noexcept {
    return {reinterpret_cast<std::int64_t*>(at_), numbers_.parameters};
  }
  TileShape* shapes() const noexcept {
    return reinterpret_cast<TileShape*>(at_ + numbers_.parameters * sizeof(std::int64_t));
  }
  std::uint8_t* accesses() const noexcept {
    return reinterpret_cast<std::uint8_t*>(shapes() + numbers_.data);
  }

 private:
  std::byte* at_;
  Numbers numbers_;
};

/// The common data of a class's tasks.
struct ClassCodelet {
  std::shared_ptr<const RunnableJdf> program;
  std::shared_ptr<const Constants> constants{};
  linalg::Kernels kernels;
  std::uint32_t task_class = 0;
  std::vector<TilePrecision> elements{};  ///< by flow
  std::vector<std::uint32_t> flows{};     ///< by datum
  TaskArguments::Numbers numbers{};
  const CodeletInfo* codelet = nullptr;       ///< the codelet that owns this
  std::shared_ptr<const CLibrary> in_c{};     ///< runs bodies that are C
  std::vector<TileSize> whole_tiles{};        ///< by flow: the tile size that C bodies expect
  std::vector<std::uint32_t> info_globals{};  ///< globals in which C bodies report a failed factorization
  ptg::Part part{};                           ///< for a copy
  std::string place{};                        ///< for a copy: its position in the file
  ptg::Recut recut{};                         ///< for a recut

  /// Whether the arguments fit into the closure; otherwise it has a pointer to them.
  bool arguments_fit() const noexcept { return numbers.bytes() <= closure_bytes; }
  TaskArguments arguments_in(void* closure) const noexcept {
    return {arguments_fit() ? closure : *static_cast<void**>(closure), numbers};
  }
};

TileShape shape_in(const void* handle, TilePrecision element) {
  return element == TilePrecision::single ? static_cast<const Handle<Tile<float>>*>(handle)->shape()
                                          : static_cast<const Handle<Tile<double>>*>(handle)->shape();
}
fairlead::detail::DatumReference datum_in(const void* handle, TilePrecision element) {
  return element == TilePrecision::single ? static_cast<const Handle<Tile<float>>*>(handle)->datum()
                                          : static_cast<const Handle<Tile<double>>*>(handle)->datum();
}

TileArgument tile_at(const TaskContext& context, std::uint8_t narrow, const TileShape& shape) {
  TileArgument tile;
  const fairlead::detail::AccessIndex access = fairlead::detail::widened(narrow);
  if (access == fairlead::detail::absent_access) return tile;
  const fairlead::detail::DatumLocation location = fairlead::detail::location_of(context, access);
  tile.data = location.address;
  tile.rows = shape.rows;
  tile.columns = shape.columns;
  tile.leading_dimension = location.packed ? shape.rows : shape.leading_dimension;
  return tile;
}

void run_interpreted(const void* body, TaskContext& context) {
  const ClassCodelet& it = *static_cast<const ClassCodelet*>(body);
  const TaskArguments arguments = it.arguments_in(fairlead::detail::closure_of(context));
  SmallArray<TileArgument, usual_data> tiles(it.elements.size());
  for (std::size_t i = 0; i < it.flows.size(); ++i)
    tiles[it.flows[i]] = tile_at(context, arguments.accesses()[i], arguments.shapes()[i]);
  BodyRun(*it.program, *it.constants, it.task_class, arguments.parameters(), tiles.all(), it.elements)
      .run(it.kernels);
}

/// A tile as bodies in C expect it: full size, columns contiguous. If the tile is stored differently, this is a copy,
/// which give_back() copies back to the tile.
class TileCopy {
 public:
  TileCopy(const TileArgument& tile, TileSize whole, std::size_t element_bytes, bool returns)
      : tile_(tile), whole_(whole), element_bytes_(element_bytes) {
    if (tile.data == nullptr ||
        (tile.rows == whole.rows && tile.columns == whole.columns && tile.leading_dimension == whole.rows))
      return;
    copy_.resize(static_cast<std::size_t>(whole.rows) * static_cast<std::size_t>(whole.columns) *
                 element_bytes);
    returns_ = returns;
    for (std::int32_t j = 0; j < tile_.columns; ++j) std::memcpy(lent(j), own(j), column_bytes());
  }
  TileCopy(const TileCopy&) = delete;
  TileCopy& operator=(const TileCopy&) = delete;

  void* address() noexcept { return copy_.empty() ? tile_.data : copy_.data(); }
  void give_back() noexcept {
    if (!returns_) return;
    for (std::int32_t j = 0; j < tile_.columns; ++j) std::memcpy(own(j), lent(j), column_bytes());
  }

 private:
  std::size_t column_bytes() const noexcept { return static_cast<std::size_t>(tile_.rows) * element_bytes_; }
  std::byte* lent(std::int32_t column) noexcept {
    return copy_.data() +
           static_cast<std::size_t>(column) * static_cast<std::size_t>(whole_.rows) * element_bytes_;
  }
  std::byte* own(std::int32_t column) const noexcept {
    return static_cast<std::byte*>(tile_.data) + static_cast<std::size_t>(column) *
                                                     static_cast<std::size_t>(tile_.leading_dimension) *
                                                     element_bytes_;
  }

  TileArgument tile_;
  TileSize whole_;
  std::size_t element_bytes_;
  std::vector<std::byte> copy_;
  bool returns_ = false;
};

/// Throws NumericalError if a C body has set INFO.
void require_success(const RunnableJdf& program, std::uint32_t task_class,
                     std::span<const std::int64_t> parameters,
                     std::span<const CLibrary::PrivateInt> reported) {
  for (const auto& [global, before, value] : reported) {
    if (value == before) continue;
    program.pointed[global].store(value);
    if (value != 0)
      throw NumericalError(fmt::format("{}({}) sets {} to {}", program.file.classes[task_class].name.text,
                                       fmt::join(parameters, ", "), program.file.globals[global].name.text,
                                       value));
  }
}

void run_in_c(const void* body, TaskContext& context) {
  const ClassCodelet& it = *static_cast<const ClassCodelet*>(body);
  const TaskArguments arguments = it.arguments_in(fairlead::detail::closure_of(context));
  std::vector<void*> addresses(it.elements.size());
  std::deque<TileCopy> lent;
  for (std::size_t i = 0; i < it.flows.size(); ++i) {
    const std::uint32_t flow = it.flows[i];
    const TileArgument tile = tile_at(context, arguments.accesses()[i], arguments.shapes()[i]);
    addresses[flow] = lent.emplace_back(tile, it.whole_tiles[flow], bytes_of(it.elements[flow]),
                                        it.codelet->modes[i] != AccessMode::read)
                          .address();
  }
  // Each task has its own INFO, so that it is not blamed for a value that another task sets at the same time.
  std::vector<CLibrary::PrivateInt> reported;
  for (const std::uint32_t global : it.info_globals) {
    const std::int32_t before = it.program->pointed[global].load();
    reported.push_back({global, before, before});
  }
  const Body& code = *emit_bodies_of(it.program->file, it.program->file.classes[it.task_class]).front();
  const std::string where = it.program->file.source.where(code.where) + ": ";
  try {
    it.in_c->run(it.task_class, arguments.parameters().data(), addresses.data(), reported);
    for (TileCopy& tile : lent) tile.give_back();
    require_success(*it.program, it.task_class, arguments.parameters(), reported);
  } catch (const NumericalError& error) {
    throw NumericalError(where + error.what());
  } catch (const UsageError& error) {
    throw UsageError(where + error.what());
  }
}

/// Copies a part, column by column, up to the smaller extents; run_copy() requires equal ones.
template <class T>
void copy_tile(const TileArgument& from, const TileArgument& to, const ptg::Part& part) {
  const std::int32_t rows = std::min(from.rows, to.rows), columns = std::min(from.columns, to.columns);
  for (std::int32_t j = 0; j < columns; ++j) {
    const ptg::Part::Rows some = part.rows_of(j, rows);
    std::copy(
        static_cast<const T*>(from.data) + static_cast<std::ptrdiff_t>(j) * from.leading_dimension +
            some.first,
        static_cast<const T*>(from.data) + static_cast<std::ptrdiff_t>(j) * from.leading_dimension + some.end,
        static_cast<T*>(to.data) + static_cast<std::ptrdiff_t>(j) * to.leading_dimension + some.first);
  }
}

void run_copy(const void* body, TaskContext& context) {
  const ClassCodelet& it = *static_cast<const ClassCodelet*>(body);
  const TaskArguments arguments = it.arguments_in(fairlead::detail::closure_of(context));
  const TileArgument from = tile_at(context, arguments.accesses()[0], arguments.shapes()[0]),
                     to = tile_at(context, arguments.accesses()[1], arguments.shapes()[1]);
  if (from.rows != to.rows || from.columns != to.columns)
    throw UsageError(fmt::format("{}: a tile of {} x {} cannot be stored in one of {} x {}", it.place,
                                 from.rows, from.columns, to.rows, to.columns));
  it.elements[0] == TilePrecision::single ? copy_tile<float>(from, to, it.part)
                                          : copy_tile<double>(from, to, it.part);
}

void run_recut(const void* body, TaskContext& context) {
  const ClassCodelet& it = *static_cast<const ClassCodelet*>(body);
  const TaskArguments arguments = it.arguments_in(fairlead::detail::closure_of(context));
  const TileArgument from = tile_at(context, arguments.accesses()[0], arguments.shapes()[0]),
                     to = tile_at(context, arguments.accesses()[1], arguments.shapes()[1]);
  if (from.data == nullptr || to.data == nullptr) return;
  const std::uint32_t element = bytes_of(it.elements[0]);
  const auto column_bytes = [&](const TileArgument& tile) {
    return static_cast<std::size_t>(tile.leading_dimension) * element;
  };
  ptg::detail::recut(it.recut, {to.rows, to.columns, element}, from.data, column_bytes(from), to.data,
                     column_bytes(to));
}

float flops_of(const ClassCodelet& it, std::span<const std::int64_t> parameters,
               std::span<const TileArgument> tiles) {
  try {
    return static_cast<float>(
        BodyRun(*it.program, *it.constants, it.task_class, parameters, tiles, it.elements)
            .count_operations()
            .flops);
  } catch (const Error&) {
    return 0;  // the task's run reports the error
  }
}

/// The arguments of fill_closure().
struct ClosureSource {
  const ClassCodelet& it;
  const std::int64_t* parameters;
  const TileShape* shapes;
};

void fill_closure(void* closure, const void* from, const fairlead::detail::AccessIndex* access_of_use) {
  const ClosureSource& given = *static_cast<const ClosureSource*>(from);
  const TaskArguments::Numbers& numbers = given.it.numbers;
  if (!given.it.arguments_fit()) *static_cast<void**>(closure) = ::operator new(numbers.bytes());
  const TaskArguments arguments = given.it.arguments_in(closure);
  std::copy_n(given.parameters, numbers.parameters, arguments.parameters().data());
  std::copy_n(given.shapes, numbers.data, arguments.shapes());
  std::transform(access_of_use, access_of_use + numbers.data, arguments.accesses(),
                 fairlead::detail::narrowed);
}

/// Maker::make for all codelets here.
void make(const void* self, const void* const* handles, const std::int64_t* numbers,
          void (*use)(void*, const Submission&), void* context) {
  const ClassCodelet& it = *static_cast<const ClassCodelet*>(self);
  SmallArray<Submission::Use, usual_data> uses(it.flows.size());
  SmallArray<TileShape, usual_data> shapes(it.flows.size());
  SmallArray<TileArgument, usual_data> tiles(it.elements.size());
  for (std::size_t i = 0; i < it.flows.size(); ++i) {
    const TilePrecision element = it.elements[it.flows[i]];
    const fairlead::detail::DatumReference datum = datum_in(handles[i], element);
    uses[i] = {datum.datum, it.codelet->modes[i], datum.generation};
    const TileShape shape = shapes[i] = shape_in(handles[i], element);
    tiles[it.flows[i]] = {nullptr, shape.rows, shape.columns, shape.leading_dimension};
  }
  const ClosureSource given{it, numbers, shapes.data()};
  Submission submission;
  submission.codelet = it.codelet;
  submission.uses = uses.all();
  submission.workers = it.codelet->workers;
  if (it.codelet->unit == WorkUnit::flops)
    submission.work = flops_of(it, {numbers, it.numbers.parameters}, tiles.all());
  submission.arguments = &given;
  submission.fill_closure = &fill_closure;
  use(context, submission);
}

void set(ptg::ClassDefinition& definition, std::shared_ptr<ClassCodelet> it, std::string name,
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
  it->numbers.data = codelet->modes.size();
  codelet->closure_bytes = sizeof(void*);
  if (it->arguments_fit())
    codelet->closure_bytes = static_cast<std::uint32_t>(it->numbers.bytes());
  else
    codelet->destroy_closure = [](void* closure) { ::operator delete(*static_cast<void**>(closure)); };
  codelet->implement(WorkerKind::cpu, {run, it});
  codelet->implement(WorkerKind::emulated, {run, it});
  it->codelet = codelet.get();
  definition.codelet = codelet;
  definition.maker = {&make, std::move(it)};
}

}  // namespace

GraphBuilder builder_for(ptg::Graph& graph, std::shared_ptr<const RunnableJdf> program,
                         const linalg::Kernels& kernels, std::shared_ptr<const CLibrary> in_c,
                         std::span<const BoundData> data) {
  GraphBuilder out;
  const auto constants = std::make_shared<const Constants>(constants_of(*program));
  std::vector<std::vector<TileSize>> whole_tiles;
  if (in_c != nullptr) whole_tiles = whole_tiles_of_flows(*program, data);
  out.add = [&graph](std::string name, std::vector<ptg::Range> indices) {
    return graph.task(ptg::NameHere(std::move(name)), std::move(indices)).definition();
  };
  out.body = [program, constants, kernels, in_c, whole_tiles](std::uint32_t task_class,
                                                              std::span<const TilePrecision> elements,
                                                              ptg::ClassDefinition& definition) {
    auto it = std::make_shared<ClassCodelet>(ClassCodelet{
        .program = program, .constants = constants, .kernels = kernels, .task_class = task_class});
    it->elements.assign(elements.begin(), elements.end());
    const TaskClass& of = program->file.classes[task_class];
    for (std::uint32_t i = 0; i < of.flows.size(); ++i)
      if (of.flows[i].access != FlowAccess::control) it->flows.push_back(i);
    it->numbers.parameters = of.parameters.size();
    const InterpretedBody& body = program->bodies[task_class];
    if (body.is_c && in_c != nullptr) {
      it->in_c = in_c;
      it->whole_tiles = whole_tiles[task_class];
      for (std::uint32_t i = 0; i < program->file.globals.size(); ++i)
        if (is_info_global(program->file.globals[i]) && in_c->is_int_pointer(i))
          it->info_globals.push_back(i);
      for (const std::uint32_t flow : it->flows)
        if (it->whole_tiles[flow] == TileSize(0))
          throw InputError(fmt::format(
              "{}: {} has tiles of several sizes and a body in C: give matrices in tiles of one size",
              program->file.source.where(of.flows[flow].name.where), of.flows[flow].name.text));
      set(definition, std::move(it), body.name, &run_in_c, WorkUnit::none);
      return;
    }
    set(definition, std::move(it), body.name, &run_interpreted,
        body.calls.empty() ? WorkUnit::none : WorkUnit::flops);
  };
  out.copy = [program, kernels](TilePrecision element, const ptg::Part& part, const std::string& place,
                                ptg::ClassDefinition& definition) {
    auto it = std::make_shared<ClassCodelet>(ClassCodelet{
        .program = program, .kernels = kernels, .elements = {element, element}, .flows = {0, 1}});
    it->part = part;
    it->place = place;
    set(definition, std::move(it), "copy", &run_copy, WorkUnit::none);
  };
  out.recut = [program, kernels](TilePrecision element) {
    return [=](const ptg::Recut& how) -> ptg::Copier {
      auto it = std::make_shared<ClassCodelet>(ClassCodelet{.program = program,
                                                            .kernels = kernels,
                                                            .elements = {element, element},
                                                            .flows = {0, 1},
                                                            .recut = how});
      ptg::ClassDefinition both;
      both.flows.resize(2);
      both.flows[0].mode = AccessMode::read;
      both.flows[1].mode = AccessMode::write;
      set(both, std::move(it), "recut", &run_recut, WorkUnit::none);
      return {both.codelet, both.maker};
    };
  };
  return out;
}

}  // namespace fairlead::jdf
