// Parameterized task graphs: classes of tasks with indices; each flow of a class states where its value comes from. The
// graph is never stored as a whole: a task is created when its predecessors finish, and deleted when it finishes.
//
//   ptg::Graph graph(runtime);
//   const ptg::Index k("k"), m("m");
//   const auto A = graph.data(matrix);
//   auto first = graph.task("first", k.in(0, n - 1));
//   auto second = graph.task("second", k.in(0, n - 2), m.in(k + 1, n - 1));
//   first.runs(factor, ptg::flow("T").from(A(k, k)));
//   second.runs(solve, ptg::flow("T").from(first["T"](k)), ptg::flow("C").from(A(m, k)));
//   graph.run();
//
// The rules are in docs/ptg.md.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>
#include <fairlead/ptg/copying.hpp>
#include <fairlead/ptg/definition.hpp>
#include <fairlead/ptg/expression.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/source_line.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace fairlead::ptg {

/// A collection: data of one type, identified by indices.
class Collection {
 public:
  explicit Collection(std::shared_ptr<const CollectionDefinition> definition) noexcept
      : definition_(std::move(definition)) {}
  /// The datum with these indices.
  template <class... I>
  Place operator()(const I&... indices) const {
    return {.kind = Place::Kind::memory, .collection = definition_, .indices = {Expression(indices)...}};
  }
  const std::shared_ptr<const CollectionDefinition>& definition() const noexcept { return definition_; }

 private:
  std::shared_ptr<const CollectionDefinition> definition_;
};

/// A new datum without a value, with the size of the collection's datum with index 0. It exists until the last task
/// that gets its value finishes.
inline Place fresh_like(const Collection& collection) {
  return {.kind = Place::Kind::fresh, .like = collection.definition()};
}
/// No value at all.
inline Place nothing() { return {}; }

/// A flow of a task class, from which other tasks take their values.
class FlowName {
 public:
  FlowName(std::weak_ptr<const ClassDefinition> task, std::string name)
      : task_(std::move(task)), name_(std::move(name)) {}
  /// The flow of the task with these indices.
  template <class... I>
  Place operator()(const I&... indices) const {
    return {.kind = Place::Kind::task,
            .task = task_,
            .flow = name_,
            .indices = ordered({Expression(indices)...})};
  }

 private:
  /// Reorders indices given in call order to the order in which the parameters are defined.
  std::vector<Expression> ordered(std::vector<Expression> called) const;

  std::weak_ptr<const ClassDefinition> task_;
  std::string name_;
};

/// A place, and the source line that names it.
struct PlaceHere {
  PlaceHere(Place named, SourceLine line = SourceLine::current()) : place(std::move(named)), where(line) {}
  Place place;
  SourceLine where;
};

/// A flow: its name, and the places where its value comes from and goes to. A control has no value; it only orders
/// tasks.
class FlowSpecification {
 public:
  explicit FlowSpecification(std::string name, bool control = false) {
    flow_.name = std::move(name);
    flow_.control = control;
  }
  /// The value comes from this place. With several calls: from the first place whose condition holds. For a control:
  /// from each place whose condition holds and, with ranges, from each task in them.
  template <std::same_as<Range>... R>
  FlowSpecification from(PlaceHere named, const R&... ranges) && {
    flow_.inputs.push_back({.place = std::move(named.place), .ranges = {ranges...}, .where = named.where});
    last_ = Last::input;
    return std::move(*this);
  }
  /// The value goes to this place. Needed only where it cannot be derived from the inputs of other classes, and for the
  /// collection datum in which the value is stored at the end.
  template <std::same_as<Range>... R>
  FlowSpecification to(PlaceHere named, const R&... ranges) && {
    flow_.outputs.push_back({.place = std::move(named.place), .ranges = {ranges...}, .where = named.where});
    last_ = Last::output;
    return std::move(*this);
  }
  /// A condition on the last from() or to(). Throws UsageError if there is none.
  FlowSpecification when(const Expression& condition) && {
    if (last_ == Last::nothing)
      throw UsageError("the flow " + flow_.name + ": when() must follow from() or to()");
    auto& of = (last_ == Last::input ? flow_.inputs : flow_.outputs).back().condition;
    of = of ? *of && condition : condition;
    return std::move(*this);
  }
  /// Restricts the last from() or to() to a part of the tile. The task reads only that part: over ranks only the part
  /// is sent, and the rest of the tile there is 0. For a collection datum, only the part is stored. If the other end of
  /// the edge names a different part, the elements of one become those of the other, in a separate tile. An empty
  /// optional sets no part. Throws UsageError if there was no from() or to().
  FlowSpecification part(const std::optional<Part>& part) && {
    if (last_ == Last::nothing)
      throw UsageError("the flow " + flow_.name + ": part() must follow from() or to()");
    (last_ == Last::input ? flow_.inputs : flow_.outputs).back().part = part;
    return std::move(*this);
  }
  /// The task changes the value without waiting for the other tasks that read it from the same task: these read a copy.
  /// For tiles, vectors and blocks. docs/ptg.md lists the readers that are still waited for.
  FlowSpecification or_copy() && {
    flow_.or_copy = true;
    return std::move(*this);
  }
  const FlowDefinition& definition() const noexcept { return flow_; }

