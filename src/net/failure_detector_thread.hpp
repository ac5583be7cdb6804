// The sockets of the failure detector, and their thread. The thread does nothing else, so that a rank with busy
// workers does not look hung. A second thread waits to abort the job, since that may block.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/file_descriptor.hpp"
#include "net/deferred_action.hpp"
#include "net/failure_detector.hpp"
#include "net/monitor_connection.hpp"
#include "net/monitor_listeners.hpp"
#include "net/process_address.hpp"

namespace fairlead::net {

class FailureDetectorThread {
 public:
  struct Options {
    FailureDetector::Timing pace{};
    std::uint32_t fan_out = 8;
    Duration to_greet = std::chrono::seconds(5);  ///< time limit of a new connection's handshake
    Duration grace = std::chrono::seconds(3);     ///< from `end` to `cut`
    bool by_network = false;                      ///< network sockets even on one machine
    bool own_descriptors = true;                  ///< see own_descriptors.hpp
  };
  /// The actions after a loss. `report` and `end` must not block, and may use no descriptor but that of standard error.
  struct Actions {
    std::function<void(const Loss&)> report;  ///< reports the loss to the user
    std::function<void(const Loss&)> end;     ///< ends with an error what needs the rank
    std::function<void()> cut;                ///< called if the process still runs after the grace period
  };

  FailureDetectorThread(RankId own, const Options& options, Actions actions);
  /// Closes the connections without a message, as a killed process does.
  ~FailureDetectorThread();

  /// The addresses of this process with its sockets: a local one, and one for other machines. Throw SystemError if
  /// the system lacks a resource.
  const ProcessAddress& open_locally();
  const ProcessAddress& open_to_network();
  /// `all`: the addresses of all ranks, which listen by now; empty for ranks without sockets. Rank 0's entry has the
  /// token. Throws std::system_error if no thread can be started: then there are no connections.
  void begin(std::vector<std::optional<ProcessAddress>> all);
  /// Waits at most `time` for the connection to the parent; returns whether it exists. True for rank 0.
  bool linked_within(Duration time);
  /// Ranks for which `has_line` is false have no connection to their parents: neither side monitors the other.
  void drop_unconnected(const std::function<bool(RankId)>& has_line);
  void set_patience(Duration patience);
  /// If this process still runs after that time, notifies the others that this rank is lost in that way. Does not
  /// block.
  void give_up(Loss::Kind how, Duration after);
  /// This rank ends; `needed` by others. Stops the thread.
  void leave(bool needed);

  const ProcessAddress& of(RankId rank) const { return *all_[index(rank)]; }
  /// True if the rank is on this machine and local sockets are used.
  bool is_near(RankId rank) const;

 private:
  enum class Shutdown : std::uint8_t { stays, leaves, leaves_needed, vanishes };
  void run();
  void run_failed() noexcept;
  /// False: the thread must end.
  bool run_once();
  std::vector<pollfd> wanted(int& milliseconds);
  /// Processes the results of poll; the caller holds the lock.
  void turn(const std::vector<pollfd>& polled);
  void accept_peer(const FileDescriptor& listening, bool local);
  void go_on(const std::vector<pollfd>& polled, FailureDetector::Orders& out);
  /// A connection has completed its handshake. False: another one to that rank exists.
  bool add_peer(MonitorConnection& link, FailureDetector::Orders& out);
  void carry_out(FailureDetector::Orders& orders);
  MonitorConnection* link_to(RankId rank);
  void reach(RankId rank, FailureDetector::Orders& out);
  void broken(RankId rank, FailureDetector::Orders& out);
  void end(Shutdown how);
  void wake();

  const RankId own_;
  const Options options_;
  const Actions actions_;
  MonitorListeners door_;
  FileDescriptor woken_;
  std::vector<std::optional<ProcessAddress>> all_;
  Token token_{};
  std::mutex mutex_;  // guards the fields below
  std::condition_variable linked_, begun_;
  std::optional<FailureDetector> lifeline_;
  std::list<MonitorConnection> links_;
  struct Due {
    bool report = false, end = false;
  };
  Due due_;
  struct GivesUp {
    Loss::Kind how{};
    Time at{};
  };
  std::optional<GivesUp> gives_up_;
  std::optional<Time> cut_at_;
  std::optional<bool> own_table_;        // separate descriptor table; set when the thread has started
  std::optional<bool> has_parent_line_;  // false: it will never exist
  Shutdown stay_ = Shutdown::stays;
  std::optional<DeferredAction> cutter_;
  std::thread thread_;
};

}  // namespace fairlead::net
