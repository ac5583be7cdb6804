// See process_monitor.hpp.
#include "net/process_monitor.hpp"

#include <signal.h>
#include <unistd.h>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "net/failure_detector_thread.hpp"
#include "net/lost_process.hpp"

namespace fairlead::net {

namespace {

using namespace std::chrono_literals;

constexpr Duration to_be_linked = 5s;
// A process that still runs so long after the loss is killed by the system.
constexpr Duration to_end = 5s;
// From a failure of MPI to the notification of others that it was this rank's own.
constexpr Duration to_know_better = 500ms;
// Heartbeats have an interval of one second, and may be late.
constexpr Duration least_patience = 3s;

class ProcessMonitor {
 public:
  void begin(const MpiPlugin& plugin, const config::LaunchInfo& launched);
  void add(const std::shared_ptr<Network>& network);
  void set_patience(Duration patience);
  /// A network of this process cannot continue; `own` is its rank.
  void broken(RankId own, const std::string& why);
  /// The process exits with that status.
  void exit(int status);

 private:
  void begin_line(const config::LaunchInfo& launched);
  static void warn(const config::LaunchInfo& launched, const std::string& why);
  void leave_out_unlinked(const config::LaunchInfo& launched);
  std::string text(const Loss& loss);
  void schedule_exit();
  void end(const Loss& loss);
  void lose_networks(const std::string& why);
  template <class Is>
  bool some_network(const Is& is);
  void end_job();
  [[noreturn]] static void wait_to_be_killed();

