// A transfer engine moves bytes over a link: the threads of a disk, the copy engine of a device, a generator, the network.
// The runtime's engine decides what is transferred and when; a transfer engine performs transfers and reports their
// completion. It is independent of the runtime's engine and of the others, so each can be built, tested and replaced alone.
#pragma once
#include <fairlead/ids.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <string>

#include "data/home_layout.hpp"
#include "memory/replica.hpp"

namespace fairlead::backend {

/// One end of a transfer.
struct TransferEnd {
  NodeId node = no_id<NodeId>;
  Bytes offset = 0;              ///< from the start of the node's memory or file
  std::byte* address = nullptr;  ///< address for bodies on the node; null: not addressable
  std::byte* host = nullptr;     ///< address for cores; null: they cannot access it

  /// The place `bytes` further on.
  TransferEnd after(Bytes bytes) const noexcept {
    const auto further = [&](std::byte* at) { return at == nullptr ? nullptr : at + bytes; };
    return {node, offset + bytes, further(address), further(host)};
  }
};

/// The result of a transfer.
struct TransferResult {
  int error_number = 0;        ///< 0: the bytes have arrived; otherwise an errno
  std::string description{};   ///< the transfer engine's description of the error, if it has one
  std::exception_ptr failure;  ///< the exception for the program, instead of the fields above

  bool succeeded() const noexcept { return error_number == 0; }
};

/// Receives the completion of a transfer: called by any thread, without a lock, once per transfer.
class TransferListener {
 public:
  virtual ~TransferListener() = default;
  virtual void completed(void* token, const TransferResult& outcome) noexcept = 0;
};

/// A copy over one link, or a chunk of a copy that crosses two. The places stay valid until completion.
struct Transfer {
  LinkId link{};
  bool away_from_home = true;  ///< direction: from the link's first node to its second
  TransferEnd from{}, to{};
  Bytes first = 0, bytes = 0;  ///< range in the packed datum
  /// Null: the bytes are copied as they are. Otherwise one end is user memory that is not contiguous: packed away
  /// from home, unpacked towards home.
  const data::HomeLayout* layout = nullptr;
  const memory::Copy* copy = nullptr;  ///< the copy to which it belongs, with datum and generator
  TransferListener* receiver = nullptr;
  void* token = nullptr;  ///< the receiver's
};

class TransferEngine {
 public:
  virtual ~TransferEngine() = default;
  /// Starts a transfer; reports its completion to the receiver, possibly before this returns. Any thread. An
  /// exception aborts the run. After stop() it ignores calls.
  virtual void start(const Transfer& load) = 0;
  /// Ends running transfers and may drop waiting ones. Reports no completion after it returns. May be called several
  /// times.
  virtual void stop() noexcept = 0;
  /// The program is about to end: removes artificial delays. Any thread.
  virtual void skip_throttling() noexcept {}
  /// Threads that the transfer engine has started.
  virtual std::size_t threads() const noexcept { return 0; }
};

/// Work of a transfer engine that workers do between two tasks.
class Chore {
 public:
  enum class Kind : std::uint8_t {
    transfer,  // transfers bytes
    compute,   // runs as long as a task, and counts as one for the watchdog
  };
  explicit Chore(Kind kind) noexcept : kind_(kind) {}
  Chore(const Chore&) = delete;
  Chore& operator=(const Chore&) = delete;
  virtual ~Chore() = default;

  /// Does one unit of the work; nothing if another worker took it.
  virtual void run_one() noexcept = 0;
  /// Sequentially consistent: a thread that adds work checks for sleeping workers afterwards; a worker that is about
  /// to sleep checks this afterwards.
  bool waiting() const noexcept { return waiting_.load() != 0; }
  Kind kind() const noexcept { return kind_; }

 protected:
  void set_waiting(std::size_t pieces) noexcept { waiting_.store(pieces); }

 private:
  const Kind kind_;
  alignas(64) std::atomic<std::size_t> waiting_{0};  // workers read it before every task
};

/// A poller: a source of events that must be polled, such as a network. Workers poll it between tasks, though not
/// before each tiny one; while workers are idle, one of them polls continuously. They send its pending messages
/// before the next task.
class Poller {
 public:
  Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  virtual ~Poller() = default;

  /// Processes what has arrived. False if nothing has, or another thread is polling. Any thread.
  virtual bool poll() noexcept = 0;
  /// True if events are expected.
  virtual bool is_active() const noexcept = 0;
  /// True if only the application's thread may poll.
  virtual bool application_only() const noexcept { return false; }
  /// True if there are messages that the caller may send. Any thread, before each task.
  virtual bool has_pending() const noexcept { return false; }
  /// Sends the messages without polling. Any thread.
  virtual void send_pending() noexcept {}
};

}  // namespace fairlead::backend
