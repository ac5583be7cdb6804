// Connects an endpoint with its network and its runs. Any thread may post events; one thread at a time serves them,
// and the others return at once without waiting.
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
  /// Notifies the other ranks that this rank takes part in nothing any more, and waits until all ranks have done so:
  /// until then they may need replies.
  ~Communicator() override;

  RankId own() const noexcept { return network_->own(); }
  std::uint32_t ranks() const noexcept { return network_->ranks(); }
  const Protocol& protocol() const noexcept { return protocol_; }
  /// A number for a graph, in the order in which the program makes graphs: equal on all ranks.
  std::uint32_t next_graph() noexcept { return graphs_++; }

  // ---- as in Endpoint; any thread

  /// `client` must live until end() returns.
  void begin(const GraphRun& run, std::uint64_t fingerprint, const TransitLimits& room, Client& client,
             bool gated = false);
  /// The network's thread executes it, as over().
  void expect(const GraphRun& run, std::uint64_t key);
  /// Afterwards neither the client nor the data that it provided are used.
  void end(const GraphRun& run);
  /// The network's thread executes it, so that the caller only queues an event.
  void task_finished(const GraphRun& run, std::uint64_t task, std::vector<Endpoint::Output> outputs);
  /// Replies to Client::allocate_place().
  void placed(IncomingId id, std::uint64_t value, const ValueMemory& spot);
  /// Replies to Client::read().
  void readable(OutgoingId id, const void* address);
  /// Reports to all ranks why this rank cannot continue; without memory for the text, only that it cannot.
  void fail(std::string_view text) noexcept;
  /// As fail(), executed by the network's thread.
  void report_failure_async(std::string_view text) noexcept;
  /// This rank cannot continue. Its clients and the other ranks are notified, at once or by the serving thread. Later
  /// reports have no effect, and all waits for other ranks end. Does not allocate.
  void out_of_memory() noexcept override;

  /// Sends a note between front ends. It arrives at the function given to on_note(), which any thread calls, one call at
  /// a time, in any order of the notes. Notes that arrive before on_note() are queued.
  void send_note(RankId to, std::vector<std::byte> note);
  using NoteHandler = std::function<void(RankId from, std::span<const std::byte> note)>;
  void on_note(NoteHandler handler);

  /// As in Endpoint, executed by the network's thread.
  void keeps_back(bool begins);
  /// As Endpoint::report_idle(), for the state at which moved() returned `moved`.
  void report_idle(const GraphRun& run, std::uint64_t moved, std::string text);
  /// A counter of activity. Nothing while events are pending; with a driven network, also nothing shortly after
  /// activity.
  std::optional<std::uint64_t> moved() const;
  /// True if all events are served and this rank neither waits for others nor owes them anything.
  bool is_quiescent() const;
  /// Sets a function that is called whenever is_quiescent() may have become true, and after a failure.
  void on_quiescent(std::function<void()> callback);
  /// As of the last event that was served.
  NetworkTraffic traffic() const;
  /// Sets the observer of all values from now on; it must outlive this object. Before any run.
  void watch_by(ValueObserver& watch);

 private:
  using Event = PendingEvents::Event;
  void came(RankId from, std::span<const std::byte> message) override;
  void landed(PayloadId expected) override;
  void left(PayloadId sent) override;
  void failed(const std::string& why) override;
  void poked() override;
  void lost(const std::string& why) override;
  void nothing_received() override;
  template <class Done>
  void wait_until(Done done);
  template <class E>
  void post(E&& event);
  template <class E>
  void post_and_wait(E&& event) noexcept;
  template <class E>
  void serve_one(E&& event) noexcept;
  /// For callers that may only queue an event.
  void post_soon(Event event);
  void serve() noexcept;
  void note_out_of_memory() noexcept;
  void copy_piece(Endpoint& endpoint, EndpointCommands& out);
  void carry_out(EndpointCommands& commands);

  const std::shared_ptr<Network> network_;
  std::uint32_t graphs_ = 0;  // used by the program's thread
  mutable std::mutex mutex_;  // guards the fields below
  PendingEvents events_;
  bool serving_ = false;
  std::condition_variable served_;
  std::shared_ptr<const std::function<void()>> on_quiescent_;
  NetworkTraffic traffic_;  // as of the last event served
  // written under the mutex: events were served since the last calm period
  std::atomic<bool> recently_active_{false};
  std::uint64_t looked_at_ = 0;  // activity at the last check
  std::chrono::steady_clock::time_point idle_since_{};
  // The fields below belong to the serving thread.
  Endpoint endpoint_;
  EndpointCommands commands_;  // of one event
  std::map<GraphRun, Client*> clients_;
  ValueObserver* watch_ = nullptr;
  NoteHandler hear_;
  std::vector<std::pair<RankId, std::vector<std::byte>>> unheard_;
  std::deque<EndpointCommands::Copy> copies_;  // the rest of each copy in progress
  const Protocol protocol_;
};

}  // namespace fairlead::net
