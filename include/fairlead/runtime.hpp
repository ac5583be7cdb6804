// A runtime: workers, memory and a disk to spill to, and the data registered with it. There may be several in
// one process. It belongs to the thread that made it; that thread works, too, whenever it waits.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/handle.hpp>
#include <fairlead/statistics.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <memory>
#include <span>
#include <string>

namespace fairlead {

namespace engine {
class RuntimeCore;
}
class Flow;

class Runtime {
 public:
  /// Throws ConfigError for a scheduler that does not exist, SystemError if memory, threads or the spill
  /// directory are refused. `reserved`: bytes of the memory limit that the program keeps for itself.
  explicit Runtime(const Config& config = Config::from_environment(), Bytes reserved = 0);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  /// Waits for the tasks of all flows, then ends the workers. Flows and matrices that are still there can do
  /// nothing more: what is asked of them throws UsageError. In a forked child nothing happens.
  ~Runtime();

  /// A matrix whose tiles live in the runtime's memory and, when that is short, in its spill file, where
  /// their space is set aside now. Throws SystemError if the disk does not have it, UsageError for a tile of
  /// 0 or no elements.
  template <class Element>
  TiledMatrix<Element> tiled(const std::string& name, std::int64_t rows, std::int64_t columns,
                             std::int32_t tile, Tiles which = Tiles::all) {
    return TiledMatrix<Element>(make_tiles(name, rows, columns, tile, which, sizeof(Element)));
  }
  /// A matrix in the caller's memory, column-major, used in place. It must stay until the result is
  /// destroyed.
  template <class Element>
  TiledMatrix<Element> tiled_in_place(const std::string& name, Element* data, std::int64_t rows,
                                      std::int64_t columns, std::int64_t leading_dimension,
                                      std::int32_t tile) {
    return TiledMatrix<Element>(
        place_tiles(name, data, rows, columns, leading_dimension, tile, sizeof(Element)));
  }
  /// One value in the caller's memory, used in place; it must stay until the runtime ends.
  template <class T>
  Handle<T> value(const std::string& name, T& value) {
    return Handle<T>(register_value(name, &value, sizeof(T)));
  }

  /// Sends everything that was changed to its home and waits until it is there: what is left to do before the
  /// clock of an out-of-core run stops. No flow may have unfinished tasks.
  void flush();
  /// For a program that wants to end soon and needs no results, as after Ctrl-C: nothing waits for the
  /// bandwidth cap any more, and a flush() that is under way, or comes, gives up and throws. Tasks are
  /// cancelled by their flow. Any thread may call it.
  void wind_down() noexcept;
  /// Empties the memory of all that its home holds as well: what is used next is read from there. After
  /// flush(), everything: so begins the clock of an out-of-core run.
  void drop_clean();

  std::size_t workers() const noexcept;
  /// Bytes that tasks can reserve at once.
  Bytes capacity_bytes() const noexcept;
  Statistics statistics() const;
  /// Bytes read from and written to the disk so far; any thread may ask.
  struct Traffic {
    Bytes read = 0, written = 0;
  };
  Traffic disk_traffic() const noexcept;
  /// The digest of all commands so far, which a replay of the event log gives again; see docs/concepts.md.
  struct Digest {
    std::uint64_t value = 0, commands = 0;
  };
  Digest command_digest() const;

  engine::RuntimeCore& core() noexcept;

 private:
  friend class Flow;
  class Implementation;
  std::shared_ptr<detail::TileCollection> owned(std::unique_ptr<detail::TileCollection> tiles);
  std::shared_ptr<detail::TileCollection> make_tiles(const std::string& name, std::int64_t rows,
                                                     std::int64_t columns, std::int32_t tile, Tiles which,
                                                     std::size_t element_bytes);
  std::shared_ptr<detail::TileCollection> place_tiles(const std::string& name, void* data, std::int64_t rows,
                                                      std::int64_t columns, std::int64_t leading_dimension,
                                                      std::int32_t tile, std::size_t element_bytes);
  detail::DatumReference register_value(const std::string& name, void* address, std::size_t bytes);

  std::shared_ptr<Implementation> implementation_;  // flows and matrices keep it, too
};

}  // namespace fairlead
