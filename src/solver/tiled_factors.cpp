// The factorizations behind TiledFactors: Cholesky, LDL^T, LU without pivoting, with partial and with
// incremental pivoting, and QR; and triangular matrices, which need none.
#include "solver/tiled_factors.hpp"

#include <fairlead/error.hpp>
#include <fairlead/ldlt.hpp>
#include <fairlead/parameterized_linalg.hpp>
#include <fairlead/pivoted_lu.hpp>

#include <fmt/format.h>

#include <charconv>
#include <complex>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

#include "algorithms/linalg/factored_solve.hpp"
#include "algorithms/linalg/lower_product.hpp"
#include "algorithms/linalg/singular_error.hpp"
#include "algorithms/linalg/upper_solve.hpp"
#include "base/scalar.hpp"

namespace fairlead::solver {

using linalg::detail::FactorPart;
using linalg::detail::StoredFactors;

namespace {

template <class T>
class CholeskyFactors final : public TiledFactors<T> {
 public:
  CholeskyFactors(const DenseProblem&, const FactorKernels& kernels, Runtime&, const TiledMatrix<T>& a,
                  StoredFactors<T>*)
      : kernels_(kernels.solve), factor_kernels_(kernels.factor), a_(a) {}
  void factor(Flow& flow) override { linalg::cholesky(flow, factor_kernels_, a_); }
  void factor(ptg::Graph& graph) override { linalg::cholesky(graph, factor_kernels_, a_); }
  void solve(Flow& flow, const TiledMatrix<T>& b) override { linalg::solve_factored(flow, kernels_, a_, b); }
  void solve(ptg::Graph& graph, const TiledMatrix<T>& b) override {
    linalg::solve_factored(graph, kernels_, a_, b);
  }
  std::uint64_t solve_tasks(std::int64_t columns) const override {
    return linalg::solve_tasks(a_.tile_rows(), columns);
  }
  linalg::AppliedInverse<T> inverse() override {
    const auto plain = [this](Flow& flow, const TiledMatrix<T>& b) { solve(flow, b); };
    return {plain, plain, [this](std::int64_t columns) { return solve_tasks(columns); }};
  }
  std::optional<linalg::Inertia> inertia(Flow&) const override {
    return linalg::Inertia{.positive = a_.rows()};
  }
  void multiply_lower(Flow& flow, const TiledMatrix<T>& b) override {
    linalg::multiply_lower(flow, kernels_, a_, b);
  }

 private:
  linalg::Kernels kernels_, factor_kernels_;
  const TiledMatrix<T>& a_;
};

/// A factorization without a parameterized graph: has_graph() is false for its operation.
template <class T>
class FlowOnlyFactors : public TiledFactors<T> {
 public:
  using TiledFactors<T>::factor;
  using TiledFactors<T>::solve;
  void factor(ptg::Graph&) final { throw_flow_only(); }
  void solve(ptg::Graph&, const TiledMatrix<T>&) final { throw_flow_only(); }

