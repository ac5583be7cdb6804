// Systems solved and matrices multiplied through the library, on random machines: the program's own memory after
// the wait, and acquired values, compared with the plain computation.
#include <fairlead/fairlead.hpp>
#include <fairlead/incremental_lu.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/matrix_file.hpp>
#include <fairlead/qr.hpp>
#include <fairlead/refined_solve.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include "torture/library_runs.hpp"
#include "torture/plain.hpp"

namespace fairlead::torture {
namespace {

enum class Operation : std::uint8_t {
  cholesky,
  lu,
  refined,
  product,
  indefinite,
  incremental_lu,
  flat_qr,
  binary_qr
};
constexpr const char* name_of(Operation operation) {
  constexpr const char* names[] = {"Cholesky and solve",
                                   "LU and solve",
                                   "refined solve",
                                   "product",
                                   "Cholesky of what is not positive definite",
                                   "LU with incremental pivoting and solve",
                                   "QR by a flat tree and solve",
                                   "QR by a binary tree and solve"};
  return names[static_cast<std::size_t>(operation)];
}

enum class Home : std::uint8_t { kept, in_place, generated };
constexpr const char* name_of(Home home) {
  constexpr const char* names[] = {"kept", "in place", "generated"};
  return names[static_cast<std::size_t>(home)];
}

struct Drawn {
  Operation operation{};
  int n = 0, columns = 0, tile = 0;
  bool single = false;
  Home matrix = Home::kept, sides = Home::in_place;
  int padding = 0;  // rows of the program's memory between columns of matrices in place
};

/// A matrix of the program's, column-major, with a mark in the rows between.
template <class T>
struct Memory {
  std::int64_t rows, columns, leading;
  std::vector<T> elements;
  static constexpr T mark = T(-77);

