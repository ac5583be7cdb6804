// PaRSEC descriptors for Fairlead's data, and the support code for the C++ that `fairlead jdf compile` generates.
//
//   const TiledMatrix<double> a = runtime.tiled<double>("A", n, n, tile);
//   parsec::Descriptor descriptor(a);
//   ptg::Graph graph(runtime);
//   cholesky(graph, descriptor, &info);   // of cholesky.jdf: docs/jdf.md
//   graph.run();
//
// A body in C gets only the address of a tile. It expects memory for mb x nb elements with a leading dimension of mb.
// Where a tile is stored differently (in the caller's memory, or smaller at the edges), the body works on a copy.
#pragma once
#include <fairlead/parsec_compat.h>
#include <fairlead/error.hpp>
#include <fairlead/handle.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/source_line.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead::parsec {

/// The layout of a datum in memory, in bytes.
struct Layout {
  std::int64_t column_bytes = 0, columns = 0;
  std::int64_t distance = 0;           ///< between columns, if used in place
  std::int64_t promised_distance = 0;  ///< between columns, as bodies expect it
  std::int64_t element_bytes = 1;
  const Layout* fresh = nullptr;  ///< the layout of a full datum, as NEW makes it and as bodies expect it
};

/// A body's view of a datum. The address is null if there is none.
template <class Byte>
class DatumView {
 public:
  DatumView(Byte* data, std::int64_t distance, const Layout* layout) noexcept
      : data_(data), distance_(distance), layout_(layout) {}

  Byte* data() const noexcept { return data_; }
  /// The actual distance between columns.
  std::int64_t distance() const noexcept { return distance_; }
  const Layout& layout() const noexcept { return *layout_; }
  /// True if the datum has the layout and size that bodies expect, or if there is no datum.
  bool as_promised() const noexcept {
    return data_ == nullptr ||
           (distance_ == layout_->promised_distance && layout_->columns == layout_->fresh->columns);
  }

 private:
  Byte* data_;
  std::int64_t distance_;
  const Layout* layout_;
};

/// The type of data whose element type only the C code defines.
struct Datum {
  using Element = std::byte;
  struct Shape {
    const Layout* layout = nullptr;  ///< owned by the descriptor
  };
  template <bool Const>
  using View = DatumView<ConstIf<Const, std::byte>>;
  template <bool Const>
  static View<Const> view(void* address, bool packed, const Shape& shape) noexcept {
    if (shape.layout == nullptr) return {nullptr, 0, nullptr};
    return {static_cast<std::byte*>(address), packed ? shape.layout->column_bytes : shape.layout->distance,
            shape.layout};
  }
  /// Makes a datum of the size that bodies expect.
  static Handle<Datum> another(Runtime& runtime, const Handle<Datum>& like);
  /// Makes a datum of exactly the same size.
  static Handle<Datum> another_exactly(Runtime& runtime, const Handle<Datum>& like);
  /// True if a datum made like the first one has the size of the second.
  static bool alike(const Handle<Datum>& first, const Handle<Datum>& second, bool exact) noexcept;
  static Bytes bytes_of_another(const Handle<Datum>& like, bool exact) noexcept;
  /// Copies a part of one datum to another, and leaves the rest of it unchanged.
  static Codelet<In<Datum>, InOut<Datum>> part_codelet(const ptg::Part& part);
};

namespace detail {
/// The data behind a descriptor. `magic` identifies descriptors made by Fairlead.
struct Source {
  static constexpr std::uint64_t sign = 0x6661'6972'6c65'6164;
  std::uint64_t magic = sign;
  std::vector<std::int64_t> extents;
  std::function<Handle<Datum>(const std::int64_t* at)> handle_of;
  const Distribution* distribution = nullptr;  ///< the owners, with several ranks
  std::deque<Layout> layouts;                  ///< the first one is that of fresh data
};

template <class T>
constexpr int matrix_type() {
  if constexpr (std::is_same_v<T, float>) return PARSEC_MATRIX_FLOAT;
  if constexpr (std::is_same_v<T, double>) return PARSEC_MATRIX_DOUBLE;
  if constexpr (std::is_same_v<T, int>) return PARSEC_MATRIX_INTEGER;
  return PARSEC_MATRIX_BYTE;
}
}  // namespace detail

/// Fills the fields of a PaRSEC matrix descriptor, without its data. `type`: one of PARSEC_MATRIX_... Throws UsageError
/// if a number exceeds int.
void describe(parsec_matrix_block_cyclic_t& matrix, std::int64_t rows, std::int64_t columns,
              std::int32_t tile_rows, std::int32_t tile_columns, int type);

