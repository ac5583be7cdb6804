// A set of tiles to update together. It grows from one tile. The next tile is one whose updates need only inputs that
// the set already streams through memory; if there is none, the inputs that gain most tiles. In a factorization this
// yields triangles and squares, from the graph alone.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "policy/view.hpp"
#include "schedule/index/task_graph_window.hpp"

namespace fairlead::schedule::blocks {

/// The tie-break between tiles. It makes the plan depend on the graph, not on the order in which a flow submits its
/// tasks or a parameterized graph unfolds. Only tasks that are equal in all of this are ordered by submission.
struct TieBreak {
  std::uint64_t place = ~std::uint64_t{0};
  TaskId id = no_id<TaskId>;
  explicit TieBreak() = default;
  explicit TieBreak(const WindowTask& ahead) : place(ahead.place), id(ahead.task->id) {}
  auto operator<=>(const TieBreak&) const = default;
};

class TileSet {
 public:
  void attach(View& view, TaskGraphWindow& lookahead) {
    view_ = &view;
    lookahead_ = &lookahead;
  }
  /// Sets the tie-break of a task before it is in any set. By rows: by depth, then by rows, since inputs read by rows
  /// stay longer. By columns and by the number of earlier updates of the tile, a panel that several nodes wait for
  /// finishes earlier.
  void submitted(WindowTask& ahead, bool by_columns) const;
  /// Starts with the tile of `seed`, which must be ready, and grows the set up to `budget` bytes. Marks the tasks
  /// planned and returns them in `tasks`, in a valid execution order. `readers`: the number of nodes to which an input
  /// goes.
  /// The k-th updates of all tiles come together, so that an input streams past all tiles once. If nearly all inputs
  /// stay in memory most of the time anyway, the order is by the completion of tiles instead: then tiles need not be
  /// loaded all at once, and the disk works while tasks run.
  /// On one node, the set ends before it is full if only tiles without a common row or column remain: the next set
  /// makes better use of the memory. A small set continues, since the next would be planned at once.
  void grow(WindowTask& seed, Bytes budget, std::size_t readers, std::vector<WindowTask*>& tasks);

  /// Bytes of the set's tiles and their inputs.
  Bytes bytes_used() const noexcept { return used_; }

 private:
  /// A candidate tile. All fields but `epoch` belong to the growing set.
  struct Tile {
    std::uint32_t epoch = 0;
    bool in_set = false;
    bool listed = false;  // among the candidates
    // The number of inputs of its updates that the set does not use, counted once per use. Only updates before `locked`
    // count, so that long chains that cannot be planned are not scanned.
    std::uint32_t missing_inputs = 0;
    std::uint64_t signature = 0;   // hash of those inputs: equal for the same inputs
    WindowTask* first = nullptr;   // its next update
    WindowTask* locked = nullptr;  // its next update that waits for an unplanned task
    std::uint64_t last = 0;        // the level of its last planned update
  };
  /// The tiles gained by streaming inputs that the set does not use yet.
  struct CandidateGain {
    std::uint64_t gain = 0, cost = 1;
    TieBreak turn{};
    DatumId tile = no_id<DatumId>;
    bool operator<(const CandidateGain& other) const noexcept {  // less attractive
      const std::uint64_t mine = gain * other.cost, its = other.gain * cost;
      return mine != its ? mine < its : turn > other.turn;
    }
  };
  struct Group {
    std::uint64_t signature;
    CandidateGain offer;
  };
  /// The rows or the columns in which the set has tiles.
  struct OccupiedLines {
    std::vector<std::uint32_t> epochs;
    std::uint64_t count = 0;
    bool has(std::int32_t line, std::uint32_t epoch) const noexcept {
      return static_cast<std::size_t>(line) < epochs.size() &&
             epochs[static_cast<std::size_t>(line)] == epoch;
    }
    void enter(std::int32_t line, std::uint32_t epoch) {
      if (line < 0 || has(line, epoch)) return;
      if (static_cast<std::size_t>(line) >= epochs.size())
        epochs.resize(2 * static_cast<std::size_t>(line) + 1, 0);
      epochs[static_cast<std::size_t>(line)] = epoch;
      ++count;
    }
  };

  std::uint64_t line_gain(DatumId datum) const;
  bool shares_no_line(DatumId datum) const;
  Tile& tile(DatumId datum);
  bool shared(DatumId datum) const noexcept {
    return index(datum) < shared_.size() && shared_[index(datum)] == epoch_;
  }
  void take_back(std::vector<WindowTask*>& tasks, std::size_t keep);
  void list_if_free(DatumId datum, const Tile& t);
  void look_at(DatumId datum);
  void count_missing_inputs(DatumId datum, Tile& t, WindowTask* from);
  void share(DatumId datum);
  void add(DatumId datum, std::vector<WindowTask*>& tasks);
  DatumId best_candidate();

  static constexpr std::size_t most_candidates = 1024;
  /// The limit of the order by completion of tiles: the bytes that the set uses, divided by its budget. Determined by
  /// simulation: above it, inputs are read again; below it, the disk idles.
  static constexpr Bytes most_overcommitted = 2;

  View* view_ = nullptr;
  TaskGraphWindow* lookahead_ = nullptr;
  std::uint32_t epoch_ = 0;
  Bytes bytes_ = 0;                    // of the set's tiles
  Bytes used_ = 0;                     // of the set's tiles and their inputs
  std::vector<Tile> tiles_;            // by datum
  std::vector<std::uint32_t> shared_;  // by datum: the epoch in which the set first used it
  OccupiedLines rows_, columns_;
  std::vector<DatumId> candidates_;
  std::vector<std::pair<TieBreak, DatumId>> free_;  // a heap ordered by their next updates
  std::vector<Group> groups_;
};

}  // namespace fairlead::schedule::blocks
