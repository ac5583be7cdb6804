// Which tiles to update together. A set grows from one tile; next comes the tile whose updates need nothing
// that the set does not already stream through memory, else the inputs that gain most tiles. In a
// factorization that yields triangles and squares, found from the graph alone.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "policy/view.hpp"
#include "schedule/index/lookahead.hpp"

namespace fairlead::schedule::blocks {

/// Whose turn it is where nothing else tells. So the plan follows from the graph, and not from the order in which a flow's
/// tasks are submitted or a parameterized graph unfolds. What is alike in all that is left to the order of submission.
struct Turn {
  std::uint64_t place = ~std::uint64_t{0};
  TaskId id = no_id<TaskId>;
  explicit Turn() = default;
  explicit Turn(const AheadTask& ahead) : place(ahead.place), id(ahead.task->id) {}
  auto operator<=>(const Turn&) const = default;
};

class TileSet {
 public:
  void attach(View& view, Lookahead& lookahead) {
    view_ = &view;
    lookahead_ = &lookahead;
  }
  /// Before the task is in any set. Its turn is by how much is before it, then by rows: what rows read stays longer. By
  /// columns, and by how many updates its tile has had, a panel is over sooner, for which several nodes wait.
  void submitted(AheadTask& ahead, bool by_columns) const;
  /// Starts with the tile of `seed`, which must be ready, and grows it up to `budget`. Marks the tasks
  /// planned and gives them in an order in which they can run. `readers`: nodes to which an input goes.
  /// Updates that are the k-th of their tiles come together, so that an input streams past all tiles once;
  /// but where all inputs stay in memory for most of the time anyway, the tiles that are finished first come
  /// first: then tiles need not be loaded all at once, and the disk works while tasks run.
  /// If nothing is left beside the set, it ends before it is full, on one node: the next set makes more of the room
  /// than tiles from elsewhere would. A small one goes on, since the next would be planned at once.
  void grow(AheadTask& seed, Bytes budget, std::size_t readers, std::vector<AheadTask*>& tasks);

  /// Of the tiles and their inputs.
  Bytes bytes_used() const noexcept { return used_; }

 private:
  /// A tile as a candidate. All but `epoch` belongs to the set that is growing.
  struct Tile {
    std::uint32_t epoch = 0;
    bool in_set = false;
    bool listed = false;  // among the candidates
    // Inputs of its updates that the set does not use, each as often as it is used: of those before `locked`, so that
    // nobody looks at long chains that cannot be planned.
    std::uint32_t unshared = 0;
    std::uint64_t signature = 0;  // of those inputs: equal if they are the same
    AheadTask* first = nullptr;   // its next update
    AheadTask* locked = nullptr;  // the next that waits for what nobody plans
    std::uint64_t last = 0;       // the level of its last update that is planned
  };
  /// Tiles gained by streaming inputs that the set does not use yet.
  struct Offer {
    std::uint64_t gain = 0, cost = 1;
    Turn turn{};
    DatumId tile = no_id<DatumId>;
    bool operator<(const Offer& other) const noexcept {  // worse
      const std::uint64_t mine = gain * other.cost, its = other.gain * cost;
      return mine != its ? mine < its : turn > other.turn;
    }
  };
  struct Group {
    std::uint64_t signature;
    Offer offer;
  };
  /// The rows, or the columns, in which the set has tiles.
  struct Lines {
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
  bool begins_elsewhere(DatumId datum) const;
  Tile& tile(DatumId datum);
  bool shared(DatumId datum) const noexcept {
    return index(datum) < shared_.size() && shared_[index(datum)] == epoch_;
  }
  void take_back(std::vector<AheadTask*>& tasks, std::size_t keep);
  void list_if_free(DatumId datum, const Tile& t);
  void look_at(DatumId datum);
  void look_further(DatumId datum, Tile& t, AheadTask* from);
  void share(DatumId datum);
  void add(DatumId datum, std::vector<AheadTask*>& tasks);
  DatumId best_candidate();

  static constexpr std::size_t most_candidates = 1024;
  /// What a set uses in all, over what it may hold, up to which tile after tile is finished. Measured by
  /// simulation: above, inputs are read again; below, the disk waits.
  static constexpr Bytes most_overcommitted = 2;

  View* view_ = nullptr;
  Lookahead* lookahead_ = nullptr;
  std::uint32_t epoch_ = 0;
  Bytes bytes_ = 0;                    // of the tiles
  Bytes used_ = 0;                     // of the tiles and their inputs
  std::vector<Tile> tiles_;            // by datum
  std::vector<std::uint32_t> shared_;  // by datum: the epoch in which the set came to use it
  Lines rows_, columns_;
  std::vector<DatumId> candidates_;
  std::vector<std::pair<Turn, DatumId>> free_;  // a heap by their next updates
  std::vector<Group> groups_;
};

}  // namespace fairlead::schedule::blocks
