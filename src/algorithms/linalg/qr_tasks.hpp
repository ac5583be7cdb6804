// The tasks of a tiled QR factorization in program order, for whoever submits them and for whoever only
// simulates them. Buttari, Langou, Kurzak, Dongarra 2009 (the flat tree); Hadri, Ltaief, Agullo, Dongarra
// 2010 ("Tile QR factorization with parallel panel processing": trees of triangles).
#pragma once
#include <algorithm>
#include <cstdint>

namespace fairlead::linalg {

/// In which order the tiles of a panel are annihilated.
enum class QrTree : std::uint8_t {
  flat,    // the diagonal tile takes the others one after the other: few, large tasks in a long chain
  binary,  // each tile becomes a triangle, then they are joined in pairs: a short path, for tall matrices
};

/// For a matrix of `rows` x `columns` tiles calls
///   sink.geqrt(i, k): tile (i, k) becomes a triangle; sink.unmqr(i, k, j): its reflectors on tile (i, j);
/// and, where tile (i, k) is annihilated by the triangle in tile (p, k),
///   if it is whole, sink.tsqrt(p, i, k), sink.tsmqr(p, i, k, j): its reflectors on tiles (p, j) and (i, j);
///   if it is a triangle, sink.ttqrt(p, i, k) and sink.ttmqr(p, i, k, j) likewise.
template <class Sink>
void for_each_qr_task(std::int32_t rows, std::int32_t columns, QrTree tree, Sink&& sink) {
  const auto make_triangle = [&](std::int32_t i, std::int32_t k) {
    sink.geqrt(i, k);
    for (std::int32_t j = k + 1; j < columns; ++j) sink.unmqr(i, k, j);
  };
  for (std::int32_t k = 0; k < std::min(rows, columns); ++k) {
    make_triangle(k, k);
    if (tree == QrTree::flat) {
      for (std::int32_t i = k + 1; i < rows; ++i) {
        sink.tsqrt(k, i, k);
        for (std::int32_t j = k + 1; j < columns; ++j) sink.tsmqr(k, i, k, j);
      }
      continue;
    }
    for (std::int32_t i = k + 1; i < rows; ++i) make_triangle(i, k);
    for (std::int32_t distance = 1; k + distance < rows; distance *= 2)
      for (std::int32_t p = k; p + distance < rows; p += 2 * distance) {
        sink.ttqrt(p, p + distance, k);
        for (std::int32_t j = k + 1; j < columns; ++j) sink.ttmqr(p, p + distance, k, j);
      }
  }
}

}  // namespace fairlead::linalg
