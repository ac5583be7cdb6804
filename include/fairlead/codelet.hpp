// A codelet is a kind of task: a name, and one or more bodies for one or more kinds of processor. The types of the
// body's parameters are the access modes.
//
//   const auto scale = fairlead::codelet("scale").cpu([](InOut<double> x, double factor) { *x *= factor; });
//   flow.submit(scale(x, 2.0).priority(1));
#pragma once
#include <fairlead/codelet_info.hpp>
#include <fairlead/completion.hpp>
#include <fairlead/detail/submission.hpp>
#include <fairlead/error.hpp>
#include <fairlead/extended_call.hpp>
#include <fairlead/many.hpp>
#include <fairlead/parameter.hpp>
#include <fairlead/reduce.hpp>
#include <fairlead/scratch.hpp>
#include <fairlead/team.hpp>

#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

struct CUstream_st;  // the pointee of cudaStream_t

namespace fairlead {

class CudaStream;   // defined in cuda.hpp
class OpenclQueue;  // defined in opencl.hpp

namespace detail {

/// What a task stores of one argument: the shape of a datum, the size of scratch memory, or the value.
template <class P, bool = is_datum<P>>
struct StoredArgument {
  using type = typename std::remove_cvref_t<P>::Stored;
};
template <class P>
struct StoredArgument<P, false> {
  using type = std::conditional_t<is_scratch<P>, ScratchSize, std::remove_cvref_t<P>>;
};
template <class P>
struct StoredArgument<Many<P>, false> {
  using type = StoredList<P>;
};

/// What the caller passes for one parameter: a handle, handles, the size of scratch memory, or a value.
template <class P, bool = is_datum<P>>
struct PassedArgument {
  using type = Handle<typename std::remove_cvref_t<P>::Datum>;
};
template <class P>
struct PassedArgument<P, false> {
  using type = std::conditional_t<is_scratch<P>, ScratchSize, std::remove_cvref_t<P>>;
};
template <class P>
struct PassedArgument<Many<P>, false> {
  using type = std::span<const Handle<typename P::Datum>>;
};
template <class P>
struct StoredArgument<const Many<P>&, false> : StoredArgument<Many<P>> {};
template <class P>
struct PassedArgument<const Many<P>&, false> : PassedArgument<Many<P>> {};

/// The number of parameters that are one datum each.
template <class... P>
inline constexpr std::size_t datum_count = (std::size_t{0} + ... + (is_datum<P> ? 1 : 0));
template <class... P>
inline constexpr bool has_lists = (false || ... || is_list<P>);

/// The number of data among the parameters before parameter I.
template <std::size_t I, class... P>
constexpr std::size_t data_before() {
  constexpr std::array<bool, sizeof...(P) + 1> is{is_datum<P>..., false};
  std::size_t count = 0;
  for (std::size_t i = 0; i != I; ++i) count += is[i];
  return count;
}

/// Maps each parameter to its index among the data, or to -1 if it is not a datum. An extra element at the
/// end avoids an empty array.
template <class... P>
constexpr std::array<int, sizeof...(P) + 1> uses_of_parameters() {
  constexpr std::array<bool, sizeof...(P) + 1> is{is_datum<P>..., false};
  std::array<int, sizeof...(P) + 1> uses{};
  for (std::size_t i = 0, data = 0; i < uses.size(); ++i) uses[i] = is[i] ? static_cast<int>(data++) : -1;
  return uses;
}

template <class... P>
struct Arguments {
  static_assert(datum_count<P...> < narrowed(absent_access),
                "a body has at most 254 parameters that are data");
  std::array<std::uint8_t, (datum_count<P...> == 0 ? 1 : datum_count<P...>)> access_of_use{};
  std::tuple<typename StoredArgument<P>::type...> kept;
};

/// Arguments are stored in the task's descriptor if they fit, otherwise on the heap.
template <class... P>
struct Closure {
  using Content = Arguments<P...>;
  static constexpr bool inside = sizeof(Content) <= closure_capacity && alignof(Content) <= 16;
  static constexpr std::uint32_t bytes = inside ? sizeof(Content) : sizeof(Content*);
  static Content& content(void* closure) noexcept {
    if constexpr (inside) {
      return *std::launder(reinterpret_cast<Content*>(closure));
    } else {
      return **std::launder(reinterpret_cast<Content**>(closure));
    }
  }
  static void destroy(void* closure) {
    if constexpr (inside) {
      content(closure).~Content();
    } else {
      delete &content(closure);
    }
  }
  static constexpr bool needs_destruction = !inside || !std::is_trivially_destructible_v<Content>;
};

/// True if the parameter types can be deduced: F is a function, or an object with one call operator.
template <class F>
concept HasOneSignature = std::is_function_v<std::remove_pointer_t<F>> || requires {
  &F::operator();
};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class C, class R, bool Never, class... P>
struct Signature<R (C::*)(P...) const noexcept(Never)> {
  using Parameters = std::tuple<P...>;
};
template <class C, class R, bool Never, class... P>
struct Signature<R (C::*)(P...) noexcept(Never)> {
  static_assert(sizeof(C) == 0,
                "several threads may call the body of a codelet at the same time, so it must not change its "
                "captures: leave out `mutable`");
};
template <class R, bool Never, class... P>
struct Signature<R (*)(P...) noexcept(Never)> {
  using Parameters = std::tuple<P...>;
};

template <class F>
constexpr bool has_one_signature() {
  static_assert(
      HasOneSignature<F>,
      "the body of a codelet must name the types of its parameters, since they are the access modes: "
      "[](In<Tile<double>> a, InOut<double> sum, int k). Generic lambdas (auto) and overloaded "
      "call operators are not supported");
  return HasOneSignature<F>;
}

/// True if a body may have this parameter; a failed static_assert explains the requirement.
template <class P>
constexpr bool can_be_parameter() {
  using Value = std::remove_cvref_t<P>;
  constexpr bool first_only = std::is_same_v<Value, Completion> || std::is_same_v<Value, Team>;
  constexpr bool queue = std::is_same_v<Value, OpenclQueue>;
  constexpr bool stream = std::is_same_v<Value, CudaStream>;
  constexpr bool copied = !is_datum<P> && !is_list<P> && !is_scratch<P> && !queue && !stream;
  static_assert(
      !first_only,
      "a Completion must be the first parameter of a body, by value; a Team must be the first, or follow "
      "the Completion");
  static_assert(
      !queue,
      "an OpenclQueue must be the first parameter of a body for OpenCL devices: add the body with .opencl()");
  static_assert(
      !stream,
      "a CudaStream must be the first parameter of a body for CUDA devices: add the body with .cuda()");
  static_assert(
      std::is_same_v<P, Value> || std::is_same_v<P, const Value&>,
      "a body cannot have a parameter T& or T&&: it would refer to the task's own copy. To change a datum, "
      "use InOut<T> (or Out<T>, Commute<T>, Reduce<T>), with a handle from Runtime::value() or a similar "
      "function. To read only, use In<T>, or a value: T, const T&");
  static_assert(!copied || std::is_copy_constructible_v<Value>,
                "a parameter of a body that is not a datum is a value, copied into each task: its type must "
                "have a copy constructor");
  return true;
}

/// The user's formula for the work of a task, a function of the call's handles and values.
template <class F, class... P>
struct WorkFormula {
  using Given = std::tuple<const typename PassedArgument<P>::type*...>;
  static double work(const CodeletInfo& info, const void* given) {
    const F& formula = *static_cast<const F*>(info.formula.get());
    return std::apply([&](const auto*... argument) { return number(formula(*argument...)); },
                      *static_cast<const Given*>(given));
  }
  template <class Rep, class Period>
  static double number(std::chrono::duration<Rep, Period> duration) {
    return std::chrono::duration<double, std::nano>(duration).count();
  }
  static double number(double count) { return count; }
};

/// The parameters of a body before its arguments.
enum class LeadingParameter : std::uint8_t {
  nothing,
  team,
  completion,
  completion_and_team,
  opencl_queue,
  cuda_stream,
};
constexpr bool is_asynchronous(LeadingParameter first) noexcept {
  return first == LeadingParameter::completion || first == LeadingParameter::completion_and_team;
}

template <class F, LeadingParameter Leading, class... P>
struct Runner {
  /// Bytes of scratch memory for one parameter; 0 if it is not a Scratch.
  template <class Q, class K>
  static Bytes scratch_size([[maybe_unused]] const K& kept) noexcept {
    if constexpr (is_scratch<Q>) {
      return scratch_bytes(kept, ScratchElement<std::remove_cvref_t<Q>>::bytes);
    } else {
      return 0;
    }
  }
  template <std::size_t I, class Q>
  static decltype(auto) argument(const TaskContext& context, Arguments<P...>& arguments) {
    if constexpr (is_datum<Q>) {
      return std::remove_cvref_t<Q>(
          location_of(context, widened(arguments.access_of_use[data_before<I, P...>()])),
          std::get<I>(arguments.kept));
    } else if constexpr (is_list<Q>) {
      auto& list = std::get<I>(arguments.kept);
      list.views.clear();  // of the last run, if the task is recorded
      for (std::size_t i = 0; i < list.accesses.size(); ++i)
        list.views.emplace_back(location_of(context, list.accesses[i]), list.shapes[i]);
      return std::remove_cvref_t<Q>(list.views);
    } else if constexpr (is_scratch<Q>) {
      using Element = typename std::remove_cvref_t<Q>::value_type;
      Bytes before = 0;
      [&]<std::size_t... J>(std::index_sequence<J...>) {
        ((before += scratch_size<std::tuple_element_t<J, std::tuple<P...>>>(std::get<J>(arguments.kept))),
         ...);
      }
      (std::make_index_sequence<I>());
      return std::remove_cvref_t<Q>(
          reinterpret_cast<Element*>(static_cast<std::byte*>(scratch_of(context)) + before),
          static_cast<std::size_t>(std::get<I>(arguments.kept).elements));
    } else {
      return (std::get<I>(arguments.kept));
    }
  }
  static void run(const void* callable, TaskContext& context) {
    const F& body = *static_cast<const F*>(callable);
    auto& arguments = Closure<P...>::content(closure_of(context));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto call = [&](const auto&... first) {
        if constexpr (Leading == LeadingParameter::team || Leading == LeadingParameter::completion_and_team) {
          body(first..., context.team == nullptr ? Team() : *context.team,
               argument<I, P>(context, arguments)...);
        } else if constexpr (Leading == LeadingParameter::opencl_queue) {
          using Queue = std::tuple_element_t<0, std::tuple<OpenclQueue, P...>>;
          body(Queue(context), argument<I, P>(context, arguments)...);
        } else if constexpr (Leading == LeadingParameter::cuda_stream) {
          using Stream = std::tuple_element_t<0, std::tuple<CudaStream, P...>>;
          body(Stream(context), argument<I, P>(context, arguments)...);
        } else {
          body(first..., argument<I, P>(context, arguments)...);
        }
      };
      if constexpr (is_asynchronous(Leading)) {
        const Completion completion(context);
        try {
          call(completion);
        } catch (...) {
          if (completion.body_threw()) throw;
          return;
        }
        completion.body_returned(nullptr);
      } else {
        call();
      }
    }
    (std::index_sequence_for<P...>());
  }
};

/// A callable of a codelet without its type. Instantiates one function per type, where std::make_shared instantiates six
/// and a virtual table: a large program has thousands of bodies.
template <class F>
std::shared_ptr<const void> without_type(F callable) {
  void (*const destroy)(const void*) = [](const void* of) { delete static_cast<const F*>(of); };
  return std::shared_ptr<const void>(static_cast<const void*>(new F(std::move(callable))), destroy);
}

/// Converts a callable to an Implementation. `Parameters`: without a leading Completion, Team, queue or
/// stream.
template <class F, class Parameters = typename Signature<F>::Parameters>
struct Body;
template <class F, LeadingParameter Leading, class... P>
struct BodyOf {
  static_assert((true && ... && can_be_parameter<P>()));
  using Parameters = std::tuple<P...>;
  static constexpr LeadingParameter leading = Leading;
  static Implementation implementation(std::string name, F body) {
    return {&Runner<F, Leading, P...>::run, without_type(std::move(body)), is_asynchronous(Leading),
            std::move(name)};
  }
};
template <class F, class... P>
struct Body<F, std::tuple<P...>> : BodyOf<F, LeadingParameter::nothing, P...> {};
template <class F, class... P>
struct Body<F, std::tuple<Team, P...>> : BodyOf<F, LeadingParameter::team, P...> {};
template <class F, class... P>
struct Body<F, std::tuple<Completion, P...>> : BodyOf<F, LeadingParameter::completion, P...> {};
template <class F, class... P>
struct Body<F, std::tuple<Completion, Team, P...>> : BodyOf<F, LeadingParameter::completion_and_team, P...> {
};
template <class F, class... P>
struct Body<F, std::tuple<OpenclQueue, P...>> : BodyOf<F, LeadingParameter::opencl_queue, P...> {};
template <class F, class... P>
struct Body<F, std::tuple<CudaStream, P...>> : BodyOf<F, LeadingParameter::cuda_stream, P...> {};
template <class F, class... P>
struct Body<F, std::tuple<CUstream_st*, P...>> : BodyOf<F, LeadingParameter::cuda_stream, P...> {};

template <class Parameter>
inline constexpr bool is_reduced = false;
template <class Parameter>
requires requires { Parameter::mode; }
inline constexpr bool is_reduced<Parameter> = Parameter::mode == AccessMode::reduction;
template <class Parameters>
inline constexpr bool has_reduction = false;
template <class... P>
inline constexpr bool has_reduction<std::tuple<P...>> = (false || ... || is_reduced<P>);

/// True if the leading parameter of the body fits the kind of worker; a failed static_assert explains the
/// requirement.
template <class F, WorkerKind Kind>
constexpr bool fits_worker_kind() {
  constexpr bool queue = Body<F>::leading == LeadingParameter::opencl_queue,
                 stream = Body<F>::leading == LeadingParameter::cuda_stream;
  constexpr bool on_opencl = Kind == WorkerKind::opencl, on_cuda = Kind == WorkerKind::cuda;
  static_assert(queue || !on_opencl,
                "the first parameter of a body for OpenCL devices must be an OpenclQueue, by value (see "
                "fairlead/opencl.hpp)");
  static_assert(
      !queue || on_opencl,
      "a body whose first parameter is an OpenclQueue is for OpenCL devices: add it with .opencl()");
  static_assert(
      stream || !on_cuda,
      "the first parameter of a body for CUDA devices must be a cudaStream_t, or a CudaStream by value (see "
      "fairlead/cuda.hpp)");
  static_assert(!stream || on_cuda,
                "a body whose first parameter is a stream is for CUDA devices: add it with .cuda()");
  static_assert(!(on_opencl || on_cuda) || !has_reduction<typename Body<F>::Parameters>,
                "Reduce is for bodies that run on cores: partial results are initialized and folded there");
  return queue == on_opencl && stream == on_cuda;
}

}  // namespace detail

