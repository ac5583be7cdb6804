// GMRES(m), Saad and Schultz 1986, with classical Gram-Schmidt applied twice. Each step then needs three global sums,
// whatever the number of vectors, and is as accurate (Giraud, Langou, Rozloznik 2005). Vector operations are
// parameterized graphs, built once and run again for each step. Each rank solves the small least squares problem
// redundantly, with bitwise equal results.
#include <fairlead/error.hpp>
#include <fairlead/gmres.hpp>
#include <fairlead/parameterized_linalg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "algorithms/linalg/forwarded_data.hpp"
#include "algorithms/linalg/krylov_vectors.hpp"
#include "algorithms/linalg/shapes.hpp"
#include "algorithms/linalg/squares.hpp"
#include "algorithms/linalg/tile_kernels.hpp"

namespace fairlead::linalg {

namespace {

/// State shared by the task bodies of a rank and the solver. It changes only between runs of graphs, except `sums` and
/// `norm`.
struct KrylovState {
  int vectors = 0;               ///< the size of the basis at the start of a step
  bool from_zero = false;        ///< sets x to 0 first
  std::vector<double> solution;  ///< of the least squares problem
  /// global: the coefficients for each vector of the basis, the total of both passes
  std::vector<double> sums;
  double norm = 0;  ///< of the vector after orthogonalization
};

/// How many numbers the sum of squares of a vector consists of: large, medium and small elements.
constexpr std::int64_t squares_of_vector = 3;

template <class Sums>
double norm_of(const Sums& sums) {
  return Squares{.large = sums(1), .medium = sums(0), .small = sums(2)}.root();
}

template <class T>
struct KrylovBodies {
  using Block = Tile<T>;
  using Sums = Vector<double>;
  std::shared_ptr<KrylovState> state = std::make_shared<KrylovState>();

  /// The contribution of a block to the sums: passes 0 and 1 with the basis, pass 2 with itself.
  auto part() const {
    return codelet("dots").cpu([s = state](In<Block> v, In<Block> w, Out<Sums> part, int pass) {
      for (std::int64_t c = 0; c < part.size(); ++c) part(c) = 0;
      if (pass == 2) {
        Squares squares;
        for (std::int32_t i = 0; i < w.rows(); ++i) squares.add(static_cast<double>(w(i, 0)));
        part(0) = squares.medium, part(1) = squares.large, part(2) = squares.small;
        return;
      }
      for (int c = 0; c < s->vectors; ++c) {
        double sum = 0;
        for (std::int32_t i = 0; i < w.rows(); ++i)
          sum += static_cast<double>(v(i, c)) * static_cast<double>(w(i, 0));
        part(c) = sum;
      }
    });
  }
  auto add() const {
    return codelet("add sums").cpu([](In<Sums> part, InOut<Sums> sum, bool first) {
      for (std::int64_t c = 0; c < sum.size(); ++c) sum(c) = first ? part(c) : sum(c) + part(c);
    });
  }
  auto project() const {
    return codelet("project").cpu([s = state](In<Block> v, In<Sums> sum, InOut<Block> w) {
      for (int c = 0; c < s->vectors; ++c)
        for (std::int32_t i = 0; i < w.rows(); ++i)
          w(i, 0) = static_cast<T>(static_cast<double>(w(i, 0)) - sum(c) * static_cast<double>(v(i, c)));
    });
  }
  /// Appends a vector to the basis; zeros if the norm is zero.
  auto extend() const {
    return codelet("extend").cpu([s = state](In<Sums> sum, In<Block> w, InOut<Block> v, Out<Block> q) {
      put(*s, norm_of(sum), w, v, q);
    });
  }
  /// Starts a basis with its first vector.
  auto start() const {
    return codelet("start").cpu([s = state](In<Sums> sum, In<Block> w, Out<Block> v, Out<Block> q) {
      for (std::int32_t c = 0; c < v.columns(); ++c)
        for (std::int32_t i = 0; i < v.rows(); ++i) v(i, c) = 0;
      put(*s, norm_of(sum), w, v, q);
    });
  }
  template <class W, class V, class Q>
  static void put(const KrylovState& s, double norm, const W& w, const V& v, const Q& q) {
    for (std::int32_t i = 0; i < w.rows(); ++i)
      q(i, 0) = v(i, s.vectors) = norm == 0 ? T(0) : static_cast<T>(static_cast<double>(w(i, 0)) / norm);
  }
  auto keep() const {
    return codelet("keep").cpu([s = state](In<Sums> first, In<Sums> second, In<Sums> squares) {
      s->sums.assign(static_cast<std::size_t>(s->vectors), 0);
      for (int c = 0; c < s->vectors && first.data() != nullptr; ++c)
        s->sums[static_cast<std::size_t>(c)] = first(c) + second(c);
      s->norm = norm_of(squares);
    });
  }
  auto update() const {
    return codelet("update x").cpu([s = state](In<Block> v, InOut<Block> x) {
      for (std::int32_t i = 0; i < x.rows(); ++i) {
        double sum = s->from_zero ? 0 : static_cast<double>(x(i, 0));
        for (std::size_t c = 0; c < s->solution.size(); ++c)
          sum += s->solution[c] * static_cast<double>(v(i, static_cast<std::int32_t>(c)));
        x(i, 0) = static_cast<T>(sum);
      }
    });
  }
  static auto zero() {
    return codelet("zero").cpu([](Out<Block> w) {
      for (std::int32_t i = 0; i < w.rows(); ++i) w(i, 0) = 0;
    });
  }
  static auto copy() {
    return codelet("copy").cpu([](In<Block> from, Out<Block> to) {
      for (std::int32_t i = 0; i < to.rows(); ++i) to(i, 0) = from(i, 0);
    });
  }
};

/// The graphs of GMRES, over vectors of its own.
template <class T>
class Gmres {
 public:
  Gmres(Runtime& runtime, const Kernels& kernels, const TiledMatrix<T>& a, const TiledMatrix<T>& b,
        const TiledMatrix<T>& x, int restart)
      : runtime_(runtime),
        blocks_(a.tile_rows()),
        basis_(runtime, "V", a, restart + 1),
        next_(runtime, "q", a, 1),
        product_(runtime, "w", a, 1),
        b_(runtime, "b'", a, 1),
        x_(runtime, "x'", a, 1),
        sums_(runtime, std::max<std::int64_t>(restart + 1, squares_of_vector)) {
    copy_in(b, b_);
    copy_in(x, x_);
    apply_ = graph();
    multiply(*apply_, ProductKernels<T>(kernels, 1, 1), a, next_, nullptr);
    residual_ = graph();
    multiply(*residual_, ProductKernels<T>(kernels, -1, 1), a, x_, &b_);
    start_ = graph();
    orthogonalize(*start_, 2);
    extend_ = graph();
    orthogonalize(*extend_, 0);
    update_ = graph();
    const ptg::Index i("i");
    const ptg::Collection V = basis_.in(*update_), X = x_.in(*update_);
    update_->task("update x", i.in(0, blocks_ - 1))
        .runs(bodies_.update(), ptg::flow("V").from(V(i)), ptg::flow("x").from(X(i)))
        .at(X(i));
  }