 private:
  [[noreturn]] static void throw_flow_only() {
    throw UsageError("the factorization is not available as a parameterized graph");
  }
};

template <class T>
void conjugate_elements(Flow& flow, const TiledMatrix<T>& b) {
  const auto conjugates = codelet("conjugate").cpu([](InOut<Tile<T>> x) {
    for (std::int32_t j = 0; j < x.columns(); ++j)
      for (std::int32_t i = 0; i < x.rows(); ++i) x(i, j) = conjugate(x(i, j));
  });
  for (std::int32_t i = 0; i < b.tile_rows(); ++i)
    for (std::int32_t j = 0; j < b.tile_columns(); ++j) flow.submit(conjugates(b(i, j)));
}

template <class T>
class LdltFactors final : public FlowOnlyFactors<T> {
 public:
  using FlowOnlyFactors<T>::factor;
  using FlowOnlyFactors<T>::solve;
  LdltFactors(const DenseProblem& problem, const FactorKernels& kernels, Runtime& runtime,
              const TiledMatrix<T>& a, StoredFactors<T>* stored)
      : kernels_(kernels.solve), a_(a), pivots_(runtime, a, stored, problem.symmetry) {}
  void factor(Flow& flow) override { linalg::factor_ldlt(flow, kernels_, a_, pivots_); }
  void solve(Flow& flow, const TiledMatrix<T>& b) override {
    linalg::solve_ldlt_factored(flow, kernels_, a_, pivots_, b);
  }
  std::uint64_t solve_tasks(std::int64_t columns) const override {
    return linalg::ldlt_solve_tasks(a_.tile_rows(), columns);
  }
  linalg::AppliedInverse<T> inverse() override {
    const auto plain = [this](Flow& flow, const TiledMatrix<T>& b) { solve(flow, b); };
    const auto tasks = [this](std::int64_t columns) { return solve_tasks(columns); };
    if (!is_complex_number<T> || symmetry() == linalg::Symmetry::hermitian) return {plain, plain, tasks};
    // A^H is the conjugate of A = A^T.
    const auto of_conjugate = [plain](Flow& flow, const TiledMatrix<T>& b) {
      conjugate_elements(flow, b);
      plain(flow, b);
      conjugate_elements(flow, b);
    };
    const auto with_conjugates = [this](std::int64_t columns) {
      return solve_tasks(columns) + 2 * static_cast<std::uint64_t>(a_.tile_rows() * columns);
    };
    return {plain, of_conjugate, with_conjugates};
  }
  linalg::Symmetry symmetry() const override { return pivots_.symmetry(); }
  void set_symmetry(linalg::Symmetry symmetry) override { pivots_.set_symmetry(symmetry); }
  std::optional<double> largest_element() const override { return pivots_.largest_element(); }
  std::optional<linalg::LogDeterminant> log_determinant(Flow& flow) const override {
    return linalg::ldlt_determinant(flow, pivots_, a_);
  }
  std::optional<linalg::Inertia> inertia(Flow& flow) const override {
    if (is_complex_number<T> && symmetry() != linalg::Symmetry::hermitian) return std::nullopt;
    return linalg::ldlt_inertia(flow, kernels_, a_);
  }
  void visit_data(const FactorDataVisitor<T>& visitor) const override {
    const std::int32_t blocks = a_.tile_columns();
    for (std::int32_t k = 0; k < blocks; ++k) {
      visitor.tile(FactorPart::band_diagonal, k, k, pivots_.band_diagonal(k));
      visitor.exchanges(FactorPart::band_exchanges, k, k, pivots_.band_exchanges(k));
      if (k + 1 < blocks) {
        visitor.exchanges(FactorPart::symmetric_exchanges, k, k, pivots_.panel(k));
        visitor.tile(FactorPart::band_below, k, k, pivots_.band_below(k));
        visitor.tile(FactorPart::band_right, k, k, pivots_.band_right(k, 1));
      }
      if (k + 2 < blocks) visitor.tile(FactorPart::band_second_right, k, k, pivots_.band_right(k, 2));
    }
  }

 private:
  linalg::Kernels kernels_;
  const TiledMatrix<T>& a_;
  linalg::SymmetricPivots<T> pivots_;
};

template <class T>
class LuFactors final : public TiledFactors<T> {
 public:
  LuFactors(const DenseProblem&, const FactorKernels& kernels, Runtime&, const TiledMatrix<T>& a,
            StoredFactors<T>*)
      : kernels_(kernels.solve), a_(a) {}
  void factor(Flow& flow) override { linalg::lu(flow, kernels_, a_); }
  void factor(ptg::Graph& graph) override { linalg::lu(graph, kernels_, a_); }
  void solve(Flow& flow, const TiledMatrix<T>& b) override {
    linalg::solve_lu_factored(flow, kernels_, a_, b);
  }
  void solve(ptg::Graph& graph, const TiledMatrix<T>& b) override {
    linalg::solve_lu_factored(graph, kernels_, a_, b);
  }
  std::uint64_t solve_tasks(std::int64_t columns) const override {
    return linalg::solve_tasks(a_.tile_rows(), columns);
  }
  linalg::AppliedInverse<T> inverse() override {
    return {
        [this](Flow& flow, const TiledMatrix<T>& b) { solve(flow, b); },
        [this](Flow& flow, const TiledMatrix<T>& b) { linalg::solve_lu_transposed(flow, kernels_, a_, b); },
        [this](std::int64_t columns) { return solve_tasks(columns); }};
  }

