// Programs of many small tasks on the program's own memory: values, vectors and a matrix in tiles. After
// each wait, the memory must exactly equal a copy on which the same ran in program order.
#include <fairlead/fairlead.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torture/library_runs.hpp"

namespace fairlead::torture {
namespace {

using Number = std::uint64_t;  // wraps around
using Numbers = Vector<Number>;
using Square = Tile<Number>;

template <class View>
Number sum_of(const View& tile) {
  Number sum = 0;
  for (std::int32_t j = 0; j < tile.columns(); ++j)
    for (std::int32_t i = 0; i < tile.rows(); ++i) sum = sum * 3 + tile(i, j);
  return sum;
}
template <class To, class From>
void add_tile(const To& to, const From& from, Number factor) {
  for (std::int32_t j = 0; j < std::min(to.columns(), from.columns()); ++j)
    for (std::int32_t i = 0; i < std::min(to.rows(), from.rows()); ++i)
      to(i, j) = to(i, j) * 5 + factor * from(i, j);
}
template <class To>
void spread(const To& to, Number number) {
  for (std::int64_t i = 0; i < to.size(); ++i) to(i) = to(i) * 3 + number + static_cast<Number>(i);
}
template <class From>
Number weighted(const From& from) {
  Number sum = 0;
  for (std::int64_t i = 0; i < from.size(); ++i) sum += from(i) * static_cast<Number>(i + 1);
  return sum;
}

/// All data of the program, as plain memory.
struct Contents {
  std::vector<Number> values, vectors, matrix;
  bool operator==(const Contents&) const = default;
};

struct Sizes {
  int values = 0, vectors = 0, length = 0, stride = 1, side = 0, tile = 0, leading = 0;
};

/// A task on the copy and one for the runtime are drawn together.
class Program {
 private:
  /// Submits a call of this body, on cores, on devices or on both.
  template <class Body>
  auto send(bool wanted, const char* name, Body body) {
    return [this, wanted, name, body](const auto&... arguments) -> std::optional<Future> {
      const auto submit = [&](const auto& codelet) -> std::optional<Future> {
        if (wanted) return flow_.future(codelet(arguments...));
        flow_.submit(codelet(arguments...));
        return {};
      };
      const std::uint64_t where = devices_ ? random_.below(3) : 0;
      // Each has its own name: the kinds of workers are a part of a codelet.
      if (where == 0) return submit(codelet(name).cpu(body));
      if (where == 1) return submit(codelet(fmt::format("{} on devices", name)).emulated(body));
      return submit(codelet(fmt::format("{} anywhere", name)).cpu(body).emulated(body));
    };
  }

 public:
  Program(Runtime& runtime, Flow& flow, Random& random, const Sizes& sizes, Contents& real)
      : flow_(flow), random_(random), sizes_(sizes), devices_(runtime.devices() > 0), real_(real) {
    const auto fill = [&](std::vector<Number>& memory, int count) {
      for (int i = 0; i < count; ++i) memory.push_back(random.below(1000));
    };
    fill(real_.values, sizes.values);
    fill(real_.vectors, sizes.vectors * sizes.length * sizes.stride);
    fill(real_.matrix, sizes.side * sizes.leading);
    plain_ = real_;
    for (int i = 0; i < sizes.values; ++i)
      values_.push_back(runtime.value(fmt::format("value {}", i), real_.values[static_cast<std::size_t>(i)]));
    for (int i = 0; i < sizes.vectors; ++i)
      vectors_.push_back(runtime.vector(fmt::format("vector {}", i), vector_in(real_, i).data(), sizes.length,
                                        sizes.stride));
    matrix_.emplace(runtime.tiled_in_place<Number>("matrix", real_.matrix.data(), sizes.side, sizes.side,
                                                   sizes.leading, sizes.tile));
  }

  /// One task; its future on request, unless it is a reduction: a wait for its task alone does not
  /// complete the result.
  std::optional<Future> submit(bool wanted) {
    const Number factor = random_.below(100);
    const int to = value(), from = value(), vector = pick(sizes_.vectors);
    const std::int32_t i = pick(matrix_->tile_rows()), j = pick(matrix_->tile_rows()),
                       k = pick(matrix_->tile_rows()), l = pick(matrix_->tile_rows());
    switch (random_.below(8)) {
      case 0:
        plain(to) = factor;
        return send(wanted, "set", [](Out<Number> x, Number f) { *x = f; })(values_[at(to)], factor);
      case 1:
        if (to == from) return {};
        plain(to) = plain(to) * 7 + plain(from) * factor;
        return send(wanted, "add", [](InOut<Number> x, In<Number> y, Number f) { *x = *x * 7 + *y * f; })(
            values_[at(to)], values_[at(from)], factor);
      case 2:
        plain(to) += factor * plain_sum(i, j);
        return send(wanted, "sum", [](InOut<Number> x, In<Square> t, Number f) { *x += f * sum_of(t); })(
            values_[at(to)], (*matrix_)(i, j), factor);
      case 3:
        plain(to) += factor * plain_sum(i, j);
        return send(wanted, "commute", [](Commute<Number> x, In<Square> t, Number f) {
          *x += f * sum_of(t);
        })(values_[at(to)], (*matrix_)(i, j), factor);
      case 4:
        plain(to) += factor * plain_sum(i, j);
        return send(false, "reduce", [](Reduce<Number> x, In<Square> t, Number f) { *x += f * sum_of(t); })(
            values_[at(to)], (*matrix_)(i, j), factor);
      case 5:
        if (i == k && j == l) return {};
        add_tile(plain_tile(i, j), plain_tile(k, l), factor);
        return send(wanted, "tiles", [](InOut<Square> x, In<Square> y, Number f) { add_tile(x, y, f); })(
            (*matrix_)(i, j), (*matrix_)(k, l), factor);
      case 6:
        spread(vector_in(plain_, vector), plain(from));
        return send(wanted, "spread", [](InOut<Numbers> x, In<Number> y) { spread(x, *y); })(
            vectors_[at(vector)], values_[at(from)]);
      default:
        plain(to) = plain(to) * 11 + weighted(vector_in(plain_, vector));
        return send(wanted, "weigh", [](InOut<Number> x, In<Numbers> y) { *x = *x * 11 + weighted(y); })(
            values_[at(to)], vectors_[at(vector)]);
    }
  }

