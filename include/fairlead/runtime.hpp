// The runtime: workers, memory, a disk to spill to, and the data registered with it. A process may have several
// runtimes. A runtime belongs to the thread that constructed it; that thread runs tasks, too, whenever it waits.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/detail/description.hpp>
#include <fairlead/distribution.hpp>
#include <fairlead/generated_by.hpp>
#include <fairlead/handle.hpp>
#include <fairlead/partition.hpp>
#include <fairlead/ranks.hpp>
#include <fairlead/statistics.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fairlead {

namespace backend {
class Backend;
}
namespace detail {
struct RuntimeAccess;
}
class Flow;
namespace ptg {
class Graph;
}

class Runtime {
 public:
  /// Throws ConfigError for an unknown scheduling policy, SystemError if memory, threads or the spill directory are not
  /// available. `reserved`: bytes of the memory limit that the program itself uses.
  explicit Runtime(const Config& config = Config::from_environment(), Bytes reserved = 0);
  /// The same with explicit backends, for custom accelerators (docs/backends.md).
  Runtime(const Config& config, Bytes reserved,
          const std::vector<std::shared_ptr<const backend::Backend>>& backends);
  /// One of several ranks that compute together: see <fairlead/ranks.hpp>. The default memory limit is the rank's share
  /// of the machine's free memory.
  Runtime(const Config& config, const Rank& rank, Bytes reserved = 0);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  /// Waits for the tasks of all flows, then stops the workers. Flows and matrices that outlive the runtime throw
  /// UsageError when used. Does nothing in a forked child process.
  ~Runtime();