/// A codelet applied to its data: one task, not yet submitted.
template <class... P>
class Call {
 public:
  Call(const std::shared_ptr<const CodeletInfo>& codelet,
       const typename detail::PassedArgument<P>::type&... arguments)
      : codelet_(&codelet), arguments_{{}, {kept<P>(arguments)...}}, workers_(codelet->workers) {
    [[maybe_unused]] std::size_t i = 0;
    if constexpr (detail::has_lists<P...>)
      uses_.resize(detail::datum_count<P...> + (std::size_t{0} + ... + listed<P>(arguments)));
    ((add<P>(arguments, i)), ...);
    ((add_list<P>(arguments, i)), ...);
    ((add_scratch<P>(arguments)), ...);
    if (codelet->work != nullptr) {
      const std::tuple<const typename detail::PassedArgument<P>::type*...> given{&arguments...};
      work_ = detail::checked_work(*codelet, codelet->work(*codelet, &given));
    }
  }

  /// Tasks of higher priority run first, if the scheduling policy uses priorities.
  Call&& priority(int value) && {
    priority_ = value;
    return std::move(*this);
  }

  /// Runs only on workers of this memory node; see Runtime::memory_node().
  Call&& on(NodeId node) && {
    node_ = node;
    return std::move(*this);
  }
  /// A placement hint: this accelerator, counted from 0; see Runtime::devices(). If the policy uses hints, data that
  /// the task writes and that have no replica yet are placed there; a task that writes nothing runs there.
  Call&& on_device(int device) && {
    device_ = device;
    return std::move(*this);
  }
  /// With several ranks: runs on this rank. The default is the owner of the first datum that the task writes: see
  /// docs/ranks.md.
  Call&& on_rank(std::uint32_t rank) && {
    rank_ = static_cast<int>(rank);
    return std::move(*this);
  }
  /// A placement hint: run where the datum passed as this argument resides, is advised to reside, or has a copy;
  /// arguments are counted from 0. If there is no such place, on_device() applies. Throws UsageError if the argument is
  /// not a datum.
  Call&& where(int argument) && {
    constexpr auto uses = detail::uses_of_parameters<P...>();
    like_ = detail::checked_where(**codelet_, argument, std::span(uses).first(sizeof...(P)));
    return std::move(*this);
  }
  /// Needs this many workers at once if a CPU core runs it. Overrides Codelet::workers().
  Call&& workers(Workers workers) && {
    workers_ = workers;
    return std::move(*this);
  }
  /// Starts only when these tasks are finished, whether or not they share data, and even if they failed. Takes futures,
  /// or a vector of them.
  template <class... Futures>
  ExtendedCall<P...> after(const Futures&... tasks) && {
    return ExtendedCall<P...>(std::move(*this)).after(tasks...);
  }
  /// Calls `callback(failure)` when the task is finished. What a callback may do: docs/concepts.md.
  ExtendedCall<P...> on_done(DoneCallback callback) && {
    return ExtendedCall<P...>(std::move(*this)).on_done(std::move(callback));
  }

