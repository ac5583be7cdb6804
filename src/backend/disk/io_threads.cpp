// The request queue and its threads. From submission to report, a job stays in one of two lists, so a request costs
// one allocation. The lock is held for moving jobs, never during a transfer or a callback.
// Shutdown: `ending_` is set under the lock, so a thread sees it before it takes the next chunk or while it waits for
// the cap. From then on the first job in the queue is cancelled instead of started. A handler that runs at that time
// may still submit: its own thread checks the queue again before it ends.
#include "backend/disk/io_threads.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <fcntl.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <new>
#include <system_error>
#include <utility>

#include "base/guarded_thread.hpp"

namespace fairlead::backend {
namespace {

constexpr std::size_t most_joined = 256;  // requests; the system accepts 1,024 parts

bool is_direct(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) != 0;  // an invalid descriptor fails later, as a result
}

void require_alignment(const IoRequest& request) {
  const auto address = reinterpret_cast<std::uintptr_t>(request.memory);
  if ((address | request.offset | request.bytes) % IoThreads::direct_alignment == 0) return;
  throw UsageError(
      fmt::format("direct I/O needs memory, offset and size in multiples of {} bytes; this request has "
                  "memory at {:#x}, offset {}, "
                  "{} bytes",
                  IoThreads::direct_alignment, address, request.offset, request.bytes));
}

// Splits into chunks of about equal size, multiples of the checksum chunk and so of the alignment.
Bytes piece_of(Bytes bytes) {
  if (bytes <= IoThreads::largest_piece) return bytes;
  const Bytes pieces = (bytes - 1) / IoThreads::largest_piece + 1;
  const Bytes equal = (bytes - 1) / pieces + 1, unit = Checksums::largest_chunk;
  return (equal + unit - 1) / unit * unit;
}

}  // namespace

IoThreads::IoThreads(Settings settings, Clock clock, OnDone on_done)
    : checksums_(settings.checksums),
      clock_(std::move(clock)),
      on_done_(std::move(on_done)),
      cap_(settings.bytes_per_second) {
  if (settings.threads == 0) throw UsageError("I/O needs at least one thread");
  works_.resize(settings.threads);
  threads_.reserve(settings.threads);
  try {
    for (Work& work : works_) {
      threads_.push_back(guarded_thread([this, &work] { run(work); }, ignore_failure));
      pthread_setname_np(threads_.back().native_handle(), "fairlead-io");
    }
  } catch (const std::system_error& error) {
    stop();
    throw SystemError(
        fmt::format("cannot start I/O thread {} of {}: {}.\n"
                    "  Use fewer threads or raise the limit (ulimit -u, pids of the cgroup).",
                    threads_.size() + 1, settings.threads, error.what()));
  } catch (...) {
    stop();
    throw;
  }
}

IoThreads::Work::Work() {
  jobs.reserve(most_joined);
  parts.reserve(most_joined);
  outcomes.reserve(most_joined);
}

void IoThreads::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_.notify_all();
  end_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void IoThreads::submit(std::span<const IoRequest> requests) {
  Jobs jobs;
  Bytes pieces = 0;
  for (const IoRequest& request : requests) {
    const bool direct = is_direct(request.descriptor);
    if (direct) require_alignment(request);
    const Bytes piece = piece_of(request.bytes);
    jobs.push_back(
        {.request = request,
         .direct = direct,
         .piece = piece,
         .result = {.token = request.token, .direction = request.direction, .started = Time::max()}});
    pieces += piece == 0 ? 1 : (request.bytes - 1) / piece + 1;
  }
  Bytes to_wake = 0;
  {
    const std::lock_guard lock(mutex_);
    queued_.splice(queued_.end(), jobs);
    to_wake = std::min<Bytes>(pieces, idle_);
  }
  for (; to_wake > 0; --to_wake) work_.notify_one();
}

