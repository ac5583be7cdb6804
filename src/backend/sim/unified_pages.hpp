// Where the pages of managed memory are, as CUDA's driver keeps it: every datum has blocks of its own, which
// are in the host's memory, on one device, or, where that is allowed, on several. A device that is full gives
// up its blocks one by one, from the data used longest ago. Passive: it decides what moves, and when it has
// decided counts that as done.
#pragma once
#include <fairlead/ids.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/time.hpp"

namespace fairlead::backend {

class UnifiedPages {
 public:
  using Place = std::size_t;        ///< by number of its memory node
  static constexpr Place host = 0;  ///< it has room for everything
  static constexpr Bytes unlimited = ~Bytes{0};

  struct Options {
    Bytes block = 1;
    std::vector<Bytes> capacity;  ///< by place; `unlimited` where nothing is evicted
    /// How long so many bytes take from one place to the other; the nearer copy is taken.
    std::function<Duration(Place from, Place to, Bytes)> time;
  };
  explicit UnifiedPages(Options options);

  struct Datum {
    DatumId id{};
    Bytes bytes = 0;
    bool has_value = true;  ///< from the start, in the host's memory; else its pages are made at first touch
  };
  enum class Use : std::uint8_t {
    read_shared,  // other copies stay
    taken,        // moves here: nobody else has it any more
    written,      // and is changed
  };
  struct Move {
    Place from = 0, to = 0;
    Bytes bytes = 0;
    bool operator==(const Move&) const = default;
  };
  struct Changes {
    std::vector<Move> evictions;  ///< to the host, before anything comes
    std::vector<Move> moves;
    Bytes bytes_made = 0;          ///< pages that were nowhere
    Bytes bytes() const noexcept;  ///< moved to where the datum is used, or made there
  };

  /// All of the datum is to be at the place, for this use. Throws Error if it is larger than the device.
  Changes bring(const Datum& datum, Place place, Use use);
  /// Nothing has to move or to be made for that, though copies elsewhere may end.
  bool is_there(const Datum& datum, Place place) const;
  /// What has been written and is on the device alone goes to the host's memory, too. One datum; no bytes:
  /// nothing is left.
  Move bring_home(Place device);

  std::uint64_t evictions() const noexcept { return evictions_; }  ///< of blocks
  Bytes peak_bytes(Place place) const noexcept { return places_[place].peak * options_.block; }

 private:
  // The host has the first blocks, a device the last ones: eviction takes a datum's blocks from the front.
  struct Pages {
    DatumId id{};
    Bytes bytes = 0;
    std::uint64_t blocks = 0;
    bool made = false, dirty = false;
    std::vector<std::uint64_t> held;  // blocks, by place
    std::vector<std::uint64_t> used;  // when last, by place
  };
  struct PlaceState {
    std::uint64_t capacity = 0, held = 0, peak = 0;  // blocks
    std::map<std::uint64_t, DatumId> by_use;         // of data that hold blocks, by time of use
    std::size_t at_home = 0;                         // of data_: those before it need not come home
  };

  Pages& pages_of(const Datum& datum);
  std::uint64_t missing(const Pages& pages, Place place) const noexcept {
    return pages.blocks - pages.held[place];
  }
  Bytes bytes_of(const Pages& pages, std::uint64_t first, std::uint64_t last) const noexcept;
  void set_held(Pages& pages, Place place, std::uint64_t blocks);
  void touch(Pages& pages, Place place);
  void make_room(const Pages& wanted, Place place, std::uint64_t blocks, Changes& out);
  std::uint64_t evict(Pages& pages, Place place, std::uint64_t most, Changes& out);
  void find_sources(const Pages& pages, Place place, Changes& out) const;
  Place fullest_device(const Pages& pages, Place except) const noexcept;

  Options options_;
  std::vector<PlaceState> places_;
  std::vector<Pages> data_;  // by DatumId
  std::uint64_t clock_ = 0, evictions_ = 0;
};

}  // namespace fairlead::backend