  const std::shared_ptr<const CodeletInfo>& codelet() const noexcept { return *codelet_; }
  detail::Submission submission() const noexcept {
    detail::Submission submission;
    submission.codelet = codelet_->get();
    if constexpr (detail::has_lists<P...>) {
      submission.uses = uses_;
      submission.first_listed = detail::datum_count<P...>;
    } else {
      submission.uses = std::span(uses_).first(detail::datum_count<P...>);
    }
    submission.priority = priority_;
    submission.node = node_;
    submission.device = device_;
    submission.rank = rank_;
    submission.like = like_;
    submission.work = work_;
    submission.scratch_bytes = scratch_bytes_;
    submission.workers = workers_;
    submission.fill_closure = [](void* closure, const void* arguments,
                                 const detail::AccessIndex* access_of_use) {
      using Closure = detail::Closure<P...>;
      using Content = typename Closure::Content;
      Content* content;
      if constexpr (Closure::inside) {
        content = new (closure) Content(*static_cast<const Content*>(arguments));
      } else {
        content = new Content(*static_cast<const Content*>(arguments));
        new (closure) Content*(content);
      }
      for (std::size_t i = 0; i < detail::datum_count<P...>; ++i)
        content->access_of_use[i] = detail::narrowed(access_of_use[i]);
      if constexpr (detail::has_lists<P...>) {
        access_of_use += detail::datum_count<P...>;
        std::apply([&](auto&... kept) { ((fill_list<P>(kept, access_of_use)), ...); }, content->kept);
      }
    };
    submission.arguments = &arguments_;
    return submission;
  }

