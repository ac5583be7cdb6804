// Copies that cross two wires go piece by piece, the second wire carrying one piece while the first brings
// the next. Between the wires a piece is in a buffer that was set aside at the start, or in the replica that
// the cache on the way keeps. Whoever has a buffer waits for hardware only, so that nobody waits for it for
// ever (docs/memory.md, rule 3).
#pragma once
#include <fairlead/ids.hpp>

#include <array>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

namespace fairlead::backend {

/// A piece on one of its two wires: from `first`, the start of the copy's bytes, on.
struct Hop {
  unsigned wire = 0;  ///< 0 or 1
  std::byte* buffer = nullptr;
  Bytes first = 0, bytes = 0;
  void* copy = nullptr;   ///< the caller's
  void* token = nullptr;  ///< to be given to hop_done()
};

class Transit {
 public:
  struct Settings {
    Bytes piece_bytes = 0;
    unsigned pieces = 0;          ///< buffers; also, how many pieces of one copy are under way at most
    std::byte* memory = nullptr;  ///< pieces x piece_bytes
  };
  /// `carry` begins to carry a piece over a wire, which ends with hop_done(), perhaps before it returns.
  /// `on_done` is told when a copy is over, with 0 or the errno of the first piece that failed. Both are
  /// called without any lock.
  Transit(Settings settings, std::function<void(const Hop&)> carry,
          std::function<void(void* copy, int error_number)> on_done);
  Transit(const Transit&) = delete;
  Transit& operator=(const Transit&) = delete;

  /// `kept`: where all bytes stay on the way; null: nowhere, they pass through buffers. Any thread.
  void start(void* copy, Bytes bytes, std::byte* kept);
  /// Of whichever Transit the token is.
  static void hop_done(void* token, int error_number);
  /// From now on nothing is carried or reported: the threads that call hop_done() are about to end.
  void stop() noexcept;

 private:
  struct Chain {
    void* copy;
    Bytes bytes;
    std::byte* kept;
    Bytes begun = 0, over = 0;
    unsigned under_way = 0;
    int error_number = 0;
  };
  struct Piece {
    Transit* owner;
    std::list<Chain>::iterator chain;
    Hop hop;
  };
  using Hops = std::vector<Hop>;

  void begin_pieces(Hops& to_carry);
  void over_a_wire(Piece& piece, int error_number);
  void carry(Hops& hops);

  const Settings settings_;
  const std::function<void(const Hop&)> carry_;
  const std::function<void(void*, int)> on_done_;
  std::mutex mutex_;  // guards what follows
  std::list<Chain> chains_;
  std::list<Piece> pieces_;
  std::vector<std::byte*> free_;
  bool stopped_ = false;
};

}  // namespace fairlead::backend
