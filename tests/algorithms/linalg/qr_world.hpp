// Shared by tests of QR factorizations: factored matrices, and LAPACK's criteria for them.
#pragma once
#include <fairlead/qr.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {

template <class T>
std::shared_ptr<const MatrixSource<T>> uniform(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  return std::make_shared<GeneratedUniform<T>>(m, n, seed);
}

/// A tiled matrix, factored, and its factors.
template <class T>
struct Factored {
  Dense<T> r, q;  // r: n x n, with zeros below the diagonal; q: m x m
  bool operator==(const Factored&) const = default;
};

template <class T>
Dense<T> identity(std::int64_t n) {
  Dense<T> eye{n, n};
  eye.elements.assign(static_cast<std::size_t>(n * n), 0);
  for (std::int64_t i = 0; i < n; ++i) eye(i, i) = 1;
  return eye;
}

/// The whole of Q by applying it to the identity.
template <class T>
Factored<T> qr_factors(const std::shared_ptr<const MatrixSource<T>>& source, std::int32_t tile, QrTree tree,
                       const Setting& setting, Bytes* bytes_read = nullptr, std::int32_t inner_block = 0,
                       const Kernels& by = kernels()) {
  Runtime runtime(config_of(setting));
  const auto m = source->rows(), n = source->columns();
  const auto a = runtime.tiled<T>("A", m, n, tile), q = runtime.tiled<T>("Q", m, m, tile);
  const QrReflectors<T> reflectors(runtime, a, tree, inner_block);
  Flow flow(runtime);
  fill<T>(flow, source, a, Tiles::all);
  factor_qr(flow, by, a, reflectors);
  fill<T>(flow, std::make_shared<GivenMatrix<T>>(identity<T>(m)), q, Tiles::all);
  apply_q(flow, by, ApplyQ::plain, a, reflectors, q);
  wait_for_results(flow);
  if (bytes_read != nullptr) *bytes_read = runtime.disk_traffic().read;
  const auto whole = fetch(flow, a);
  Dense<T> r{n, n};
  r.elements.resize(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i <= j; ++i) r(i, j) = whole(i, j);
  return {std::move(r), fetch(flow, q)};
}

/// || A - Q R || / (max(m, n) || A || eps), in the one norm.
template <class T>
double qr_residual(const Dense<T>& a, const Factored<T>& f) {
  const std::int64_t inner = f.r.rows;
  const auto upper = [&](std::int64_t i, std::int64_t j) { return i <= j ? f.r(i, j) : T{0}; };
  return difference_from_product(a, elements_of(a.rows, inner, std::cref(f.q)),
                                 elements_of(inner, a.columns, upper), inner);
}

/// || I - Q^T Q || / (m eps), in the one norm.
template <class T>
double orthogonality(const Dense<T>& q) {
  const auto transposed = [&](std::int64_t i, std::int64_t j) { return q(j, i); };
  return difference_from_product(identity<T>(q.rows), elements_of(q.columns, q.rows, transposed),
                                 elements_of(q.rows, q.columns, std::cref(q)), q.rows);
}

template <class T>
void expect_right(const std::shared_ptr<const MatrixSource<T>>& a, const Factored<T>& factors,
                  const std::string& what) {
  EXPECT_LT(qr_residual(dense<T>(*a), factors), 30) << what;
  EXPECT_LT(orthogonality(factors.q), 30) << what;
}

inline std::string text(std::int64_t m, std::int64_t n, int tile, QrTree tree) {
  return std::to_string(m) + " x " + std::to_string(n) + ", tile " + std::to_string(tile) +
         (tree == QrTree::flat ? ", flat" : ", binary");
}

inline constexpr QrTree trees[] = {QrTree::flat, QrTree::binary};

}  // namespace fairlead::linalg::testing