void IoThreads::lift_cap() noexcept {
  {
    const std::lock_guard lock(mutex_);
    cap_ = BandwidthCap(0);
  }
  end_.notify_all();
}

IoCounters IoThreads::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

std::size_t IoThreads::waiting() const {
  const std::lock_guard lock(mutex_);
  return queued_.size() - (!queued_.empty() && queued_.front().started > 0 ? 1 : 0);
}

void IoThreads::run(Work& work) {
  Lock lock(mutex_);
  for (;;) {
    ++idle_;
    work_.wait(lock, [this] { return ending_ || !queued_.empty(); });
    --idle_;
    if (queued_.empty()) return;
    if (ending_) {
      cancel_first(lock);
    } else {
      take(work);
      perform(work, lock);
    }
  }
}

// Takes the next chunk of the oldest job. Requires the lock and a queue that is not empty.
void IoThreads::take(Work& work) {
  const auto job = queued_.begin();
  work.jobs.assign(1, job);
  work.first = job->started;
  work.bytes = std::min(job->piece, job->request.bytes - job->started);
  work.parts.assign(1, {job->request.memory + work.first, work.bytes});
  job->started += work.bytes;
  if (job->started < job->request.bytes) return;
  running_.splice(running_.end(), queued_, job);
  if (work.first == 0) join_small_ones(work);
}

// Adds the next jobs of the queue that continue in the file where the last one ends.
void IoThreads::join_small_ones(Work& work) {
  while (!queued_.empty() && work.jobs.size() < most_joined) {
    const auto next = queued_.begin();
    const IoRequest &last = work.jobs.back()->request, &request = next->request;
    if (request.descriptor != last.descriptor || request.direction != last.direction ||
        request.offset != last.offset + last.bytes || request.bytes > largest_joined ||
        work.bytes > largest_joined - request.bytes)
      return;
    next->started = request.bytes;
    work.jobs.push_back(next);
    work.bytes += request.bytes;
    work.parts.push_back({request.memory, request.bytes});
    running_.splice(running_.end(), queued_, next);
  }
}

// The lock is held at entry and at return.
void IoThreads::perform(Work& work, Lock& lock) {
  const Time booked = clock_();
  const auto stretch = cap_.book(work.bytes, booked);
  const bool begins = wait_until(stretch.begin, lock);
  Time started = clock_(), finished = started;
  counters_.capped += started - booked;
  if (begins) {
    lock.unlock();
    transfer_checked(work);
    finished = clock_();
    lock.lock();
    ++counters_.transfers;
    counters_.busy += finished - started;
    if (cap_.active()) {
      wait_until(stretch.end, lock);
      counters_.capped += clock_() - finished;
      finished = clock_();
    }
  } else {
    work.outcomes.assign(work.jobs.size(), {0, ECANCELED});
  }
  Jobs done;
  for (std::size_t i = 0; i < work.jobs.size(); ++i) {
    Job& job = *work.jobs[i];
    const bool read = job.request.direction == IoDirection::read;
    (read ? counters_.bytes_read : counters_.bytes_written) += work.outcomes[i].bytes;
    account(work.jobs[i], work.jobs.size() == 1 ? work.bytes : job.request.bytes, work.outcomes[i],
            {started, finished}, done);
  }
  report(done, lock);
}

// Without the lock: reads only those fields of a job that do not change after submission.
void IoThreads::transfer(Work& work) {
  const Job& first = *work.jobs.front();
  const auto [descriptor, offset, memory, bytes, direction, token] = first.request;
  const TransferOutcome all =
      transfer_in_full(descriptor, offset + work.first, work.parts, direction, first.direct);
  if (work.jobs.size() == 1) {
    work.outcomes.assign(1, all);
    return;
  }
  // Joined requests that failed are retried one by one, so that none gets another's error.
  work.outcomes.clear();
  for (const auto job : work.jobs) {
    const IoRequest& request = job->request;
    iovec part{request.memory, request.bytes};
    work.outcomes.push_back(all.error_number == 0 ? TransferOutcome{request.bytes, 0}
                                                  : transfer_in_full(descriptor, request.offset, {&part, 1},
                                                                     direction, job->direct));
  }
}

