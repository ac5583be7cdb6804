// PaRSEC's descriptors over Fairlead's data, and what the C++ that `fairlead jdf compile` writes is made of.
//
//   const TiledMatrix<double> a = runtime.tiled<double>("A", n, n, tile);
//   parsec::Descriptor descriptor(a);
//   ptg::Graph graph(runtime);
//   cholesky(graph, descriptor, &info);   // of cholesky.jdf: docs/jdf.md
//   graph.run();
//
// A body in C knows of a tile its address alone, and relies on memory for mb x nb elements, mb from one column to the
// next. Where the runtime has it otherwise (in the caller's memory, or smaller at the edges), the body works on a
// copy.
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

/// How a datum lies in memory, in bytes.
struct Layout {
  std::int64_t column_bytes = 0, columns = 0;
  std::int64_t distance = 0;           ///< between columns, where it is used in place
  std::int64_t promised_distance = 0;  ///< as bodies expect them
  std::int64_t element_bytes = 1;
  const Layout* fresh = nullptr;  ///< of a whole one, as NEW makes it and as bodies expect all of them
};

/// As a body has it. Its address is null if there is none.
template <class Byte>
class DatumView {
 public:
  DatumView(Byte* data, std::int64_t distance, const Layout* layout) noexcept
      : data_(data), distance_(distance), layout_(layout) {}

  Byte* data() const noexcept { return data_; }
  /// From one column to the next, as it is here.
  std::int64_t distance() const noexcept { return distance_; }
  const Layout& layout() const noexcept { return *layout_; }
  /// It lies as bodies expect it, and is as large, or there is none.
  bool as_promised() const noexcept {
    return data_ == nullptr ||
           (distance_ == layout_->promised_distance && layout_->columns == layout_->fresh->columns);
  }

 private:
  Byte* data_;
  std::int64_t distance_;
  const Layout* layout_;
};

/// The type of a datum of which only C knows what it is made of.
struct Datum {
  using Element = std::byte;
  struct Shape {
    const Layout* layout = nullptr;  ///< of the descriptor
  };
  template <bool Const>
  using View = DatumView<ConstIf<Const, std::byte>>;
  template <bool Const>
  static View<Const> view(void* address, bool packed, const Shape& shape) noexcept {
    if (shape.layout == nullptr) return {nullptr, 0, nullptr};
    return {static_cast<std::byte*>(address), packed ? shape.layout->column_bytes : shape.layout->distance,
            shape.layout};
  }
  /// One more, of the size that bodies were promised.
  static Handle<Datum> another(Runtime& runtime, const Handle<Datum>& like);
  /// Of its own size.
  static Handle<Datum> another_exactly(Runtime& runtime, const Handle<Datum>& like);
  /// Whether one more like the first has the size of the second.
  static bool alike(const Handle<Datum>& first, const Handle<Datum>& second, bool exact) noexcept;
  static Bytes bytes_of_another(const Handle<Datum>& like, bool exact) noexcept;
  /// What copies a part of one to another, whose rest stays as it is.
  static Codelet<In<Datum>, InOut<Datum>> part_codelet(const ptg::Part& part);
};

namespace detail {
/// What a descriptor of data stands for. `magic` tells one of Fairlead's.
struct Source {
  static constexpr std::uint64_t sign = 0x6661'6972'6c65'6164;
  std::uint64_t magic = sign;
  std::vector<std::int64_t> extents;
  std::function<Handle<Datum>(const std::int64_t* at)> handle_of;
  const Distribution* distribution = nullptr;  ///< over ranks: who owns what
  std::deque<Layout> layouts;                  ///< the first is of fresh data
};

template <class T>
constexpr int matrix_type() {
  if constexpr (std::is_same_v<T, float>) return PARSEC_MATRIX_FLOAT;
  if constexpr (std::is_same_v<T, double>) return PARSEC_MATRIX_DOUBLE;
  if constexpr (std::is_same_v<T, int>) return PARSEC_MATRIX_INTEGER;
  return PARSEC_MATRIX_BYTE;
}
}  // namespace detail

/// Fills what PaRSEC knows of a matrix but its data. `type`: one of PARSEC_MATRIX_...
void describe(parsec_matrix_block_cyclic_t& matrix, std::int64_t rows, std::int64_t columns,
              std::int32_t tile_rows, std::int32_t tile_columns, int type);

