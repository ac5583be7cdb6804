// See symmetric_exchange.hpp.
#include "algorithms/linalg/symmetric_exchange.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/linalg/body_name.hpp"
#include "algorithms/linalg/mirror_image.hpp"

namespace fairlead::linalg {

namespace {

/// A row of a tile and a row of the block.
struct RowPair {
  std::int32_t of_tile, of_block;
};
using RowPairs = std::vector<RowPair>;

/// The exchanges of a panel in total. Rows are counted from the first one of the block.
class TotalExchange {
 public:
  /// Checks exchanges that may have been on disk: none can access memory outside the tiles.
  TotalExchange(const In<Vector<std::int32_t>>& exchanges, std::int64_t first)
      : first_(first), sources_(static_cast<std::size_t>(exchanges.size())) {
    const std::int64_t count = exchanges.size();
    std::iota(sources_.begin(), sources_.end(), 0);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t other = exchanges(k) - 1 - first;
      if (other < k)
        throw SystemError(
            fmt::format("the exchanges of rows that were kept are no longer what they were (row {} with {}): "
                        "a disk or the "
                        "memory has failed",
                        first + k, first + other));
      if (other >= count) below_.push_back(other);
    }
    std::ranges::sort(below_);
    below_.erase(std::unique(below_.begin(), below_.end()), below_.end());
    origins_ = below_;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t other = exchanges(k) - 1 - first;
      std::int64_t& partner = other < count ? sources_[static_cast<std::size_t>(other)] : origin_of(other);
      std::swap(sources_[static_cast<std::size_t>(k)], partner);
    }
  }

  /// The rows of a tile of which each becomes a row of the block. `begin`: the first row of the tile.
  RowPairs sources_in(std::int64_t begin, std::int64_t rows) const {
    RowPairs pairs;
    for (std::size_t k = 0; k < sources_.size(); ++k)
      if (const std::int64_t row = sources_[k] + first_ - begin; row >= 0 && row < rows)
        pairs.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(k)});
    return pairs;
  }
  /// The rows of a tile below the block that change, and the rows of the block from which they come.
  RowPairs moves_in(std::int64_t begin, std::int64_t rows) const {
    RowPairs pairs;
    for (std::size_t i = 0; i < below_.size(); ++i)
      if (const std::int64_t row = below_[i] + first_ - begin; row >= 0 && row < rows)
        pairs.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(origins_[i])});
    return pairs;
  }
  std::int32_t count() const noexcept { return static_cast<std::int32_t>(sources_.size()); }

 private:
  std::int64_t& origin_of(std::int64_t row) {
    return origins_[static_cast<std::size_t>(std::ranges::lower_bound(below_, row) - below_.begin())];
  }

  std::int64_t first_;
  std::vector<std::int64_t> sources_;  // by row of the block
  std::vector<std::int64_t> below_;    // the rows below that change, in ascending order
  std::vector<std::int64_t> origins_;  // of these: rows of the block
};

/// An element of a symmetric tile of which the lower triangle is stored.
template <class View>
auto symmetric_element(const View& tile, Symmetry symmetry, std::int32_t i, std::int32_t j) {
  using T = std::remove_cvref_t<decltype(tile(i, j))>;
  return i >= j ? T(tile(i, j)) : mirror_image<T>(tile(j, i), symmetry);
}

template <class View>
auto column_of(const View& tile, std::int32_t j) {
  return tile.data() + static_cast<std::ptrdiff_t>(j) * tile.leading_dimension();
}

/// Column by column, which stays in a cache.
template <class T>
void exchange_in_tile(const TotalExchange& all, Symmetry symmetry, const In<Tile<T>>& old_i,
                      const In<Tile<T>>& old_l, const In<Tile<T>>& block, const InOut<Tile<T>>& a,
                      const InOut<Tile<T>>& w_i, const InOut<Tile<T>>& w_l, std::int64_t i, std::int64_t l) {
  for (const auto& [column, k] : all.sources_in(l, a.columns()))
    std::copy_n(column_of(a, column), a.rows(), column_of(w_i, k));
  const RowPairs rows_out = all.sources_in(i, a.rows()), rows_in = all.moves_in(i, a.rows()),
                 columns_in = all.moves_in(l, a.columns());
  for (std::int32_t c = 0; c < a.columns(); ++c) {
    T* const own = column_of(a, c);
    for (const auto& [row, k] : rows_out) w_l(c, k) = mirror_image(own[row], symmetry);
    for (const auto& [row, b] : rows_in) own[row] = mirror_image<T>(old_l(c, b), symmetry);
  }
  for (const auto& [column, b] : columns_in) {
    std::copy_n(column_of(old_i, b), a.rows(), column_of(a, column));
    for (const auto& [row, other] : rows_in) a(row, column) = symmetric_element(block, symmetry, other, b);
  }
}

