// Flow control of messages to one rank: a limited amount is sent before the receiver requests it; the rest is held back
// until then. Similar held messages share one entry, and no thread waits for them: rule 10 of docs/memory.md.
#pragma once
#include <fairlead/ids.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace fairlead::front {

/// The state of a message.
struct MessageState {
  std::atomic<bool> complete{false};
  std::function<void()> done;  // called on completion
};

/// A passive data structure without a lock. Messages of a tag are numbered from 0, in the same order on both ranks.
class SendWindow {
 public:
  /// A message to send: the value of a turn at its datum.
  struct QueuedMessage {
    std::uint64_t turn = 0;
    std::shared_ptr<MessageState> state{};  ///< null: no caller needs it
  };
  struct Message {
    std::uint32_t tag = 0;
    std::uint64_t number = 0;
    QueuedMessage what;
  };

  /// `room`: limit of what is sent before it is requested, in the unit of `takes` in begin().
  explicit SendWindow(Bytes room) : room_(room) {}

  /// Returns true if the message may be sent now, even if older ones are held back: numbers identify messages, they do
  /// not order them.
  bool begin(std::uint32_t tag, std::uint64_t number, Bytes takes, const QueuedMessage& what);
  /// The receiver has reached all messages of `tag` below `until`. Appends to `go` the messages to send now.
  void grant(std::uint32_t tag, std::uint64_t until, std::vector<Message>& go);
  bool holds_back() const noexcept { return !pending_.empty(); }
  Bytes ahead() const noexcept { return ahead_takes_; }
  /// The number of entries for held and sent messages.
  std::size_t entries() const noexcept { return pending_.size() + sent_.size(); }

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // tag and first number when the entry was made
  /// Consecutive messages of one tag.
  struct Row {
    std::uint64_t first = 0, count = 0;
    Bytes takes = 0;  // of each message
    QueuedMessage what{};
    bool goes_on_with(std::uint64_t number, Bytes each, const QueuedMessage& with) const noexcept {
      return first + count == number && takes == each && what.turn == with.turn && what.state == with.state;
    }
  };
  using Rows = std::map<Place, Row>;
  static void add(Rows& to, std::uint32_t tag, std::uint64_t number, Bytes takes, const QueuedMessage& what);
  static Rows::iterator first_of(Rows& rows, std::uint32_t tag) { return rows.lower_bound({tag, 0}); }
  bool fits(Bytes takes) const noexcept { return ahead_takes_ + takes <= room_; }
  void let_go(Rows::iterator row, std::vector<Message>& go);

  const Bytes room_;
  Bytes ahead_takes_ = 0;
  Rows pending_, sent_;
  std::uint32_t next_tag_ = 0;  // next tag of the round robin
};

}  // namespace fairlead::front
