// A multifrontal factorization: a tree of dense fronts, many small ones at the leaves, few large ones near the root,
// all of different sizes. Kernels: those of Cholesky, and gemm for the additions. The same seed gives the same tree on
// every machine.
//
// The root has n pivot rows. A front's number of pivots follows nested dissection of a cube, randomly varied by a
// third: the separator of half the volume has 2^(-2/3) of the surface. A front's other rows, 0.5 to 1.5 times as many,
// are its contribution to its parent. The pivots are eliminated tile by tile, which updates the other rows; then each
// tile of these is added to a tile of the parent, at 32 operations per element.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "algorithms/linalg/blas/flops.hpp"
#include "base/random.hpp"
#include "simulate/longest_path.hpp"
#include "simulate/workloads/dense.hpp"
#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

namespace {

class FrontTree {
 public:
  FrontTree(Program& program, const WorkloadSize& size, std::uint64_t seed)
      : program_(program), size_(size), random_(seed) {}

  /// Creates the subtree of a front with about the given number of pivots and `levels` levels, leaves first.
  /// Returns the front.
  ProgramMatrix subtree(double pivots, std::int64_t levels, bool is_root) {
    const auto own = static_cast<std::int64_t>(
        std::max(1.0, is_root ? pivots : pivots * (2.0 / 3 + 2.0 / 3 * random_.unit())));
    const auto rest = is_root ? std::int64_t{0}
                              : static_cast<std::int64_t>(static_cast<double>(own) * (0.5 + random_.unit()));
    struct Child {
      ProgramMatrix front;
      std::int32_t eliminated;
    };
    std::vector<Child> children;
    if (levels > 1)
      for (int i = 0; i < 2; ++i) {
        ProgramMatrix front = subtree(pivots * std::exp2(-2.0 / 3), levels - 1, false);
        children.push_back({std::move(front), eliminated_});
      }
    const std::int32_t number = fronts_++;
    ProgramMatrix front(program_, fmt::format("front {}", number), own + rest, own + rest, size_.tile,
                        size_.precision, Tiles::lower);
    for (const Child& child : children) add(child.front, child.eliminated, front, number);
    eliminated_ = static_cast<std::int32_t>((own + size_.tile - 1) / size_.tile);
    eliminate(front, number);
    return front;
  }

 private:
  void add(const ProgramMatrix& child, std::int32_t first, const ProgramMatrix& parent, std::int32_t number) {
    // The positions of the child's rows among the parent's rows, in order.
    const std::int32_t rows = child.row_count() - first, room = parent.row_count();
    const auto place = [&](std::int32_t i) { return rows <= room ? i + (room - rows) / 2 : i * room / rows; };
    for (std::int32_t i = first; i < child.row_count(); ++i)
      for (std::int32_t j = first; j <= i; ++j) {
        const std::int64_t height = child.height(i), width = child.width(j);
        program_.task(
            dense_task(gemm_, linalg::gemm_flops(static_cast<double>(height), static_cast<double>(width), 16),
                       height, width, size_.tile, 0, number),
            {{child(i, j), AccessMode::read},
             {parent(place(i - first), place(j - first)), AccessMode::read_write}});
      }
  }
  void eliminate(const ProgramMatrix& a, std::int32_t number) {
    const auto work = [](std::int64_t side) { return static_cast<double>(side); };
    for (std::int32_t k = 0; k < eliminated_; ++k) {
      const std::int64_t n = a.height(k);
      program_.task(dense_task(potrf_, linalg::potrf_flops(work(n)), n, n, n, 0, number),
                    {{a(k, k), AccessMode::read_write}});
      for (std::int32_t i = k + 1; i < a.row_count(); ++i)
        program_.task(
            dense_task(trsm_, linalg::trsm_flops(work(a.height(i)), work(n)), a.height(i), n, n, 0, number),
            {{a(k, k), AccessMode::read}, {a(i, k), AccessMode::read_write}});
      for (std::int32_t j = k + 1; j < a.row_count(); ++j) {
        const std::int64_t columns = a.height(j);
        program_.task(
            dense_task(syrk_, linalg::syrk_flops(work(columns), work(n)), columns, columns, n, 0, number),
            {{a(j, k), AccessMode::read}, {a(j, j), AccessMode::read_write}});
        for (std::int32_t i = j + 1; i < a.row_count(); ++i)
          program_.task(
              dense_task(gemm_, linalg::gemm_flops(work(a.height(i)), work(columns), work(n)), a.height(i),
                         columns, n, 0, number),
              {{a(i, k), AccessMode::read}, {a(j, k), AccessMode::read}, {a(i, j), AccessMode::read_write}});
      }
    }
  }

  Program& program_;
  const WorkloadSize& size_;
  Random random_;
  std::int32_t fronts_ = 0;
  std::int32_t eliminated_ = 0;  // tiles of pivots of the last front
  const KernelIndex potrf_ = program_.kernel("potrf"), trsm_ = program_.kernel("trsm"),
                    syrk_ = program_.kernel("syrk"), gemm_ = program_.kernel("gemm");
};

}  // namespace

Program make_tree(const WorkloadSize& size, const PolicyOptions& options) {
  const std::int64_t levels = options.integer("levels", 1, 14),
                     seed = options.integer("seed", 0, std::numeric_limits<std::int64_t>::max());
  Program program;
  program.title = fmt::format("tree, {} levels of fronts, {} pivots at the root, tile {}, {}, seed {}",
                              levels, size.n, size.tile, name_of(size.precision), seed);
  FrontTree(program, size, static_cast<std::uint64_t>(seed))
      .subtree(static_cast<double>(size.n), levels, true);
  prioritize_by_longest_path(program);
  return program;
}

}  // namespace fairlead::simulate
