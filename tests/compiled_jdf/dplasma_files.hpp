// Expected results of DPLASMA's files, compared with loops. scripts/try-jdf-trees compiles this program for a
// folder of such files, whose texts are not in this repository.
#pragma once
#include <fairlead/core_blas_compat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiled_jdf/compiled.hpp"

namespace fairlead::compiled_jdf {

/// Sizes that tiles divide and do not, and a single tile; with enough memory and with memory for few tiles;
/// in the runtime's memory and the caller's.
struct Trial {
  std::int64_t m, n, k;
  std::int32_t tile;
  const char* memory;
  Home home = Home::runtime;
};
inline constexpr Trial trials[] = {{75, 58, 102, 13, "64MiB"},
                                   {75, 58, 102, 13, "64KiB"},
                                   {52, 39, 26, 13, "64MiB"},
                                   {41, 77, 33, 10, "64MiB", Home::caller},
                                   {9, 7, 8, 20, "64MiB"}};

/// Element (i, j) of op(A).
template <class T>
double op(const Plain<T>& a, int trans, std::int64_t i, std::int64_t j) {
  return trans == PlasmaNoTrans ? a(i, j) : a(j, i);
}
inline bool in_triangle(int uplo, std::int64_t i, std::int64_t j) {
  return uplo == PlasmaLower ? i >= j : i <= j;
}
/// Element (i, j) of op(A) where A is a triangle.
template <class T>
double of_triangle(const Plain<T>& a, int uplo, int trans, std::int64_t i, std::int64_t j) {
  if (trans != PlasmaNoTrans) std::swap(i, j);
  return in_triangle(uplo, i, j) ? static_cast<double>(a(i, j)) : 0.0;
}

/// One run of a file, with its matrices.
template <class T>
class Run {
 public:
  explicit Run(const Trial& trial) : trial_(trial), runtime_(config(trial)), graph_(runtime_) {}

  parsec::Descriptor& matrix(const Plain<T>& numbers) {
    matrices_.push_back(std::make_unique<Described<T>>(runtime_, numbers, trial_.tile, trial_.home));
    return matrices_.back()->descriptor();
  }
  Runtime& runtime() { return runtime_; }
  ptg::Graph& graph() { return graph_; }
  /// The final numbers of the matrix that was named last.
  Plain<T> result() { return result_of(matrices_.size() - 1); }
  Plain<T> result_of(std::size_t number) {
    if (!std::exchange(over_, true)) {
      if (const ptg::Checked checked = graph_.check(); checked.errors != 0)
        std::printf("run all the same: %s\n", checked.text.substr(0, checked.text.find('\n')).c_str());
      graph_.run();
    }
    return matrices_[number]->numbers();
  }

 private:
  static Config config(const Trial& trial) {
    Config config;
    config.set("memory", trial.memory);
    return config;
  }
  const Trial& trial_;
  Runtime runtime_;
  std::vector<std::unique_ptr<Described<T>>> matrices_;
  ptg::Graph graph_;
  bool over_ = false;
};

/// The largest error, in rounding units of sums of `terms` numbers of this size.
template <class T, class Expected, class Got>
double worst_of(std::int64_t rows, std::int64_t columns, double terms, const Expected& expected,
                const Got& got) {
  double error = 0, size = 1e-300;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      const double wanted = expected(i, j);
      error = std::max(error, std::abs(wanted - got(i, j)));
      if (std::isnan(got(i, j))) return std::numeric_limits<double>::infinity();
      size = std::max(size, std::abs(wanted));
    }
  return error / size / terms / std::numeric_limits<T>::epsilon();
}

template <class F>
double sum(std::int64_t first, std::int64_t end, const F& f) {
  double out = 0;
  for (std::int64_t i = first; i < end; ++i) out += f(i);
  return out;
}

