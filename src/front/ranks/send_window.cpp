// Flow control of messages. See send_window.hpp.
#include "front/ranks/send_window.hpp"

#include <algorithm>

namespace fairlead::front {

void SendWindow::add(Rows& to, std::uint32_t tag, std::uint64_t number, Bytes takes,
                     const QueuedMessage& what) {
  if (auto next = to.lower_bound({tag + 1, 0}); next != to.begin()) {
    Row& last = std::prev(next)->second;
    const bool same_tag = std::prev(next)->first.first == tag;
    // The caller that started it does not use the state any more.
    if (last.what.state.use_count() == 1 && last.what.state->done == nullptr) last.what.state.reset();
    if (same_tag && last.goes_on_with(number, takes, what)) {
      ++last.count;
      return;
    }
  }
  to.emplace(Place{tag, number}, Row{.first = number, .count = 1, .takes = takes, .what = what});
}

bool SendWindow::begin(std::uint32_t tag, std::uint64_t number, Bytes takes, const QueuedMessage& what) {
  if (!fits(takes)) {
    add(pending_, tag, number, takes, what);
    return false;
  }
  ahead_takes_ += takes;
  add(sent_, tag, number, takes, {});
  return true;
}

/// Moves the first message of the row to `go`.
void SendWindow::let_go(Rows::iterator row, std::vector<Message>& go) {
  go.push_back({row->first.first, row->second.first++, row->second.what});
  if (--row->second.count == 0) pending_.erase(row);
}

void SendWindow::grant(std::uint32_t tag, std::uint64_t until, std::vector<Message>& go) {
  for (auto row = first_of(sent_, tag);
       row != sent_.end() && row->first.first == tag && row->second.first < until;) {
    const std::uint64_t taken = std::min(row->second.count, until - row->second.first);
    ahead_takes_ -= taken * row->second.takes;
    row->second.first += taken;
    row->second.count -= taken;
    row = row->second.count == 0 ? sent_.erase(row) : std::next(row);
  }
  for (auto row = first_of(pending_, tag);
       row != pending_.end() && row->first.first == tag && row->second.first < until;
       row = first_of(pending_, tag))
    let_go(row, go);
  // Then messages that fit into the window, one of each tag in turn.
  while (!pending_.empty()) {
    auto row = first_of(pending_, next_tag_);
    if (row == pending_.end()) row = pending_.begin();
    if (!fits(row->second.takes)) return;
    ahead_takes_ += row->second.takes;
    add(sent_, row->first.first, row->second.first, row->second.takes, {});
    next_tag_ = row->first.first + 1;
    let_go(row, go);
  }
}

}  // namespace fairlead::front