  KrylovState& state() noexcept { return *bodies_.state; }
  double norm_of_b() {
    const auto graph = this->graph();
    const ptg::Index i("i"), r("r");
    const ptg::Range block = i.in(0, blocks_ - 1);
    const ptg::Collection B = b_.in(*graph), S = sums_.in(*graph);
    auto part = graph->task("part", block), add = graph->task("add", block);
    part.runs(bodies_.part(), ptg::flow("V").from(ptg::nothing()), ptg::flow("w").from(B(i)),
              ptg::flow("part").from(ptg::fresh_like(S)), 2)
        .at(B(i));
    add.runs(bodies_.add(), ptg::flow("part").from(part["part"](i)),
             ptg::flow("sum").from(ptg::fresh_like(S)).when(i == 0).from(add["sum"](i - 1)), i == 0)
        .at(S(0));
    graph->task("keep", r.in(0, sums_.ranks() - 1))
        .runs(bodies_.keep(), ptg::flow("first").from(ptg::nothing()),
              ptg::flow("second").from(ptg::nothing()), ptg::flow("squares").from(add["sum"](blocks_ - 1)))
        .at(S(r));
    graph->run();
    return finite(state().norm);
  }
  /// w := b - A x. Returns its norm; w divided by the norm is the first vector of the basis.
  double start() {
    state().vectors = 0;
    residual_->run();
    start_->run();
    return finite(state().norm);
  }
  /// w := A q, orthogonalized against the basis, and appends it to the basis. The coefficients are state().sums and the
  /// returned norm.
  double extend() {
    apply_->run();
    extend_->run();
    for (const double sum : state().sums) finite(sum);
    return finite(state().norm);
  }
  void update() { update_->run(); }
  void copy_out(const TiledMatrix<T>& x) {
    const auto graph = this->graph();
    const ptg::Index i("i");
    const ptg::Collection own = x_.in(*graph), X = graph->data(x, "x");
    ForwardedData<Tile<T>> result(own);
    result.forward(*graph, "give", {i.in(0, blocks_ - 1)}, 0);
    graph->task("take", i.in(0, blocks_ - 1))
        .runs(bodies_.copy(), ptg::flow("from").from(result(i)), ptg::flow("to").from(X(i, 0)))
        .at(X(i, 0));
    graph->run();
  }