template <class T, class File>
double gemm(const Trial& t, const File& file, int trans_a, int trans_b) {
  const auto shaped = [](std::int64_t rows, std::int64_t columns, int trans, unsigned seed) {
    return trans == PlasmaNoTrans ? random_matrix<T>(rows, columns, seed)
                                  : random_matrix<T>(columns, rows, seed);
  };
  const Plain<T> a = shaped(t.m, t.k, trans_a, 1), b = shaped(t.k, t.n, trans_b, 2),
                 c = random_matrix<T>(t.m, t.n, 3);
  Run<T> run(t);
  auto &da = run.matrix(a), &db = run.matrix(b), &dc = run.matrix(c);
  file(run.graph(), trans_a, trans_b, T(2), T(-0.5), da, db, dc);
  return worst_of<T>(
      t.m, t.n, static_cast<double>(t.k),
      [&](auto i, auto j) {
        return 2 * sum(0, t.k, [&](auto k) { return op(a, trans_a, i, k) * op(b, trans_b, k, j); }) -
               0.5 * c(i, j);
      },
      run.result());
}

/// op(A) X = 2 B, or X op(A) = 2 B.
template <class T, class File>
double trsm(const Trial& t, const File& file, int side, int uplo, int trans) {
  const std::int64_t order = side == PlasmaLeft ? t.m : t.n;
  const Plain<T> a = random_matrix<T>(order, order, 1, static_cast<T>(order)),
                 b = random_matrix<T>(t.m, t.n, 2);
  Run<T> run(t);
  auto &da = run.matrix(a), &db = run.matrix(b);
  file(run.graph(), side, uplo, trans, PlasmaNonUnit, T(2), da, db);
  const Plain<T> x = run.result();
  return worst_of<T>(
      t.m, t.n, static_cast<double>(order), [&](auto i, auto j) { return 2.0 * b(i, j); },
      [&](auto i, auto j) {
        return sum(0, order, [&](auto k) {
          return side == PlasmaLeft ? of_triangle(a, uplo, trans, i, k) * x(k, j)
                                    : x(i, k) * of_triangle(a, uplo, trans, k, j);
        });
      });
}

/// B := 2 op(A) B, or 2 B op(A).
template <class T, class File>
double trmm(const Trial& t, const File& file, int side, int uplo, int trans) {
  const std::int64_t order = side == PlasmaLeft ? t.m : t.n;
  const Plain<T> a = random_matrix<T>(order, order, 1), b = random_matrix<T>(t.m, t.n, 2);
  Run<T> run(t);
  auto &da = run.matrix(a), &db = run.matrix(b);
  file(run.graph(), side, uplo, trans, PlasmaNonUnit, T(2), da, db);
  return worst_of<T>(
      t.m, t.n, static_cast<double>(order),
      [&](auto i, auto j) {
        return 2 * sum(0, order, [&](auto k) {
                 return side == PlasmaLeft ? of_triangle(a, uplo, trans, i, k) * b(k, j)
                                           : b(i, k) * of_triangle(a, uplo, trans, k, j);
               });
      },
      run.result());
}

/// One triangle of C := 2 op(A) op(A)^T - 0.5 C; with a second matrix, of the symmetric sum of both products.
/// The other triangle is unchanged.
template <class T, class File>
double syrk(const Trial& t, const File& file, int uplo, int trans, bool with_two = false) {
  const std::int64_t rows = trans == PlasmaNoTrans ? t.m : t.k, columns = trans == PlasmaNoTrans ? t.k : t.m;
  const Plain<T> a = random_matrix<T>(rows, columns, 1), b = random_matrix<T>(rows, columns, 2),
                 c = random_matrix<T>(t.m, t.m, 3);
  Run<T> run(t);
  auto &da = run.matrix(a), &db = run.matrix(b), &dc = run.matrix(c);
  if constexpr (requires { file(run.graph(), uplo, trans, T(2), da, db, T(-0.5), dc); })
    file(run.graph(), uplo, trans, T(2), da, db, T(-0.5), dc);
  else
    file(run.graph(), uplo, trans, T(2), da, T(-0.5), dc);
  return worst_of<T>(
      t.m, t.m, static_cast<double>(t.k),
      [&](auto i, auto j) {
        if (!in_triangle(uplo, i, j)) return static_cast<double>(c(i, j));
        return 2 * sum(0, t.k,
                       [&](auto k) {
                         return with_two ? op(a, trans, i, k) * op(b, trans, j, k) +
                                               op(b, trans, i, k) * op(a, trans, j, k)
                                         : op(a, trans, i, k) * op(a, trans, j, k);
                       }) -
               0.5 * c(i, j);
      },
      run.result());
}

