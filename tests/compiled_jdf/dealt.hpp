// For compiled graphs over ranks: a distributed matrix with conversion from and to plain numbers, and the
// settings of a rank.
#pragma once
#include <fairlead/fairlead.hpp>
#include <fairlead/parsec.hpp>

#include <cstdint>

#include "compiled_jdf/compiled.hpp"

namespace fairlead::compiled_jdf {

/// The settings of each rank; ranks are threads here.
inline Config config_of_rank(const char* memory) {
  Config config;
  config.set("memory", memory);
  config.set("workers", 1);
  config.set("bind-threads", false);
  return config;
}

/// A matrix distributed over the ranks, or of one runtime; its tiles with these numbers, and the conversion
/// back.
template <class T>
class Dealt {
 public:
  Dealt(Runtime& runtime, const Plain<T>& from, std::int32_t tile, const Distribution* distribution)
      : runtime_(runtime),
        matrix_(distribution == nullptr
                    ? runtime.tiled<T>("A", from.rows, from.columns, tile)
                    : runtime.tiled<T>("A", from.rows, from.columns, tile, *distribution)),
        descriptor_(matrix_) {
    each_tile([&](auto& flow, const auto& handle, std::int64_t row, std::int64_t column) {
      auto hold = flow.acquire(write(handle));
      const auto t = hold.template get<0>();
      for (std::int32_t j = 0; j < t.columns(); ++j)
        for (std::int32_t i = 0; i < t.rows(); ++i) t(i, j) = from(row + i, column + j);
    });
  }
  parsec::Descriptor& descriptor() { return descriptor_; }
  const Distribution* distribution() const { return matrix_.distribution(); }
  void take(Plain<T>& all) {
    each_tile([&](auto& flow, const auto& handle, std::int64_t row, std::int64_t column) {
      auto hold = flow.acquire(read(handle));
      const auto t = hold.template get<0>();
      for (std::int32_t j = 0; j < t.columns(); ++j)
        for (std::int32_t i = 0; i < t.rows(); ++i) all(row + i, column + j) = t(i, j);
    });
  }

 private:
  template <class F>
  void each_tile(const F& f) {
    Flow flow(runtime_);
    for (std::int32_t j = 0; j < matrix_.tile_columns(); ++j)
      for (std::int32_t i = 0; i < matrix_.tile_rows(); ++i)
        if (const auto handle = matrix_.here_or_not(i, j); handle.datum().datum != nullptr)
          f(flow, handle, std::int64_t{i} * matrix_.tile(), std::int64_t{j} * matrix_.tile());
    flow.wait();
  }
  Runtime& runtime_;
  TiledMatrix<T> matrix_;
  parsec::Descriptor descriptor_;
};

}  // namespace fairlead::compiled_jdf