 private:
  template <class Q, class A>
  static auto kept(const A& argument) {
    if constexpr (detail::is_datum<Q>) {
      return std::remove_cvref_t<Q>::stored(argument);
    } else if constexpr (detail::is_list<Q>) {
      typename detail::StoredArgument<Q>::type list;
      list.shapes.reserve(argument.size());
      for (const auto& handle : argument)
        list.shapes.push_back(std::remove_cvref_t<Q>::Parameter::stored(handle));
      return list;
    } else {
      return argument;
    }
  }
  template <class Q, class A>
  static std::size_t listed([[maybe_unused]] const A& argument) {
    if constexpr (detail::is_list<Q>) return argument.size();
    return 0;
  }
  template <class Q, class A>
  void add(const A& argument, std::size_t& i) {
    if constexpr (detail::is_datum<Q>) {
      const detail::DatumReference& reference = argument.datum();
      uses_[i++] = {reference.datum, std::remove_cvref_t<Q>::mode, reference.generation};
    }
  }
  template <class Q, class A>
  void add_list([[maybe_unused]] const A& argument, [[maybe_unused]] std::size_t& i) {
    if constexpr (detail::is_list<Q>) {
      if (argument.empty()) detail::throw_empty_list(**codelet_);
      for (const auto& handle : argument) {
        const detail::DatumReference& reference = handle.datum();
        uses_[i++] = {reference.datum, std::remove_cvref_t<Q>::Parameter::mode, reference.generation};
      }
    }
  }
  template <class Q, class K>
  static void fill_list([[maybe_unused]] K& kept,
                        [[maybe_unused]] const detail::AccessIndex*& access_of_use) {
    if constexpr (detail::is_list<Q>) {
      const std::size_t count = kept.shapes.size();
      kept.accesses.assign(access_of_use, access_of_use + count);
      kept.views.reserve(count);
      access_of_use += count;
    }
  }
  template <class Q, class A>
  void add_scratch([[maybe_unused]] const A& argument) {
    if constexpr (detail::is_scratch<Q>)
      scratch_bytes_ += detail::checked_scratch(**codelet_, argument,
                                                detail::ScratchElement<std::remove_cvref_t<Q>>::bytes);
  }

