// What moves bytes over a link: a disk's threads, a wire, whoever computes data, the network. The engine says
// what is to be moved when; a carrier begins it and tells when it is over. It knows neither the engine nor
// other carriers, so that each can be built, tested and replaced alone.
#pragma once
#include <fairlead/ids.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <string>

#include "data/layout.hpp"
#include "memory/replica.hpp"

namespace fairlead::backend {

/// Where bytes are.
struct Place {
  NodeId node = no_id<NodeId>;
  Bytes offset = 0;              ///< from the beginning of the node's memory, or of its file
  std::byte* address = nullptr;  ///< what bodies beside the node call it; null: no body finds it
  std::byte* host = nullptr;     ///< where cores find them; null: they do not

  /// So many bytes further on.
  Place after(Bytes bytes) const noexcept {
    const auto further = [&](std::byte* at) { return at == nullptr ? nullptr : at + bytes; };
    return {node, offset + bytes, further(address), further(host)};
  }
};

/// How it went.
struct Outcome {
  int error_number = 0;        ///< 0: the bytes have landed. Else an errno, and they have not
  std::string words{};         ///< what went wrong, if the carrier knows more than that
  std::exception_ptr failure;  ///< what the program is to see in place of all that

  bool good() const noexcept { return error_number == 0; }
};

/// Who hears that a load is over: from any thread, without a lock, once for each load.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void over(void* token, const Outcome& outcome) noexcept = 0;
};

/// A copy on its way over one link, or a piece of one that crosses two. The places stay as they are until it
/// is over.
struct Load {
  LinkId link{};
  bool away_from_home = true;  ///< the direction: from the link's first node to its second
  Place from{}, to{};
  Bytes first = 0, bytes = 0;  ///< of the datum's
  /// Null: bytes as they are. Else one end is user memory that is not one block: packed away from home,
  /// unpacked on the way there.
  const data::Layout* layout = nullptr;
  const memory::Copy* copy = nullptr;  ///< that it is a part of: which datum, which generator
  Receiver* receiver = nullptr;
  void* token = nullptr;  ///< the receiver's
};

class Carrier {
 public:
  virtual ~Carrier() = default;
  /// Begins to move a load; its end is told to its receiver, perhaps before this returns. Any thread; what
  /// it throws stops the run. After stop() it forgets what it is given.
  virtual void start(const Load& load) = 0;
  /// Ends what is under way; what is not may be forgotten. When it returns, nobody is told any more. May be
  /// called several times.
  virtual void stop() noexcept = 0;
  /// The program wants to end soon: what only slows down may be left out. Any thread.
  virtual void hurry() noexcept {}
  /// That it has of its own.
  virtual std::size_t threads() const noexcept { return 0; }
};

/// What a carrier leaves to workers, which do it between two tasks.
class Chore {
 public:
  enum class Kind : std::uint8_t {
    moves,     // bytes
    computes,  // as long as a task, and for the watchdog it is one
  };
  explicit Chore(Kind kind) noexcept : kind_(kind) {}
  Chore(const Chore&) = delete;
  Chore& operator=(const Chore&) = delete;
  virtual ~Chore() = default;

  /// Does one piece of it; nothing if another worker was faster.
  virtual void do_one() noexcept = 0;
  /// Sequentially consistent: whoever brings something looks afterwards at who sleeps, who goes to sleep
  /// looks here afterwards.
  bool waiting() const noexcept { return waiting_.load() != 0; }
  Kind kind() const noexcept { return kind_; }

 protected:
  void set_waiting(std::size_t pieces) noexcept { waiting_.store(pieces); }

 private:
  const Kind kind_;
  alignas(64) std::atomic<std::size_t> waiting_{0};  // workers look before every task
};

/// What cannot tell that something has happened, such as a network that has to be asked: workers look between tasks, though not before
/// each tiny one, and while they have nothing to do one of them looks all the time. What is to be said by it they say before the next task.
class Lookout {
 public:
  Lookout() = default;
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;
  virtual ~Lookout() = default;

  /// Takes what has come. False if there was nothing, or somebody else is looking. Any thread.
  virtual bool look() noexcept = 0;
  /// Something may come.
  virtual bool wanted() const noexcept = 0;
  /// Only the program's thread takes it: others need not look.
  virtual bool by_application() const noexcept { return false; }
  /// Something is to be said that the caller may say. Any thread, before each task.
  virtual bool has_to_say() const noexcept { return false; }
  /// Says it, and looks for nothing. Any thread.
  virtual void say() noexcept {}
};

}  // namespace fairlead::backend
