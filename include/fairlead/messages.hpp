// Messages between ranks, for programs that say themselves what goes where: the value of a datum here goes into a datum
// there. A message has its turn like a task: it takes the value that tasks submitted before have left, and tasks
// submitted afterwards find what has come. The k-th that one rank sends to another under a tag goes into the k-th that the
// other receives from it under that tag.
//
//   fairlead::Message token = fairlead::ireceive(runtime, x, rank - 1);
//   flow.submit(increment(x));                   // when it is there
//   fairlead::send_detached(runtime, x, rank + 1);  // when that is over
//
// After StarPU-MPI (Augonnet et al. 2012, Table II). docs/ranks.md has the rules.
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

/// One that was begun. Copies are of the same message.
class Message {
 public:
  Message() = default;
  /// It has come, or is with who gets it. Any thread may ask.
  bool test() const noexcept;
  /// Works until then: by the runtime's thread. Throws TaskError if it will not be, since a rank has failed or ended, or
  /// the task that was to write the value has.
  void wait() const;

 private:
  friend Message begin_message(Runtime&, const detail::DatumReference&, bool, std::uint32_t, std::uint32_t,
                               SourceLine, std::function<void()>, bool);
  struct State;
  std::shared_ptr<State> state_;
};

/// The others, without types. `done` is called when it is over, as docs/concepts.md has it of callbacks; not if it never is.
/// Not `awaited`: nobody will ask, and what is returned is empty.
Message begin_message(Runtime& runtime, const detail::DatumReference& datum, bool sends, std::uint32_t peer,
                      std::uint32_t tag, SourceLine where, std::function<void()> done, bool awaited = true);

// Each throws UsageError if the rank does not exist, if all ranks know the datum (such data are sent by the runtime), or if
// the datum lies in the program's memory: only data that the runtime keeps can be sent. Tags are below 2^24.

/// Returns at once; the message is to be waited for, or not.
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
/// Works until it is over.
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
/// Nobody waits for it; the runtime's end does.
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

/// Several: of each the datum, the other rank and the tag.
template <class T>
struct Mail {
  Handle<T> datum;
  std::uint32_t peer = 0, tag = 0;
};
template <class T>
std::vector<Message> isend(Runtime& runtime, std::span<const Mail<T>> all,
                           SourceLine where = SourceLine::current()) {
  std::vector<Message> messages;
  for (const Mail<T>& one : all) messages.push_back(isend(runtime, one.datum, one.peer, one.tag, where));
  return messages;
}
template <class T>
std::vector<Message> ireceive(Runtime& runtime, std::span<const Mail<T>> all,
                              SourceLine where = SourceLine::current()) {
  std::vector<Message> messages;
  for (const Mail<T>& one : all) messages.push_back(ireceive(runtime, one.datum, one.peer, one.tag, where));
  return messages;
}
inline void wait_all(std::span<const Message> messages) {
  for (const Message& message : messages) message.wait();
}

}  // namespace fairlead