// As transfer(); also records checksums of written data and verifies read data. Without the lock.
void IoThreads::transfer_checked(Work& work) {
  if (checksums_ == nullptr) return transfer(work);
  const bool whole = work.jobs.size() > 1;
  const auto memory_of = [&](std::size_t i) -> std::span<std::byte> {
    const IoRequest& request = work.jobs[i]->request;
    return whole ? std::span(request.memory, request.bytes)
                 : std::span(request.memory + work.first, work.bytes);
  };
  const auto offset_of = [&](std::size_t i) {
    return work.jobs[i]->request.offset + (whole ? 0 : work.first);
  };
  const std::size_t count = work.jobs.size();
  try {
    if (work.jobs.front()->request.direction == IoDirection::write) {
      std::vector<std::vector<Checksums::Sum>> sums(count);
      for (std::size_t i = 0; i < count; ++i) {
        checksums_->forget(offset_of(i), memory_of(i).size());
        sums[i] = checksums_->of(offset_of(i), memory_of(i));
      }
      transfer(work);
      for (std::size_t i = 0; i < count; ++i)
        if (work.outcomes[i].error_number == 0) checksums_->add(sums[i]);
    } else {
      std::vector<Checksums::Expected> expected;
      for (std::size_t i = 0; i < count; ++i)
        expected.push_back(checksums_->expected(offset_of(i), memory_of(i).size()));
      transfer(work);
      for (std::size_t i = 0; i < count; ++i)
        if (work.outcomes[i].error_number == 0)
          if (const auto wrong = expected[i].first_wrong(memory_of(i)))
            work.outcomes[i] = {work.outcomes[i].bytes, EBADMSG, *wrong};
    }
  } catch (const std::bad_alloc&) {
    work.outcomes.assign(count, {0, ENOMEM});
  }
}

// Returns at once without a cap. False if shutdown interrupts the wait. The lock is held, except during the wait.
bool IoThreads::wait_until(Time when, Lock& lock) {
  while (!ending_) {
    const Time now = clock_();
    if (now >= when || !cap_.active()) return true;
    end_.wait_for(lock, when - now);
  }
  return false;
}

// Cancels the rest of the oldest job.
void IoThreads::cancel_first(Lock& lock) {
  const auto job = queued_.begin();
  const Bytes left = job->request.bytes - job->started;
  job->started = job->request.bytes;
  running_.splice(running_.end(), queued_, job);
  Jobs done;
  const Time now = clock_();
  account(job, left, {0, ECANCELED}, {now, now}, done);
  report(done, lock);
}

// Adds the outcome of `bytes` of a job; moves the job to `done` if none are left.
void IoThreads::account(Jobs::iterator job, Bytes bytes, TransferOutcome outcome, BandwidthCap::Stretch when,
                        Jobs& done) {
  IoResult& result = job->result;
  result.bytes += outcome.bytes;
  if (result.error_number == 0) {
    result.error_number = outcome.error_number;
    result.wrong_at = outcome.wrong_at;
  }
  result.started = std::min(result.started, when.begin);
  result.finished = std::max(result.finished, when.end);
  job->finished += bytes;
  if (job->finished < job->request.bytes) return;
  ++counters_.requests_done;
  done.splice(done.end(), running_, job);
}

void IoThreads::report(Jobs& done, Lock& lock) {
  if (done.empty()) return;
  lock.unlock();
  for (const Job& job : done) {
    // Each chunk's pages were dropped, except those that a neighbouring chunk was reading at that time.
    if (!job.direct && job.piece < job.request.bytes)
      drop_clean_pages(job.request.descriptor, job.request.offset, job.request.bytes);
    on_done_(job.result);
  }
  done.clear();
  lock.lock();
}

}  // namespace fairlead::backend