  const std::shared_ptr<const CodeletInfo>* codelet_;
  std::conditional_t<
      detail::has_lists<P...>, std::vector<detail::Submission::Use>,
      std::array<detail::Submission::Use, (detail::datum_count<P...> == 0 ? 1 : detail::datum_count<P...>)>>
      uses_{};
  detail::Arguments<P...> arguments_;
  int priority_ = 0;
  NodeId node_ = no_id<NodeId>;
  int device_ = no_device, like_ = -1, rank_ = -1;
  float work_ = 0;
  Bytes scratch_bytes_ = 0;
  Workers workers_;
};

/// A named kind of task with bodies for one or more kinds of processor. One kind can have several bodies; the
/// runtime selects one per task. All bodies have the same parameters: In, Out, InOut, Commute or Reduce of a
/// type, Many of these (except Reduce), Scratch, or values. If a Completion comes first, the task finishes when it is signalled. A Team,
/// first or after the Completion, lists the body's workers. Each member function below returns a codelet with
/// one more body. Bodies for the same kind of processor must have different names, and at most one may have
/// none; otherwise UsageError is thrown. Measured durations are stored by name.
template <class... P>
class Codelet {
 public:
  explicit Codelet(std::shared_ptr<const CodeletInfo> info) : info_(std::move(info)) {}

