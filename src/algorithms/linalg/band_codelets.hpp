// Tasks that read a band of a file into several tiles at once: lines of the file that are as long as possible.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/pages.hpp"

namespace fairlead::linalg {

/// Over ranks: who reads a file. Either each rank what belongs into its tiles, one at a time; or rank 0 everything, which then
/// goes to its owners whenever as much has been read as may be in its memory.
struct NpyReaders {
  bool first_alone = false;
  /// Waits for the flow, on all ranks.
  std::function<void()> wait{};
};

/// Tiles of a band: one across the file's lines, some along them. Counted in elements.
struct NpyPiece {
  std::int64_t across, across_count;  ///< lines: rows of a file in C order, columns in Fortran order
  std::int64_t along, along_count;
  std::int64_t tile;         ///< lines along one
  std::int64_t tile_across;  ///< and across
};

inline constexpr std::size_t most_band_tiles = 16;  // of a task
/// So many tiles are read at once: a quarter of the memory, in which each takes whole pages.
inline std::int32_t tiles_of_band(Bytes memory_bytes, Bytes tile_bytes, Bytes most = most_band_tiles) {
  return static_cast<std::int32_t>(
      std::clamp<Bytes>(memory_bytes / 4 / whole_pages_for(tile_bytes), 1, most));
}
template <class T>
using BandHandles = std::array<Handle<Tile<T>>, most_band_tiles>;

/// For the parameters of a body that has as many as a sequence has numbers.
template <std::size_t, class P>
using Same = P;

// A body has a fixed number of parameters: there is one for each of 1, 2, 4, 8 and 16 tiles.

/// Codelets with 1, 2, 4, 8, 16 tiles whose bodies are Body<T, index_sequence<0, ...>>.
template <class T, class Reader, template <class, class> class Body>
class BandCodelets {
 public:
  BandCodelets(const char* name, Reader* reader)
      : one_(make<1>(name, reader)),
        two_(make<2>(name, reader)),
        four_(make<4>(name, reader)),
        eight_(make<8>(name, reader)),
        sixteen_(make<16>(name, reader)) {}

  /// `by_first`: over ranks rank 0 runs it. Else the owner of the tiles.
  void submit(Flow& flow, const BandHandles<T>& tiles, std::size_t count, const NpyPiece& piece,
              bool by_first = false) const {
    switch (count) {
      case 1:
        return submit<1>(flow, one_, tiles, piece, by_first);
      case 2:
        return submit<2>(flow, two_, tiles, piece, by_first);
      case 4:
        return submit<4>(flow, four_, tiles, piece, by_first);
      case 8:
        return submit<8>(flow, eight_, tiles, piece, by_first);
      default:
        return submit<16>(flow, sixteen_, tiles, piece, by_first);
    }
  }

 private:
  template <std::size_t N>
  static auto make(const char* name, Reader* reader) {
    return codelet(name).cpu(Body<T, std::make_index_sequence<N>>{reader});
  }
  template <std::size_t N, class C>
  static void submit(Flow& flow, const C& codelet, const BandHandles<T>& tiles, const NpyPiece& piece,
                     bool by_first) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      by_first ? flow.submit(codelet(tiles[I]..., piece).on_rank(0))
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

/// Counts what rank 0 has read and not yet given away.
class NpyBatches {
 public:
  NpyBatches(const NpyReaders& readers, Bytes at_once) : readers_(readers), at_once_(at_once) {}
  /// Before so much more is read.
  void more(Bytes bytes) {
    if (!readers_.first_alone || !readers_.wait) return;
    if (so_far_ != 0 && so_far_ + bytes > at_once_) {
      readers_.wait();
      so_far_ = 0;
    }
    so_far_ += bytes;
  }

 private:
  const NpyReaders& readers_;
  Bytes at_once_, so_far_ = 0;
};

}  // namespace fairlead::linalg
