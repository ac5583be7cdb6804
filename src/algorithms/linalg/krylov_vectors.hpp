// Vectors in blocks of rows, for iterative methods: block i belongs to rank i modulo the number of ranks.
#pragma once
#include <fairlead/error.hpp>
#include <fairlead/ptg.hpp>
#include <fairlead/runtime.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::linalg {

/// `columns` vectors. The destructor removes the data; graphs that use them must be destroyed first.
template <class T>
class KrylovVectors {
 public:
  KrylovVectors(Runtime& runtime, std::string name, const TiledMatrix<T>& a, std::int32_t columns)
      : runtime_(runtime), name_(std::move(name)), distribution_(round_robin(runtime)) {
    for (std::int32_t i = 0; i < a.tile_rows(); ++i) {
      const std::int32_t rows = a.rows_of(i);
      handles_.push_back(distribution_.owner(i, 0) == runtime.rank()
                             ? runtime.matrix<T>(fmt::format("{}[{}]", name_, i), rows, columns)
                             : Handle<Tile<T>>({}, {rows, columns, rows}));
    }
  }
  KrylovVectors(const KrylovVectors&) = delete;
  KrylovVectors& operator=(const KrylovVectors&) = delete;
  ~KrylovVectors() {
    for (const Handle<Tile<T>>& handle : handles_) try {
        if (handle.datum().datum != nullptr) runtime_.remove(handle);
      } catch (...) {
        // Removal fails in a body, in another thread, or if memory is exhausted: the datum then stays until the runtime
        // ends.
      }
  }

  ptg::Collection in(ptg::Graph& graph) const {
    return graph.data<Tile<T>>(
        name_, {static_cast<std::int64_t>(handles_.size())},
        [this](const std::int64_t* at) { return handles_[static_cast<std::size_t>(at[0])]; }, &distribution_);
  }
  static Distribution round_robin(Runtime& runtime) {
    return Distribution([ranks = runtime.ranks()](std::int32_t i, std::int32_t) {
      return static_cast<std::uint32_t>(i) % ranks;
    });
  }

 private:
  Runtime& runtime_;
  std::string name_;
  Distribution distribution_;
  std::vector<Handle<Tile<T>>> handles_;
};

/// One vector of numbers on each rank: the layout of global sums, and the place of tasks that run once per rank.
class PerRankSums {
 public:
  PerRankSums(Runtime& runtime, std::int64_t count)
      : runtime_(runtime), distribution_(KrylovVectors<double>::round_robin(runtime)) {
    for (std::uint32_t rank = 0; rank < runtime.ranks(); ++rank)
      handles_.push_back(rank == runtime.rank() ? runtime.vector<double>("sums", count)
                                                : Handle<Vector<double>>({}, {count, 1}));
  }
  PerRankSums(const PerRankSums&) = delete;
  PerRankSums& operator=(const PerRankSums&) = delete;
  ~PerRankSums() {
    try {
      runtime_.remove(handles_[runtime_.rank()]);
    } catch (...) {
      // As above.
    }
  }
  std::int64_t ranks() const noexcept { return static_cast<std::int64_t>(handles_.size()); }
  ptg::Collection in(ptg::Graph& graph) const {
    return graph.data<Vector<double>>(
        "sums", {ranks()},
        [this](const std::int64_t* at) { return handles_[static_cast<std::size_t>(at[0])]; }, &distribution_);
  }

 private:
  Runtime& runtime_;
  Distribution distribution_;
  std::vector<Handle<Vector<double>>> handles_;
};

}  // namespace fairlead::linalg