 private:
  enum class Last : std::uint8_t { nothing, input, output };
  FlowDefinition flow_;
  Last last_ = Last::nothing;
};

inline FlowSpecification flow(std::string name) { return FlowSpecification(std::move(name)); }
inline FlowSpecification control(std::string name) { return FlowSpecification(std::move(name), true); }

namespace detail {

template <class E>
Handle<Tile<E>> another(Runtime& runtime, const Handle<Tile<E>>& like) {
  return runtime.matrix<E>("a fresh matrix", like.rows(), like.columns());
}
template <class E>
Handle<Vector<E>> another(Runtime& runtime, const Handle<Vector<E>>& like) {
  return runtime.vector<E>("a fresh vector", like.size());
}
template <class E>
Handle<Block<E>> another(Runtime& runtime, const Handle<Block<E>>& like) {
  return runtime.block<E>("a fresh block", {like.extent(0), like.extent(1), like.extent(2)});
}

/// For types that define how to make another datum.
template <Shaped T>
requires requires(Runtime& runtime, const Handle<T>& like) {
  { T::another(runtime, like) } -> std::same_as<Handle<T>>;
}
Handle<T> another(Runtime& runtime, const Handle<T>& like) { return T::another(runtime, like); }

/// Makes a datum of exactly the same extents, for types whose another() may make a larger one.
template <class T>
Handle<T> another_exactly(Runtime& runtime, const Handle<T>& like) {
  if constexpr (requires { T::another_exactly(runtime, like); })
    return T::another_exactly(runtime, like);
  else
    return another(runtime, like);
}

/// The layout of an array, from its handle.
template <Array T>
Strided strided(const void* handle) {
  return T::strided(static_cast<const Handle<T>*>(handle)->shape());
}

template <class... P>
struct CallMaker {
  std::shared_ptr<const CodeletInfo> codelet;
  /// The argument for a parameter that is not a datum: a value or a size of scratch memory; empty if it is a number
  /// that depends on the task.
  template <class Q>
  using Constant = std::conditional_t<fairlead::detail::is_datum<Q>, std::monostate,
                                      std::optional<typename fairlead::detail::PassedArgument<Q>::type>>;
  std::tuple<Constant<P>...> constants;

