// A codelet is a kind of task: a name, and a body per kind of processor. The access modes are the types of
// the body's parameters.
//
//   const auto scale = fairlead::codelet("scale").cpu([](fairlead::InOut<double> x, double factor) { *x *=
//   factor; }); flow.submit(scale(x, 2.0).priority(1));
#pragma once
#include <fairlead/codelet_info.hpp>
#include <fairlead/completion.hpp>
#include <fairlead/detail/submission.hpp>
#include <fairlead/parameter.hpp>

#include <array>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fairlead {

namespace detail {

/// What a task keeps of one argument: the shape of a datum, or the value.
template <class P, bool = is_datum<P>>
struct Kept {
  using type = typename std::remove_cvref_t<P>::Stored;
};
template <class P>
struct Kept<P, false> {
  using type = std::remove_cvref_t<P>;
};

/// What the caller passes for one parameter: a handle, or a value.
template <class P, bool = is_datum<P>>
struct Passed {
  using type = Handle<typename std::remove_cvref_t<P>::Datum>;
};
template <class P>
struct Passed<P, false> {
  using type = std::remove_cvref_t<P>;
};

template <class... P>
inline constexpr std::size_t datum_count = (std::size_t{0} + ... + (is_datum<P> ? 1 : 0));

/// Parameters I and what precedes it: how many of those before it are data.
template <std::size_t I, class... P>
constexpr std::size_t data_before() {
  constexpr std::array<bool, sizeof...(P) + 1> is{is_datum<P>..., false};
  std::size_t count = 0;
  for (std::size_t i = 0; i < I; ++i) count += is[i];
  return count;
}

template <class... P>
struct Arguments {
  std::array<std::uint8_t, (datum_count<P...> == 0 ? 1 : datum_count<P...>)> access_of_use{};
  std::tuple<typename Kept<P>::type...> kept;
};

/// Arguments in the task's own bytes if they fit, else on the heap.
template <class... P>
struct Closure {
  using Content = Arguments<P...>;
  static constexpr bool inside = sizeof(Content) <= closure_capacity && alignof(Content) <= 16;
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

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) const> {
  using Parameters = std::tuple<P...>;
};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...)> {
  using Parameters = std::tuple<P...>;
};
template <class R, class... P>
struct Signature<R (*)(P...)> {
  using Parameters = std::tuple<P...>;
};

template <class F, bool Asynchronous, class... P>
struct Runner {
  template <std::size_t I, class Q>
  static decltype(auto) argument(const TaskContext& context, Arguments<P...>& arguments) {
    if constexpr (is_datum<Q>) {
      return std::remove_cvref_t<Q>(place_of(context, arguments.access_of_use[data_before<I, P...>()]),
                                    std::get<I>(arguments.kept));
    } else {
      return (std::get<I>(arguments.kept));
    }
  }
  static void run(const CodeletInfo& info, TaskContext& context) {
    const F& body = *static_cast<const F*>(info.bodies.get());
    auto& arguments = Closure<P...>::content(closure_of(context));
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (Asynchronous) {
        const Completion completion(context);
        try {
          body(completion, argument<I, P>(context, arguments)...);
        } catch (...) {
          return completion.body_returned(std::current_exception());
        }
        completion.body_returned(nullptr);
      } else {
        body(argument<I, P>(context, arguments)...);
      }
    }
    (std::index_sequence_for<P...>());
  }
};

}  // namespace detail

/// A codelet applied to its data: one task, not yet submitted.
template <class... P>
class Call {
 public:
  Call(const std::shared_ptr<const CodeletInfo>& codelet,
       const typename detail::Passed<P>::type&... arguments)
      : codelet_(&codelet), arguments_{{}, {kept<P>(arguments)...}} {
    std::size_t i = 0;
    ((add<P>(arguments, i)), ...);
  }

  /// Higher ones first, where the policy heeds it.
  Call&& priority(int value) && {
    priority_ = value;
    return std::move(*this);
  }

  const std::shared_ptr<const CodeletInfo>& codelet() const noexcept { return *codelet_; }
  detail::Submission submission() const noexcept {
    detail::Submission submission;
    submission.codelet = codelet_->get();
    submission.uses = std::span(uses_).first(detail::datum_count<P...>);
    submission.priority = priority_;
    submission.fill_closure = [](void* closure, const void* arguments, const std::uint8_t* access_of_use) {
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
        content->access_of_use[i] = access_of_use[i];
    };
    submission.arguments = &arguments_;
    return submission;
  }

 private:
  template <class Q, class A>
  static auto kept(const A& argument) {
    if constexpr (detail::is_datum<Q>) {
      return std::remove_cvref_t<Q>::stored(argument);
    } else {
      return argument;
    }
  }
  template <class Q, class A>
  void add(const A& argument, std::size_t& i) {
    if constexpr (detail::is_datum<Q>) {
      const detail::DatumReference& reference = argument.datum();
      uses_[i++] = {reference.datum, std::remove_cvref_t<Q>::mode, reference.generation};
    }
  }

  const std::shared_ptr<const CodeletInfo>* codelet_;
  std::array<detail::Submission::Use, (detail::datum_count<P...> == 0 ? 1 : detail::datum_count<P...>)>
      uses_{};
  detail::Arguments<P...> arguments_;
  int priority_ = 0;
};

template <class... P>
class Codelet {
 public:
  explicit Codelet(std::shared_ptr<CodeletInfo> info) : info_(info), shared_(std::move(info)) {}

  /// The task that runs the body on these: a handle per datum, a value per other parameter.
  Call<P...> operator()(const typename detail::Passed<P>::type&... arguments) const {
    return Call<P...>(shared_, arguments...);
  }
  const std::string& name() const noexcept { return info_->name; }

 private:
  std::shared_ptr<CodeletInfo> info_;
  std::shared_ptr<const CodeletInfo> shared_;
};

/// The beginning of a codelet; see the top of this file.
class CodeletName {
 public:
  explicit CodeletName(std::string name) : name_(std::move(name)) {}

  /// The body for CPU cores. Its parameters are In, Out, InOut, Commute, Reduce of a type, or values; if the
  /// first is a Completion, the task ends when that says so.
  template <class F>
  auto cpu(F body) const {
    return make(std::move(body), std::type_identity<typename detail::Signature<F>::Parameters>());
  }

 private:
  template <class F, class... P>
  auto make(F body, std::type_identity<std::tuple<Completion, P...>>) const {
    return build<F, true, P...>(std::move(body));
  }
  template <class F, class... P>
  auto make(F body, std::type_identity<std::tuple<P...>>) const {
    return build<F, false, P...>(std::move(body));
  }
  template <class F, bool Asynchronous, class... P>
  Codelet<P...> build(F body) const {
    auto info = std::make_shared<CodeletInfo>();
    info->name = name_;
    (add_mode<P>(*info), ...);
    info->asynchronous = Asynchronous;
    info->run = &detail::Runner<F, Asynchronous, P...>::run;
    if constexpr (detail::Closure<P...>::needs_destruction)
      info->destroy_closure = &detail::Closure<P...>::destroy;
    info->bodies = std::make_shared<const F>(std::move(body));
    return Codelet<P...>(std::move(info));
  }
  template <class Q>
  static void add_mode(CodeletInfo& info) {
    if constexpr (detail::is_datum<Q>) info.modes.push_back(std::remove_cvref_t<Q>::mode);
  }
  std::string name_;
};

inline CodeletName codelet(std::string name) { return CodeletName(std::move(name)); }

}  // namespace fairlead