  /// After a wait, or without running tasks.
  void compare(const char* when) const {
    if (real_ == plain_) return;
    std::size_t wrong = 0, all = 0;
    const auto count = [&](const std::vector<Number>& found, const std::vector<Number>& right) {
      for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != right[i];
      all += found.size();
      return wrong;
    };
    const std::size_t values = count(real_.values, plain_.values),
                      vectors = count(real_.vectors, plain_.vectors) - values;
    count(real_.matrix, plain_.matrix);
    throw Wrong(fmt::format(
        "{}, {} of {} numbers in the program's memory are not what the tasks made: {} values, {} in "
        "vectors, {} in the matrix",
        when, wrong, all, values, vectors, wrong - values - vectors));
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int pick(int count) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(count))); }
  int value() { return pick(sizes_.values); }
  Number& plain(int i) { return plain_.values[at(i)]; }
  VectorView<Number> vector_in(Contents& contents, int i) const {
    return {contents.vectors.data() + at(i) * at(sizes_.length * sizes_.stride), sizes_.length,
            sizes_.stride};
  }
  TileView<Number> plain_tile(std::int32_t i, std::int32_t j) {
    return {plain_.matrix.data() + at(j * sizes_.tile) * at(sizes_.leading) + at(i * sizes_.tile),
            matrix_->rows_of(i), matrix_->columns_of(j), sizes_.leading};
  }
  Number plain_sum(std::int32_t i, std::int32_t j) { return sum_of(plain_tile(i, j)); }

  Flow& flow_;
  Random& random_;
  const Sizes sizes_;
  const bool devices_;
  Contents& real_;  // the program's memory
  Contents plain_;
  std::vector<Handle<Number>> values_;
  std::vector<Handle<Numbers>> vectors_;
  std::optional<TiledMatrix<Number>> matrix_;
};

class ProgramInPlace final : public Campaign {
 public:
  explicit ProgramInPlace(Devices devices) : devices_(devices) {}

  void run(Run& run) override {
    Random& random = run.random;
    Sizes sizes;
    sizes.values = static_cast<int>(random.between(2, 6));
    sizes.vectors = static_cast<int>(random.between(1, 4));
    sizes.length = static_cast<int>(random.between(1, 40));
    sizes.stride = static_cast<int>(random.between(1, 3));
    sizes.side = static_cast<int>(random.between(1, 60));
    sizes.tile = static_cast<int>(random.between(std::max(1, sizes.side / 6), sizes.side));
    sizes.leading = sizes.side + static_cast<int>(random.below(4));
    const Bytes tile =
        rounded_up(static_cast<Bytes>(sizes.tile) * static_cast<Bytes>(sizes.tile) * sizeof(Number));
    Machine machine = draw_machine(random, run.index, {tile + 8192, 20 * tile}, devices_);
    machine.options.push_back("--disk-directory=" + scratch_.path().string());
    machine.options.push_back("--cache-directory=none");
    const int rounds = static_cast<int>(random.between(1, 4)),
              tasks = static_cast<int>(random.between(1, 120));
    run.describe(fmt::format(
        "{} rounds of {} tasks on {} values, {} vectors of {} by {}, a matrix of {} in tiles of {}", rounds,
        tasks, sizes.values, sizes.vectors, sizes.length, sizes.stride, sizes.side, sizes.tile));
    for (int attempt = 0;; ++attempt) {
      run.describe(machine.text());
      try {
        Random again = random;
        return play(machine.config(), again, sizes, rounds, tasks);
      } catch (const FootprintError&) {
        if (attempt == 6) throw;
        machine.grow();
      }
    }
  }

  std::string summary(std::uint64_t runs) override {
    return fmt::format("{} programs left the right numbers in their memory", runs);
  }

 private:
  static void play(const Config& config, Random& random, const Sizes& sizes, int rounds, int tasks) {
    Contents memory;  // stays until the runtime has ended
    Runtime runtime(config);
    Flow flow(runtime);
    Program program(runtime, flow, random, sizes, memory);
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < tasks; ++i) program.submit(false);
      flow.wait();
      program.compare("after Flow::wait()");
      // A wait for one task, without other running tasks.
      if (const auto last = program.submit(true)) {
        last->wait();
        program.compare("after Future::wait()");
      }
    }
  }

  const Devices devices_;
  Scratch scratch_;
};

}  // namespace

std::unique_ptr<Campaign> program_in_place(Devices devices) {
  return std::make_unique<ProgramInPlace>(devices);
}

}  // namespace fairlead::torture