  /// The number of data among the parameters before parameter i.
  static constexpr std::size_t data_before(std::size_t i) {
    constexpr std::array<bool, sizeof...(P) + 1> is{fairlead::detail::is_datum<P>..., false};
    std::size_t count = 0;
    for (std::size_t k = 0; k < i; ++k) count += is[k];
    return count;
  }
  template <std::size_t I>
  decltype(auto) argument(const void* const* handles, const std::int64_t* numbers,
                          std::size_t& number) const {
    using Q = std::tuple_element_t<I, std::tuple<P...>>;
    using PassedArgument = typename fairlead::detail::PassedArgument<Q>::type;
    if constexpr (fairlead::detail::is_datum<Q>) {
      return static_cast<const PassedArgument&>(*static_cast<const PassedArgument*>(handles[data_before(I)]));
    } else {
      const auto& constant = std::get<I>(constants);
      if constexpr (std::is_arithmetic_v<PassedArgument>) {
        if (!constant) return static_cast<PassedArgument>(numbers[number++]);
      }
      return PassedArgument(*constant);
    }
  }
  static void make(const void* self, const void* const* handles, const std::int64_t* numbers,
                   void (*use)(void*, const fairlead::detail::Submission&), void* context) {
    const CallMaker& it = *static_cast<const CallMaker*>(self);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::size_t number = 0;
      const std::tuple<decltype(it.template argument<I>(handles, numbers, number))...> arguments{
          it.template argument<I>(handles, numbers, number)...};  // braces: evaluation from left to right
      const Call<P...> call(it.codelet, std::get<I>(arguments)...);
      use(context, call.submission());
    }
    (std::index_sequence_for<P...>());
  }
};

/// Data of this type can be copied to a new datum.
template <class T>
concept Copyable = requires(Runtime& runtime, const Handle<T>& handle,
                            const typename T::template View<true>& from,
                            const typename T::template View<false>& to) {
  another(runtime, handle);
  copy_elements(from, to);
};

template <class T>
Copier copier() {
  if constexpr (Copyable<T>) {
    const auto copy = codelet("copy").cpu([](In<T> from, Out<T> to) { copy_elements(from, to); }).emulated();
    using Calls = CallMaker<In<T>, Out<T>>;
    return {copy.info(), {&Calls::make, fairlead::detail::without_type(Calls{copy.info(), {}})}};
  } else {
    return {};
  }
}

template <class E>
void copy_part(const Part& part, const TileView<const E>& from, const TileView<E>& to) {
  for (std::int32_t j = 0; j < to.columns(); ++j) {
    const Part::Rows rows = part.rows_of(j, to.rows());
    for (std::int32_t i = rows.first; i < rows.end; ++i) to(i, j) = from(i, j);
  }
}

template <class T>
struct PartsOf {
  static constexpr bool some = false;
};
/// Copies the elements of one part of a tile to another part of a tile of the same size, and sets the rest of it to 0.
/// `from_column_bytes` and `to_column_bytes` are the distances between columns. Throws UsageError if the parts have
/// different numbers of elements.
void recut(const Recut& how, const PartOf& tile, const void* from, std::size_t from_column_bytes, void* to,
           std::size_t to_column_bytes);
template <class E>
struct PartsOf<Tile<E>> {
  static constexpr bool some = true;
  static Copier copier(const Part& part) {
    using T = Tile<E>;
    const auto copy = codelet("copy a part")
                          .cpu([part](In<T> from, InOut<T> to) { copy_part<E>(part, from, to); })
                          .emulated();
    using Calls = CallMaker<In<T>, InOut<T>>;
    return {copy.info(), {&Calls::make, fairlead::detail::without_type(Calls{copy.info(), {}})}};
  }
  static Copier recut(const Recut& how) {
    using T = Tile<E>;
    const auto move = codelet("recut").cpu([how](In<T> from, Out<T> to) {
      const auto column_bytes = [](const auto& tile) {
        return static_cast<std::size_t>(tile.leading_dimension()) * sizeof(E);
      };
      detail::recut(how, {to.rows(), to.columns(), sizeof(E)}, from.data(), column_bytes(from), to.data(),
                    column_bytes(to));
    });
    using Calls = CallMaker<In<T>, Out<T>>;
    return {move.info(), {&Calls::make, fairlead::detail::without_type(Calls{move.info(), {}})}};
  }
  static PartOf extents(const void* handle) {
    const auto& tile = *static_cast<const Handle<Tile<E>>*>(handle);
    return {static_cast<std::int32_t>(tile.rows()), static_cast<std::int32_t>(tile.columns()), sizeof(E)};
  }
};

}  // namespace detail

/// A class of tasks. Copies refer to the same class.
class TaskClass {
 public:
  explicit TaskClass(std::shared_ptr<ClassDefinition> definition) noexcept
      : definition_(std::move(definition)) {}

