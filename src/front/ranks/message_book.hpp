// The messages that the program of this rank sends and receives by itself. Both ends of one call it by sender, tag and
// number, so nothing is asked; who leaves says how many there were, so that nobody waits for one that will not come.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "front/ranks/comparison.hpp"
#include "front/ranks/value_traffic.hpp"

namespace fairlead::front {

/// How far one is.
struct MessageState {
  std::atomic<bool> over{false};
  std::function<void()> done;  // called when it is
};

class MessageBook {
 public:
  static constexpr std::uint32_t tags = 1u << 24, most_ranks = 1u << 12;

  MessageBook(engine::RuntimeCore& core, net::Communicator& communicator);

  // ---- the program's thread's

  /// Throws UsageError if it cannot be, TaskError if a rank has failed.
  std::shared_ptr<MessageState> begin(engine::RegisteredDatum& datum, bool sends, net::RankId peer,
                                      std::uint32_t tag, std::function<void()> done);
  /// Works until it is over. Throws TaskError if it will never be.
  void wait(const MessageState& message);
  /// The datum is still to be sent, or to be received: it must not go.
  bool any_of(const engine::RegisteredDatum& datum) const {
    return !has_failed() && traffic_.any_of(datum.id);
  }
  /// Until all are over, or never will be.
  void leave() noexcept;

  // ---- the network's

  static constexpr std::uint8_t note_of_end = Comparison::kinds_of_notes;
  /// A rank sends no more.
  void heard(net::RankId from, std::span<const std::byte> note);

 private:
  using Counts = std::map<std::pair<bool, std::uint32_t>, std::uint64_t>;  // by direction and tag
  /// Messages with one rank.
  struct Peer {
    Counts begun;
    bool has_left = false;
    Counts its_own;  // as that rank has counted them, when it left
  };
  void ensure_begun();
  void over(std::uint64_t number);
  void failed(const std::string& why);
  void check_ended(net::RankId rank, const Peer& peer);
  bool has_failed() const noexcept { return has_failed_.load(); }
  std::string failure() const;

  engine::RuntimeCore& core_;
  net::Communicator& communicator_;
  ValueTraffic traffic_;
  bool has_begun_ = false;  // the program's thread's
  std::atomic<bool> has_failed_{false};
  std::atomic<std::size_t> open_{0};
  mutable std::mutex mutex_;  // guards what follows
  std::string failure_;
  std::map<net::RankId, Peer> peers_;
  std::unordered_map<std::uint64_t, std::shared_ptr<MessageState>> under_way_;
  std::unordered_map<std::uint64_t, bool> early_;  // over before they were written down
};

}  // namespace fairlead::front
