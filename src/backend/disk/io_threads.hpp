// A pool of threads that read and write files; results are reported through a callback. Four threads with pread and
// pwrite reach the disk's bandwidth. So no scheduling thread waits for a disk.
#pragma once
#include <fairlead/ids.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "backend/disk/bandwidth_cap.hpp"
#include "backend/disk/checksums.hpp"
#include "backend/disk/transfer.hpp"
#include "base/time.hpp"

namespace fairlead::backend {

/// One transfer. The memory must not change until the result is reported.
struct IoRequest {
  int descriptor = -1;
  Bytes offset = 0;  ///< in the file
  std::byte* memory = nullptr;
  Bytes bytes = 0;
  IoDirection direction = IoDirection::read;
  void* token = nullptr;  ///< the caller's, returned with the result
};

struct IoResult {
  void* token = nullptr;
  IoDirection direction = IoDirection::read;
  Bytes bytes = 0;               ///< transferred; fewer than requested only if there is an error
  int error_number = 0;          ///< 0, or the errno of the first chunk that failed; ECANCELED at shutdown
  Bytes wrong_at = 0;            ///< for EBADMSG: file offset of the chunk with the wrong checksum
  Time started{0}, finished{0};  ///< of the transfer without queueing; under a cap, up to the end of its
                                 ///< interval
};

struct IoCounters {
  Bytes bytes_read = 0, bytes_written = 0;
  std::uint64_t requests_done = 0;  ///< including failed and cancelled ones
  std::uint64_t transfers = 0;      ///< system calls for chunks and for joined requests
  Duration busy{0};                 ///< in system calls, summed over the threads
  Duration capped{0};               ///< waiting for the cap, summed over the threads
};

/// Requests start in the order of submission; with several threads they may finish in another. Large ones are split
/// into chunks for several threads; small ones that are adjacent in queue and file are joined. After a transfer
/// through the page cache its pages are dropped.
class IoThreads {
 public:
  static constexpr Bytes largest_piece = Bytes{16} << 20;
  static constexpr Bytes largest_joined = Bytes{2} << 20;  ///< size limit of joined requests
  static constexpr Bytes direct_alignment = 4096;

  struct Settings {
    unsigned threads = 4;
    Bytes bytes_per_second = 0;  ///< cap for both directions together; 0 = none
    /// If set, read data are verified against the data written; a mismatch is EBADMSG. Belongs to the one file of all
    /// requests; must outlive the threads.
    Checksums* checksums = nullptr;
  };
  using Clock = std::function<Time()>;  ///< called by all threads
  using OnDone = std::function<void(const IoResult&)>;

  /// `on_done` is called once per request, on one of the threads, without a lock. It may submit requests, but not in
  /// response to a cancelled one (that would never end); it must not throw or destroy this object. Throws UsageError
  /// for 0 threads, SystemError if the system refuses a thread.
  IoThreads(Settings settings, Clock clock, OnDone on_done);
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;
  ~IoThreads() { stop(); }
  /// Finishes running transfers; reports queued ones and those that wait for the cap with ECANCELED. Do not submit
  /// afterwards.
  void stop() noexcept;

  /// Any thread. Throws UsageError if the descriptor is open for direct I/O and memory, offset or size is not a
  /// multiple of `direct_alignment`; all other errors are reported as results.
  void submit(const IoRequest& request) { submit(std::span(&request, 1)); }
  void submit(std::span<const IoRequest> requests);  ///< all in sequence; none if one is rejected

  /// Removes the cap. Any thread.
  void lift_cap() noexcept;

  std::size_t threads() const noexcept { return threads_.size(); }
  IoCounters counters() const;
  std::size_t waiting() const;  ///< requests of which no chunk has started

 private:
  /// A request from submission to report.
  struct Job {
    IoRequest request;
    bool direct = false;
    Bytes piece = 0;     // bytes of each chunk but the last
    Bytes started = 0;   // bytes of the chunks that threads have taken
    Bytes finished = 0;  // bytes of the chunks that are done, successfully or not
    IoResult result;     // so far
  };
  using Jobs = std::list<Job>;
  /// A thread's next transfer: one chunk of one job, or several whole small jobs.
  struct Work {
    std::vector<Jobs::iterator> jobs;
    Bytes first = 0;  // offset of the chunk in its job
    Bytes bytes = 0;  // of the chunk, or of all jobs together
    std::vector<iovec> parts;
    std::vector<TransferOutcome> outcomes;  // one per job

    Work();  // reserves all space, so that its thread does not allocate
  };
  using Lock = std::unique_lock<std::mutex>;

  void run(Work& work);
  void take(Work& work);
  void join_small_ones(Work& work);
  void perform(Work& work, Lock& lock);
  void transfer(Work& work);
  void transfer_checked(Work& work);
  bool wait_until(Time when, Lock& lock);
  void cancel_first(Lock& lock);
  void account(Jobs::iterator job, Bytes bytes, TransferOutcome outcome, BandwidthCap::Stretch when,
               Jobs& done);
  void report(Jobs& done, Lock& lock);

  Checksums* const checksums_;
  const Clock clock_;
  const OnDone on_done_;

  mutable std::mutex mutex_;            // guards all fields below except the threads
  std::condition_variable work_, end_;  // work_: something is queued, or shutdown; end_: shutdown, or the cap
                                        // is removed
  Jobs queued_;                         // oldest first; chunks of the first may be in flight
  Jobs running_;                        // all their chunks are taken
  unsigned idle_ = 0;                   // threads that wait for work_
  bool ending_ = false;
  BandwidthCap cap_;
  IoCounters counters_;

  std::vector<Work> works_;  // one per thread
  std::vector<std::thread> threads_;
};

}  // namespace fairlead::backend