 private:
  std::unique_ptr<ptg::Graph> graph() { return std::make_unique<ptg::Graph>(runtime_); }
  static double finite(double number) {
    if (!std::isfinite(number)) throw NumericalError("GMRES meets numbers that are not finite");
    return number;
  }

  void copy_in(const TiledMatrix<T>& from, const KrylovVectors<T>& to) {
    const auto graph = this->graph();
    const ptg::Index i("i"), j("j");
    const ptg::Collection given = graph->data(from, "given"), own = to.in(*graph);
    auto give = graph->task("give", i.in(0, blocks_ - 1));
    give.runs(codelet("pass").cpu([](In<Tile<T>>) {}), ptg::flow("D").from(given(i, 0))).at(given(i, 0));
    graph->task("take", i.in(0, blocks_ - 1))
        .runs(bodies_.copy(), ptg::flow("from").from(give["D"](i)), ptg::flow("to").from(own(i)))
        .at(own(i));
    graph->run();
  }

  /// w := w + alpha A v, where w starts as 0 or as a copy of `begins`. Each block of rows of w moves from tile to tile.
  void multiply(ptg::Graph& graph, const ProductKernels<T>& product, const TiledMatrix<T>& a,
                const KrylovVectors<T>& v, const KrylovVectors<T>* begins) {
    const ptg::Index i("i"), k("k");
    const std::int32_t last = a.tile_columns() - 1;
    const ptg::Collection A = graph.data(a), W = product_.in(graph);
    ForwardedData<Tile<T>> vector(v.in(graph));
    vector.forward(graph, "send", {k.in(0, last)}, last + 1);
    auto begin = graph.task("begin", i.in(0, blocks_ - 1));
    auto multiply = graph.task("multiply", i.in(0, blocks_ - 1), k.in(0, last));
    const auto w = ptg::flow("w").from(W(i));
    if (begins == nullptr)
      begin.runs(bodies_.zero(), w);
    else
      begin.runs(bodies_.copy(), ptg::flow("b").from(begins->in(graph)(i)), w);
    begin.at(W(i));
    multiply
        .runs(product.add, ptg::flow("A").from(A(i, k)), ptg::flow("v").from(vector(k)),
              ptg::flow("w")
                  .from(begin["w"](i))
                  .when(k == 0)
                  .from(multiply["w"](i, k - 1))
                  .to(W(i))
                  .when(k == last))
        .priority(last - k)
        .at(A(i, k));
  }

  /// From pass `first` on: passes 0 and 1 subtract the projection on the basis from w, pass 2 appends w to the basis.
  void orthogonalize(ptg::Graph& graph, int first) {
    using ptg::flow;
    const ptg::Index p("p"), i("i"), r("r");
    const std::int32_t last = blocks_ - 1;
    const ptg::Collection V = basis_.in(graph), W = product_.in(graph), Q = next_.in(graph),
                          S = sums_.in(graph);
    const ptg::Range block = i.in(0, last);
    auto part = graph.task("part", p.in(first, 2), block);
    auto add = graph.task("add", p.in(first, 2), block);
    auto project = graph.task("project", p.in(first, 1), block);
    auto extend = graph.task("extend", block);
    auto keep = graph.task("keep", r.in(0, sums_.ranks() - 1));
    const auto w = [&](const ptg::Expression& pass) {
      return flow("w").from(W(i)).when(pass == first).from(project["w"](pass - 1, i));
    };
    part.runs(bodies_.part(), flow("V").from(V(i)).when(p < 2), w(p), flow("part").from(ptg::fresh_like(S)),
              p)
        .at(W(i));
    add.runs(bodies_.add(), flow("part").from(part["part"](p, i)),
             flow("sum").from(ptg::fresh_like(S)).when(i == 0).from(add["sum"](p, i - 1)), i == 0)
        .at(S(0));
    project.runs(bodies_.project(), flow("V").from(V(i)), flow("sum").from(add["sum"](p, last)), w(p))
        .at(W(i));
    const auto squares = flow("squares").from(add["sum"](2, last));
    const auto v = flow("V").from(V(i));
    if (first == 2)
      extend.runs(bodies_.start(), squares, w(2), v, flow("q").from(Q(i)));
    else
      extend.runs(bodies_.extend(), squares, w(2), v, flow("q").from(Q(i)));
    extend.at(W(i));
    const auto sums = [&](const char* name, int pass) {
      return pass < first ? flow(name).from(ptg::nothing()) : flow(name).from(add["sum"](pass, last));
    };
    keep.runs(bodies_.keep(), sums("first", 0), sums("second", 1), squares).at(S(r));
  }