template <class T>
void exchange_in_diagonal_tile(const TotalExchange& all, Symmetry symmetry, const In<Tile<T>>& old,
                               const In<Tile<T>>& block, const InOut<Tile<T>>& a, const InOut<Tile<T>>& w,
                               std::int64_t i) {
  for (const auto& [row, k] : all.sources_in(i, a.rows()))
    for (std::int32_t r = 0; r < a.rows(); ++r) w(r, k) = symmetric_element(a, symmetry, r, row);
  const RowPairs moves = all.moves_in(i, a.rows());
  for (const auto& [row, b] : moves) {
    for (std::int32_t c = 0; c < row; ++c) a(row, c) = mirror_image<T>(old(c, b), symmetry);
    for (std::int32_t r = row + 1; r < a.rows(); ++r) a(r, row) = old(r, b);
  }
  for (const auto& [row, b] : moves)
    for (const auto& [column, other] : moves)
      if (column <= row) a(row, column) = symmetric_element(block, symmetry, b, other);
}

}  // namespace

template <class T>
SymmetricExchangeKernels<T>::SymmetricExchangeKernels(Symmetry symmetry)
    : collect_block(
          codelet("collect")
              .cpu(body_of_type<T>,
                   [symmetry](In<Exchanges> exchanges, In<Tile> block, Out<Tile> w, std::int64_t first) {
                     const TotalExchange all(exchanges, first);
                     for (const auto& [row, k] : all.sources_in(first, block.rows()))
                       for (std::int32_t b = 0; b < block.rows(); ++b)
                         w(b, k) = symmetric_element(block, symmetry, b, row);
                   })
              .emulated()),
      collect_below(codelet("collect")
                        .cpu(body_of_type<T>,
                             [symmetry](In<Exchanges> exchanges, In<Tile> old, Out<Tile> w,
                                        InOut<Tile> w_block, std::int64_t first, std::int64_t i) {
                               const TotalExchange all(exchanges, first);
                               for (const auto& [row, k] : all.sources_in(first, all.count()))
                                 std::copy_n(column_of(old, row), old.rows(), column_of(w, k));
                               for (const auto& [row, k] : all.sources_in(i, old.rows()))
                                 for (std::int32_t b = 0; b < old.columns(); ++b)
                                   w_block(b, k) = mirror_image<T>(old(row, b), symmetry);
                             })
                        .emulated()),
      exchange(codelet("exchange")
                   .cpu(body_of_type<T>,
                        [symmetry](In<Exchanges> exchanges, In<Tile> old_i, In<Tile> old_l, In<Tile> block,
                                   InOut<Tile> a, InOut<Tile> w_i, InOut<Tile> w_l, std::int64_t first,
                                   std::int64_t i, std::int64_t l) {
                          exchange_in_tile<T>(TotalExchange(exchanges, first), symmetry, old_i, old_l, block,
                                              a, w_i, w_l, i, l);
                        })
                   .emulated()),
      exchange_diagonal(
          codelet("exchange")
              .cpu(body_of_type<T>,
                   [symmetry](In<Exchanges> exchanges, In<Tile> old, In<Tile> block, InOut<Tile> a,
                              InOut<Tile> w, std::int64_t first, std::int64_t i) {
                     exchange_in_diagonal_tile<T>(TotalExchange(exchanges, first), symmetry, old, block, a, w,
                                                  i);
                   })
              .emulated()),
      set_below(codelet("set_columns")
                    .cpu(body_of_type<T>,
                         [](In<Exchanges> exchanges, In<Tile> w, In<Tile> w_block, Out<Tile> a,
                            std::int64_t first, std::int64_t i) {
                           const TotalExchange all(exchanges, first);
                           const RowPairs moves = all.moves_in(i, a.rows());
                           for (std::int32_t k = 0; k < a.columns(); ++k) {
                             std::copy_n(column_of(w, k), a.rows(), column_of(a, k));
                             for (const auto& [row, b] : moves) a(row, k) = w_block(b, k);
                           }
                         })
                    .emulated()),
      set_block(codelet("set_columns")
                    .cpu(body_of_type<T>,
                         [](In<Exchanges> exchanges, In<Tile> w, InOut<Tile> block, std::int64_t first,
                            std::int64_t i) {
                           const TotalExchange all(exchanges, first);
                           for (const auto& [row, k] : all.sources_in(i, w.rows()))
                             for (std::int32_t column = 0; column <= k; ++column)
                               block(k, column) = w(row, column);
                         })
                    .emulated()) {}

template struct SymmetricExchangeKernels<float>;
template struct SymmetricExchangeKernels<double>;
template struct SymmetricExchangeKernels<std::complex<float>>;
template struct SymmetricExchangeKernels<std::complex<double>>;

}  // namespace fairlead::linalg
