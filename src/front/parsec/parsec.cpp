// PaRSEC's matrix descriptors on Fairlead's data. See <fairlead/parsec.hpp>.
#include <fairlead/parsec.hpp>

#include <fmt/format.h>

#include "front/ptg/repacked_parts.hpp"

namespace fairlead::parsec {

namespace {
Handle<Datum> make_new(Runtime& runtime, const Layout* layout) {
  const auto made = runtime.matrix<std::byte>("NEW", static_cast<std::int32_t>(layout->column_bytes),
                                              static_cast<std::int32_t>(layout->columns));
  return {made.datum(), {layout}};
}
}  // namespace

Handle<Datum> Datum::another(Runtime& runtime, const Handle<Datum>& like) {
  return make_new(runtime, like.shape().layout->fresh);
}
Handle<Datum> Datum::another_exactly(Runtime& runtime, const Handle<Datum>& like) {
  return make_new(runtime, like.shape().layout);
}
bool Datum::alike(const Handle<Datum>& first, const Handle<Datum>& second, bool exact) noexcept {
  const Layout* const made = first.shape().layout;
  const Layout* const wanted = second.shape().layout;
  if (made == nullptr || wanted == nullptr) return made == wanted;
  const Layout& it = exact ? *made : *made->fresh;
  return it.column_bytes == wanted->column_bytes && it.columns == wanted->columns;
}
Bytes Datum::bytes_of_another(const Handle<Datum>& like, bool exact) noexcept {
  const Layout* const layout = like.shape().layout;
  if (layout == nullptr) return 0;
  const Layout& it = exact ? *layout : *layout->fresh;
  return static_cast<Bytes>(it.column_bytes) * static_cast<Bytes>(it.columns);
}

void describe(parsec_matrix_block_cyclic_t& matrix, std::int64_t rows, std::int64_t columns,
              std::int32_t tile_rows, std::int32_t tile_columns, int type) {
  const auto whole = [](std::int64_t number) { return static_cast<int>(number); };
  const auto count = [&](std::int64_t size, std::int32_t tile) { return whole((size + tile - 1) / tile); };
  for (const std::int64_t number :
       {rows, columns, std::int64_t{tile_rows} * tile_columns, (rows + tile_rows - 1) / tile_rows * tile_rows,
        (columns + tile_columns - 1) / tile_columns * tile_columns,
        ((rows + tile_rows - 1) / tile_rows) * ((columns + tile_columns - 1) / tile_columns)})
    if (number > INT32_MAX)
      throw UsageError(
          fmt::format("a matrix of {} x {} in tiles of {} x {} has no descriptor of PaRSEC's, which counts "
                      "in ints: {} is too large",
                      rows, columns, tile_rows, tile_columns, number));
  parsec_tiled_matrix_t& it = matrix.super;
  it.super.nodes = 1;
  it.mtype = type;
  it.storage = PARSEC_MATRIX_TILE;
  it.mb = tile_rows;
  it.nb = tile_columns;
  it.bsiz = tile_rows * tile_columns;
  it.lm = it.m = it.slm = whole(rows);
  it.ln = it.n = it.sln = whole(columns);
  it.lmt = it.mt = it.slmt = count(rows, tile_rows);
  it.lnt = it.nt = it.slnt = count(columns, tile_columns);
  it.llm = it.mt * tile_rows;
  it.lln = it.nt * tile_columns;
  it.nb_local_tiles = it.mt * it.nt;
  matrix.grid = {
      .rank = 0, .rows = 1, .cols = 1, .crank = 0, .rrank = 0, .krows = 1, .kcols = 1, .ip = 0, .jq = 0};
}

void Descriptor::describe(std::int64_t rows, std::int64_t columns, std::int32_t tile_rows,
                          std::int32_t tile_columns, int type, std::int64_t element_bytes) {
  const std::int64_t bytes = tile_rows * element_bytes;
  Layout& fresh =
      source_.layouts.emplace_back(Layout{bytes, tile_columns, bytes, bytes, element_bytes, nullptr});
  fresh.fresh = &fresh;
  parsec::describe(described_, rows, columns, tile_rows, tile_columns, type);
  described_.super.super.fairlead = &source_;
  collection_ = {described_.super.super, get()};
}

Handle<Datum> Descriptor::handle(const fairlead::detail::DatumReference& datum, const TileShape& shape,
                                 std::int64_t element_bytes) {
  const Layout& fresh = source_.layouts.front();
  const Layout wanted{shape.rows * element_bytes, shape.columns, shape.leading_dimension * element_bytes,
                      fresh.promised_distance,    element_bytes, &fresh};
  // At most four layouts in addition to that of new data: inner tiles, the two edges, and the corner.
  for (const Layout& layout : source_.layouts)
    if (&layout != &fresh && layout.column_bytes == wanted.column_bytes && layout.columns == wanted.columns)
      return {datum, {&layout}};
  return {datum, {&source_.layouts.emplace_back(wanted)}};
}

Handle<Datum> Collection::handle(const fairlead::detail::DatumReference& datum, std::int64_t bytes,
                                 std::int64_t element_bytes) {
  for (const Layout& layout : source_.layouts)
    if (layout.column_bytes == bytes) return {datum, {&layout}};
  Layout& layout = source_.layouts.emplace_back(Layout{bytes, 1, bytes, bytes, element_bytes, nullptr});
  layout.fresh = &layout;
  return {datum, {&layout}};
}

ptg::Collection GraphData::of(const parsec_data_collection_t* described, const std::string& name,
                              std::size_t dimensions) {
  if (const auto known = known_.find(described); described != nullptr && known != known_.end())
    return known->second;
  const auto none = [](const std::int64_t*) { return Handle<Datum>(); };
  if (described == nullptr) return graph_.data<Datum>(name, std::vector<std::int64_t>(dimensions, 0), none);
  const auto* const source = static_cast<const detail::Source*>(described->fairlead);
  if (source == nullptr || source->magic != detail::Source::sign)
    throw UsageError(fmt::format(
        "{} is not a descriptor created by Fairlead: give a fairlead::parsec::Descriptor or Collection",
        name));
  const ptg::Collection made =
      graph_.data<Datum>(name, source->extents, source->handle_of, source->distribution);
  known_.emplace(described, made);
  return made;
}

void Lent::take() noexcept {
  for (std::int64_t i = 0; i < layout_->columns; ++i)
    std::memcpy(address_ + i * layout_->promised_distance, home_ + i * distance_,
                static_cast<std::size_t>(layout_->column_bytes));
}
void Lent::give_back() noexcept {
  for (std::int64_t i = 0; i < layout_->columns; ++i)
    std::memcpy(home_ + i * distance_, address_ + i * layout_->promised_distance,
                static_cast<std::size_t>(layout_->column_bytes));
}

void copy_elements(const DatumView<const std::byte>& from, const DatumView<std::byte>& to) {
  if (from.data() == nullptr || to.data() == nullptr) return;
  const auto bytes = static_cast<std::size_t>(std::min(from.layout().column_bytes, to.layout().column_bytes));
  for (std::int64_t i = 0; i < std::min(from.layout().columns, to.layout().columns); ++i)
    std::memcpy(to.data() + i * to.distance(), from.data() + i * from.distance(), bytes);
}

Codelet<In<Datum>, InOut<Datum>> Datum::part_codelet(const ptg::Part& part) {
  return codelet("copy a part").cpu([part](In<Datum> from, InOut<Datum> to) {
    if (from.data() == nullptr || to.data() == nullptr) return;
    const std::int64_t element = to.layout().element_bytes;
    const auto rows =
        static_cast<std::int32_t>(std::min(from.layout().column_bytes, to.layout().column_bytes) / element);
    for (std::int32_t j = 0; j < std::min(from.layout().columns, to.layout().columns); ++j)
      if (const ptg::Part::Rows some = part.rows_of(j, rows); some.first < some.end)
        std::memcpy(to.data() + j * to.distance() + some.first * element,
                    from.data() + j * from.distance() + some.first * element,
                    static_cast<std::size_t>((some.end - some.first) * element));
  });
}

ptg::Part left_of_type(const std::optional<ptg::Part>& part, const char* type, const char* place,
                       SourceLine file) {
  if (part) return *part;
  const std::string what =
      fmt::format("{}:{}: the value is stored in this datum, but ", file.file_name(), place);
  if (type == nullptr)
    throw UsageError(
        what +
        "its part of a tile is an expression in C, which Fairlead cannot read: name the type in the file");
  throw UsageError(
      fmt::format("{}the type {} is not defined as a part of a tile: give {{.type_{} = "
                  "fairlead::ptg::Part::lower()}}, for example, or "
                  "fairlead::ptg::Part() if it is all of it",
                  what, type, type));
}
std::optional<ptg::Part> left_of_type(const std::optional<ptg::Part>& part, const char* type,
                                      const char* place, const ptg::Collection& data, SourceLine file) {
  if (!data.definition()->owners.several()) return part;
  return left_of_type(part, type, place, file);
}

namespace {
const ptg::Part& copied(const std::optional<ptg::Part>& part, const char* type, const char* place,
                        const SourceLine& file) {
  if (part) return *part;
  throw UsageError(
      fmt::format("{}:{}: a task changes the value as a copy of this type, but the type {} is not defined as "
                  "a part of a tile: give {{.type_{} = fairlead::ptg::Part::lower()}}, for example, or "
                  "fairlead::ptg::Part() if it is all of it",
                  file.file_name(), place, type, type));
}
}  // namespace

ptg::Part given_as_copy(const std::optional<ptg::Part>& part, const char* type, const char* place,
                        SourceLine file) {
  return ptg::given_as_copy(copied(part, type, place, file));
}
ptg::Part taken_as_copy(const std::optional<ptg::Part>& part, const char* type, const char* place,
                        SourceLine file) {
  return ptg::taken_as_copy(copied(part, type, place, file));
}
void require_whole(const std::optional<ptg::Part>& part, const char* type, const char* place,
                   SourceLine file) {
  if (copied(part, type, place, file).is_all()) return;
  throw UsageError(
      fmt::format("{}:{}: a task changes this value as a copy of the type {}, which compiled graphs cannot "
                  "take from memory: let a task READ the datum and forward it with the type",
                  file.file_name(), place, type));
}

void take_home(ptg::TaskClass& tasks, const ptg::FlowSpecification& value, const ptg::FlowSpecification& home,
               const ptg::Part& part) {
  if (!part.is_all()) {
    tasks.runs(Datum::part_codelet(part), value, home);
    return;
  }
  const auto copy = codelet("home").cpu([](In<Datum> from, Out<Datum> to) { copy_elements(from, to); });
  tasks.runs(copy, value, home);
}

void done(const char* task_class, int returned) {
  if (returned == PARSEC_HOOK_RETURN_DONE) return;
  const char* why = "has failed";
  if (returned == PARSEC_HOOK_RETURN_NEXT) why = "leaves the work to the next BODY, and there is none";
  if (returned == PARSEC_HOOK_RETURN_ASYNC || returned == PARSEC_HOOK_RETURN_AGAIN)
    why = "would finish later (ASYNC, AGAIN), which bodies in C cannot do in Fairlead";
  throw UsageError(fmt::format("the BODY of {} {}: it has returned {}", task_class, why, returned));
}

ptg::Range stepped(const ptg::Index& index, const ptg::Expression& first, const ptg::Expression& last,
                   std::int64_t step) {
  if (step == 0) throw UsageError(fmt::format("the range of {} has a step of 0", index.text()));
  if (step > 0) return index.in(first, last, step);
  if (step == -1) return index.in(last, first);
  // The same numbers in ascending order; empty if `first` is below `last`.
  const ptg::Expression lowest = first - (first - last) / -step * -step;
  return index.in(choose(first < last, first + 1, lowest), first, -step);
}

}  // namespace fairlead::parsec

