// A tiled QR factorization. Kernels: geqrt, unmqr, and tsqrt, tsmqr (flat tree) or ttqrt, ttmqr (binary tree), all of
// them for any processor.
//
// The reflectors of geqrt remain below the diagonal of their tile, whose upper triangle changes later. So that the
// tasks that apply them need not wait for each other, the reflectors are a separate datum V, as in Chameleon and
// DPLASMA (the lower part of a tile apart from the upper one); geqrt writes it. Each factorization writes the
// triangular factors T of its blocks of `ib` reflectors: ib rows, and one column for each column of the tile.
#include "algorithms/linalg/blas/flops.hpp"
#include "algorithms/linalg/qr_tasks.hpp"
#include "simulate/longest_path.hpp"
#include "simulate/workloads/dense.hpp"
#include "simulate/workloads/list.hpp"

namespace fairlead::simulate {

namespace {

/// Data (i, k) that one task writes; later tasks only read them.
class Factors {
 public:
  Factors(Program& program, std::string_view name, const ProgramMatrix& a)
      : program_(program), collection_(program.collection(name)), columns_(a.column_count()) {
    data_.resize(static_cast<std::size_t>(a.row_count()) * static_cast<std::size_t>(columns_));
  }
  DatumIndex make(std::int32_t i, std::int32_t k, Bytes bytes) {
    return data_[place(i, k)] = program_.datum(
               {.bytes = bytes, .collection = collection_, .row = i, .column = k, .has_value = false});
  }
  DatumIndex operator()(std::int32_t i, std::int32_t k) const { return data_[place(i, k)]; }

 private:
  std::size_t place(std::int32_t i, std::int32_t k) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(k);
  }
  Program& program_;
  std::int16_t collection_;
  std::int32_t columns_;
  std::vector<DatumIndex> data_;
};

class QrSink {
 public:
  QrSink(Program& program, const ProgramMatrix& a, std::int64_t ib, Precision precision)
      : program_(program), a_(a), ib_(ib), element_(element_bytes(precision)) {}

  void geqrt(std::int32_t i, std::int32_t k) {
    const std::int64_t m = a_.height(i), n = a_.width(k);
    task("geqrt", linalg::geqrt_flops(real(m), real(n)), m, n, n, k,
         {{a_(i, k), AccessMode::read_write},
          {v_.make(i, k, bytes(m, std::min(m, n))), AccessMode::write},
          {t_.make(i, k, bytes(std::min(ib_, n), n)), AccessMode::write}});
  }
  void unmqr(std::int32_t i, std::int32_t k, std::int32_t j) {
    const std::int64_t m = a_.height(i), n = a_.width(j), inner = std::min(m, a_.width(k));
    task("unmqr", linalg::unmqr_flops(real(m), real(n), real(inner)), m, n, inner, k,
         {{v_(i, k), AccessMode::read}, {t_(i, k), AccessMode::read}, {a_(i, j), AccessMode::read_write}});
  }
  void tsqrt(std::int32_t p, std::int32_t i, std::int32_t k) {
    join("tsqrt", linalg::tsqrt_flops, t_, p, i, k);
  }
  void ttqrt(std::int32_t p, std::int32_t i, std::int32_t k) {
    join("ttqrt", linalg::ttqrt_flops, joined_t_, p, i, k);
  }
  void tsmqr(std::int32_t p, std::int32_t i, std::int32_t k, std::int32_t j) {
    apply_join("tsmqr", linalg::tsmqr_flops, t_, p, i, k, j);
  }
  void ttmqr(std::int32_t p, std::int32_t i, std::int32_t k, std::int32_t j) {
    apply_join("ttmqr", linalg::ttmqr_flops, joined_t_, p, i, k, j);
  }

 private:
  static double real(std::int64_t n) { return static_cast<double>(n); }
  Bytes bytes(std::int64_t m, std::int64_t n) const { return static_cast<Bytes>(m * n) * element_; }

  void join(std::string_view name, double (*flops)(double, double), Factors& t, std::int32_t p,
            std::int32_t i, std::int32_t k) {
    const std::int64_t m = a_.height(i), n = a_.width(k);
    task(name, flops(real(m), real(n)), m, n, n, k,
         {{a_(p, k), AccessMode::read_write},
          {a_(i, k), AccessMode::read_write},
          {t.make(i, k, bytes(std::min(ib_, n), n)), AccessMode::write}});
  }
  void apply_join(std::string_view name, double (*flops)(double, double, double), const Factors& t,
                  std::int32_t p, std::int32_t i, std::int32_t k, std::int32_t j) {
    const std::int64_t m = a_.height(i), n = a_.width(j), inner = a_.width(k);
    task(name, flops(real(m), real(n), real(inner)), m, n, inner, k,
         {{a_(i, k), AccessMode::read},
          {t(i, k), AccessMode::read},
          {a_(p, j), AccessMode::read_write},
          {a_(i, j), AccessMode::read_write}});
  }
  void task(std::string_view kernel, double flops, std::int64_t m, std::int64_t n, std::int64_t inner,
            std::int32_t k, std::initializer_list<ProgramUse> uses) {
    program_.task(dense_task(program_.kernel(kernel), flops, m, n, inner, 0, k), uses);
  }

  Program& program_;
  const ProgramMatrix& a_;
  std::int64_t ib_;
  Bytes element_;
  Factors v_{program_, "V", a_}, t_{program_, "T", a_};
  Factors joined_t_{program_, "T of pairs", a_};  // separate, since a tile already has the T of geqrt
};

}  // namespace

Program make_qr(const WorkloadSize& size, const PolicyOptions& options) {
  constexpr std::array<std::string_view, 2> trees{"flat", "binary"};
  const auto tree = static_cast<linalg::QrTree>(options.choice("tree", trees));
  const std::int64_t columns = options.is_set("columns") ? options.integer("columns", 1, size.n) : size.n;
  const std::int64_t ib =
      options.is_set("ib") ? options.integer("ib", 1, size.tile) : std::max<std::int64_t>(size.tile / 8, 1);
  Program program;
  program.title = fmt::format("{}, {} tree", title_of("qr", size), options.text("tree"));
  if (columns != size.n) program.title += fmt::format(", {} columns", columns);
  const ProgramMatrix a(program, "A", size.n, columns, size.tile, size.precision);
  linalg::for_each_qr_task(a.row_count(), a.column_count(), tree, QrSink(program, a, ib, size.precision));
  prioritize_by_longest_path(program);
  return program;
}

}  // namespace fairlead::simulate
