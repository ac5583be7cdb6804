// Page residency of managed memory, as CUDA's driver keeps it. Each datum consists of blocks, which are in host
// memory, on one device, or, if duplication is allowed, on several. A full device evicts single blocks of the least
// recently used data. Passive: decides what moves, and counts it as moved at once.
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
  using Place = std::size_t;        ///< number of the memory node
  static constexpr Place host = 0;  ///< unlimited capacity
  static constexpr Bytes unlimited = ~Bytes{0};

  struct Options {
    Bytes block = 1;
    std::vector<Bytes> capacity;  ///< by place; `unlimited`: no evictions
    /// Transfer time from one place to another; selects the nearest source.
    std::function<Duration(Place from, Place to, Bytes)> time;
  };
  explicit UnifiedPages(Options options);

  struct Datum {
    DatumId id{};
    Bytes bytes = 0;
    bool has_value = true;  ///< has a value in host memory at the start; otherwise pages are allocated at
                            ///< first touch
  };
  enum class Use : std::uint8_t {
    read_shared,  // copies in other places stay
    exclusive,    // moves here; all other copies become invalid
    written,      // as taken, and is modified
  };
  /// A transfer of pages that the caller has to simulate.
  struct Move {
    Place from = 0, to = 0;
    Bytes bytes = 0;
    bool operator==(const Move&) const = default;
  };
  struct Changes {
    std::vector<Move> evictions;  ///< to the host, before the moves
    std::vector<Move> moves;
    Bytes bytes_made = 0;          ///< first-touched pages
    Bytes bytes() const noexcept;  ///< moved or allocated where the datum is used
  };

  /// Makes the whole datum resident in the place, for this use. Throws Error if it is larger than the device.
  Changes make_resident(const Datum& datum, Place place, Use use);
  /// True if the datum is resident: nothing has to move or be allocated, though copies elsewhere may become invalid.
  bool is_there(const Datum& datum, Place place) const;
  /// Copies one modified datum that is only on the device to host memory. No bytes: none is left.
  Move migrate_home(Place device);

  std::uint64_t evictions() const noexcept { return evictions_; }  ///< in blocks
  Bytes peak_bytes(Place place) const noexcept { return places_[place].peak * options_.block; }

 private:
  // The host has the first blocks, a device the last ones: eviction starts at a datum's front.
  struct Pages {
    DatumId id{};
    Bytes bytes = 0;
    std::uint64_t blocks = 0;
    bool made = false, dirty = false;
    std::vector<std::uint64_t> held;  // blocks, by place
    std::vector<std::uint64_t> used;  // time of last use, by place
  };
  struct PlaceState {
    std::uint64_t capacity = 0, held = 0, peak = 0;  // in blocks
    std::map<std::uint64_t, DatumId> by_use;         // data with resident blocks, by time of last use
    std::size_t at_home = 0;                         // index in data_: data before it are home already
  };

  Pages& pages_of(const Datum& datum);
  std::uint64_t missing(const Pages& pages, Place place) const noexcept {
    return pages.blocks - pages.held[place];
  }
  Bytes bytes_of(const Pages& pages, std::uint64_t first, std::uint64_t last) const noexcept;
  void set_held(Pages& pages, Place place, std::uint64_t blocks);
  void touch(Pages& pages, Place place);
  void evict_for(const Pages& wanted, Place place, std::uint64_t blocks, Changes& out);
  std::uint64_t evict(Pages& pages, Place place, std::uint64_t most, Changes& out);
  void find_sources(const Pages& pages, Place place, Changes& out) const;
  Place fullest_device(const Pages& pages, Place except) const noexcept;

  Options options_;
  std::vector<PlaceState> places_;
  std::vector<Pages> data_;  // by DatumId
  std::uint64_t clock_ = 0, evictions_ = 0;
};

}  // namespace fairlead::backend