  Memory(std::int64_t row_count, std::int64_t column_count, int padding, const std::vector<double>& values)
      : rows(row_count),
        columns(column_count),
        leading(rows + padding),
        elements(static_cast<std::size_t>(leading * columns), mark) {
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        at(i, j) = static_cast<T>(values[static_cast<std::size_t>(i + j * rows)]);
  }
  T& at(std::int64_t i, std::int64_t j) { return elements[static_cast<std::size_t>(i + j * leading)]; }
  std::vector<double> values() {
    std::vector<double> result;
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < leading; ++i)
        if (i < rows)
          result.push_back(static_cast<double>(at(i, j)));
        else if (at(i, j) != mark)
          throw Wrong("memory between the columns of a matrix in place was changed");
    return result;
  }
};

/// A matrix in tiles, wherever it lives; `values`, column-major, are what it begins with.
template <class T>
class Matrix {
 public:
  Matrix(Runtime& runtime, Flow& flow, const char* name, const Drawn& drawn, Home home, std::int64_t rows,
         std::int64_t columns, const std::vector<double>& values, Tiles which)
      : memory_(rows, columns, home == Home::in_place ? drawn.padding : 0, values),
        home_(home),
        tiles_(made(runtime, name, drawn.tile, which)) {
    if (home != Home::kept) return;
    const auto body = [this](Out<Tile<T>> tile, std::int64_t row, std::int64_t column) {
      fill(tile, row, column);
    };
    const auto make = codelet("fill").cpu(body).emulated(body);
    const std::int64_t side = drawn.tile;
    for (std::int32_t i = 0; i < tiles_.tile_rows(); ++i)
      for (std::int32_t j = 0; j < tiles_.tile_columns() && (which == Tiles::all || j <= i); ++j)
        flow.submit(make(tiles_(i, j), i * side, j * side));
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  const TiledMatrix<T>& tiles() const { return tiles_; }
  /// The values that a program reads: in its own memory, or acquired.
  std::vector<double> values(Flow& flow) {
    if (home_ != Home::in_place) {
      const std::int64_t side = tiles_.tile();
      for (std::int32_t i = 0; i < tiles_.tile_rows(); ++i)
        for (std::int32_t j = 0; j < tiles_.tile_columns(); ++j) {
          const auto hold = flow.acquire(read(tiles_(i, j)));
          const auto& tile = hold.template get<0>();
          for (int column = 0; column < tile.columns(); ++column)
            for (int row = 0; row < tile.rows(); ++row)
              memory_.at(i * side + row, j * side + column) = tile(row, column);
        }
    }
    return memory_.values();
  }

 private:
  template <class View>
  void fill(View& piece, std::int64_t row, std::int64_t column) {
    for (std::int32_t j = 0; j < piece.columns(); ++j)
      for (std::int32_t i = 0; i < piece.rows(); ++i) piece(i, j) = memory_.at(row + i, column + j);
  }
  TiledMatrix<T> made(Runtime& runtime, const char* name, std::int32_t tile, Tiles which) {
    switch (home_) {
      case Home::in_place:
        return runtime.tiled_in_place<T>(name, memory_.elements.data(), memory_.rows, memory_.columns,
                                         memory_.leading, tile);
      case Home::generated:
        return runtime.tiled<T>(name, memory_.rows, memory_.columns, tile,
                                generated_by([this](TileView<T> piece, std::int64_t row,
                                                    std::int64_t column) { fill(piece, row, column); }),
                                which);
      default:
        return runtime.tiled<T>(name, memory_.rows, memory_.columns, tile, which);
    }
  }

  Memory<T> memory_;
  const Home home_;
  TiledMatrix<T> tiles_;
};

const linalg::Kernels& kernels() {
  static const linalg::Kernels loaded = linalg::Kernels::load();
  return loaded;
}

void expect_solution(const System& system, const std::vector<double>& x, bool single) {
  const double allowed = allowed_error(system.n, single), error = backward_error(system, x);
  if (!(error <= allowed))
    throw Wrong(fmt::format("the backward error is {:.3g}, above {:.3g}", error, allowed));
  const Eliminated plain = eliminate(system);
  const double apart = difference(x, plain.x, static_cast<std::size_t>(system.n));
  if (!(apart <= 100 * allowed))
    throw Wrong(fmt::format("the solution is {:.3g} from that of plain elimination, more than {:.3g}", apart,
                            100 * allowed));
}

/// The factor where the program had its matrix.
void expect_factor(const System& system, const std::vector<double>& found, const Drawn& drawn) {
  const Eliminated plain = eliminate(system);
  const auto n = static_cast<std::size_t>(system.n), tile = static_cast<std::size_t>(drawn.tile);
  std::vector<double> right = found;
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i)
      if (drawn.operation == Operation::lu)
        right[i + j * n] = plain.factors[i * n + j];
      else if (i >= j)
        right[i + j * n] = (i == j ? 1 : plain.factors[i * n + j]) * std::sqrt(plain.factors[j * n + j]);
      else if (i / tile != j / tile)
        right[i + j * n] = system.a[i + j * n];  // tiles above the diagonal are left alone
  const double apart = difference(found, right, n), allowed = 100 * allowed_error(system.n, drawn.single);
  if (!(apart <= allowed))
    throw Wrong(fmt::format("the factor in place is off by {:.3g}, more than {:.3g}", apart, allowed));
}

template <class T>
void solve(Runtime& runtime, const Drawn& drawn, const System& system) {
  Flow flow(runtime);
  const bool symmetric = drawn.operation != Operation::lu;
  Matrix<T> a(runtime, flow, "A", drawn, drawn.matrix, system.n, system.n, system.a,
              symmetric ? Tiles::lower : Tiles::all);
  Matrix<T> b(runtime, flow, "b", drawn, drawn.sides, system.n, system.columns, system.b, Tiles::all);
  if (symmetric)
    linalg::solve(flow, kernels(), a.tiles(), b.tiles());
  else {
    linalg::lu(flow, kernels(), a.tiles());
    linalg::solve_lu_factored(flow, kernels(), a.tiles(), b.tiles());
  }
  linalg::wait_for_results(flow);
  expect_solution(system, b.values(flow), drawn.single);
  if (drawn.matrix == Home::in_place) expect_factor(system, a.values(flow), drawn);
}

/// By QR, or LU with incremental pivoting, which have data in addition to the matrix.
template <class T>
void solve_pivoted(Runtime& runtime, const Drawn& drawn, const System& system) {
  Flow flow(runtime);
  Matrix<T> a(runtime, flow, "A", drawn, drawn.matrix, system.n, system.n, system.a, Tiles::all);
  Matrix<T> b(runtime, flow, "b", drawn, drawn.sides, system.n, system.columns, system.b, Tiles::all);
  if (drawn.operation == Operation::incremental_lu) {
    const linalg::IncrementalPivots<T> p(runtime, a.tiles());
    linalg::factor_lu_incremental(flow, kernels(), a.tiles(), p);
    linalg::solve_lu_incremental_factored(flow, kernels(), a.tiles(), p, b.tiles());
    linalg::wait_for_results(flow);
  } else {
    const auto tree = drawn.operation == Operation::flat_qr ? linalg::QrTree::flat : linalg::QrTree::binary;
    const linalg::QrReflectors<T> q(runtime, a.tiles(), tree);
    linalg::factor_qr(flow, kernels(), a.tiles(), q);
    linalg::solve_qr_factored(flow, kernels(), a.tiles(), q, b.tiles());
    linalg::wait_for_results(flow);
  }
  expect_solution(system, b.values(flow), drawn.single);
}

/// The error names the column, and the runtime continues to work.
template <class T>
void find_indefinite(Runtime& runtime, const Drawn& drawn, const System& system) {
  const Eliminated plain = eliminate(system);
  Flow flow(runtime);
  Matrix<T> a(runtime, flow, "A", drawn, drawn.matrix, system.n, system.n, system.a, Tiles::lower);
  linalg::cholesky(flow, kernels(), a.tiles());
  try {
    linalg::wait_for_results(flow);
  } catch (const NumericalError& error) {
    const std::string named = fmt::format("column {}", *plain.not_positive);
    if (std::string(error.what()).find(named) == std::string::npos)
      throw Wrong(fmt::format("\"{}\" does not name {}", error.what(), named));
    double value = 1;
    const auto datum = runtime.value("value", value);
    flow.submit(codelet("twice").cpu([](InOut<double> v) { *v *= 2; })(datum));
    flow.wait();
    runtime.remove(datum);
    if (value != 2) throw Wrong("after a failure, a task does not run");
    return;
  }
  throw Wrong("that the matrix is not positive definite was not found");
}

void refine(Runtime& runtime, const Drawn& drawn, const System& system) {
  Flow flow(runtime);
  Matrix<float> l(runtime, flow, "L", drawn, drawn.matrix, system.n, system.n, system.a, Tiles::lower);
  linalg::cholesky(flow, kernels(), l.tiles());
  linalg::wait_for_results(flow);
  std::vector<double> x(system.b.size(), -1);
  linalg::solve_refined(flow, runtime, kernels(), l.tiles(),
                        linalg::matrix_in_memory(system.a.data(), system.n, system.n),
                        linalg::matrix_in_memory(system.b.data(), system.n, system.columns), x.data());
  expect_solution(system, x, false);
}

/// C := 2 A B - C, for the b of the system as B.
template <class T>
void multiply(Runtime& runtime, const Drawn& drawn, const System& system) {
  Flow flow(runtime);
  std::vector<double> before(system.b.size());
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<double>(i % 17);
  Matrix<T> a(runtime, flow, "A", drawn, drawn.matrix, system.n, system.n, system.a, Tiles::all);
  Matrix<T> b(runtime, flow, "B", drawn, drawn.matrix, system.n, system.columns, system.b, Tiles::all);
  Matrix<T> c(runtime, flow, "C", drawn, drawn.sides, system.n, system.columns, before, Tiles::all);
  linalg::multiply(flow, kernels(), T(2), a.tiles(), b.tiles(), T(-1), c.tiles());
  linalg::wait_for_results(flow);
  const std::vector<double> found = c.values(flow);
  const auto n = static_cast<std::size_t>(system.n);
  for (std::size_t j = 0; j < static_cast<std::size_t>(system.columns); ++j)
    for (std::size_t i = 0; i < n; ++i) {
      double sum = -before[i + j * n], size = std::abs(sum);
      for (std::size_t k = 0; k < n; ++k) {
        const double term = 2 * system.a[i + k * n] * system.b[k + j * n];
        sum += term;
        size += std::abs(term);
      }
      if (!(std::abs(found[i + j * n] - sum) <= allowed_error(system.n, drawn.single) * size))
        throw Wrong(
            fmt::format("element ({}, {}) of the product is {}, not {}", i, j, found[i + j * n], sum));
    }
}

template <class T>
void run_on(const Config& config, const Drawn& drawn, const System& system) {
  Runtime runtime(config);
  switch (drawn.operation) {
    case Operation::cholesky:
    case Operation::lu:
      return solve<T>(runtime, drawn, system);
    case Operation::incremental_lu:
    case Operation::flat_qr:
    case Operation::binary_qr:
      return solve_pivoted<T>(runtime, drawn, system);
    case Operation::indefinite:
      return find_indefinite<T>(runtime, drawn, system);
    case Operation::refined:
      return refine(runtime, drawn, system);
    case Operation::product:
      return multiply<T>(runtime, drawn, system);
  }
}

Drawn draw(Random& random) {
  Drawn drawn;
  constexpr Operation operations[] = {Operation::cholesky, Operation::cholesky,   Operation::cholesky,
                                      Operation::lu,       Operation::lu,         Operation::refined,
                                      Operation::product,  Operation::indefinite, Operation::incremental_lu,
                                      Operation::flat_qr,  Operation::binary_qr};
  drawn.operation = operations[random.below(std::size(operations))];
  // Mostly small: failures also show with few tiles.
  drawn.n = static_cast<int>(1 + random.below(random.once_in(12) ? 600 : random.once_in(3) ? 250 : 100));
  constexpr int sides[] = {1, 1, 2, 3, 7, 20};
  drawn.columns = sides[random.below(std::size(sides))];
  // From one tile to twelve a side.
  drawn.tile =
      std::max(1, drawn.n / static_cast<int>(random.between(1, 12)) + static_cast<int>(random.between(0, 2)));
  drawn.single = drawn.operation != Operation::refined && random.once_in(2);
  drawn.matrix = static_cast<Home>(random.below(3));
  drawn.sides = random.once_in(4) ? Home::kept : Home::in_place;
  drawn.padding = random.once_in(2) ? 0 : static_cast<int>(random.below(9));
  return drawn;
}

class LibraryRuns final : public Campaign {
 public:
  explicit LibraryRuns(Devices devices) : devices_(devices) {}