  /// A flow of the class, by name.
  FlowName operator[](std::string name) const { return {definition_, std::move(name)}; }
  /// The completion of the task with these indices; for controls.
  template <class... I>
  Place operator()(const I&... indices) const {
    return FlowName(definition_, "")(indices...);
  }

  /// Sets the body: a codelet, and an argument for each of its parameters. A datum takes a flow; other parameters take
  /// an expression over the indices, or a constant. Controls come last. Throws UsageError if the class already has a
  /// body.
  template <class... P, class... A>
  TaskClass& runs(const Codelet<P...>& codelet, const A&... arguments) {
    static_assert(
        !fairlead::detail::has_lists<P...>,
        "the tasks of a parameterized class have a flow for each datum, so its body cannot have a Many");
    begin_body(codelet.info());
    detail::CallMaker<P...> maker{codelet.info(), {}};
    static_assert(sizeof...(A) >= sizeof...(P), "there are fewer arguments than parameters of the codelet");
    const std::tuple<const A&...> all{arguments...};
    [&]<std::size_t... I>(std::index_sequence<I...>) { (add<I, P>(maker, std::get<I>(all)), ...); }
    (std::index_sequence_for<P...>());
    [&]<std::size_t... I>(std::index_sequence<I...>) { (add_control(std::get<sizeof...(P) + I>(all)), ...); }
    (std::make_index_sequence<sizeof...(A) - sizeof...(P)>());
    definition_->maker = {&detail::CallMaker<P...>::make, fairlead::detail::without_type(std::move(maker))};
    return *this;
  }
  /// Sets the order of the indices in names, if it differs from their definition: gemm(m, n, k) although the ranges of
  /// m and n depend on k. Places and messages use this order. Call it before any place of the class is used. Throws
  /// UsageError if `parameters` are not those of the class.
  TaskClass& called(const std::vector<Index>& parameters);
  /// Places tasks: a task runs on the rank that owns this datum of a collection. Required for each class if there are
  /// several ranks. The collection data that a task takes as inputs must have the same owner.
  TaskClass& at(Place place) {
    definition_->at = std::move(place);
    return *this;
  }
  /// Skips outputs to tasks that do not exist, as PaRSEC's JDF does. By default such an output is an error.
  TaskClass& skip_missing_receivers() {
    definition_->skips_missing_receivers = true;
    return *this;
  }
  /// Tasks of higher priority run first, if the scheduling policy uses priorities.
  TaskClass& priority(Expression value) {
    definition_->priority = std::move(value);
    return *this;
  }
  const std::shared_ptr<ClassDefinition>& definition() const noexcept { return definition_; }

 private:
  void begin_body(const std::shared_ptr<const CodeletInfo>& codelet);
  void add_control(const FlowSpecification& control);
  template <std::size_t I, class Q, class Maker, class A>
  void add(Maker& maker, const A& argument) {
    if constexpr (fairlead::detail::is_datum<Q>) {
      static_assert(std::is_same_v<A, FlowSpecification>,
                    "the argument for a parameter that is a datum must be a flow");
      using Parameter = std::remove_cvref_t<Q>;
      add_flow(argument, Parameter::mode, typeid(typename Parameter::Datum));
      if (argument.definition().or_copy) copied_by(detail::copier<typename Parameter::Datum>());
      if constexpr (detail::PartsOf<typename Parameter::Datum>::some)
        definition_->flows.back().recut = &detail::PartsOf<typename Parameter::Datum>::recut;
    } else {
      using PassedArgument = typename fairlead::detail::PassedArgument<Q>::type;
      if constexpr (std::is_base_of_v<Expression, A>) {
        static_assert(std::is_arithmetic_v<PassedArgument>,
                      "an expression over indices can be passed for a number only");
        definition_->numbers.push_back(argument);
      } else {
        std::get<I>(maker.constants) = PassedArgument(argument);
      }
    }
  }
  void add_flow(const FlowSpecification& specification, AccessMode mode, std::type_index type);
  void copied_by(Copier copier);

  std::shared_ptr<ClassDefinition> definition_;
};

/// The result of Graph::check().
struct Checked {
  std::uint64_t tasks = 0, edges = 0;
  std::size_t errors = 0;
  std::string text{};  ///< the first few errors of each kind; empty if there are none
};

