// See call_thread.hpp.
#include "c/call_thread.hpp"

#include <fairlead/error.hpp>
#include <fairlead/factorization.hpp>

#include <chrono>
#include <utility>

#include "base/guarded_thread.hpp"

namespace fairlead::c {

namespace {

constexpr std::chrono::milliseconds time_between_questions{50};

}  // namespace

CallThread::CallThread() : thread_(guarded_thread([this] { serve(); }, ignore_failure)) {}

CallThread::~CallThread() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CallThread::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || work_ != nullptr; });
    if (work_ == nullptr) return;
    const std::stop_token stop = stop_.get_token();
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*work_)(stop);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = std::move(failure);
    work_ = nullptr;
    changed_.notify_all();
  }
}

void CallThread::run(const std::function<void(std::stop_token)>& work, const CancelQuestion& is_cancelled) {
  if (!same_process())
    throw UsageError(
        "this object was made before the process was forked, and its thread is not in the child: make "
        "another "
        "one in the child");
  const auto cancels = [&] { return is_cancelled && is_cancelled(); };
  std::unique_lock turn(calls_, std::defer_lock);
  while (!turn.try_lock_for(time_between_questions))
    if (cancels())
      throw linalg::CancelledError("the call was cancelled while another thread used the object");
  std::unique_lock lock(mutex_);
  std::stop_source stop;
  stop_ = stop;
  work_ = &work;
  changed_.notify_all();
  const auto has_ended = [this] { return work_ == nullptr; };
  while (!changed_.wait_for(lock, time_between_questions, has_ended)) {
    lock.unlock();
    if (!stop.stop_requested() && cancels()) stop.request_stop();
    lock.lock();
  }
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

}  // namespace fairlead::c