 private:
  linalg::Kernels kernels_;
  const TiledMatrix<T>& a_;
};

template <class T>
class PivotedLuFactors final : public FlowOnlyFactors<T> {
 public:
  using FlowOnlyFactors<T>::factor;
  using FlowOnlyFactors<T>::solve;
  PivotedLuFactors(const DenseProblem&, const FactorKernels& kernels, Runtime& runtime,
                   const TiledMatrix<T>& a, StoredFactors<T>* stored)
      : kernels_(kernels.solve), a_(a), pivots_(runtime, a, stored) {}
  void factor(Flow& flow) override { linalg::factor_lu_pivoted(flow, kernels_, a_, pivots_); }
  std::string task_order() const override {
    return fmt::format("{}", fmt::join(pivots_.column_blocks(), ","));
  }
  void set_task_order(const std::string& order) override {
    std::vector<std::int32_t> firsts;
    std::istringstream text(order);
    for (std::string first; std::getline(text, first, ',');) {
      std::int32_t number = -1;
      std::from_chars(first.data(), first.data() + first.size(), number);
      firsts.push_back(number);
    }
    pivots_.set_column_blocks(std::move(firsts));
  }
  void solve(Flow& flow, const TiledMatrix<T>& b) override {
    linalg::solve_lu_pivoted_factored(flow, kernels_, a_, pivots_, b);
  }
  std::uint64_t solve_tasks(std::int64_t columns) const override {
    return linalg::lu_pivoted_solve_tasks(a_.tile_rows(), columns);
  }
  linalg::AppliedInverse<T> inverse() override {
    return {[this](Flow& flow, const TiledMatrix<T>& b) { solve(flow, b); },
            [this](Flow& flow, const TiledMatrix<T>& b) {
              linalg::solve_lu_pivoted_transposed(flow, kernels_, a_, pivots_, b);
            },
            [this](std::int64_t columns) { return solve_tasks(columns); }};
  }
  void visit_data(const FactorDataVisitor<T>& visitor) const override {
    for (std::int32_t k = 0; k < a_.tile_columns(); ++k)
      visitor.exchanges(FactorPart::row_exchanges, k, k, pivots_.panel(k));
  }

 private:
  linalg::Kernels kernels_;
  const TiledMatrix<T>& a_;
  linalg::RowPivots<T> pivots_;
};

template <class T>
class IncrementalLuFactors final : public TiledFactors<T> {
 public:
  IncrementalLuFactors(const DenseProblem& problem, const FactorKernels& kernels, Runtime& runtime,
                       const TiledMatrix<T>& a, StoredFactors<T>* stored)
      : kernels_(kernels.solve), a_(a), pivots_(runtime, a, problem.inner_block, stored) {}
  void factor(Flow& flow) override { linalg::factor_lu_incremental(flow, kernels_, a_, pivots_); }
  void factor(ptg::Graph& graph) override { linalg::factor_lu_incremental(graph, kernels_, a_, pivots_); }
  void solve(Flow& flow, const TiledMatrix<T>& b) override {
    linalg::solve_lu_incremental_factored(flow, kernels_, a_, pivots_, b);
  }
  void solve(ptg::Graph& graph, const TiledMatrix<T>& b) override {
    linalg::solve_lu_incremental_factored(graph, kernels_, a_, pivots_, b);
  }
  std::uint64_t solve_tasks(std::int64_t columns) const override {
    return linalg::lu_incremental_solve_tasks(a_.tile_rows(), columns);
  }
  linalg::AppliedInverse<T> inverse() override {
    return {[this](Flow& flow, const TiledMatrix<T>& b) { solve(flow, b); },
            [this](Flow& flow, const TiledMatrix<T>& b) {
              linalg::solve_lu_incremental_transposed(flow, kernels_, a_, pivots_, b);
            },
            [this](std::int64_t columns) { return solve_tasks(columns); }};
  }
  void visit_data(const FactorDataVisitor<T>& visitor) const override {
    for (std::int32_t i = 0; i < a_.tile_rows(); ++i)
      for (std::int32_t k = 0; k <= i; ++k) {
        visitor.tile(FactorPart::lower, i, k, pivots_.lower(i, k));
        visitor.exchanges(FactorPart::pair_exchanges, i, k, pivots_.exchanges(i, k));
      }
  }
  std::int32_t inner_block() const override { return pivots_.inner_block(); }