  /// A matrix whose tiles are stored in the runtime's memory and, when that is full, in its spill file. The space in
  /// the file is reserved by this call. Throws SystemError if the disk lacks the space, UsageError for tiles of size 0
  /// or a matrix without elements.
  template <class Element>
  TiledMatrix<Element> tiled(const std::string& name, std::int64_t rows, std::int64_t columns, TileSize tile,
                             Tiles which = Tiles::all) {
    return TiledMatrix<Element>(make_tiles(name, rows, columns, tile, which, sizeof(Element), {}));
  }
  /// A matrix distributed over all ranks; each rank stores the tiles that it owns. Collective: all ranks create the
  /// same matrices in the same order.
  template <class Element>
  TiledMatrix<Element> tiled(const std::string& name, std::int64_t rows, std::int64_t columns, TileSize tile,
                             const Distribution& distribution, Tiles which = Tiles::all) {
    return TiledMatrix<Element>(
        make_tiles(name, rows, columns, tile, which, sizeof(Element), {}, &distribution));
  }
  template <class Element, class Function>
  TiledMatrix<Element> tiled(const std::string& name, std::int64_t rows, std::int64_t columns, TileSize tile,
                             const Distribution& distribution, GeneratedBy<Function> by,
                             Tiles which = Tiles::all) {
    return TiledMatrix<Element>(make_tiles(name, rows, columns, tile, which, sizeof(Element),
                                           detail::fill_of_matrix<Element>(std::move(by)), &distribution));
  }
  /// The same; tiles that no task has written yet are computed instead of stored: see generated_by().
  template <class Element, class Function>
  TiledMatrix<Element> tiled(const std::string& name, std::int64_t rows, std::int64_t columns, TileSize tile,
                             GeneratedBy<Function> by, Tiles which = Tiles::all) {
    return TiledMatrix<Element>(make_tiles(name, rows, columns, tile, which, sizeof(Element),
                                           detail::fill_of_matrix<Element>(std::move(by))));
  }
  /// A matrix in the caller's memory, column-major, used in place. The memory must stay valid until the result is
  /// destroyed.
  template <class Element>
  TiledMatrix<Element> tiled_in_place(const std::string& name, Element* data, std::int64_t rows,
                                      std::int64_t columns, std::int64_t leading_dimension, TileSize tile) {
    return TiledMatrix<Element>(
        place_tiles(name, data, rows, columns, leading_dimension, tile, sizeof(Element)));
  }
  /// One value in the caller's memory, used in place. For this and all functions below, the memory must stay valid
  /// until the datum is removed or the runtime ends. Throws UsageError for an invalid datum: no elements, or
  /// overlapping elements. A type that owns memory does not compile: see packable().
  template <class T>
  Handle<T> value(const std::string& name, T& value) {
    static_assert(detail::can_be_element<T>());
    return Handle<T>(
        register_one(name, {.kind = "value", .address = &value, .array = {}, .element_bytes = sizeof(T)}));
  }
  /// A vector in the caller's memory; `stride` is the distance between elements.
  template <class Element>
  Handle<Vector<Element>> vector(const std::string& name, Element* data, std::int64_t size,
                                 std::int64_t stride = 1) {
    return in_place<Vector<Element>>("vector", name, data, {size, stride});
  }
  /// A vector that the runtime stores: in its memory and, when that is full, in its spill file. The space in the file
  /// is reserved by this call. This function and similar ones below throw SystemError if the disk lacks the space.
  template <class Element>
  Handle<Vector<Element>> vector(const std::string& name, std::int64_t size) {
    return kept<Vector<Element>>("vector", name, {size, 1});
  }
  /// With several ranks: a vector that all ranks share and `owner` stores. Collective: all ranks create the same data
  /// in the same order.
  template <class Element>
  Handle<Vector<Element>> vector(const std::string& name, std::int64_t size, OwnedBy owner) {
    return kept<Vector<Element>>("vector", name, {size, 1}, {}, static_cast<int>(owner.rank));
  }
  /// Until a task has written the vector, it is computed instead of stored: see generated_by().
  template <class Element, class Function>
  Handle<Vector<Element>> vector(const std::string& name, std::int64_t size, GeneratedBy<Function> by) {
    return kept<Vector<Element>>("vector", name, {size, 1}, detail::fill_of_vector<Element>(std::move(by)));
  }
  /// A matrix that is a single datum, column-major, in the caller's memory. Bodies get it as a tile.
  template <class Element>
  Handle<Tile<Element>> matrix(const std::string& name, Element* data, std::int32_t rows,
                               std::int32_t columns, std::int32_t leading_dimension) {
    return in_place<Tile<Element>>("matrix", name, data, {rows, columns, leading_dimension});
  }
  template <class Element>
  Handle<Tile<Element>> matrix(const std::string& name, std::int32_t rows, std::int32_t columns) {
    return kept<Tile<Element>>("matrix", name, {rows, columns, rows});
  }
  /// With several ranks: a matrix that all ranks share; see vector() with an owner.
  template <class Element>
  Handle<Tile<Element>> matrix(const std::string& name, std::int32_t rows, std::int32_t columns,
                               OwnedBy owner) {
    return kept<Tile<Element>>("matrix", name, {rows, columns, rows}, {}, static_cast<int>(owner.rank));
  }
  template <class Element, class Function>
  Handle<Tile<Element>> matrix(const std::string& name, std::int32_t rows, std::int32_t columns,
                               GeneratedBy<Function> by) {
    return kept<Tile<Element>>("matrix", name, {rows, columns, rows},
                               detail::fill_of_matrix<Element>(std::move(by)));
  }
  /// A block of a grid in the caller's memory: element (i, j, k) is data[i + j * strides[0] + k * strides[1]].
  template <class Element>
  Handle<Block<Element>> block(const std::string& name, Element* data, std::array<std::int32_t, 3> extents,
                               std::array<std::int64_t, 2> strides) {
    return in_place<Block<Element>>("block", name, data, {extents, strides});
  }
  template <class Element>
  Handle<Block<Element>> block(const std::string& name, std::array<std::int32_t, 3> extents) {
    return kept<Block<Element>>("block", name, {extents, {}});
  }
  /// A user-defined object, which CPU cores use in place. In other memories a body gets `bytes` bytes. `pack(const
  /// Object&, std::byte*)` writes them, `unpack(const std::byte*, Object&)` reads them back. Both may be called by any
  /// thread and must not throw.
  template <class Object, class Pack, class Unpack>
  Handle<Packable<Object>> packable(const std::string& name, Object& object, Bytes bytes, Pack pack,
                                    Unpack unpack) {
    return {register_one(name, {.kind = "packable",
                                .address = &object,
                                .array = {},
                                .element_bytes = bytes,
                                .pack =
                                    [pack](const void* from, void* to) {
                                      pack(*static_cast<const Object*>(from), static_cast<std::byte*>(to));
                                    },
                                .unpack =
                                    [unpack](const void* from, void* to) {
                                      unpack(static_cast<const std::byte*>(from), *static_cast<Object*>(to));
                                    }}),
            {bytes}};
  }
  /// The same without an object: the runtime stores the bytes, and all bodies get the bytes.
  template <class Object>
  Handle<Packable<Object>> packable(const std::string& name, Bytes bytes) {
    return {register_one(name, {.kind = "packable", .kept = true, .array = {}, .element_bytes = bytes}),
            {bytes}};
  }
  /// Removes a datum registered by one of the functions above: waits for the tasks that use it and releases its space.
  /// Its handles are then rejected. Changes made on accelerators are in the caller's memory afterwards.
  template <class T>
  void remove(const Handle<T>& handle) {
    remove_one(handle.datum());
  }