  /// The body for CPU cores.
  template <class F>
  Codelet cpu(F body) const {
    return cpu({}, std::move(body));
  }
  /// One of several bodies for CPU cores. The runtime tries each and selects the fastest for the sizes of a task's
  /// data.
  template <class F>
  Codelet cpu(std::string name, F body) const {
    return with<WorkerKind::cpu>(std::move(name), std::move(body));
  }
  /// The body for emulated accelerators: it runs on a CPU core, on data in the accelerator's memory.
  template <class F>
  Codelet emulated(F body) const {
    return emulated({}, std::move(body));
  }
  /// One of several bodies for emulated accelerators.
  template <class F>
  Codelet emulated(std::string name, F body) const {
    return with<WorkerKind::emulated>(std::move(name), std::move(body));
  }
  /// Emulated accelerators run the bodies for CPU cores that have been given so far. Throws UsageError if there are
  /// none.
  Codelet emulated() const {
    if (info_->for_kind(WorkerKind::cpu).run == nullptr)
      throw UsageError("the codelet " + info_->name + " has no body for CPU cores to emulate");
    auto info = std::make_shared<CodeletInfo>(*info_);
    for (std::size_t i = 0; i < info_->count(WorkerKind::cpu); ++i)
      info->implement(WorkerKind::emulated, info_->for_kind(WorkerKind::cpu, i));
    return Codelet(std::move(info));
  }

