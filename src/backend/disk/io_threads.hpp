// A few threads that read and write files: requests go in, results come out by a call. Four of them with
// pread and pwrite reach what the disk gives (docs/performance.md); nobody who decides anything waits for a
// disk.
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

/// One transfer. The memory must stay as it is until the result is reported.
struct IoRequest {
  int descriptor = -1;
  Bytes offset = 0;  ///< in the file
  std::byte* memory = nullptr;
  Bytes bytes = 0;
  IoDirection direction = IoDirection::read;
  void* token = nullptr;  ///< the caller's, given back with the result
};

struct IoResult {
  void* token = nullptr;
  IoDirection direction = IoDirection::read;
  Bytes bytes = 0;       ///< transferred; less than asked for only if there is an error
  int error_number = 0;  ///< 0, or an errno of the first piece that failed; ECANCELED when shutting down
  Bytes wrong_at = 0;    ///< for EBADMSG: where in the file; the chunk of the checksum begins there
  Time started{0},
      finished{0};  ///< of the transfer, without its time in the queue; under a cap, as the cap has it
};

struct IoCounters {
  Bytes bytes_read = 0, bytes_written = 0;
  std::uint64_t requests_done = 0;  ///< failed and cancelled ones too
  std::uint64_t transfers = 0;      ///< pieces and joined requests as they went to the system
  Duration busy{0};                 ///< inside the system's calls, summed over the threads
  Duration capped{0};               ///< waiting for the cap, summed over the threads
};

/// Requests are begun in the order of submission; with several threads they may finish in another. Large ones
/// are cut into pieces for several threads, small ones that follow each other in queue and file are joined.
/// After a transfer through the page cache, the pages it left there are dropped.
class IoThreads {
 public:
  static constexpr Bytes largest_piece = Bytes{16} << 20;
  static constexpr Bytes largest_joined = Bytes{2} << 20;  ///< requests are joined up to this size
  static constexpr Bytes direct_alignment = 4096;

  struct Settings {
    unsigned threads = 4;
    Bytes bytes_per_second = 0;  ///< cap for both directions together; 0 = none
    /// What is read must be what was written, else EBADMSG. Of the one file that all requests are for; stays
    /// until the threads have ended.
    Checksums* checksums = nullptr;
  };
  using Clock = std::function<Time()>;  ///< called by all threads
  using OnDone = std::function<void(const IoResult&)>;

  /// `on_done` is called once per request, on one of the threads, without any lock held. It may submit more,
  /// but not in answer to a cancelled request (that would never end); it must not throw nor destroy this.
  /// Throws UsageError for 0 threads, SystemError if the system gives no threads.
  IoThreads(Settings settings, Clock clock, OnDone on_done);
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;
  ~IoThreads() { stop(); }
  /// Finishes the transfers that run; what is queued or waits for the cap is reported with ECANCELED. Nothing
  /// may be submitted afterwards.
  void stop() noexcept;

  /// Throws UsageError if the descriptor is open for direct I/O and memory, offset or size is no multiple of
  /// `direct_alignment`; everything else that is wrong comes back as a result. Any thread may call it.
  void submit(const IoRequest& request) { submit(std::span(&request, 1)); }
  void submit(std::span<const IoRequest> requests);  ///< all in a row, or none if one is refused

  /// From now on nothing waits for the cap. Any thread.
  void lift_cap() noexcept;

  std::size_t threads() const noexcept { return threads_.size(); }
  IoCounters counters() const;
  std::size_t waiting() const;  ///< requests of which no piece has been begun

 private:
  /// A request from submission to its report.
  struct Job {
    IoRequest request;
    bool direct = false;
    Bytes piece = 0;  // bytes of each piece but the last
    Bytes begun = 0;  // bytes of the pieces that threads have taken
    Bytes over = 0;   // bytes of the pieces that are done with, whatever became of them
    IoResult result;  // so far
  };
  using Jobs = std::list<Job>;
  /// What a thread does next: one piece of one job, or several whole small jobs.
  struct Work {
    std::vector<Jobs::iterator> jobs;
    Bytes first = 0;  // of the piece within its job
    Bytes bytes = 0;  // of the piece, or of all jobs together
    std::vector<iovec> parts;
    std::vector<TransferOutcome> outcomes;  // one for each job

    Work();  // with space for all: its thread allocates nothing
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

  mutable std::mutex mutex_;            // guards all that follows but the threads
  std::condition_variable work_, end_;  // something is queued or it ends; it ends, or the cap is lifted
  Jobs queued_;                         // oldest first; pieces of the first may be under way
  Jobs running_;                        // all their pieces are taken
  unsigned idle_ = 0;                   // threads that wait for work_
  bool ending_ = false;
  BandwidthCap cap_;
  IoCounters counters_;

  std::vector<Work> works_;  // one for each thread
  std::vector<std::thread> threads_;
};

}  // namespace fairlead::backend
