// An endpoint with its network and its graphs. Any thread tells it what has happened; one at a time does what the
// endpoint wants, the others leave theirs and go on: nobody waits here.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/client.hpp"
#include "net/endpoint.hpp"
#include "net/network.hpp"
#include "net/pending_events.hpp"

namespace fairlead::net {

class Communicator final : private Network::Listener {
 public:
  Communicator(std::shared_ptr<Network> network, const Protocol& protocol);
  /// The others are told that this rank takes part in nothing any more. Waits until that is so of all: until then
  /// others may have to be answered.
  ~Communicator() override;

  RankId own() const noexcept { return network_->own(); }
  std::uint32_t ranks() const noexcept { return network_->ranks(); }
  const Protocol& protocol() const noexcept { return protocol_; }
  /// For graphs, in the order in which the program makes them: the same on all ranks.
  std::uint32_t next_graph() noexcept { return graphs_++; }

  // ---- as in Endpoint. Any thread

  /// `client` stays until end() has returned.
  void begin(const GraphRun& run, std::uint64_t fingerprint, const Room& room, Client& client,
             bool gated = false);
  /// It is done by the network's thread, as in over().
  void expect(const GraphRun& run, std::uint64_t key);
  /// Afterwards nobody uses the client, nor what it has placed and made readable.
  void end(const GraphRun& run);
  /// It is done by the network's thread: for callers that must not do more than say so.
  void over(const GraphRun& run, std::uint64_t task, std::vector<Endpoint::Output> outputs);
  void placed(IncomingId id, std::uint64_t value, const Spot& spot);
  void readable(OutgoingId id, const void* address);
  /// All ranks hear why this one cannot go on; that it cannot, where there is no memory for the text.
  void fail(std::string_view text) noexcept;
  /// The same, by the network's thread.
  void fail_soon(std::string_view text) noexcept;
  /// This rank cannot go on, as its clients and the other ranks are notified: at once, or by the thread that serves. Whatever
  /// is reported from now on has no effect, and all waits for other ranks end. Allocates nothing.
  void out_of_memory() noexcept override;

  /// What front ends tell each other besides: it comes to hear() there, which is called by any thread, one call at a
  /// time, in any order. What comes before somebody hears waits for him.
  void say(RankId to, std::vector<std::byte> note);
  using Hear = std::function<void(RankId from, std::span<const std::byte> note)>;
  void hear(Hear hear);

  /// As in Endpoint, by the network's thread.
  void keeps_back(bool begins);
  /// As Endpoint::waits(): nothing moved here when moved() was that.
  void waits(const GraphRun& run, std::uint64_t moved, std::string text);
  /// Grows with everything that happens; nothing while something does, or where the network is driven has lately.
  std::optional<std::uint64_t> moved() const;
  /// All that was told is done, and nobody waits for anything here.
  bool quiet() const;
  /// Called whenever quiet() may have become true, and after a failure.
  void on_quiet(std::function<void()> tell);
  Traffic traffic() const;
  /// Of all values from now on; it stays as long as this does. Before anything runs.
  void watch_by(ValueWatch& watch);

 private:
  using Event = PendingEvents::Event;
  void came(RankId from, std::span<const std::byte> message) override;
  void landed(PayloadId expected) override;
  void left(PayloadId sent) override;
  void failed(const std::string& why) override;
  void poked() override;
  void lost(const std::string& why) override;
  void nothing_came() override;
  template <class Done>
  void wait_until(Done done);
  template <class E>
  void post(E&& event);
  template <class E>
  void post_and_wait(E&& event) noexcept;
  template <class E>
  void serve_one(E&& event) noexcept;
  /// For callers that must not do more than say so.
  void post_soon(Event event);
  void serve() noexcept;
  void note_break() noexcept;
  void copy_piece(Endpoint& endpoint, Commands& out);
  void carry_out(Commands& commands);

  const std::shared_ptr<Network> network_;
  std::uint32_t graphs_ = 0;  // the program's thread's
  mutable std::mutex mutex_;  // guards what follows
  PendingEvents events_;
  bool serving_ = false;
  std::condition_variable served_;
  std::shared_ptr<const std::function<void()>> tell_quiet_;
  Traffic traffic_;                   // when nobody served last
  std::atomic<bool> stirred_{false};  // written under the mutex: somebody has served since it was calm
  std::uint64_t looked_at_ = 0;       // the activity since
  std::chrono::steady_clock::time_point still_since_{};
  // Of who serves.
  Endpoint endpoint_;
  Commands commands_;  // of one event
  std::map<GraphRun, Client*> clients_;
  ValueWatch* watch_ = nullptr;
  Hear hear_;
  std::vector<std::pair<RankId, std::vector<std::byte>>> unheard_;
  std::deque<Commands::Copy> copies_;  // the rest of each that is under way
  const Protocol protocol_;
};

}  // namespace fairlead::net
