// A call with options that few tasks need: explicit dependencies and a callback at completion.
//
//   const auto saved = flow.future(save(a(0, 0), file));
//   flow.submit(load(b(0, 0), file).after(saved).on_done([](std::exception_ptr failure) { ... }));
#pragma once
#include <fairlead/future.hpp>
#include <fairlead/team.hpp>

#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace fairlead {

template <class... P>
class Call;

/// Called once when a task is finished. The argument is null if the task succeeded, the exception if it threw one, or a
/// TaskError if it did not run.
using DoneCallback = std::function<void(std::exception_ptr)>;

namespace detail {
struct Extras {
  std::vector<Future> after;
  DoneCallback on_done;
};
}  // namespace detail

/// A call with explicit dependencies or a callback: made by Call::after() and Call::on_done(), and submitted like a
/// Call.
template <class... P>
class ExtendedCall {
 public:
  explicit ExtendedCall(Call<P...>&& call) : call_(std::move(call)) {}

  template <class... Futures>
  ExtendedCall&& after(const Futures&... tasks) && {
    (extras_.after.push_back(tasks), ...);
    return std::move(*this);
  }
  ExtendedCall&& after(const std::vector<Future>& tasks) && {
    extras_.after.insert(extras_.after.end(), tasks.begin(), tasks.end());
    return std::move(*this);
  }
  ExtendedCall&& on_done(DoneCallback callback) && {
    extras_.on_done = std::move(callback);
    return std::move(*this);
  }
  ExtendedCall&& priority(int value) && {
    call_ = std::move(call_).priority(value);
    return std::move(*this);
  }
  ExtendedCall&& on_device(int device) && {
    call_ = std::move(call_).on_device(device);
    return std::move(*this);
  }
  ExtendedCall&& on_rank(std::uint32_t rank) && {
    call_ = std::move(call_).on_rank(rank);
    return std::move(*this);
  }
  ExtendedCall&& where(int argument) && {
    call_ = std::move(call_).where(argument);
    return std::move(*this);
  }
  ExtendedCall&& workers(Workers workers) && {
    call_ = std::move(call_).workers(workers);
    return std::move(*this);
  }

  const Call<P...>& call() const noexcept { return call_; }
  const detail::Extras& extras() const noexcept { return extras_; }

 private:
  Call<P...> call_;
  detail::Extras extras_;
};

}  // namespace fairlead
