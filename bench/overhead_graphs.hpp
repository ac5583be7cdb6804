// The graphs whose overhead per task is compared, in one form for all runtimes.
//
// A graph calls submit(use...) once per task, in program order, with up to two reads followed by one
// read-write. Data are numbers from 0. Bodies get the addresses of their data in the same order.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace overhead {

enum class Mode : std::uint8_t { read, read_write };

struct Use {
  std::uint32_t datum;
  Mode mode;
};

enum class Kind : std::uint8_t { generic, potrf, trsm, syrk, gemm };

constexpr Use in(std::uint32_t datum) { return {datum, Mode::read}; }
constexpr Use inout(std::uint32_t datum) { return {datum, Mode::read_write}; }

/// Tasks with one datum each.
template <class Submit>
void independent(int tasks, Submit&& submit) {
  for (int i = 0; i < tasks; ++i) submit(Kind::generic, inout(static_cast<std::uint32_t>(i)));
}

/// Tasks that all change the same datum.
template <class Submit>
void chain(int tasks, Submit&& submit) {
  for (int i = 0; i < tasks; ++i) submit(Kind::generic, inout(0));
}

/// A square grid in which each task reads the data above and to the left of its own.
template <class Submit>
void wavefront(int side, Submit&& submit) {
  const auto at = [side](int row, int column) { return static_cast<std::uint32_t>(row * side + column); };
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      const Use own = inout(at(row, column));
      if (row > 0 && column > 0) {
        submit(Kind::generic, in(at(row - 1, column)), in(at(row, column - 1)), own);
      } else if (row > 0) {
        submit(Kind::generic, in(at(row - 1, column)), own);
      } else if (column > 0) {
        submit(Kind::generic, in(at(row, column - 1)), own);
      } else {
        submit(Kind::generic, own);
      }
    }
  }
}

/// Tiled Cholesky of nt x nt tiles, right-looking, lower triangle.
template <class Submit>
void cholesky(int nt, Submit&& submit) {
  const auto at = [](int row, int column) {
    return static_cast<std::uint32_t>(row * (row + 1) / 2 + column);
  };
  for (int k = 0; k < nt; ++k) {
    submit(Kind::potrf, inout(at(k, k)));
    for (int m = k + 1; m < nt; ++m) submit(Kind::trsm, in(at(k, k)), inout(at(m, k)));
    for (int j = k + 1; j < nt; ++j) {
      submit(Kind::syrk, in(at(j, k)), inout(at(j, j)));
      for (int m = j + 1; m < nt; ++m) submit(Kind::gemm, in(at(m, k)), in(at(j, k)), inout(at(m, j)));
    }
  }
}

/// A graph with its size.
struct Graph {
  enum class Shape : std::uint8_t { independent, chain, wavefront, cholesky };
  Shape shape;
  int size;  ///< tasks, tasks, tasks per side, tiles per side

  template <class Submit>
  void submit_to(Submit&& submit) const {
    switch (shape) {
      case Shape::independent:
        return independent(size, submit);
      case Shape::chain:
        return chain(size, submit);
      case Shape::wavefront:
        return wavefront(size, submit);
      case Shape::cholesky:
        return cholesky(size, submit);
    }
  }

  std::size_t tasks() const {
    const auto n = static_cast<std::size_t>(size);
    switch (shape) {
      case Shape::wavefront:
        return n * n;
      case Shape::cholesky:
        return n * (n + 1) * (n + 2) / 6;
      default:
        return n;
    }
  }

  std::size_t data() const {
    const auto n = static_cast<std::size_t>(size);
    switch (shape) {
      case Shape::independent:
        return n;
      case Shape::chain:
        return 1;
      case Shape::wavefront:
        return n * n;
      case Shape::cholesky:
        return n * (n + 1) / 2;
    }
    return 0;
  }

  std::string name() const {
    switch (shape) {
      case Shape::independent:
        return "independent";
      case Shape::chain:
        return "chain";
      case Shape::wavefront:
        return "wavefront-" + std::to_string(size);
      case Shape::cholesky:
        return "cholesky-" + std::to_string(size);
    }
    return "";
  }
};

/// The five graphs of the comparison; each takes well under a second per repetition.
inline std::vector<Graph> compared_graphs() {
  using enum Graph::Shape;
  return {{independent, 262144}, {chain, 262144}, {wavefront, 1000}, {cholesky, 40}, {cholesky, 80}};
}

}  // namespace overhead
