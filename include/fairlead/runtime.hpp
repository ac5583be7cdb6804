// A runtime: workers, memory and a disk to spill to, and the data registered with it. There may be several in
// one process. It belongs to the thread that made it; that thread works, too, whenever it waits.
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
namespace net {
class Communicator;
}
namespace engine {
class RuntimeCore;
}
namespace trace {
struct Snapshot;
}
class Flow;
namespace ptg {
class Graph;
}

class Runtime {
 public:
  /// Throws ConfigError for a scheduler that does not exist, SystemError if memory, threads or the spill
  /// directory are refused. `reserved`: bytes of the memory limit that the program keeps for itself.
  explicit Runtime(const Config& config = Config::from_environment(), Bytes reserved = 0);
  /// The same on a machine of other parts than usual: for accelerators of one's own (docs/backends.md).
  Runtime(const Config& config, Bytes reserved,
          const std::vector<std::shared_ptr<const backend::Backend>>& backends);
  /// One of several that compute together: see <fairlead/ranks.hpp>. Without a setting it takes the rank's share of the
  /// machine's free memory.
  Runtime(const Config& config, const Rank& rank, Bytes reserved = 0);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  /// Waits for the tasks of all flows, then ends the workers. Flows and matrices that are still there can do
  /// nothing more: what is asked of them throws UsageError. In a forked child nothing happens.
  ~Runtime();

  /// A matrix whose tiles live in the runtime's memory and, when that is short, in its spill file, where
  /// their space is set aside now. Throws SystemError if the disk does not have it, UsageError for a tile of
  /// 0 or no elements.
  template <class Element>
  TiledMatrix<Element> tiled(const std::string& name, std::int64_t rows, std::int64_t columns, TileSize tile,
                             Tiles which = Tiles::all) {
    return TiledMatrix<Element>(make_tiles(name, rows, columns, tile, which, sizeof(Element), {}));
  }
  /// A matrix over all ranks, each of which has the tiles that it owns. All make the same ones in the same order.
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
  /// The same, and tiles that nothing has written are computed, not stored: see generated_by().
  template <class Element, class Function>
  TiledMatrix<Element> tiled(const std::string& name, std::int64_t rows, std::int64_t columns, TileSize tile,
                             GeneratedBy<Function> by, Tiles which = Tiles::all) {
    return TiledMatrix<Element>(make_tiles(name, rows, columns, tile, which, sizeof(Element),
                                           detail::fill_of_matrix<Element>(std::move(by))));
  }
  /// A matrix in the caller's memory, column-major, used in place. It must stay until the result is
  /// destroyed.
  template <class Element>
  TiledMatrix<Element> tiled_in_place(const std::string& name, Element* data, std::int64_t rows,
                                      std::int64_t columns, std::int64_t leading_dimension, TileSize tile) {
    return TiledMatrix<Element>(
        place_tiles(name, data, rows, columns, leading_dimension, tile, sizeof(Element)));
  }
  /// One value in the caller's memory, used in place. Like all that follow, it must stay until it is removed
  /// or the runtime ends. Throws UsageError for what is no datum: no elements, elements upon each other. A
  /// type that owns memory does not compile: see packable().
  template <class T>
  Handle<T> value(const std::string& name, T& value) {
    static_assert(detail::can_be_element<T>());
    return Handle<T>(
        register_one(name, {.kind = "value", .address = &value, .array = {}, .element_bytes = sizeof(T)}));
  }
  /// A vector in the caller's memory: elements at a distance of `stride`.
  template <class Element>
  Handle<Vector<Element>> vector(const std::string& name, Element* data, std::int64_t size,
                                 std::int64_t stride = 1) {
    return in_place<Vector<Element>>("vector", name, data, {size, stride});
  }
  /// A vector that the runtime keeps: in its memory and, when that is short, in its spill file, where its
  /// space is set aside now. This one, and its likes below, throw SystemError if the disk does not have it.
  template <class Element>
  Handle<Vector<Element>> vector(const std::string& name, std::int64_t size) {
    return kept<Vector<Element>>("vector", name, {size, 1});
  }
  /// Over ranks: one that all know. All make the same ones in the same order.
  template <class Element>
  Handle<Vector<Element>> vector(const std::string& name, std::int64_t size, OwnedBy owner) {
    return kept<Vector<Element>>("vector", name, {size, 1}, {}, static_cast<int>(owner.rank));
  }
  /// Until something has written it, it is computed, not stored: see generated_by().
  template <class Element, class Function>
  Handle<Vector<Element>> vector(const std::string& name, std::int64_t size, GeneratedBy<Function> by) {
    return kept<Vector<Element>>("vector", name, {size, 1}, detail::fill_of_vector<Element>(std::move(by)));
  }
  /// A matrix that is one datum, column-major, in the caller's memory: to bodies it is a tile.
  template <class Element>
  Handle<Tile<Element>> matrix(const std::string& name, Element* data, std::int32_t rows,
                               std::int32_t columns, std::int32_t leading_dimension) {
    return in_place<Tile<Element>>("matrix", name, data, {rows, columns, leading_dimension});
  }
  template <class Element>
  Handle<Tile<Element>> matrix(const std::string& name, std::int32_t rows, std::int32_t columns) {
    return kept<Tile<Element>>("matrix", name, {rows, columns, rows});
  }
  /// Over ranks: one that all know, as above.
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
  /// A block of a grid in the caller's memory: element (i, j, k) is data[i + j * strides[0] + k *
  /// strides[1]].
  template <class Element>
  Handle<Block<Element>> block(const std::string& name, Element* data, std::array<std::int32_t, 3> extents,
                               std::array<std::int64_t, 2> strides) {
    return in_place<Block<Element>>("block", name, data, {extents, strides});
  }
  template <class Element>
  Handle<Block<Element>> block(const std::string& name, std::array<std::int32_t, 3> extents) {
    return kept<Block<Element>>("block", name, {extents, {}});
  }
  /// An object of the caller's, which cores use where it is. Elsewhere a body gets `bytes` bytes, which
  /// `pack(const Object&, std::byte*)` has made of it, and which `unpack(const std::byte*, Object&)` puts
  /// back; any thread may call these, and they must not throw.
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
  /// The same without an object: the runtime keeps the bytes, and bodies get them everywhere.
  template <class Object>
  Handle<Packable<Object>> packable(const std::string& name, Bytes bytes) {
    return {register_one(name, {.kind = "packable", .kept = true, .array = {}, .element_bytes = bytes}),
            {bytes}};
  }
  /// Ends what one of the functions above began: waits for unfinished tasks, and gives the space back.
  /// Handles of the datum are refused afterwards. What accelerators have changed is in the caller's memory
  /// then.
  template <class T>
  void remove(const Handle<T>& handle) {
    remove_one(handle.datum());
  }