/// A tiled matrix as PaRSEC describes it. It and the matrix stay as long as the graphs that use it. Neither
/// copied nor moved, as bodies know its address.
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
  /// A matrix whose tiles, of tile_rows x tile_columns but for those of the last row and column, are data of their
  /// own: the first column of tiles, then the next. Throws UsageError if there are not as many.
  template <class Element>
  Descriptor(std::vector<Handle<Tile<Element>>> tiles, std::int64_t rows, std::int64_t columns,
             std::int32_t tile_rows, std::int32_t tile_columns) {
    const auto count = [](std::int64_t size, std::int32_t tile) {
      return static_cast<std::int32_t>((size + tile - 1) / tile);
    };
    source_.extents = {count(rows, tile_rows), count(columns, tile_columns)};
    describe(rows, columns, tile_rows, tile_columns, detail::matrix_type<Element>(), sizeof(Element));
    if (tiles.size() != static_cast<std::size_t>(described_.super.nb_local_tiles))
      throw UsageError("a descriptor of a matrix is given another number of tiles than the matrix has");
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

/// Data by one index, or one alone, of any type. They stay as long as the graphs that use it.
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
          throw UsageError("a datum for bodies in C has gaps between its elements");
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

/// Memory for use within one body: parsec_private_memory_pop() gives so many bytes.
class MemoryPool {
 public:
  explicit MemoryPool(Bytes bytes) noexcept : pool_{bytes} {}
  operator parsec_memory_pool_t*() noexcept { return &pool_; }

 private:
  parsec_memory_pool_t pool_;
};

/// The data of a graph by their descriptors: two names of one descriptor are the same data.
class GraphData {
 public:
  explicit GraphData(ptg::Graph& graph) : graph_(graph) {}

  /// Throws UsageError for what is no descriptor of Fairlead's. A null one has no data.
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

/// A datum for the time of one call of a body in C: where it lies as promised, itself, else a copy, which is
/// taken back at the end if the task changes it.
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

/// What of a value is taken to a datum of which the file says a type at "line:column". `part`: what the program has said
/// that the type is (".type_LOWER_TILE"). Throws UsageError if it has said nothing: all of a tile where a part of it is meant would be
/// wrong numbers.
ptg::Part left_of_type(const std::optional<ptg::Part>& part, const char* type, const char* place,
                       SourceLine file = SourceLine::current());
/// The same of a datum in which the value is already, unless it comes from another rank.
std::optional<ptg::Part> left_of_type(const std::optional<ptg::Part>& part, const char* type,
                                      const char* place, const ptg::Collection& data,
                                      SourceLine file = SourceLine::current());

/// For the two ends of an edge along which a value becomes another datum, with the elements of a type alone: what its giver says, and
/// what its taker. Throws UsageError if the program has not said what the type is.
ptg::Part given_as_copy(const std::optional<ptg::Part>& part, const char* type, const char* place,
                        SourceLine file = SourceLine::current());
ptg::Part taken_as_copy(const std::optional<ptg::Part>& part, const char* type, const char* place,
                        SourceLine file = SourceLine::current());
/// Of an input from memory whose value a task changes: throws UsageError unless the type is all of a tile.
void require_whole(const std::optional<ptg::Part>& part, const char* type, const char* place,
                   SourceLine file = SourceLine::current());

/// A class whose tasks take a value, or that part of it, home: to a datum in which it is not. Either may be missing.
void take_home(ptg::TaskClass& tasks, const ptg::FlowSpecification& value, const ptg::FlowSpecification& home,
               const ptg::Part& part = {});

/// Over ranks: the tasks run where that datum is, if its collection is dealt out.
inline void runs_at(ptg::TaskClass& tasks, ptg::Place place) {
  if (!place.collection->owners.empty()) tasks.at(std::move(place));
}

/// One datum to another; as far as both go.
void copy_elements(const DatumView<const std::byte>& from, const DatumView<std::byte>& to);

/// Throws UsageError if the last body of a class that was tried has returned anything but DONE.
void done(const char* task_class, int returned);

/// All numbers from `first` to `last` in steps of `step`, which may be negative, as in JDF.
ptg::Range stepped(const ptg::Index& index, const ptg::Expression& first, const ptg::Expression& last,
                   std::int64_t step);

}  // namespace fairlead::parsec

/// Parts of such data, which the runtime keeps column after column.
template <>
struct fairlead::ptg::detail::PartsOf<fairlead::parsec::Datum> {
  static constexpr bool some = true;
  static Copier copier(const Part& part);
  static Copier recut(const Recut& how);
  static PartOf extents(const void* handle);
};