  /// A placement hint: the datum should reside on this accelerator, counted from 0; no_device withdraws the hint. It
  /// takes effect the next time that the datum is placed: see docs/data.md. For the tiles of a matrix use
  /// TiledMatrix::advise(). Throws UsageError if the accelerator does not exist.
  template <class T>
  void advise(const Handle<T>& handle, int device) {
    advise_one(handle.datum(), device);
  }

  /// Selects when the caller's memory is updated after accelerators have changed the datum. Default: whenever the
  /// program waits for it (Refresh::by_wait). For the tiles of a matrix use TiledMatrix::refresh(). Has no effect, and
  /// copies nothing, if only CPU cores compute.
  template <class T>
  void refresh(const Handle<T>& handle, Refresh when) {
    refresh_one(handle.datum(), when);
  }

  /// Splits a datum into parts of these extents; the last ones may be smaller: a vector into ranges, a matrix into
  /// rows, columns or blocks of them, a block of a grid into bricks. A datum may have several partitions. A task may
  /// use either the whole or parts of one partition. Throws UsageError for a part, a tile, a generated datum, or a
  /// datum that all ranks share. Also throws it for a datum stored by the runtime if a part is not contiguous in its
  /// home on disk, or starts there at an offset that is not a multiple of 4,096 bytes.
  template <class Element>
  Partition<Vector<Element>> split(const Handle<Vector<Element>>& whole, std::int64_t size) {
    return Partition<Vector<Element>>(split_one(whole.datum(), {size, 1, 1}, 1));
  }
  template <class Element>
  Partition<Tile<Element>> split(const Handle<Tile<Element>>& whole, std::int32_t rows,
                                 std::int32_t columns) {
    return Partition<Tile<Element>>(split_one(whole.datum(), {rows, columns, 1}, 2));
  }
  template <class Element>
  Partition<Block<Element>> split(const Handle<Block<Element>>& whole, std::array<std::int32_t, 3> extents) {
    return Partition<Block<Element>>(split_one(whole.datum(), {extents[0], extents[1], extents[2]}, 3));
  }

  /// Writes all changed data back to their homes and waits for completion. To time an out-of-core run, stop the clock
  /// after this call. No flow may have unfinished tasks.
  void flush();
  /// The current state, for people: the running tasks, and for each blocked task what it waits for: a datum, a copy,
  /// memory and its holders, a worker, or a hold. One line each. Thread-safe.
  std::string status() const;
  /// Opens a page about this run for a browser, until the runtime ends: progress, rate, memory, links, workers, and why
  /// nothing runs. Returns its address, which contains a random token; the settings `live-address` and `live-token`
  /// apply. `port`: 0: a free one; otherwise this one, plus the number of the rank. A second call returns the same
  /// address. Throws ConfigError for a port above 65,535 or an invalid address, SystemError if the port is in use or the
  /// system refuses a socket; the run is not affected. See docs/diagnostics.md.
  std::string live(std::uint16_t port = 0);
  /// Sets the receiver of the report that is made if no progress occurs for the time of the setting `quiet-period`
  /// although something waits and no body runs. It has the text of status(). Default: standard error. A thread of the
  /// runtime calls it; it must not throw.
  void on_quiet(std::function<void(const std::string&)> tell);
  /// Completes the files of the settings `event-log` and `record-flow`; later events are not recorded. Otherwise the
  /// destructor completes them, and can only report errors on standard error. Throws SystemError if a file could not be
  /// written, for example because the disk is full.
  void end_records();
  /// For a program that should end soon and discards its results, as after Ctrl-C: transfers no longer wait for the
  /// bandwidth limit. A current or later flush() stops and throws, as do the registration of a matrix and submission to
  /// a cancelled flow. It does not cancel tasks: see Flow::cancel(). Thread-safe.
  void wind_down() noexcept;
  /// With the setting `checkpoint`: the results are safe elsewhere, so the checkpoint is removed.
  void remove_checkpoint();
  /// With the setting `checkpoint`: makes a checkpoint as soon as possible; then the waits and submissions of the flow that
  /// uses it throw CheckpointStop. Without one, or before the flow uses it, returns false and does nothing. Thread-safe.
  bool stop_after_checkpoint() noexcept;
  /// Reports to the other ranks why this rank cannot go on, for errors outside of tasks: their waits throw RankError with
  /// this text. Without it they only learn that this rank has ended. The live page shows it as the end of the run. No effect after
  /// a failure.
  void give_up(const std::string& why) noexcept;
  /// Discards all replicas whose home has the same value; their next use reads them from the home. After flush(), these
  /// are all replicas: to time an out-of-core run with cold memory, start the clock then.
  void drop_clean();