/// C := 2 A B - 0.5 C, or 2 B A - 0.5 C, of a symmetric A of which one triangle is read.
template <class T, class File>
double symm(const Trial& t, const File& file, int side, int uplo) {
  const std::int64_t order = side == PlasmaLeft ? t.m : t.n;
  const Plain<T> a = random_matrix<T>(order, order, 1), b = random_matrix<T>(t.m, t.n, 2),
                 c = random_matrix<T>(t.m, t.n, 3);
  Run<T> run(t);
  auto &da = run.matrix(a), &db = run.matrix(b), &dc = run.matrix(c);
  file(run.graph(), side, uplo, T(2), T(-0.5), da, db, dc);
  const auto whole = [&](auto i, auto j) {
    return static_cast<double>(in_triangle(uplo, i, j) ? a(i, j) : a(j, i));
  };
  return worst_of<T>(
      t.m, t.n, static_cast<double>(order),
      [&](auto i, auto j) {
        return 2 * sum(0, order,
                       [&](auto k) {
                         return side == PlasmaLeft ? whole(i, k) * b(k, j) : b(i, k) * whole(k, j);
                       }) -
               0.5 * c(i, j);
      },
      run.result());
}

/// L^T L, or U U^T, in place of the triangle.
template <class T, class File>
double lauum(const Trial& t, const File& file, int uplo) {
  const Plain<T> a = random_matrix<T>(t.m, t.m, 1);
  Run<T> run(t);
  file(run.graph(), uplo, run.matrix(a));
  const int first = uplo == PlasmaLower ? PlasmaTrans : PlasmaNoTrans;
  const int second = uplo == PlasmaLower ? PlasmaNoTrans : PlasmaTrans;
  return worst_of<T>(
      t.m, t.m, static_cast<double>(t.m),
      [&](auto i, auto j) {
        if (!in_triangle(uplo, i, j)) return static_cast<double>(a(i, j));
        return sum(0, t.m, [&](auto k) {
          return of_triangle(a, uplo, first, i, k) * of_triangle(a, uplo, second, k, j);
        });
      },
      run.result());
}

/// The product of a triangle and its computed inverse.
template <class T, class File>
double trtri(const Trial& t, const File& file, int uplo) {
  const Plain<T> a = random_matrix<T>(t.m, t.m, 1, static_cast<T>(t.m));
  Run<T> run(t);
  int info = 0;
  file(run.graph(), uplo, PlasmaNonUnit, run.matrix(a), &info);
  const Plain<T> x = run.result();
  if (info != 0) return std::numeric_limits<double>::infinity();
  return worst_of<T>(
      t.m, t.m, static_cast<double>(t.m), [](auto i, auto j) { return i == j ? 1.0 : 0.0; },
      [&](auto i, auto j) {
        return sum(0, t.m, [&](auto k) {
          return of_triangle(a, uplo, PlasmaNoTrans, i, k) * of_triangle(x, uplo, PlasmaNoTrans, k, j);
        });
      });
}

