// A parameterized task graph: classes of tasks with indices, and for each flow of a class where its value comes
// from. The tasks are never all there: each is made when what it waits for is over, and forgotten when it is.
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
// docs/ptg.md has the rules.
#pragma once
#include <fairlead/codelet.hpp>
#include <fairlead/error.hpp>
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

/// Data of one type by their indices.
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

/// A datum of no known value, made for this task, and gone after the last one that its value reaches: of the
/// size of the collection's datum with index 0.
inline Place fresh_like(const Collection& collection) {
  return {.kind = Place::Kind::fresh, .like = collection.definition()};
}
/// No value at all.
inline Place nothing() { return {}; }

/// A flow of the tasks of a class: what another task takes it from.
class FlowName {
 public:
  FlowName(std::weak_ptr<const ClassDefinition> task, std::string name)
      : task_(std::move(task)), name_(std::move(name)) {}
  /// Of the task with these indices.
  template <class... I>
  Place operator()(const I&... indices) const {
    return {.kind = Place::Kind::task,
            .task = task_,
            .flow = name_,
            .indices = ordered({Expression(indices)...})};
  }

 private:
  /// As the parameters are defined.
  std::vector<Expression> ordered(std::vector<Expression> called) const;

  std::weak_ptr<const ClassDefinition> task_;
  std::string name_;
};

/// A place, and the line of the program that names it.
struct PlaceHere {
  PlaceHere(Place named, SourceLine line = SourceLine::current()) : place(std::move(named)), where(line) {}
  Place place;
  SourceLine where;
};

/// A flow: its name, and where its value comes from. A control has no value, only order.
class FlowSpecification {
 public:
  explicit FlowSpecification(std::string name, bool control = false) {
    flow_.name = std::move(name);
    flow_.control = control;
  }
  /// The value comes from there. Several: from the first whose condition holds. Of a control: each whose
  /// condition holds, and, with ranges, each of their tasks.
  template <std::same_as<Range>... R>
  FlowSpecification from(PlaceHere named, const R&... ranges) && {
    flow_.inputs.push_back({.place = std::move(named.place), .ranges = {ranges...}, .where = named.where});
    last_ = Last::input;
    return std::move(*this);
  }
  /// Its value goes there: to be said where that cannot be found out, and of data in which it is to be left.
  template <std::same_as<Range>... R>
  FlowSpecification to(PlaceHere named, const R&... ranges) && {
    flow_.outputs.push_back({.place = std::move(named.place), .ranges = {ranges...}, .where = named.where});
    last_ = Last::output;
    return std::move(*this);
  }
  /// Of what was said last. Throws UsageError if nothing was.
  FlowSpecification when(const Expression& condition) && {
    if (last_ == Last::nothing)
      throw UsageError("the flow " + flow_.name +
                       " has a condition of nothing: when() follows from() or to()");
    auto& of = (last_ == Last::input ? flow_.inputs : flow_.outputs).back().condition;
    of = of ? *of && condition : condition;
    return std::move(*this);
  }
  /// Of what was said last: the task looks at no more than that part of the tile, so that nothing else goes to another
  /// rank, where the rest is 0; or no more is left in the datum. If the other end says another part, the elements of one become
  /// those of the other, in a tile of their own. No part: nothing is said about it. Throws UsageError if
  /// there is nothing that it is a part of.
  FlowSpecification part(const std::optional<Part>& part) && {
    if (last_ == Last::nothing)
      throw UsageError("the flow " + flow_.name + " has a part of nothing: part() follows from() or to()");
    (last_ == Last::input ? flow_.inputs : flow_.outputs).back().part = part;
    return std::move(*this);
  }
  /// The task changes the value, and is not to wait until all others who get it from the same task have read it:
  /// these read a copy. Of tiles, vectors and blocks; docs/ptg.md says who still is waited for.
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

/// Of a type that says itself how.
template <Shaped T>
requires requires(Runtime& runtime, const Handle<T>& like) {
  { T::another(runtime, like) } -> std::same_as<Handle<T>>;
}
Handle<T> another(Runtime& runtime, const Handle<T>& like) { return T::another(runtime, like); }

/// Of a type of which another may be larger.
template <class T>
Handle<T> another_exactly(Runtime& runtime, const Handle<T>& like) {
  if constexpr (requires { T::another_exactly(runtime, like); })
    return T::another_exactly(runtime, like);
  else
    return another(runtime, like);
}

/// Of the handle of an array.
template <Array T>
Strided strided(const void* handle) {
  return T::strided(static_cast<const Handle<T>*>(handle)->shape());
}

template <class... P>
struct CallMaker {
  std::shared_ptr<const CodeletInfo> codelet;
  /// What is no datum: a value, a size of scratch; nothing where it is a number of the task's.
  template <class Q>
  using Constant = std::conditional_t<fairlead::detail::is_datum<Q>, std::monostate,
                                      std::optional<typename fairlead::detail::Passed<Q>::type>>;
  std::tuple<Constant<P>...> constants;