  void run(Run& run) override {
    const Drawn drawn = draw(run.random);
    const std::size_t element = drawn.single || drawn.operation == Operation::refined ? 4 : 8;
    const auto n = static_cast<Bytes>(drawn.n), tile = static_cast<Bytes>(drawn.tile);
    const Bytes side = (n + tile - 1) / tile, tile_bytes = rounded_up(tile * tile * element);
    Machine machine = draw_machine(run.random, run.index, {tile_bytes, side * side * tile_bytes}, devices_);
    const bool general = drawn.operation == Operation::lu || drawn.operation >= Operation::incremental_lu;
    const Shape shape = general                                    ? Shape::general
                        : drawn.operation == Operation::indefinite ? Shape::indefinite
                                                                   : Shape::positive_definite;
    const System system = draw_system(run.random, drawn.n, drawn.columns, shape, drawn.single);
    run.describe(fmt::format("{}, {}, n = {}, {} right-hand sides, tiles of {}, A {}, b {}, {} rows between",
                             name_of(drawn.operation), drawn.single ? "FP32" : "FP64", drawn.n, drawn.columns,
                             drawn.tile, name_of(drawn.matrix), name_of(drawn.sides), drawn.padding));
    machine.options.push_back("--disk-directory=" + scratch_.path().string());
    machine.options.push_back("--cache-directory=" +
                              (run.random.once_in(2) ? scratch_.path().string() : "none"));
    for (int attempt = 0;; ++attempt) {
      run.describe(machine.text());
      try {
        drawn.single ? run_on<float>(machine.config(), drawn, system)
                     : run_on<double>(machine.config(), drawn, system);
        break;
      } catch (const FootprintError&) {
        // Too little memory is refused; with more the run must succeed.
        ++refused_;
        if (attempt == 6) throw;
        machine.grow();
      }
    }
    with_devices_ += !machine.devices.empty();
  }

  std::string summary(std::uint64_t runs) override {
    return fmt::format("{} right answers, {} of them with devices; {} times the memory was refused first",
                       runs, with_devices_, refused_);
  }

 private:
  const Devices devices_;
  Scratch scratch_;
  std::uint64_t with_devices_ = 0, refused_ = 0;
};

}  // namespace

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "fairlead-torture-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw Wrong("no temporary folder: " + name);
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::unique_ptr<Campaign> library_runs(Devices devices) { return std::make_unique<LibraryRuns>(devices); }

}  // namespace fairlead::torture