  /// The body for OpenCL devices: it launches kernels through its first parameter, an OpenclQueue. See
  /// fairlead/opencl.hpp.
  template <class F>
  Codelet opencl(F body) const {
    return opencl({}, std::move(body));
  }
  /// One of several bodies for OpenCL devices.
  template <class F>
  Codelet opencl(std::string name, F body) const {
    return with<WorkerKind::opencl>(std::move(name), std::move(body));
  }

  /// The body for CUDA devices: it launches kernels through its first parameter, a cudaStream_t or a CudaStream. See
  /// fairlead/cuda.hpp.
  template <class F>
  Codelet cuda(F body) const {
    return cuda({}, std::move(body));
  }
  /// One of several bodies for CUDA devices.
  template <class F>
  Codelet cuda(std::string name, F body) const {
    return with<WorkerKind::cuda>(std::move(name), std::move(body));
  }

  /// The same codelet with a parallel body for CPU cores: its tasks run on one worker and keep `workers` - 1 others of
  /// the same memory node idle. Takes a number, at_most(n), or all_workers.
  Codelet workers(Workers workers) const {
    auto info = std::make_shared<CodeletInfo>(*info_);
    info->workers = workers;
    return Codelet(std::move(info));
  }

  /// Makes a task. Pass a handle for each datum, a vector or span of handles for each Many, scratch(n) for each Scratch,
  /// and a value for each other parameter. Throws UsageError for an empty list.
  Call<P...> operator()(const typename detail::PassedArgument<P>::type&... arguments) const {
    return Call<P...>(info_, arguments...);
  }
  const std::string& name() const noexcept { return info_->name; }
  /// The type-erased codelet that the engine uses.
  const std::shared_ptr<const CodeletInfo>& info() const noexcept { return info_; }

  /// The same codelet with a formula for the number of floating-point operations of a task. `formula` is called at
  /// submission, with the arguments of the call, handles and values. Duration models then distinguish tasks by the
  /// sizes of their data and their operations, and compare durations per operation.
  ///
  ///   codelet("gemm").cpu(...).flops(
  ///       [](auto& a, auto& b, auto& c) { return 2.0 * a.columns() * c.rows() * c.columns(); })
  template <class F>
  Codelet flops(F formula) const {
    return with_formula(WorkUnit::flops, std::move(formula));
  }
  /// The same codelet with an estimate of a task's duration on a CPU core. `formula` is called as for flops() and
  /// returns a std::chrono duration. Measured durations replace the estimate.
  template <class F>
  Codelet duration(F formula) const {
    return with_formula(WorkUnit::nanoseconds, std::move(formula));
  }