 private:
  linalg::Kernels kernels_;
  const TiledMatrix<T>& a_;
  linalg::IncrementalPivots<T> pivots_;
};

template <class T>
class QrFactors final : public TiledFactors<T> {
 public:
  QrFactors(const DenseProblem& problem, const FactorKernels& kernels, Runtime& runtime,
            const TiledMatrix<T>& a, StoredFactors<T>* stored)
      : kernels_(kernels.solve), a_(a), reflectors_(runtime, a, problem.tree, problem.inner_block, stored) {}
  void factor(Flow& flow) override { linalg::factor_qr(flow, kernels_, a_, reflectors_); }
  void factor(ptg::Graph& graph) override { linalg::factor_qr(graph, kernels_, a_, reflectors_); }
  void solve(Flow& flow, const TiledMatrix<T>& b) override {
    linalg::solve_qr_factored(flow, kernels_, a_, reflectors_, b);
  }
  void solve(ptg::Graph& graph, const TiledMatrix<T>& b) override {
    linalg::solve_qr_factored(graph, kernels_, a_, reflectors_, b);
  }
  std::uint64_t solve_tasks(std::int64_t columns) const override {
    return linalg::qr_solve_tasks(a_.tile_rows(), a_.tile_columns(), reflectors_.tree(), columns);
  }
  linalg::AppliedInverse<T> inverse() override {
    const bool square = a_.rows() == a_.columns();
    return {[this, square](Flow& flow, const TiledMatrix<T>& b) {
              if (square) rotate(flow, b);
              linalg::solve_upper(flow, kernels_, linalg::r_of_qr, a_, {&b});
            },
            [this, square](Flow& flow, const TiledMatrix<T>& b) {
              linalg::solve_upper(flow, kernels_, linalg::r_of_qr, a_, {&b}, linalg::UpperForm::adjoint);
              if (square) apply_q(flow, b);
            },
            [this, square](std::int64_t columns) {
              return square ? solve_tasks(columns) : linalg::upper_solve_tasks(a_.tile_columns(), columns);
            }};
  }
  void apply_q(Flow& flow, const TiledMatrix<T>& b) override {
    linalg::apply_q(flow, kernels_, linalg::ApplyQ::plain, a_, reflectors_, b);
  }
  void rotate(Flow& flow, const TiledMatrix<T>& b) override {
    linalg::apply_q(flow, kernels_, linalg::ApplyQ::transposed, a_, reflectors_, b);
  }
  void visit_data(const FactorDataVisitor<T>& visitor) const override {
    for (std::int32_t k = 0; k < a_.tile_columns(); ++k)
      for (std::int32_t i = k; i < a_.tile_rows(); ++i) {
        if (i == k || reflectors_.tree() == linalg::QrTree::binary) {
          visitor.tile(FactorPart::reflectors, i, k, reflectors_.reflectors(i, k));
          visitor.tile(FactorPart::triangular_factors, i, k, reflectors_.factors(i, k));
        }
        if (i != k) visitor.tile(FactorPart::joined_factors, i, k, reflectors_.joined_factors(i, k));
      }
  }
  std::int32_t inner_block() const override { return reflectors_.inner_block(); }

 private:
  linalg::Kernels kernels_;
  const TiledMatrix<T>& a_;
  linalg::QrReflectors<T> reflectors_;
};

/// A lower triangular matrix, or the adjoint L = A^H of an upper one. Nothing is factored.
template <class T>
class TriangularFactors final : public FlowOnlyFactors<T> {
 public:
  using FlowOnlyFactors<T>::factor;
  using FlowOnlyFactors<T>::solve;
  TriangularFactors(const DenseProblem& problem, const FactorKernels& kernels, Runtime&,
                    const TiledMatrix<T>& a, StoredFactors<T>*)
      : kernels_(kernels.solve),
        a_(a),
        is_upper_(problem.operation->solve->triangle == linalg::Stored::upper) {}
  /// Throws SingularError, when the flow is waited for, if an element of the diagonal is zero.
  void factor(Flow& flow) override {
    const auto check = codelet("diagonal").cpu([](In<Tile<T>> tile, std::int64_t first) {
      for (int i = 0; i < tile.columns(); ++i)
        if (tile(i, i) == T(0))
          throw linalg::SingularError(fmt::format(
              "the matrix is singular: its diagonal is zero in column {}, counted from 0", first + i));
    });
    for (std::int32_t k = 0; k < a_.tile_columns(); ++k)
      flow.submit(check(a_(k, k), std::int64_t{k} * a_.tile()));
  }
  void solve(Flow& flow, const TiledMatrix<T>& b) override { substitute(flow, b, is_upper_); }
  std::uint64_t solve_tasks(std::int64_t columns) const override {
    return linalg::upper_solve_tasks(a_.tile_rows(), columns);
  }
  linalg::AppliedInverse<T> inverse() override {
    return {[this](Flow& flow, const TiledMatrix<T>& b) { substitute(flow, b, is_upper_); },
            [this](Flow& flow, const TiledMatrix<T>& b) { substitute(flow, b, !is_upper_); },
            [this](std::int64_t columns) { return solve_tasks(columns); }};
  }