/// A name, and the source line where it is given.
struct NameHere {
  template <std::convertible_to<std::string> S>
  NameHere(S&& text, SourceLine line = SourceLine::current()) : name(std::forward<S>(text)), where(line) {}
  std::string name;
  SourceLine where;
};

/// A parameterized task graph: its data, its classes, and its runs.
class Graph {
 public:
  explicit Graph(Runtime& runtime);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  /// The tiles of a matrix, by row and column. The matrix must outlive the graph.
  template <class Element>
  Collection data(const TiledMatrix<Element>& matrix, std::string name = "A") {
    using T = Tile<Element>;
    auto definition = define<T>(
        std::move(name), {matrix.tile_rows(), matrix.tile_columns()},
        [&](const std::int64_t* at) {
          if (matrix.lower_only() && at[1] > at[0]) return Handle<T>();
          return matrix.here_or_not(static_cast<std::int32_t>(at[0]), static_cast<std::int32_t>(at[1]));
        },
        matrix.distribution());
    if (const TileSize whole = matrix.tile_size(); whole.is_padded) {
      definition->another = [whole](Runtime& runtime, const void* like,
                                    fairlead::detail::DatumReference& datum, bool) {
        datum = runtime.matrix<Element>("a fresh padded tile", whole.rows, whole.columns).datum();
        return std::make_shared<Handle<T>>(datum, static_cast<const Handle<T>*>(like)->shape());
      };
      definition->bytes_of_another = [whole](const void*, bool) {
        return Bytes{sizeof(Element)} * static_cast<Bytes>(whole.rows) * static_cast<Bytes>(whole.columns);
      };
    }
    return end_collection(std::move(definition));
  }
  /// A single datum, without indices.
  template <class T>
  Collection data(const Handle<T>& handle, std::string name) {
    return data<T>(std::move(name), {}, [&](const std::int64_t*) { return handle; });
  }
  /// Data with one index.
  template <class T>
  Collection data(const std::vector<Handle<T>>& handles, std::string name) {
    return data<T>(std::move(name), {static_cast<std::int64_t>(handles.size())},
                   [&](const std::int64_t* at) { return handles[static_cast<std::size_t>(at[0])]; });
  }
  /// Data on a grid of these extents: `handle_of` returns the handle of each point, an empty one where there is no
  /// datum. With several ranks, it returns a handle with a shape for each point, and with a datum where this rank owns
  /// it; `distribution` gives the owners by the first two indices.
  template <class T, class Function>
  Collection data(std::string name, std::vector<std::int64_t> extents, const Function& handle_of,
                  const Distribution* distribution = nullptr) {
    return end_collection(define<T>(std::move(name), std::move(extents), handle_of, distribution));
  }

  /// Adds a class with one task for each combination of values of its indices. Call runs() on the result to set its
  /// body and flows.
  template <std::same_as<Range>... R>
  TaskClass task(const NameHere& name, const R&... indices) {
    return begin_class(name.name, {indices...}, name.where);
  }
  TaskClass task(const NameHere& name, std::vector<Range> indices) {
    return begin_class(name.name, std::move(indices), name.where);
  }

  /// Waits until all tasks submitted to flows are finished, runs all tasks of the graph once, and waits for them.
  /// Throws UsageError, naming class, flow and source line, for an invalid graph, and for tasks that can never start
  /// because an input never arrives. Otherwise throws as Flow::wait().
  void run();
  /// Submits all tasks of the graph to a flow once, in an order in which they could run, for what flows have and graphs have
  /// not: checkpoints (docs/checkpoints.md), or a recording. The flow finds the dependencies by the data that the tasks use;
  /// a control orders no others. A task takes some microseconds more than in run(), and cancel(), done() and the like do not
  /// apply. The flow must be of the same runtime. Throws UsageError as run(), for several ranks, and for lists of data.
  void submit(Flow& flow);
  /// Cancels tasks that have not started, in this and all later runs; run() then reports the cancellation. Thread-safe,
  /// at any time.
  void cancel();
  /// Like cancel(), for programs that no longer need the results. Tasks not yet created are skipped without being
  /// enumerated, so the run ends soon, however large the graph is. The data that they would have written keep their
  /// values, whereas cancel() marks them as missing. Thread-safe, at any time.
  void abandon();
  /// Makes the first task that fails abandon this run and all later ones. Call it before the first run.
  void abandon_on_failure();
  /// The number of finished tasks in all runs. Thread-safe.
  std::uint64_t done() const noexcept;
  /// The number of tasks. Throws as run().
  std::uint64_t tasks();
  /// Unrolls the graph and checks it: both ends of each edge agree, if both are stated; each value is produced exactly
  /// once, and changed by one task at most; and there are no cycles. For small graphs: throws UsageError beyond a
  /// million tasks, otherwise as run().
  Checked check();
  /// The definitions of the classes added so far.
  std::vector<std::shared_ptr<const ClassDefinition>> definitions() const;