  /// The parameters before I that are data, or numbers of the task's.
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
    using Passed = typename fairlead::detail::Passed<Q>::type;
    if constexpr (fairlead::detail::is_datum<Q>) {
      return static_cast<const Passed&>(*static_cast<const Passed*>(handles[data_before(I)]));
    } else {
      const auto& constant = std::get<I>(constants);
      if constexpr (std::is_arithmetic_v<Passed>) {
        if (!constant) return static_cast<Passed>(numbers[number++]);
      }
      return Passed(*constant);
    }
  }
  static void make(const void* self, const void* const* handles, const std::int64_t* numbers,
                   void (*use)(void*, const fairlead::detail::Submission&), void* context) {
    const CallMaker& it = *static_cast<const CallMaker*>(self);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::size_t number = 0;
      const std::tuple<decltype(it.template argument<I>(handles, numbers, number))...> arguments{
          it.template argument<I>(handles, numbers, number)...};  // braces: from left to right
      const Call<P...> call(it.codelet, std::get<I>(arguments)...);
      use(context, call.submission());
    }
    (std::index_sequence_for<P...>());
  }
};

/// A datum of the type can be copied to another one that is made for it.
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
    return {copy.info(), {&Calls::make, std::make_shared<Calls>(Calls{copy.info(), {}})}};
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
/// From one tile in memory to another of the same size, with so many bytes from one column to the next; the rest there becomes 0.
/// UsageError if the parts have not as many elements as each other.
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
    return {copy.info(), {&Calls::make, std::make_shared<Calls>(Calls{copy.info(), {}})}};
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
    return {move.info(), {&Calls::make, std::make_shared<Calls>(Calls{move.info(), {}})}};
  }
  static PartOf extents(const void* handle) {
    const auto& tile = *static_cast<const Handle<Tile<E>>*>(handle);
    return {static_cast<std::int32_t>(tile.rows()), static_cast<std::int32_t>(tile.columns()), sizeof(E)};
  }
};

}  // namespace detail

/// A class of tasks. Copies are the same class.
class TaskClass {
 public:
  explicit TaskClass(std::shared_ptr<ClassDefinition> definition) noexcept
      : definition_(std::move(definition)) {}

  /// One of its flows, by name.
  FlowName operator[](std::string name) const { return {definition_, std::move(name)}; }
  /// The task with these indices: for controls, that it is over.
  template <class... I>
  Place operator()(const I&... indices) const {
    return FlowName(definition_, "")(indices...);
  }

  /// What its tasks do: a codelet, and for each of its parameters a flow if it is a datum, else an expression
  /// over the indices, or a value; controls come last. Throws UsageError for a second body.
  template <class... P, class... A>
  TaskClass& runs(const Codelet<P...>& codelet, const A&... arguments) {
    begin_body(codelet.info());
    auto maker = std::make_shared<detail::CallMaker<P...>>(detail::CallMaker<P...>{codelet.info(), {}});
    static_assert(sizeof...(A) >= sizeof...(P), "a parameter of the codelet is given nothing");
    const std::tuple<const A&...> all{arguments...};
    [&]<std::size_t... I>(std::index_sequence<I...>) { (add<I, P>(*maker, std::get<I>(all)), ...); }
    (std::index_sequence_for<P...>());
    [&]<std::size_t... I>(std::index_sequence<I...>) { (add_control(std::get<sizeof...(P) + I>(all)), ...); }
    (std::make_index_sequence<sizeof...(A) - sizeof...(P)>());
    definition_->maker = {&detail::CallMaker<P...>::make, maker};
    return *this;
  }
  /// How its tasks are called, if not by the order of their indices: gemm(m, n, k) although the ranges of m and n
  /// follow from k. Places and messages name them so. To be said before any place; throws UsageError if these are
  /// not its parameters.
  TaskClass& called(const std::vector<Index>& parameters);
  /// Over ranks: its tasks run where that datum is. To be said for every class if there are several ranks, of a
  /// datum of a collection; the data that a task takes from collections are there, too.
  TaskClass& at(Place place) {
    definition_->at = std::move(place);
    return *this;
  }
  /// Higher ones first, where the policy heeds it.
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
      static_assert(std::is_same_v<A, FlowSpecification>, "a parameter that is a datum is given a flow");
      using Parameter = std::remove_cvref_t<Q>;
      add_flow(argument, Parameter::mode, typeid(typename Parameter::Datum));
      if (argument.definition().or_copy) copied_by(detail::copier<typename Parameter::Datum>());
      if constexpr (detail::PartsOf<typename Parameter::Datum>::some)
        definition_->flows.back().recut = &detail::PartsOf<typename Parameter::Datum>::recut;
    } else {
      using Passed = typename fairlead::detail::Passed<Q>::type;
      if constexpr (std::is_base_of_v<Expression, A>) {
        static_assert(std::is_arithmetic_v<Passed>, "an expression over indices is a number");
        definition_->numbers.push_back(argument);
      } else {
        std::get<I>(maker.constants) = Passed(argument);
      }
    }
  }
  void add_flow(const FlowSpecification& specification, AccessMode mode, std::type_index type);
  void copied_by(Copier copier);

  std::shared_ptr<ClassDefinition> definition_;
};