 private:
  /// b := L^-1 b, or L^-H b.
  void substitute(Flow& flow, const TiledMatrix<T>& b, bool by_adjoint) {
    if (by_adjoint)
      linalg::solve_backward<T>(flow, kernels_, linalg::Factors::cholesky, a_, {&b});
    else
      linalg::solve_forward<T>(flow, kernels_, linalg::Factors::cholesky, a_, {&b});
  }

  linalg::Kernels kernels_;
  const TiledMatrix<T>& a_;
  bool is_upper_;
};

template <template <class> class Factors, class T>
std::unique_ptr<TiledFactors<T>> make_as(const DenseProblem& problem, const FactorKernels& kernels,
                                         Runtime& runtime, const TiledMatrix<T>& a,
                                         StoredFactors<T>* stored) {
  return std::make_unique<Factors<T>>(problem, kernels, runtime, a, stored);
}
template <template <class> class Factors>
constexpr FactorsMakers makers_of{.in_single = make_as<Factors, float>,
                                  .in_double = make_as<Factors, double>,
                                  .in_complex_single = make_as<Factors, std::complex<float>>,
                                  .in_complex_double = make_as<Factors, std::complex<double>>,
                                  .as_graph = !std::is_base_of_v<FlowOnlyFactors<double>, Factors<double>>};

}  // namespace

template <class T>
void TiledFactors<T>::apply_q(Flow&, const TiledMatrix<T>&) {
  throw UsageError("only a QR factorization has a factor Q");
}

template <class T>
void TiledFactors<T>::rotate(Flow&, const TiledMatrix<T>&) {
  throw UsageError("only a QR factorization has a factor Q");
}

template <class T>
void TiledFactors<T>::multiply_lower(Flow&, const TiledMatrix<T>&) {
  throw UsageError("a product with L is for A = L L^H, factored by Cholesky: select this method");
}

const FactorsMakers cholesky_factors = makers_of<CholeskyFactors>;
const FactorsMakers ldlt_factors = makers_of<LdltFactors>;
const FactorsMakers lu_factors = makers_of<LuFactors>;
const FactorsMakers pivoted_lu_factors = makers_of<PivotedLuFactors>;
const FactorsMakers incremental_lu_factors = makers_of<IncrementalLuFactors>;
const FactorsMakers qr_factors = makers_of<QrFactors>;
const FactorsMakers triangular_factors = makers_of<TriangularFactors>;

template <class T>
std::unique_ptr<TiledFactors<T>> make_factors(const DenseProblem& problem, const FactorKernels& kernels,
                                              Runtime& runtime, const TiledMatrix<T>& a,
                                              StoredFactors<T>* stored) {
  const std::optional<SolveMethod>& method = problem.operation->solve;
  if (!method) throw UsageError(fmt::format("{} factors nothing", problem.operation->name));
  const FactorsMakers& makers = *method->factors;
  const FactorsMaker<T> make = [&] {
    if constexpr (std::is_same_v<T, float>)
      return makers.in_single;
    else if constexpr (std::is_same_v<T, double>)
      return makers.in_double;
    else if constexpr (std::is_same_v<T, std::complex<float>>)
      return makers.in_complex_single;
    else
      return makers.in_complex_double;
  }();
  return make(problem, kernels, runtime, a, stored);
}

template std::unique_ptr<TiledFactors<float>> make_factors(const DenseProblem&, const FactorKernels&,
                                                           Runtime&, const TiledMatrix<float>&,
                                                           StoredFactors<float>*);
template std::unique_ptr<TiledFactors<double>> make_factors(const DenseProblem&, const FactorKernels&,
                                                            Runtime&, const TiledMatrix<double>&,
                                                            StoredFactors<double>*);
template std::unique_ptr<TiledFactors<std::complex<float>>> make_factors(
    const DenseProblem&, const FactorKernels&, Runtime&, const TiledMatrix<std::complex<float>>&,
    StoredFactors<std::complex<float>>*);
template std::unique_ptr<TiledFactors<std::complex<double>>> make_factors(
    const DenseProblem&, const FactorKernels&, Runtime&, const TiledMatrix<std::complex<double>>&,
    StoredFactors<std::complex<double>>*);

}  // namespace fairlead::solver