/// A PaRSEC descriptor of a tiled matrix. It and the matrix must outlive the graphs that use it. Neither copyable nor
/// movable, because bodies store its address.
class Descriptor {
 public:
  template <class Element>
  explicit Descriptor(const TiledMatrix<Element>& matrix) {
    source_.extents = {matrix.tile_rows(), matrix.tile_columns()};
    source_.handle_of = [this, &matrix](const std::int64_t* at) {
      if (matrix.lower_only() && at[1] > at[0]) return Handle<Datum>();
      const auto tile =
          matrix.here_or_not(static_cast<std::int32_t>(at[0]), static_cast<std::int32_t>(at[1]));
      return handle(tile.datum(), tile.shape(), sizeof(Element));
    };
    source_.distribution = matrix.distribution();
    describe(matrix.rows(), matrix.columns(), matrix.tile_size().rows, matrix.tile_size().columns,
             detail::matrix_type<Element>(), sizeof(Element));
  }
  /// For a matrix whose tiles are separate data, in column-major order of tiles. Tiles have tile_rows x tile_columns
  /// elements, fewer in the last row and column. Throws UsageError for a wrong number of tiles.
  template <class Element>
  Descriptor(std::vector<Handle<Tile<Element>>> tiles, std::int64_t rows, std::int64_t columns,
             std::int32_t tile_rows, std::int32_t tile_columns) {
    const auto count = [](std::int64_t size, std::int32_t tile) {
      return static_cast<std::int32_t>((size + tile - 1) / tile);
    };
    source_.extents = {count(rows, tile_rows), count(columns, tile_columns)};
    describe(rows, columns, tile_rows, tile_columns, detail::matrix_type<Element>(), sizeof(Element));
    if (tiles.size() != static_cast<std::size_t>(described_.super.nb_local_tiles))
      throw UsageError("the number of tiles does not match the size of the matrix");
    source_.handle_of = [this, all = std::move(tiles)](const std::int64_t* at) {
      const auto& tile = all[static_cast<std::size_t>(at[0] + at[1] * source_.extents[0])];
      return handle(tile.datum(), tile.shape(), sizeof(Element));
    };
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  parsec_tiled_matrix_t* get() noexcept { return &described_.super; }
  operator parsec_tiled_matrix_t*() noexcept { return get(); }
  operator parsec_matrix_block_cyclic_t*() noexcept { return &described_; }
  operator parsec_data_collection_t*() noexcept { return &described_.super.super; }
  operator dplasma_data_collection_t*() noexcept { return &collection_; }
  operator void*() noexcept { return &described_; }

 private:
  void describe(std::int64_t rows, std::int64_t columns, std::int32_t tile_rows, std::int32_t tile_columns,
                int type, std::int64_t element_bytes);
  Handle<Datum> handle(const fairlead::detail::DatumReference& datum, const TileShape& shape,
                       std::int64_t element_bytes);

  detail::Source source_;
  parsec_matrix_block_cyclic_t described_{};
  dplasma_data_collection_t collection_{};
};

/// A PaRSEC collection with one index, for data of any type; a single datum has index 0. The data must outlive the
/// graphs that use it.
class Collection {
 public:
  template <class T>
  explicit Collection(std::vector<Handle<T>> handles) {
    source_.extents = {static_cast<std::int64_t>(handles.size())};
    source_.handle_of = [this, all = std::move(handles)](const std::int64_t* at) {
      const Handle<T>& handle = all[static_cast<std::size_t>(at[0])];
      return this->handle(handle.datum(), bytes_of(handle), element_bytes_of<T>());
    };
    collection_.nodes = 1;
    collection_.fairlead = &source_;
  }
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  operator parsec_data_collection_t*() noexcept { return &collection_; }
  operator void*() noexcept { return &collection_; }

 private:
  template <class T>
  static std::int64_t bytes_of(const Handle<T>& handle) {
    if constexpr (Array<T>) {
      const Strided strided = T::strided(handle.shape());
      const Strided packed = strided.packed();
      for (std::size_t i = 0; i < 3; ++i)
        if (strided.extents[i] > 1 && strided.strides[i] != packed.strides[i])
          throw UsageError("data for bodies in C must not have gaps between their elements");
      return strided.elements() * static_cast<std::int64_t>(sizeof(typename T::Element));
    } else {
      return sizeof(T);
    }
  }
  template <class T>
  static constexpr std::int64_t element_bytes_of() noexcept {
    if constexpr (Array<T>)
      return sizeof(typename T::Element);
    else
      return sizeof(T);
  }
  Handle<Datum> handle(const fairlead::detail::DatumReference& datum, std::int64_t bytes,
                       std::int64_t element_bytes);

  detail::Source source_;
  parsec_data_collection_t collection_{};
};

/// Temporary memory within one body: parsec_private_memory_pop() returns this many bytes.
class MemoryPool {
 public:
  explicit MemoryPool(Bytes bytes) noexcept : pool_{bytes} {}
  operator parsec_memory_pool_t*() noexcept { return &pool_; }

 private:
  parsec_memory_pool_t pool_;
};

/// The collections of a graph, by descriptor: two names of the same descriptor refer to the same data.
class GraphData {
 public:
  explicit GraphData(ptg::Graph& graph) : graph_(graph) {}

