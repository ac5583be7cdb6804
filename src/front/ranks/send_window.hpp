// What a rank has begun to send to another, and the other has not come to: so much of it goes, the rest is held back here
// until the other asks for it. What is held back is a number in a row where many are alike, and nobody waits for it to go: rule
// 10 of docs/memory.md.
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

/// How far one is, for whoever looks.
struct MessageState {
  std::atomic<bool> over{false};
  std::function<void()> done;  // called when it is
};

/// Passive, and without a lock. Messages of a tag are numbered from 0, as they are begun at both ends.
class SendWindow {
 public:
  /// What is sent: the value of that turn at its datum.
  struct What {
    std::uint64_t turn = 0;
    std::shared_ptr<MessageState> state{};  ///< null: nobody looks
  };
  struct Message {
    std::uint32_t tag = 0;
    std::uint64_t number = 0;
    What what;
  };

  /// So much may be ahead of what was asked for, each taking what begin() says.
  explicit SendWindow(Bytes room) : room_(room) {}

  /// True: it goes at once. Whatever is held back: numbers are names, no order.
  bool begin(std::uint32_t tag, std::uint64_t number, Bytes takes, const What& what);
  /// The other has come to all of that tag below that number: what is to go now, or may.
  void asked(std::uint32_t tag, std::uint64_t until, std::vector<Message>& go);
  bool holds_back() const noexcept { return !held_.empty(); }
  Bytes ahead() const noexcept { return ahead_takes_; }
  /// Entries for what is held back and what is ahead.
  std::size_t entries() const noexcept { return held_.size() + ahead_.size(); }

 private:
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // tag and first number when it was put there
  /// Of one tag, numbers in a row.
  struct Row {
    std::uint64_t first = 0, count = 0;
    Bytes takes = 0;  // each
    What what{};
    bool goes_on_with(std::uint64_t number, Bytes each, const What& with) const noexcept {
      return first + count == number && takes == each && what.turn == with.turn && what.state == with.state;
    }
  };
  using Rows = std::map<Place, Row>;
  static void add(Rows& to, std::uint32_t tag, std::uint64_t number, Bytes takes, const What& what);
  static Rows::iterator first_of(Rows& rows, std::uint32_t tag) { return rows.lower_bound({tag, 0}); }
  bool fits(Bytes takes) const noexcept { return ahead_takes_ + takes <= room_; }
  void let_go(Rows::iterator row, std::vector<Message>& go);

  const Bytes room_;
  Bytes ahead_takes_ = 0;
  Rows held_, ahead_;
  std::uint32_t next_tag_ = 0;  // whose turn it is
};

}  // namespace fairlead::front