 private:
  template <WorkerKind Kind, class F>
  Codelet with(std::string name, F body) const {
    auto info = std::make_shared<CodeletInfo>(*info_);
    if constexpr (detail::has_one_signature<F>()) {
      static_assert(detail::fits_worker_kind<F, Kind>());
      static_assert(std::is_same_v<typename detail::Body<F>::Parameters, std::tuple<P...>>,
                    "all bodies of a codelet must have the same parameters");
      info->implement(Kind, detail::Body<F>::implementation(std::move(name), std::move(body)));
    }
    return Codelet(std::move(info));
  }

  template <class F>
  Codelet with_formula(WorkUnit unit, F formula) const {
    auto info = std::make_shared<CodeletInfo>(*info_);
    info->unit = unit;
    info->work = &detail::WorkFormula<F, P...>::work;
    info->formula = detail::without_type(std::move(formula));
    return Codelet(std::move(info));
  }

  std::shared_ptr<const CodeletInfo> info_;
};

/// A codelet without a body; see the top of this file.
class CodeletName {
 public:
  explicit CodeletName(std::string name) : name_(std::move(name)) {}

  template <class F>
  auto cpu(F body) const {
    return cpu({}, std::move(body));
  }
  template <class F>
  auto cpu(std::string name, F body) const {
    if constexpr (detail::has_one_signature<F>())
      return begin(std::type_identity<typename detail::Body<F>::Parameters>())
          .cpu(std::move(name), std::move(body));
  }
  template <class F>
  auto emulated(F body) const {
    return emulated({}, std::move(body));
  }
  template <class F>
  auto emulated(std::string name, F body) const {
    if constexpr (detail::has_one_signature<F>())
      return begin(std::type_identity<typename detail::Body<F>::Parameters>())
          .emulated(std::move(name), std::move(body));
  }
  template <class F>
  auto opencl(F body) const {
    return opencl({}, std::move(body));
  }
  template <class F>
  auto opencl(std::string name, F body) const {
    if constexpr (detail::has_one_signature<F>())
      return begin(std::type_identity<typename detail::Body<F>::Parameters>())
          .opencl(std::move(name), std::move(body));
  }
  template <class F>
  auto cuda(F body) const {
    return cuda({}, std::move(body));
  }
  template <class F>
  auto cuda(std::string name, F body) const {
    if constexpr (detail::has_one_signature<F>())
      return begin(std::type_identity<typename detail::Body<F>::Parameters>())
          .cuda(std::move(name), std::move(body));
  }

 private:
  template <class... P>
  Codelet<P...> begin(const std::type_identity<std::tuple<P...>>&) const {
    auto info = std::make_shared<CodeletInfo>();
    info->name = name_;
    info->kinds = 0;
    info->hash_of_name = info->name_hash();
    (add_mode<P>(*info), ...);
    [&]<std::size_t... I>(std::index_sequence<I...>) { (add_reduction<I, P...>(*info), ...); }
    (std::index_sequence_for<P...>());
    info->closure_bytes = detail::Closure<P...>::bytes;
    if constexpr (detail::Closure<P...>::needs_destruction)
      info->destroy_closure = &detail::Closure<P...>::destroy;
    return Codelet<P...>(std::move(info));
  }
  template <class Q>
  static void add_mode(CodeletInfo& info) {
    if constexpr (detail::is_datum<Q>) info.modes.push_back(std::remove_cvref_t<Q>::mode);
  }
  template <std::size_t I, class... P>
  static void add_reduction(CodeletInfo& info) {
    using Q = std::remove_cvref_t<std::tuple_element_t<I, std::tuple<P...>>>;
    if constexpr (detail::is_datum<Q>) {
      if constexpr (Q::mode == AccessMode::reduction) {
        info.reductions.resize(detail::datum_count<P...>);
        info.reductions[detail::data_before<I, P...>()] = {
            &Q::fold, [](detail::ReducedShape& shape, const void* arguments) {
              Q::remember(shape, std::get<I>(static_cast<const detail::Arguments<P...>*>(arguments)->kept));
            }};
      }
    }
  }
  std::string name_;
};

inline CodeletName codelet(std::string name) { return CodeletName(std::move(name)); }

}  // namespace fairlead