namespace fairlead::ptg::detail {

namespace {
PartOf tile_of(const parsec::Layout& it) {
  return {static_cast<std::int32_t>(it.column_bytes / it.element_bytes),
          static_cast<std::int32_t>(it.columns), static_cast<std::uint32_t>(it.element_bytes)};
}
}  // namespace

Copier PartsOf<parsec::Datum>::copier(const Part& part) {
  const auto copy = parsec::Datum::part_codelet(part);
  using Calls = CallMaker<In<parsec::Datum>, InOut<parsec::Datum>>;
  return {copy.info(), {&Calls::make, std::make_shared<Calls>(Calls{copy.info(), {}})}};
}
Copier PartsOf<parsec::Datum>::recut(const Recut& how) {
  using T = parsec::Datum;
  const auto move = codelet("recut").cpu([how](In<T> from, Out<T> to) {
    if (from.data() == nullptr || to.data() == nullptr) return;
    detail::recut(how, tile_of(to.layout()), from.data(), static_cast<std::size_t>(from.distance()),
                  to.data(), static_cast<std::size_t>(to.distance()));
  });
  using Calls = CallMaker<In<T>, Out<T>>;
  return {move.info(), {&Calls::make, std::make_shared<Calls>(Calls{move.info(), {}})}};
}
PartOf PartsOf<parsec::Datum>::extents(const void* handle) {
  return tile_of(*static_cast<const Handle<parsec::Datum>*>(handle)->shape().layout);
}

}  // namespace fairlead::ptg::detail