  const MpiPlugin* plugin_ = nullptr;
  bool ends_mpi_ = false;
  std::atomic<bool> mpi_ends_{false};  // MPI_Finalize has been called
  pid_t process_ = 0;
  // Open MPI's launcher, which gets a signal if MPI can no longer end the job; 0: not needed
  pid_t launcher_ = 0;
  std::atomic<bool> has_reported_{false};  // this rank has reported the loss
  std::atomic<bool> is_broken_{false};
  // losses are not reported: this process has failed and reported that, or MPI has ended
  std::atomic<bool> is_silenced_{false};
  std::atomic<bool> is_exit_scheduled_{false};
  std::atomic<Duration::rep> patience_{Duration(10s).count()};
  std::mutex mutex_;  // guards the fields below
  std::vector<std::weak_ptr<Network>> networks_;
  std::string why_lost_;
  std::optional<FailureDetectorThread> line_;  // last, since its thread uses the fields above
};

/// Global, since an exit handler gets no pointer.
ProcessMonitor& of_this_process() {
  static ProcessMonitor it;
  return it;
}

void ProcessMonitor::begin(const MpiPlugin& plugin, const config::LaunchInfo& launched) {
  if (plugin_ != nullptr) return;
  plugin_ = &plugin;
  process_ = ::getpid();
  if (launched.mpi_implementation == "openmpi") launcher_ = ::getppid();
  ends_mpi_ = plugin.begin();
  ::on_exit([](int status, void*) { of_this_process().exit(status); }, nullptr);
  begin_line(launched);
}

void ProcessMonitor::begin_line(const config::LaunchInfo& launched) {
  line_.emplace(RankId{launched.rank}, FailureDetectorThread::Options{},
                FailureDetectorThread::Actions{.report =
                                                   [this](const Loss& loss) {
                                                     if (is_silenced_.load()) return;
                                                     has_reported_.store(true);
                                                     schedule_exit();  // first: the output may block
                                                     log_message("fairlead: {}: the job ends\n", text(loss));
                                                   },
                                               .end = [this](const Loss& loss) { end(loss); },
                                               .cut = [this] { end_job(); }});
  bool has_socket = true;
  // A rank without a socket shares an empty text, since all ranks wait for one.
  const auto share = [&](const ProcessAddress& (FailureDetectorThread::*open)()) {
    std::string own;
    try {
      if (has_socket) own = text_of(((*line_).*open)());
    } catch (const SystemError& error) {
      has_socket = false;
      warn(launched, error.what());
    }
    std::vector<std::optional<ProcessAddress>> all;
    for (const std::string& text : plugin_->share(own)) all.push_back(parse_address(text));
    return all;
  };
  auto all = share(&FailureDetectorThread::open_locally);
  if (!all.front()) return line_.reset();
  const auto is_here = [&](const auto& it) { return !it || it->machine == all.front()->machine; };
  if (!std::ranges::all_of(all, is_here)) all = share(&FailureDetectorThread::open_to_network);
  if (!all.front()) return line_.reset();
  try {
    line_->begin(std::move(all));
  } catch (const std::system_error& error) {
    warn(launched, fmt::format("ranks cannot watch each other: cannot start a thread: {}", error.what()));
  }
  leave_out_unlinked(launched);
}

void ProcessMonitor::warn(const config::LaunchInfo& launched, const std::string& why) {
  log_message("fairlead: warning: rank {}: {}\n", launched.rank, why);
}

/// If a connection is impossible, neither rank monitors the other, and a warning is printed.
void ProcessMonitor::leave_out_unlinked(const config::LaunchInfo& launched) {
  const bool linked = line_->linked_within(to_be_linked);
  const auto all = plugin_->share(linked ? "linked" : "");
  std::vector<std::uint32_t> without;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (all[i].empty()) without.push_back(i);
  line_->drop_unconnected([&](RankId rank) { return !all[index(rank)].empty(); });
  if (launched.rank == 0 && !without.empty())
    log_message("fairlead: warning: ranks {} cannot be reached by a socket: their loss is not detected\n",
                fmt::join(without, ", "));
}

void ProcessMonitor::add(const std::shared_ptr<Network>& network) {
  std::string why;
  {
    const std::lock_guard guard(mutex_);
    std::erase_if(networks_, [](const auto& it) { return it.expired(); });
    networks_.push_back(network);
    why = why_lost_;
  }
  network->on_broken([this, own = network->own()](const std::string& because) { broken(own, because); });
  if (!why.empty()) network->lose(why);
}

void ProcessMonitor::broken(RankId own, const std::string& why) {
  if (is_broken_.exchange(true)) return;
  lose_networks(why);
  log_message("fairlead: rank {}: {}\n", index(own), why);
  if (!line_) return;
  schedule_exit();
  // If MPI failed because another rank is lost, that rank should be reported instead.
  line_->give_up(Loss::Kind::failed, to_know_better);
}

void ProcessMonitor::set_patience(Duration patience) {
  if (!line_) return;
  if (patience != Duration::zero()) patience = std::max(patience, least_patience);
  patience_.store(patience.count());
  line_->set_patience(patience);
}

std::string ProcessMonitor::text(const Loss& loss) {
  return text_of(loss, line_->of(loss.rank), Duration(patience_.load()));
}

void ProcessMonitor::schedule_exit() {
  if (!is_exit_scheduled_.exchange(true)) kill_self_after(to_end);
}

void ProcessMonitor::end(const Loss& loss) {
  schedule_exit();
  const ProcessAddress& lost = line_->of(loss.rank);
  if (loss.how == Loss::Kind::silent && line_->is_near(loss.rank)) kill_process(lost.process, lost.started);
  lose_networks(text(loss));
}

void ProcessMonitor::lose_networks(const std::string& why) {
  std::vector<std::shared_ptr<Network>> networks;
  {
    const std::lock_guard guard(mutex_);
    why_lost_ = why;
    for (const auto& it : networks_)
      if (auto network = it.lock()) networks.push_back(std::move(network));
  }
  for (const auto& network : networks) network->lose(why);
}

/// Once MPI is being finalized it can abort this process only. Then a rank was lost during its exit, and the launcher
/// gets a signal.
void ProcessMonitor::end_job() {
  if (!mpi_ends_.load()) return plugin_->abort();
  if (launcher_ > 1 && ::getppid() == launcher_) ::kill(launcher_, SIGTERM);
}

/// The launcher kills this process, or the system does some seconds after the loss.
void ProcessMonitor::wait_to_be_killed() {
  std::fflush(nullptr);
  for (;;) ::pause();
}

template <class Is>
bool ProcessMonitor::some_network(const Is& is) {
  const std::lock_guard guard(mutex_);
  return std::ranges::any_of(networks_, [&](const auto& it) {
    const auto network = it.lock();
    return network != nullptr && is(*network);
  });
}

void ProcessMonitor::exit(int status) {
  if (::getpid() != process_) return;
  const auto is_lost = [this] {
    const std::lock_guard guard(mutex_);
    return !why_lost_.empty();
  };
  if (!line_ && is_lost()) {  // no other way to notify the other ranks
    std::fflush(nullptr);
    return plugin_->abort();
  }
  if (!line_) return ends_mpi_ ? plugin_->end() : void();
  // Also if it exits with success in the middle of a run. Between runs all ranks may exit together with open
  // runtimes.
  const bool is_open = some_network([](const Network& it) { return it.is_open(); });
  const bool in_a_run = some_network([](const Network& it) { return it.is_open() && it.is_active(); });
  const bool needed = is_broken_.load() || (status != 0 ? is_open : in_a_run);
  // After a process has failed and ended, launchers end the others on all machines.
  if (status != 0 && !needed) is_silenced_.store(true);
  // MPI_Finalize waits for all ranks, so it is skipped if one is lost or this one leaves during a run.
  if (ends_mpi_ && !needed && !is_lost()) {
    mpi_ends_.store(true);
    // A rank that failed alone must end in any case: then launchers end the others, which may wait for it.
    if (status != 0) kill_self_after(to_end);
    if (status == 0 && is_open) {
      line_->give_up(Loss::Kind::left, to_end);
      kill_self_after(2 * to_end);
    }
    plugin_->end();
    is_silenced_.store(true);
    // Open MPI's launcher ends the job itself, unless it is configured to keep the other ranks running. Then it would
    // wait for ever, and gets a signal after the grace period.
    if (launcher_ != 0 && is_lost() && has_reported_.load()) wait_to_be_killed();
  }
  line_->leave(needed);
  if (!is_lost() && !needed) return;
  std::fflush(nullptr);
  // A launcher that keeps the other ranks running may wait for MPI; abort() notifies it and sets its exit status.
  if (has_reported_.load() && !mpi_ends_.load()) plugin_->abort();
  if (status == 0) ::_exit(EXIT_FAILURE);
}

}  // namespace

void start_process_monitor(const MpiPlugin& plugin, const config::LaunchInfo& launched) {
  of_this_process().begin(plugin, launched);
}

void add_monitored_network(const std::shared_ptr<Network>& network) { of_this_process().add(network); }

void set_heartbeat_timeout(Duration patience) { of_this_process().set_patience(patience); }

std::string text_of(const Loss& loss, const ProcessAddress& of, Duration patience) {
  const auto rank = fmt::format("rank {} on {} (process {})", index(loss.rank), of.host, of.process);
  if (loss.how == Loss::Kind::gone) return rank + " is gone";
  if (loss.how == Loss::Kind::failed) return rank + " cannot communicate: its MPI has failed";
  if (loss.how == Loss::Kind::left) return rank + " has ended while others needed it";
  return fmt::format("{} has not answered for {} s", rank,
                     std::chrono::duration_cast<std::chrono::seconds>(patience).count());
}

}  // namespace fairlead::net
