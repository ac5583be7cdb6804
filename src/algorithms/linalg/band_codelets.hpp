// Tasks that read a band of a file into several tiles at once, so that the contiguous reads are as long as possible.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "algorithms/linalg/body_name.hpp"
#include "base/pages.hpp"

namespace fairlead::linalg {

/// How the ranks of a distributed run read a file. By default each rank reads its own tiles, one tile per task. With
/// `first_alone`, rank 0 reads the whole file, in batches that fit in its memory, and sends the tiles to their owners.
struct ReadingRanks {
  bool root_reads_all = false;
  /// Waits for the flow, on all ranks.
  std::function<void()> wait{};
};

/// The tiles of one task: one tile across the lines of the file, one or more along them. In elements.
struct LineBand {
  std::int64_t first_line, across_count;  ///< in lines: rows of a file in C order, columns in Fortran order
  std::int64_t first_in_line, along_count;
  std::int64_t tile;         ///< the side of a tile along the lines
  std::int64_t tile_across;  ///< the side across
};

/// Calls f(first, lines, begin, length) for parts of the piece: `lines` lines from `first`, of each `length` elements
/// from `begin`. A part has at most `room` elements, in lines as long as possible or in squares.
template <class F>
void for_each_cut(const LineBand& piece, std::int64_t room, bool squares, F&& f) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(room)));
  const std::int64_t width =
      std::min(piece.along_count, squares ? room / std::min(piece.across_count, side) : room);
  const std::int64_t height = std::min(piece.across_count, room / width);
  for (std::int64_t first = 0; first < piece.across_count; first += height)
    for (std::int64_t begin = 0; begin < piece.along_count; begin += width)
      f(first, std::min(height, piece.across_count - first), begin,
        std::min(width, piece.along_count - begin));
}

inline constexpr std::size_t most_band_tiles = 16;  // per task
/// The number of tiles that one task reads: at most a quarter of the memory, where each tile occupies whole pages.
inline std::int32_t tiles_of_band(Bytes memory_bytes, Bytes tile_bytes, Bytes most = most_band_tiles) {
  return static_cast<std::int32_t>(
      std::clamp<Bytes>(memory_bytes / 4 / whole_pages_for(tile_bytes), 1, most));
}
template <class T>
using BandHandles = std::array<Handle<Tile<T>>, most_band_tiles>;

/// Repeats a parameter type once per element of an index sequence.
template <std::size_t, class P>
using Repeat = P;

// A body has a fixed number of parameters, so there is one codelet for each of 1, 2, 4, 8 and 16 tiles.

/// Codelets for 1, 2, 4, 8 and 16 tiles, whose bodies are Body<T, index_sequence<0, ...>>.
template <class T, class Reader, template <class, class> class Body>
class BandCodelets {
 public:
  BandCodelets(const char* name, Reader* reader)
      : one_(make<1>(name, reader)),
        two_(make<2>(name, reader)),
        four_(make<4>(name, reader)),
        eight_(make<8>(name, reader)),
        sixteen_(make<16>(name, reader)) {}

  /// Submits a task for `count` tiles. `by_first`: in distributed runs, rank 0 runs it instead of the owner of the
  /// tiles.
  void submit(Flow& flow, const BandHandles<T>& tiles, std::size_t count, const LineBand& piece,
              bool on_root = false) const {
    switch (count) {
      case 1:
        return submit<1>(flow, one_, tiles, piece, on_root);
      case 2:
        return submit<2>(flow, two_, tiles, piece, on_root);
      case 4:
        return submit<4>(flow, four_, tiles, piece, on_root);
      case 8:
        return submit<8>(flow, eight_, tiles, piece, on_root);
      default:
        return submit<16>(flow, sixteen_, tiles, piece, on_root);
    }
  }

 private:
  template <std::size_t N>
  static auto make(const char* name, Reader* reader) {
    return codelet(name).cpu(body_of_type<T>, Body<T, std::make_index_sequence<N>>{reader});
  }
  template <std::size_t N, class C>
  static void submit(Flow& flow, const C& codelet, const BandHandles<T>& tiles, const LineBand& piece,
                     bool on_root) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      on_root ? flow.submit(codelet(tiles[I]..., piece).on_rank(0))
              : flow.submit(codelet(tiles[I]..., piece));
    }
    (std::make_index_sequence<N>());
  }
  decltype(make<1>("", nullptr)) one_;
  decltype(make<2>("", nullptr)) two_;
  decltype(make<4>("", nullptr)) four_;
  decltype(make<8>("", nullptr)) eight_;
  decltype(make<16>("", nullptr)) sixteen_;
};

/// Limits the bytes that rank 0 has read and not yet sent to their owners.
class ReadBatches {
 public:
  ReadBatches(const ReadingRanks& readers, Bytes at_once) : readers_(readers), at_once_(at_once) {}
  /// Called before `bytes` more are read; waits for the flow if the batch would exceed its limit.
  void add(Bytes bytes) {
    if (!readers_.root_reads_all || !readers_.wait) return;
    if (so_far_ != 0 && so_far_ + bytes > at_once_) {
      readers_.wait();
      so_far_ = 0;
    }
    so_far_ += bytes;
  }

 private:
  const ReadingRanks& readers_;
  Bytes at_once_, so_far_ = 0;
};

}  // namespace fairlead::linalg
