// Task patterns as a parameterized graph of Fairlead, on one machine or over ranks.
#pragma once
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "task_patterns.hpp"

namespace patterns {

namespace fl = fairlead;
using Datum = fl::Tile<Value>;  // with one element

/// Repeats a type for each `K`.
template <std::size_t K, class T>
using Repeated = T;

/// The task with that many inputs, some of which may be absent.
template <std::size_t... K>
auto point_of(Run& run, std::index_sequence<K...>) {
  return fl::codelet("point").cpu([&run](fl::Out<Datum> own, Repeated<K, fl::In<Datum>>... in,
                                         std::int64_t step, std::int64_t column) {
    std::array<Value, most_inputs> values;
    std::size_t count = 0;
    ((in.data() != nullptr ? void(values[count++] = *in.data()) : void()), ...);
    *own.data() = task(run, static_cast<int>(step), static_cast<int>(column), std::span(values).first(count));
  });
}
/// The task without inputs and without a place.
inline auto point_alone(Run& run) {
  return fl::codelet("point").cpu([&run](std::int64_t step, std::int64_t column) {
    task(run, static_cast<int>(step), static_cast<int>(column), std::span<const Value>());
  });
}

/// A graph of one class. Tile (i, j) of `places` holds the values of column i in the steps j, j + n, ...,
/// with n places per column.
class Graph {
 public:
  Graph(fl::Runtime& runtime, const fl::TiledMatrix<Value>& places, Run& run)
      : graph_(runtime), run_(run), places_(graph_.data(places)), kept_(places.tile_columns()) {
    const Shape& shape = run.shape;
    point_ = std::make_unique<fl::ptg::TaskClass>(
        graph_.task("point", t_.in(0, shape.steps - 1), i_.in(0, shape.columns - 1)));
    switch (shape.pattern) {
      case Pattern::trivial:
        point_->runs(point_alone(run), t_, i_);
        break;
      case Pattern::stencil:
        runs(from("left", i_ - 1), from("same", i_), from("right", i_ + 1));
        break;
      case Pattern::fft:
        fft();
        break;
      case Pattern::random_nearest: {
        static_assert(random_radius == 2);
        runs(drawn("left2", -2), drawn("left", -1), from("same", i_), drawn("right", 1), drawn("right2", 2));
        break;
      }
      case Pattern::tree:
        tree();
        break;
      case Pattern::all_to_all:
        all_to_all(shape.columns);
        break;
    }
    point_->at(places_(i_, 0));
    graph_.tasks();
  }

  void run() { graph_.run(); }

 private:
  using Flow = fl::ptg::FlowSpecification;
  using Expression = fl::ptg::Expression;

  template <class... Inputs>
  void runs(Inputs&&... inputs) {
    point_->runs(
        point_of(run_, std::make_index_sequence<sizeof...(Inputs)>()),
        fl::ptg::flow("own").from(places_(i_, t_)).when(t_ < kept_).from((*point_)["own"](t_ - kept_, i_)),
        std::forward<Inputs>(inputs)..., t_, i_);
  }
  /// The value of that column in the previous step, if any.
  Flow from(const char* name, const Expression& column) const {
    return fl::ptg::flow(name)
        .from((*point_)["own"](t_ - 1, column))
        .when(t_ > 0 && column >= 0 && column < run_.shape.columns);
  }
  /// The value of the column at that distance, if it is among the random inputs.
  Flow drawn(const char* name, int offset) const {
    const auto is_drawn =
        fl::ptg::computed("drawn",
                          [shape = run_.shape, offset](std::span<const std::int64_t> at) {
                            const auto column = static_cast<int>(at[1]);
                            return takes(shape, static_cast<int>(at[0]), column, column + offset) ? 1 : 0;
                          },
                          {t_, i_});
    return fl::ptg::flow(name).from((*point_)["own"](t_ - 1, i_ + offset)).when(is_drawn);
  }
  void fft() {
    const int columns = run_.shape.columns;
    int stages = 1;
    while (1 << stages < columns) ++stages;
    const auto distance = [&](const Expression& step) { return Expression(1) << ((step - 1) % stages); };
    const Expression before = distance(t_), after = distance(t_ + 1);
    const Expression is_next = t_ + 1 < run_.shape.steps;
    // Both ends of each edge are stated, since a power of two cannot be inverted.
    point_->runs(point_of(run_, std::make_index_sequence<3>()),
                 fl::ptg::flow("own")
                     .from(places_(i_, t_))
                     .when(t_ < kept_)
                     .from((*point_)["own"](t_ - kept_, i_))
                     .to((*point_)["left"](t_ + 1, i_ + after))
                     .when(is_next && i_ + after < columns)
                     .to((*point_)["right"](t_ + 1, i_ - after))
                     .when(is_next && i_ - after >= 0),
                 from("left", i_ - before), from("same", i_), from("right", i_ + before), t_, i_);
  }
  void tree() {
    const fl::ptg::Index child("child");
    const int columns = run_.shape.columns;
    point_->runs(point_of(run_, std::make_index_sequence<1>()),
                 fl::ptg::flow("own")
                     .from(places_(i_, t_))
                     .when(t_ < kept_)
                     .from((*point_)["own"](t_ - kept_, i_))
                     .to((*point_)["parent"](t_ + 1, child),
                         child.in(2 * i_, min(2 * i_ + 1, Expression(columns - 1))))
                     .when(t_ + 1 < run_.shape.steps),
                 from("parent", i_ / 2), t_, i_);
  }
  void all_to_all(int columns) {
    const auto of = [&]<std::size_t... K>(std::index_sequence<K...>) {
      runs(from(("column" + std::to_string(K)).c_str(), Expression(static_cast<int>(K)))...);
    };
    [&]<std::size_t... C>(std::index_sequence<C...>) {
      ((static_cast<int>(C) + 1 == columns ? of(std::make_index_sequence<C + 1>()) : void()), ...);
    }
    (std::make_index_sequence<most_inputs>());
  }

  fl::ptg::Graph graph_;
  Run& run_;
  const fl::ptg::Index t_{"t"}, i_{"i"};
  const fl::ptg::Collection places_;
  const int kept_;
  std::unique_ptr<fl::ptg::TaskClass> point_;
};

}  // namespace patterns
