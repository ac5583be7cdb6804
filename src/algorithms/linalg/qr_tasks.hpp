// The tasks of a tiled QR factorization in program order, for submission and for simulation. Buttari, Langou, Kurzak,
// Dongarra 2009 (the flat tree); Hadri, Ltaief, Agullo, Dongarra 2010 ("Tile QR factorization with parallel panel
// processing": trees of triangles).
#pragma once
#include <fairlead/qr.hpp>

#include <algorithm>
#include <cstdint>

namespace fairlead::linalg {

/// The steps in the panels of a matrix of `rows` x `columns` tiles: calls sink.triangle(i, k) where tile (i, k) is
/// reduced to a triangle, and sink.join(p, i, k) where the triangle in tile (p, k) annihilates it: as a whole tile with
/// a flat tree, as a triangle with a binary one.
template <class Sink>
void for_each_qr_reflection(std::int32_t rows, std::int32_t columns, QrTree tree, Sink&& sink) {
  for (std::int32_t k = 0; k < std::min(rows, columns); ++k) {
    sink.triangle(k, k);
    if (tree == QrTree::flat) {
      for (std::int32_t i = k + 1; i < rows; ++i) sink.join(k, i, k);
      continue;
    }
    for (std::int32_t i = k + 1; i < rows; ++i) sink.triangle(i, k);
    for (std::int32_t distance = 1; k + distance < rows; distance *= 2)
      for (std::int32_t p = k; p + distance < rows; p += 2 * distance) sink.join(p, p + distance, k);
  }
}

/// For a matrix of `rows` x `columns` tiles calls
///   sink.geqrt(i, k): tile (i, k) is reduced to a triangle; sink.unmqr(i, k, j): its reflectors are applied to tile (i, j);
/// and, where the triangle in tile (p, k) annihilates tile (i, k),
///   for a whole tile, sink.tsqrt(p, i, k) and sink.tsmqr(p, i, k, j): its reflectors are applied to tiles (p, j), (i, j);
///   for a triangle, sink.ttqrt(p, i, k) and sink.ttmqr(p, i, k, j) likewise.
template <class Sink>
void for_each_qr_task(std::int32_t rows, std::int32_t columns, QrTree tree, Sink&& sink) {
  struct Updates {
    Sink& sink;
    std::int32_t columns;
    QrTree tree;

    void triangle(std::int32_t i, std::int32_t k) const {
      sink.geqrt(i, k);
      for (std::int32_t j = k + 1; j < columns; ++j) sink.unmqr(i, k, j);
    }
    void join(std::int32_t p, std::int32_t i, std::int32_t k) const {
      if (tree == QrTree::flat) {
        sink.tsqrt(p, i, k);
        for (std::int32_t j = k + 1; j < columns; ++j) sink.tsmqr(p, i, k, j);
      } else {
        sink.ttqrt(p, i, k);
        for (std::int32_t j = k + 1; j < columns; ++j) sink.ttmqr(p, i, k, j);
      }
    }
  };
  for_each_qr_reflection(rows, columns, tree, Updates{sink, columns, tree});
}

}  // namespace fairlead::linalg