  /// A wish: the datum should live on this accelerator, counted from 0, or no_device: where it comes to pass.
  /// It counts from the next time that the datum is placed: see docs/data.md. Tiles of a matrix are advised
  /// together, by TiledMatrix::advise(). Throws UsageError if there is no such accelerator.
  template <class T>
  void advise(const Handle<T>& handle, int device) {
    advise_one(handle.datum(), device);
  }

  /// When the caller's memory gets what accelerators have changed of the datum: unless this says otherwise,
  /// wherever the program waits for it (Refresh::by_wait). Tiles of a matrix are told together, by
  /// TiledMatrix::refresh(). Nothing to say, and nothing copied, where only cores compute.
  template <class T>
  void refresh(const Handle<T>& handle, Refresh when) {
    refresh_one(handle.datum(), when);
  }

  /// The datum as parts of these extents, those at the ends smaller: a vector in pieces, a matrix in rows,
  /// columns or blocks of them, a block of a grid in bricks. A datum may have several partitions. Tasks use
  /// the whole, or parts of one partition; not both in one task. Throws UsageError for a datum that is itself
  /// a part or a tile, or generated, and where its home is on disk and a part would not be one piece there
  /// that begins at a multiple of 4,096 bytes.
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

  /// Sends everything that was changed to its home and waits until it is there: what is left to do before the
  /// clock of an out-of-core run stops. No flow may have unfinished tasks.
  void flush();
  /// What runs now, and for each task that waits the datum, the copy, the memory and who has it, the worker
  /// or the hold that it waits for: a line each. Any thread may ask.
  std::string status() const;
  /// Who is told the same when nothing has happened for the time set as quiet-period although something waits
  /// and no body runs; in place of the standard error. Called by a thread of the runtime's; it must not
  /// throw.
  void on_quiet(std::function<void(const std::string&)> tell);
  /// Ends what the settings event-log and record-flow have written down: the files are complete then, and
  /// what comes later is in neither. Without, the destructor does it, and can only complain on the standard
  /// error. Throws SystemError if one could not be written, as on a full disk.
  void end_records();
  /// For a program that wants to end soon and needs no results, as after Ctrl-C: nothing waits for the
  /// bandwidth cap any more; flush(), under way or later, gives up and throws, and so do the registration of
  /// a matrix and submission to a cancelled flow. Tasks are cancelled by their flow. Any thread may call it.
  void wind_down() noexcept;
  /// Empties the memory of all that its home holds as well: what is used next is read from there. After
  /// flush(), everything: so begins the clock of an out-of-core run.
  void drop_clean();

  /// A memory node whose workers run tasks, by its name in the report: "RAM", "emulated 0". Throws UsageError
  /// with the names that there are.
  NodeId memory_node(std::string_view name) const;
  std::size_t workers() const noexcept;  ///< of cores
  std::uint32_t rank() const noexcept;   ///< its own, from 0
  std::uint32_t ranks() const noexcept;  ///< how many there are: 1, if it computes alone
  /// Accelerators, each with memory of its own: advise(), Call::on_device() and memory_node() name them in
  /// the order in which they were configured.
  int devices() const noexcept;
  /// Bytes that tasks can reserve at once.
  Bytes capacity_bytes() const noexcept;
  Statistics statistics() const;
  /// Bytes read from and written to the disk so far; any thread may ask.
  struct Traffic {
    Bytes read = 0, written = 0;
  };
  Traffic disk_traffic() const noexcept;
  /// The digest of all commands so far, which a replay of the event log gives again; see
  /// docs/how-it-works.md.
  struct Digest {
    std::uint64_t value = 0, commands = 0;
  };
  Digest command_digest() const;

  engine::RuntimeCore& core() noexcept;
  net::Communicator* communicator() noexcept;  ///< null: it computes alone
  /// What has been recorded so far, if the settings `trace` or `report` ask for it: see
  /// <fairlead/report.hpp>. No flow may have unfinished tasks.
  trace::Snapshot recorded();

 private:
  friend class Flow;
  friend class Recording;
  friend class ptg::Graph;
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
  /// Throws UsageError naming `what` was called if it is not this runtime's, or gone.
  engine::RegisteredDatum& own_datum(const detail::DatumReference& reference, const char* what) const;
  void refresh_one(const detail::DatumReference& reference, Refresh when);
  std::shared_ptr<detail::PartCollection> split_one(const detail::DatumReference& reference,
                                                    const std::array<std::int64_t, 3>& extents,
                                                    std::size_t dimensions);

  std::shared_ptr<Implementation> implementation_;  // flows and matrices keep it, too
};

}  // namespace fairlead