/// The product of the Cholesky factors and the matrix.
template <class T, class File>
double potrf(const Trial& t, const File& file, int uplo) {
  Plain<T> a = random_matrix<T>(t.m, t.m, 1, static_cast<T>(t.m));
  for (std::int64_t j = 0; j < t.m; ++j)
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i);
  Run<T> run(t);
  int info = 0;
  file(run.graph(), uplo, run.matrix(a), &info);
  const Plain<T> x = run.result();
  if (info != 0) return std::numeric_limits<double>::infinity();
  const int first = uplo == PlasmaLower ? PlasmaNoTrans : PlasmaTrans;
  const int second = uplo == PlasmaLower ? PlasmaTrans : PlasmaNoTrans;
  return worst_of<T>(
      t.m, t.m, static_cast<double>(t.m), [&](auto i, auto j) { return static_cast<double>(a(i, j)); },
      [&](auto i, auto j) {
        return sum(0, t.m, [&](auto k) {
          return of_triangle(x, uplo, first, i, k) * of_triangle(x, uplo, second, k, j);
        });
      });
}

/// The product of L, with ones on its diagonal, and U, and the matrix.
template <class T, class File>
double getrf_nopiv(const Trial& t, const File& file) {
  const Plain<T> a = random_matrix<T>(t.m, t.n, 1, static_cast<T>(t.m + t.n));
  Run<T> run(t);
  int info = 0;
  file(run.graph(), run.matrix(a), &info);
  const Plain<T> x = run.result();
  if (info != 0) return std::numeric_limits<double>::infinity();
  return worst_of<T>(
      t.m, t.n, static_cast<double>(t.m), [&](auto i, auto j) { return static_cast<double>(a(i, j)); },
      [&](auto i, auto j) {
        return (i <= j ? x(i, j) : 0.0) +
               sum(0, std::min(i, j + 1), [&](auto k) { return static_cast<double>(x(i, k)) * x(k, j); });
      });
}

/// R^T R and A^T A. Does not check T and V, which represent Q.
template <class T, class File>
double geqrf(const Trial& t, const File& file) {
  const Plain<T> a = random_matrix<T>(t.m, t.n, 1);
  Run<T> run(t);
  const std::int32_t inner = 5, rows = static_cast<std::int32_t>((t.m + t.tile - 1) / t.tile),
                     columns = static_cast<std::int32_t>((t.n + t.tile - 1) / t.tile);
  std::vector<Handle<Tile<T>>> tiles;
  for (std::int32_t i = 0; i < rows * columns; ++i)
    tiles.push_back(run.runtime().template matrix<T>(
        "T", inner, t.tile, generated_by([](TileView<T> piece, std::int64_t, std::int64_t) {
          for (std::int32_t c = 0; c < piece.columns(); ++c)
            for (std::int32_t r = 0; r < piece.rows(); ++r) piece(r, c) = T(0);
        })));
  parsec::Descriptor factors(tiles, rows * inner, columns * t.tile, inner, t.tile);
  parsec::MemoryPool work(sizeof(T) * static_cast<std::size_t>(inner * t.tile)),
      tau(sizeof(T) * static_cast<std::size_t>(t.tile));
  file(run.graph(), run.matrix(a), factors, inner, work, tau);
  const Plain<T> r = run.result();
  return worst_of<T>(
      t.n, t.n, static_cast<double>(t.m),
      [&](auto i, auto j) {
        return sum(0, t.m, [&](auto k) { return static_cast<double>(a(k, i)) * a(k, j); });
      },
      [&](auto i, auto j) {
        return sum(0, std::min({i + 1, j + 1, t.m}),
                   [&](auto k) { return static_cast<double>(r(k, i)) * r(k, j); });
      });
}

/// Runs all trials; returns whether the file's results match the loops.
template <class F>
bool tried(const char* name, const F& of) {
  double worst = 0;
  for (const Trial& trial : trials) {
    try {
      worst = std::max(worst, of(trial));
    } catch (const Error& error) {
      std::printf("%-12s FAILS: %s\n", name, error.what());
      return false;
    }
  }
  const bool right = worst < 20;
  std::printf("%-12s %s: the largest error is %.2f roundings a term\n", name, right ? "runs" : "IS WRONG",
              worst);
  return right;
}

}  // namespace fairlead::compiled_jdf