 private:
  class Implementation;
  std::shared_ptr<CollectionDefinition> begin_collection(std::string name, std::vector<std::int64_t> extents,
                                                         std::type_index type, std::size_t handle_bytes);
  Collection end_collection(std::shared_ptr<CollectionDefinition> definition);
  template <class T, class Function>
  std::shared_ptr<CollectionDefinition> define(std::string name, std::vector<std::int64_t> extents,
                                               const Function& handle_of, const Distribution* distribution) {
    static_assert(std::is_trivially_copyable_v<Handle<T>>);
    auto definition = begin_collection(std::move(name), std::move(extents), typeid(T), sizeof(Handle<T>));
    std::vector<std::int64_t> at(definition->extents.size() + 1);
    std::vector<std::uint32_t> owners;
    for (std::size_t position = 0; position < definition->data.size(); ++position) {
      const Handle<T> handle = handle_of(static_cast<const std::int64_t*>(at.data()));
      std::memcpy(definition->handles.data() + position * sizeof handle, &handle, sizeof handle);
      definition->data[position] = handle.datum();
      if (distribution != nullptr)
        owners.push_back(
            distribution->owner(static_cast<std::int32_t>(at[0]),
                                definition->extents.size() > 1 ? static_cast<std::int32_t>(at[1]) : 0));
      for (std::size_t i = 0; i < definition->extents.size() && ++at[i] == definition->extents[i]; ++i)
        at[i] = 0;
    }
    if (!owners.empty()) definition->owners = Owners(std::move(owners));
    if constexpr (requires(Runtime & runtime, const Handle<T>& like) { detail::another(runtime, like); }) {
      definition->another = [](Runtime& runtime, const void* like, fairlead::detail::DatumReference& datum,
                               bool exact) -> std::shared_ptr<const void> {
        const auto& handle = *static_cast<const Handle<T>*>(like);
        auto made = std::make_shared<Handle<T>>(exact ? detail::another_exactly(runtime, handle)
                                                      : detail::another(runtime, handle));
        datum = made->datum();
        return made;
      };
      if constexpr (requires(const Handle<T>& handle) { T::alike(handle, handle, true); }) {
        definition->alike = [](const void* first, const void* second, bool exact) {
          return T::alike(*static_cast<const Handle<T>*>(first), *static_cast<const Handle<T>*>(second),
                          exact);
        };
        definition->bytes_of_another = [](const void* like, bool exact) {
          return T::bytes_of_another(*static_cast<const Handle<T>*>(like), exact);
        };
      } else if constexpr (Array<T>) {
        definition->alike = [](const void* first, const void* second, bool) {
          return detail::strided<T>(first).extents == detail::strided<T>(second).extents;
        };
        definition->bytes_of_another = [](const void* like, bool) {
          return static_cast<Bytes>(detail::strided<T>(like).elements()) * sizeof(typename T::Element);
        };
      }
      definition->copier = detail::copier<T>();
      if constexpr (detail::PartsOf<T>::some) {
        definition->part_copier = &detail::PartsOf<T>::copier;
        definition->extents_of = &detail::PartsOf<T>::extents;
      }
    }
    return definition;
  }
  TaskClass begin_class(std::string name, std::vector<Range> indices, SourceLine where);

  std::shared_ptr<Implementation> implementation_;
};

}  // namespace fairlead::ptg