  Runtime& runtime_;
  const std::int32_t blocks_;
  KrylovBodies<T> bodies_;
  KrylovVectors<T> basis_, next_, product_, b_, x_;
  PerRankSums sums_;
  std::unique_ptr<ptg::Graph> apply_, residual_, start_, extend_, update_;
};

/// The least squares problem of one cycle, by Givens rotations: a Hessenberg matrix, column by column.
class HessenbergLeastSquares {
 public:
  explicit HessenbergLeastSquares(double norm) : rhs_{norm} {}

  /// Appends a column: its coefficients, and the element below the diagonal. Returns the norm of the residual.
  double add(std::vector<double> column, double below) {
    for (std::size_t k = 0; k < cosines_.size(); ++k) {
      const double upper = column[k], lower = column[k + 1];
      column[k] = cosines_[k] * upper + sines_[k] * lower;
      column[k + 1] = cosines_[k] * lower - sines_[k] * upper;
    }
    const double length = std::hypot(column.back(), below);
    cosines_.push_back(length == 0 ? 1 : column.back() / length);
    sines_.push_back(length == 0 ? 0 : below / length);
    column.back() = length;
    columns_.push_back(std::move(column));
    rhs_.push_back(-sines_.back() * rhs_.back());
    rhs_[rhs_.size() - 2] *= cosines_.back();
    return std::abs(rhs_.back());
  }
  /// Omits the last column if it depends linearly on the previous ones.
  std::vector<double> solution() const {
    std::size_t count = columns_.size();
    if (count != 0 && columns_.back().back() == 0) --count;
    std::vector<double> y(rhs_.begin(), rhs_.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t k = count; k-- > 0;) {
      y[k] /= columns_[k][k];
      for (std::size_t i = 0; i < k; ++i) y[i] -= columns_[k][i] * y[k];
    }
    return y;
  }

 private:
  std::vector<std::vector<double>> columns_;
  std::vector<double> cosines_, sines_, rhs_;
};

template <class T>
void require_gmres(const TiledMatrix<T>& a, const TiledMatrix<T>& b, const TiledMatrix<T>& x,
                   const GmresSettings& settings) {
  require_system(a, b);
  require_system(a, x);
  if (b.columns() != 1 || x.columns() != 1)
    throw UsageError(fmt::format("GMRES solves for one right-hand side; b has {} columns and x {}",
                                 b.columns(), x.columns()));
  if (settings.restart < 1 || settings.most_iterations < 0)
    throw UsageError(fmt::format("GMRES({}) in at most {} iterations: at least 1 vector, and 0 iterations",
                                 settings.restart, settings.most_iterations));
}

}  // namespace

template <class T>
GmresResult gmres(Runtime& runtime, const Kernels& kernels, const TiledMatrix<T>& a, const TiledMatrix<T>& b,
                  const TiledMatrix<T>& x, const GmresSettings& settings) {
  require_gmres(a, b, x, settings);
  const int restart = static_cast<int>(std::min<std::int64_t>(settings.restart, a.rows()));
  Gmres<T> on(runtime, kernels, a, b, x, restart);
  KrylovState& state = on.state();
  GmresResult result;
  const double norm_of_b = on.norm_of_b(), wanted = settings.tolerance * norm_of_b;
  if (norm_of_b == 0) {
    static_cast<void>(on.start());  // starts the basis that update() reads
    state.from_zero = true;
    on.update();
    on.copy_out(x);
    return {.converged = true, .history = {0}};
  }
  double before = std::numeric_limits<double>::infinity();
  for (bool should_be_near = false;;) {
    const double norm = on.start();
    result.residual = norm / norm_of_b;
    result.converged = norm <= wanted;
    if (result.history.empty()) result.history.push_back(result.residual);
    const bool no_nearer = should_be_near && norm > before / 2;
    if (result.converged || no_nearer || result.iterations >= settings.most_iterations) break;
    before = norm;
    HessenbergLeastSquares small(norm);
    double left = norm;
    for (state.vectors = 1; left > wanted && result.iterations < settings.most_iterations; ++state.vectors) {
      const double below = on.extend();
      Squares taken_away_squared;
      taken_away_squared.add(state.sums);
      const double projected = taken_away_squared.root();
      left = small.add(state.sums, below);
      ++result.iterations;
      result.history.push_back(left / norm_of_b);
      const bool breakdown = below <= std::numeric_limits<T>::epsilon() * projected;
      if (breakdown || state.vectors == restart) break;
    }
    should_be_near = left <= wanted;
    state.solution = small.solution();
    on.update();
  }
  on.copy_out(x);
  return result;
}

template GmresResult gmres<float>(Runtime&, const Kernels&, const TiledMatrix<float>&,
                                  const TiledMatrix<float>&, const TiledMatrix<float>&, const GmresSettings&);
template GmresResult gmres<double>(Runtime&, const Kernels&, const TiledMatrix<double>&,
                                   const TiledMatrix<double>&, const TiledMatrix<double>&,
                                   const GmresSettings&);

}  // namespace fairlead::linalg