  /// The memory node with this name in the report ("RAM", "emulated 0"); its workers run tasks. Throws UsageError, with
  /// the existing names, if there is none.
  NodeId memory_node(std::string_view name) const;
  std::size_t workers() const noexcept;  ///< CPU workers
  std::uint32_t rank() const noexcept;   ///< this rank's number, from 0
  std::uint32_t ranks() const noexcept;  ///< the number of ranks; 1 without other ranks
  /// The number of accelerators with their own memory. advise(), Call::on_device() and memory_node() number them in the
  /// order of the configuration.
  int devices() const noexcept;
  /// Bytes that tasks can reserve at the same time.
  Bytes capacity_bytes() const noexcept;
  Statistics statistics() const;
  /// Bytes read from and written to the disk so far. Thread-safe.
  struct Traffic {
    Bytes read = 0, written = 0;
  };
  Traffic disk_traffic() const noexcept;
  /// The digest of all commands so far. A replay of the event log yields the same digest; see docs/how-it-works.md.
  struct Digest {
    std::uint64_t value = 0, commands = 0;
  };
  Digest command_digest() const;

 private:
  friend class Flow;
  friend class Recording;
  friend class ptg::Graph;
  friend struct detail::RuntimeAccess;
  class Implementation;
  std::shared_ptr<detail::TileCollection> owned(std::unique_ptr<detail::TileCollection> tiles);
  std::shared_ptr<detail::TileCollection> make_tiles(const std::string& name, std::int64_t rows,
                                                     std::int64_t columns, TileSize tile, Tiles which,
                                                     std::size_t element_bytes, detail::Fill fill,
                                                     const Distribution* distribution = nullptr);
  std::shared_ptr<detail::TileCollection> place_tiles(const std::string& name, void* data, std::int64_t rows,
                                                      std::int64_t columns, std::int64_t leading_dimension,
                                                      TileSize tile, std::size_t element_bytes);
  template <Array T>
  Handle<T> in_place(const char* kind, const std::string& name, typename T::Element* data,
                     const typename T::Shape& shape) {
    static_assert(detail::can_be_element<typename T::Element>());
    return {register_one(name, {.kind = kind,
                                .address = data,
                                .array = T::strided(shape),
                                .element_bytes = sizeof(typename T::Element)}),
            shape};
  }
  template <Array T>
  Handle<T> kept(const char* kind, const std::string& name, const typename T::Shape& shape,
                 detail::Fill fill = {}, int owner = -1) {
    static_assert(detail::can_be_element<typename T::Element>());
    const Strided packed = T::strided(shape).packed();
    return {register_one(name, {.kind = kind,
                                .kept = true,
                                .array = packed,
                                .element_bytes = sizeof(typename T::Element),
                                .fill = std::move(fill),
                                .owner = owner}),
            T::shaped(packed)};
  }
  detail::DatumReference register_one(const std::string& name, const detail::Description& as);
  void remove_one(const detail::DatumReference& reference);
  void advise_one(const detail::DatumReference& reference, int device);
  /// Throws UsageError, naming the function `what`, if the datum belongs to another runtime or has been removed.
  engine::RegisteredDatum& own_datum(const detail::DatumReference& reference, const char* what) const;
  void refresh_one(const detail::DatumReference& reference, Refresh when);
  std::shared_ptr<detail::PartCollection> split_one(const detail::DatumReference& reference,
                                                    const std::array<std::int64_t, 3>& extents,
                                                    std::size_t dimensions);

  std::shared_ptr<Implementation> implementation_;  // shared with flows and matrices
};

}  // namespace fairlead
