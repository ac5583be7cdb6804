// Explicit messages between ranks, for programs that determine communication themselves: the value of a datum
// on one rank is stored in a datum on another. A message is ordered like a task: it sends the value that
// earlier tasks have written, and later tasks read the received value. The k-th send from one rank to another
// under a tag matches the k-th receive there from that rank under that tag.
//
//   fairlead::Message token = fairlead::ireceive(runtime, x, rank - 1);
//   flow.submit(increment(x));                      // runs after the message has arrived
//   fairlead::send_detached(runtime, x, rank + 1);  // sent after increment
//
// After StarPU-MPI (Augonnet et al. 2012, Table II). The rules are in docs/ranks.md.
#pragma once
#include <fairlead/handle.hpp>
#include <fairlead/runtime.hpp>
#include <fairlead/source_line.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace fairlead {

/// A started message. Copies refer to the same message.
class Message {
 public:
  Message() = default;
  /// True if the message is complete: received here, or received by the other rank. Thread-safe.
  bool test() const noexcept;
  /// Waits until the message is complete; the calling thread, which must be the runtime's, runs tasks in the
  /// meantime. Throws TaskError if it can never complete, because a rank has failed or ended, or because the
  /// task that writes the value failed.
  void wait() const;

 private:
  friend Message begin_message(Runtime&, const detail::DatumReference&, bool, std::uint32_t, std::uint32_t,
                               SourceLine, std::function<void()>, bool);
  struct State;
  std::shared_ptr<State> state_;
};

/// The untyped function behind those below. `done` is called at completion, with the restrictions of docs/concepts.md
/// for callbacks; it is not called if the message never completes. If not `awaited`, the returned Message is empty.
Message begin_message(Runtime& runtime, const detail::DatumReference& datum, bool sends, std::uint32_t peer,
                      std::uint32_t tag, SourceLine where, std::function<void()> done, bool awaited = true);

// Each function below throws UsageError if the rank does not exist, if all ranks share the datum (the runtime sends
// such data itself), or if the datum is in the program's memory: only data stored by the runtime can be sent. Tags are
// below 2^24.

/// Return immediately.
template <class T>
Message isend(Runtime& runtime, const Handle<T>& from, std::uint32_t to, std::uint32_t tag = 0,
              SourceLine where = SourceLine::current()) {
  return begin_message(runtime, from.datum(), true, to, tag, where, {});
}
template <class T>
Message ireceive(Runtime& runtime, const Handle<T>& into, std::uint32_t from, std::uint32_t tag = 0,
                 SourceLine where = SourceLine::current()) {
  return begin_message(runtime, into.datum(), false, from, tag, where, {});
}
/// Return when the message is complete; see Message::wait().
template <class T>
void send(Runtime& runtime, const Handle<T>& from, std::uint32_t to, std::uint32_t tag = 0,
          SourceLine where = SourceLine::current()) {
  isend(runtime, from, to, tag, where).wait();
}
template <class T>
void receive(Runtime& runtime, const Handle<T>& into, std::uint32_t from, std::uint32_t tag = 0,
             SourceLine where = SourceLine::current()) {
  ireceive(runtime, into, from, tag, where).wait();
}
/// Return immediately, without a Message. The runtime's destructor waits for completion.
template <class T>
void send_detached(Runtime& runtime, const Handle<T>& from, std::uint32_t to, std::uint32_t tag = 0,
                   std::function<void()> done = {}, SourceLine where = SourceLine::current()) {
  static_cast<void>(begin_message(runtime, from.datum(), true, to, tag, where, std::move(done), false));
}
template <class T>
void receive_detached(Runtime& runtime, const Handle<T>& into, std::uint32_t from, std::uint32_t tag = 0,
                      std::function<void()> done = {}, SourceLine where = SourceLine::current()) {
  static_cast<void>(begin_message(runtime, into.datum(), false, from, tag, where, std::move(done), false));
}

/// One message of a batch: the datum, the other rank, and the tag.
template <class T>
struct Envelope {
  Handle<T> datum;
  std::uint32_t peer = 0, tag = 0;
};
template <class T>
using Mail [[deprecated("use Envelope")]] = Envelope<T>;
template <class T>
std::vector<Message> isend(Runtime& runtime, std::span<const Envelope<T>> all,
                           SourceLine where = SourceLine::current()) {
  std::vector<Message> messages;
  for (const Envelope<T>& one : all) messages.push_back(isend(runtime, one.datum, one.peer, one.tag, where));
  return messages;
}
template <class T>
std::vector<Message> ireceive(Runtime& runtime, std::span<const Envelope<T>> all,
                              SourceLine where = SourceLine::current()) {
  std::vector<Message> messages;
  for (const Envelope<T>& one : all)
    messages.push_back(ireceive(runtime, one.datum, one.peer, one.tag, where));
  return messages;
}
inline void wait_all(std::span<const Message> messages) {
  for (const Message& message : messages) message.wait();
}

}  // namespace fairlead