  /// Throws UsageError for a descriptor not made by Fairlead. A null descriptor has no data.
  ptg::Collection of(const parsec_data_collection_t* described, const std::string& name,
                     std::size_t dimensions);
  ptg::Collection of(const parsec_tiled_matrix_t* described, const std::string& name,
                     std::size_t dimensions) {
    return of(described == nullptr ? nullptr : &described->super, name, dimensions);
  }
  ptg::Collection of(const dplasma_data_collection_t* described, const std::string& name,
                     std::size_t dimensions) {
    return of(described == nullptr ? nullptr : &described->super, name, dimensions);
  }
  ptg::Collection of(const parsec_matrix_block_cyclic_t* described, const std::string& name,
                     std::size_t dimensions) {
    return of(described == nullptr ? nullptr : &described->super, name, dimensions);
  }
  ptg::Collection of(const void* described, const std::string& name, std::size_t dimensions) {
    return of(static_cast<const parsec_data_collection_t*>(described), name, dimensions);
  }

 private:
  ptg::Graph& graph_;
  std::map<const void*, ptg::Collection> known_;
};

/// A datum during one call of a body in C: the datum itself if it has the expected layout, otherwise a copy. The
/// destructor copies changes back.
class Lent {
 public:
  template <AccessMode Mode>
  explicit Lent(const fairlead::detail::Parameter<Datum, Mode>& datum)
      : address_(const_cast<std::byte*>(datum.data())) {
    if (datum.as_promised()) return;
    home_ = address_;
    distance_ = datum.distance();
    layout_ = &datum.layout();
    copy_.resize(static_cast<std::size_t>(layout_->promised_distance * layout_->fresh->columns));
    address_ = copy_.data();
    returns_ = writes(Mode);
    if (reads(Mode)) take();
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() {
    if (returns_) give_back();
  }
  operator void*() const noexcept { return address_; }

 private:
  void take() noexcept;
  void give_back() noexcept;

  std::byte* address_;
  std::byte* home_ = nullptr;
  std::int64_t distance_ = 0;
  const Layout* layout_ = nullptr;
  std::vector<std::byte> copy_;
  bool returns_ = false;
};

/// The part of a value to store in a datum for which the file names a type at `place` ("line:column"). `part` is the
/// program's definition of that type (".type_LOWER_TILE"). Throws UsageError if there is none, since storing a whole
/// tile instead of a part would give wrong results.
ptg::Part left_of_type(const std::optional<ptg::Part>& part, const char* type, const char* place,
                       SourceLine file = SourceLine::current());
/// The same for a datum that already contains the value, unless the value comes from another rank.
std::optional<ptg::Part> left_of_type(const std::optional<ptg::Part>& part, const char* type,
                                      const char* place, const ptg::Collection& data,
                                      SourceLine file = SourceLine::current());

/// The parts for the two ends of an edge along which a value is copied to another datum, with only the elements of a
/// type: for the producing task, and for the consuming task. Throws UsageError if the program has not defined the type.
ptg::Part given_as_copy(const std::optional<ptg::Part>& part, const char* type, const char* place,
                        SourceLine file = SourceLine::current());
ptg::Part taken_as_copy(const std::optional<ptg::Part>& part, const char* type, const char* place,
                        SourceLine file = SourceLine::current());
/// For an input from memory that a task changes: throws UsageError unless the type is a whole tile.
void require_whole(const std::optional<ptg::Part>& part, const char* type, const char* place,
                   SourceLine file = SourceLine::current());

/// Sets the body of a class whose tasks copy a value, or a part of it, to its home datum, if it is in another datum.
/// Either datum may be missing.
void take_home(ptg::TaskClass& tasks, const ptg::FlowSpecification& value, const ptg::FlowSpecification& home,
               const ptg::Part& part = {});

/// With several ranks: tasks run on the rank that owns this datum, if its collection is distributed.
inline void runs_at(ptg::TaskClass& tasks, ptg::Place place) {
  if (!place.collection->owners.empty()) tasks.at(std::move(place));
}

/// Copies one datum to another, up to the smaller extents.
void copy_elements(const DatumView<const std::byte>& from, const DatumView<std::byte>& to);

/// Throws UsageError if `returned`, the result of the last body that was tried for a task, is not DONE.
void done(const char* task_class, int returned);

/// The range from `first` to `last` in steps of `step`, which may be negative, as in JDF.
ptg::Range stepped(const ptg::Index& index, const ptg::Expression& first, const ptg::Expression& last,
                   std::int64_t step);

}  // namespace fairlead::parsec

/// Parts of such data; the runtime stores them column by column.
template <>
struct fairlead::ptg::detail::PartsOf<fairlead::parsec::Datum> {
  static constexpr bool some = true;
  static Copier copier(const Part& part);
  static Copier recut(const Recut& how);
  static PartOf extents(const void* handle);
};