/// What Graph::check() has found.
struct Checked {
  std::uint64_t tasks = 0, edges = 0;
  std::size_t errors = 0;
  std::string text{};  ///< what is wrong, the first few of each kind; empty if nothing is
};

/// A name, and the line of the program where it is given.
struct NameHere {
  template <std::convertible_to<std::string> S>
  NameHere(S&& text, SourceLine line = SourceLine::current()) : name(std::forward<S>(text)), where(line) {}
  std::string name;
  SourceLine where;
};

/// Where its tasks are, how they hang together, and their runs.
class Graph {
 public:
  explicit Graph(Runtime& runtime);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  /// The tiles of a matrix, by row and column. The matrix stays as long as the graph.
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
  /// One datum, without an index.
  template <class T>
  Collection data(const Handle<T>& handle, std::string name) {
    return data<T>(std::move(name), {}, [&](const std::int64_t*) { return handle; });
  }
  /// Data by one index.
  template <class T>
  Collection data(const std::vector<Handle<T>>& handles, std::string name) {
    return data<T>(std::move(name), {static_cast<std::int64_t>(handles.size())},
                   [&](const std::int64_t* at) { return handles[static_cast<std::size_t>(at[0])]; });
  }
  /// Data of a grid of these extents: what `handle_of` says of each of its points, an empty handle where there is
  /// none.
  /// Over ranks: a handle of each, with its shape, and a datum where this rank owns it; `distribution`: who owns
  /// what, by the first two indices.
  template <class T, class Function>
  Collection data(std::string name, std::vector<std::int64_t> extents, const Function& handle_of,
                  const Distribution* distribution = nullptr) {
    return end_collection(define<T>(std::move(name), std::move(extents), handle_of, distribution));
  }

  /// A class of tasks: one for each of the numbers that its indices can have. What its tasks do, and where
  /// their values come from, is said by runs().
  template <std::same_as<Range>... R>
  TaskClass task(const NameHere& name, const R&... indices) {
    return begin_class(name.name, {indices...}, name.where);
  }
  TaskClass task(const NameHere& name, std::vector<Range> indices) {
    return begin_class(name.name, std::move(indices), name.where);
  }

  /// Waits until all that was submitted to flows is over, runs all tasks once, and waits until they are over.
  /// Throws UsageError for a graph that makes no sense, naming class, flow and line, and for one of which
  /// tasks are left that nobody feeds; else as Flow::wait().
  void run();
  /// Tasks that have not started will not run, now or later; run() then says so. Any thread, at any time.
  void cancel();
  /// As cancel(), for who has no use for what the graph writes any more: tasks that nobody waits for yet are passed by, and not
  /// even counted one by one, so that the run ends soon however many they are. What they would have written keeps what it had,
  /// where cancel() says that it is missing. Any thread, at any time.
  void abandon();
  /// The first task that fails abandons the run, and later ones of this graph. Before the first.
  void abandon_on_failure();
  /// Tasks that are over, of all runs together; any thread may ask.
  std::uint64_t done() const noexcept;
  /// How many tasks there are. Throws as run().
  std::uint64_t tasks();
  /// Writes the whole graph out and looks at it: whether both ends of each edge agree where both are said, whether
  /// every value is made, once, and goes to one task at most that changes it, and whether tasks wait for each
  /// other in a circle. For small sizes: throws UsageError beyond a million tasks; else as run().
  Checked check();
  /// What it is put together from so far.
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
