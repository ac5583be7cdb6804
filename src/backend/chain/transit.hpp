// Copies that cross two wires go piece by piece, the second wire carrying one piece while the first brings
// the next. Between the wires a piece is in a buffer that was set aside at the start, or in the replica that
// the cache on the way keeps. Whoever has a buffer waits for hardware only, so that nobody waits for it for
// ever (docs/memory.md, rule 3).
#pragma once
#include <fairlead/ids.hpp>

#include <functional>
#include <list>
#include <mutex>
#include <vector>

#include "backend/carrier.hpp"

namespace fairlead::backend {

/// A piece on one of its two wires.
struct Hop {
  unsigned wire = 0;  ///< 0 or 1
  std::byte* buffer = nullptr;
  Bytes first = 0, bytes = 0;  ///< of the whole
  const Load* load = nullptr;  ///< the whole
  void* token = nullptr;       ///< to be given to hop_done()
};

class Transit {
 public:
  struct Settings {
    Bytes piece_bytes = 0;
    unsigned pieces = 0;          ///< buffers; also, how many pieces of one copy are under way at most
    std::byte* memory = nullptr;  ///< pieces x piece_bytes
  };
  /// `carry` begins to carry a piece over a wire, which ends with hop_done(), perhaps before it returns.
  /// `on_done` is told when a load is over, with how the first piece went that failed, if one has. Both are
  /// called without any lock.
  Transit(Settings settings, std::function<void(const Hop&)> carry,
          std::function<void(const Load&, const Outcome&)> on_done);
  Transit(const Transit&) = delete;
  Transit& operator=(const Transit&) = delete;

  /// `kept`: where all bytes stay on the way; null: nowhere, they pass through buffers. Any thread.
  void start(const Load& load, std::byte* kept);
  /// Of whichever Transit the token is.
  static void hop_done(void* token, const Outcome& outcome);
  /// From now on nothing is carried or reported: the threads that call hop_done() are about to end.
  void stop() noexcept;

 private:
  struct Chain {
    Load load;
    std::byte* kept;
    Bytes begun = 0, over = 0;
    unsigned under_way = 0;
    Outcome outcome{};
  };
  struct Piece {
    Transit* owner;
    std::list<Chain>::iterator chain;
    Hop hop;
  };
  using Hops = std::vector<Hop>;

  void begin_pieces(Hops& to_carry);
  void over_a_wire(Piece& piece, const Outcome& outcome);
  void carry(Hops& hops);

  const Settings settings_;
  const std::function<void(const Hop&)> carry_;
  const std::function<void(const Load&, const Outcome&)> on_done_;
  std::mutex mutex_;  // guards what follows
  std::list<Chain> chains_;
  std::list<Piece> pieces_;
  std::vector<std::byte*> free_;
  bool stopped_ = false;
};

}  // namespace fairlead::backend
