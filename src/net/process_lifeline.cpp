// See process_lifeline.hpp.
#include "net/process_lifeline.hpp"

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

#include "base/tell.hpp"
#include "net/lifeline_sockets.hpp"
#include "net/lost_process.hpp"

namespace fairlead::net {

namespace {

using namespace std::chrono_literals;

constexpr Duration to_be_linked = 5s;
// Who is still there so long after the loss is ended by the system.
constexpr Duration to_end = 5s;
// After MPI has failed, until others hear that it was by itself.
constexpr Duration to_know_better = 500ms;
// Beats are a second apart, and may be late.
constexpr Duration least_patience = 3s;

class ProcessLifeline {
 public:
  void begin(const MpiPlugin& plugin, const config::Launched& launched);
  void add(const std::shared_ptr<Network>& network);
  void set_patience(Duration patience);
  /// A network of this process, which is that rank, cannot go on.
  void broken(RankId own, const std::string& why);
  /// The process ends, with that status.
  void exit(int status);

 private:
  void begin_line(const config::Launched& launched);
  static void warn(const config::Launched& launched, const std::string& why);
  void leave_out_unlinked(const config::Launched& launched);
  std::string text(const Loss& loss);
  void end_surely();
  void end(const Loss& loss);
  void lose_networks(const std::string& why);
  template <class Is>
  bool some_network(const Is& is);
  void end_job();
  [[noreturn]] static void wait_for_the_end();

  const MpiPlugin* plugin_ = nullptr;
  bool ends_mpi_ = false;
  std::atomic<bool> mpi_ends_{false};  // its end has begun
  pid_t process_ = 0;
  pid_t launcher_ = 0;              // that is told where MPI tells it nothing any more; 0: need not be
  std::atomic<bool> tells_{false};  // it was this rank that named the one that is lost
  std::atomic<bool> is_broken_{false};
  std::atomic<bool> is_over_{
      false};  // a loss is no news: this process has failed and said so, or MPI has ended
  std::atomic<bool> ends_surely_{false};
  std::atomic<Duration::rep> patience_{Duration(10s).count()};
  std::mutex mutex_;  // guards what follows
  std::vector<std::weak_ptr<Network>> networks_;
  std::string why_lost_;
  std::optional<LifelineSockets> line_;  // its thread may use all of the above
};

/// An exit handler has to find it, to whom nobody hands a pointer.
ProcessLifeline& of_this_process() {
  static ProcessLifeline it;
  return it;
}

void ProcessLifeline::begin(const MpiPlugin& plugin, const config::Launched& launched) {
  if (plugin_ != nullptr) return;
  plugin_ = &plugin;
  process_ = ::getpid();
  if (launched.with == "openmpi") launcher_ = ::getppid();
  ends_mpi_ = plugin.begin();
  ::on_exit([](int status, void*) { of_this_process().exit(status); }, nullptr);
  begin_line(launched);
}

void ProcessLifeline::begin_line(const config::Launched& launched) {
  line_.emplace(RankId{launched.rank}, LifelineSockets::Options{},
                LifelineSockets::Actions{.tell =
                                             [this](const Loss& loss) {
                                               if (is_over_.load()) return;
                                               tells_.store(true);
                                               end_surely();  // who reads what is said may be stopped
                                               tell("fairlead: {}: the job ends\n", text(loss));
                                             },
                                         .end = [this](const Loss& loss) { end(loss); },
                                         .cut = [this] { end_job(); }});
  bool has_socket = true;
  // Who has none says nothing, but does say that: all wait for it.
  const auto share = [&](const Whereabouts& (LifelineSockets::*open)()) {
    std::string own;
    try {
      if (has_socket) own = text_of(((*line_).*open)());
    } catch (const SystemError& error) {
      has_socket = false;
      warn(launched, error.what());
    }
    std::vector<std::optional<Whereabouts>> all;
    for (const std::string& text : plugin_->share(own)) all.push_back(whereabouts_in(text));
    return all;
  };
  auto all = share(&LifelineSockets::open_locally);
  if (!all.front()) return line_.reset();
  const auto is_here = [&](const auto& it) { return !it || it->machine == all.front()->machine; };
  if (!std::ranges::all_of(all, is_here)) all = share(&LifelineSockets::open_to_network);
  if (!all.front()) return line_.reset();
  try {
    line_->begin(std::move(all));
  } catch (const std::system_error& error) {
    warn(launched,
         fmt::format("ranks cannot watch each other: the system gives no thread: {}", error.what()));
  }
  leave_out_unlinked(launched);
}

void ProcessLifeline::warn(const config::Launched& launched, const std::string& why) {
  tell("fairlead: warning: rank {}: {}\n", launched.rank, why);
}

/// Where no line can be had, both know, and so does whoever looks at the output.
void ProcessLifeline::leave_out_unlinked(const config::Launched& launched) {
  const bool linked = line_->linked_within(to_be_linked);
  const auto all = plugin_->share(linked ? "linked" : "");
  std::vector<std::uint32_t> without;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (all[i].empty()) without.push_back(i);
  line_->only_with([&](RankId rank) { return !all[index(rank)].empty(); });
  if (launched.rank == 0 && !without.empty())
    tell("fairlead: warning: ranks {} cannot be reached by a socket: if they are lost, nobody notices\n",
         fmt::join(without, ", "));
}

void ProcessLifeline::add(const std::shared_ptr<Network>& network) {
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

void ProcessLifeline::broken(RankId own, const std::string& why) {
  if (is_broken_.exchange(true)) return;
  lose_networks(why);
  tell("fairlead: rank {}: {}\n", index(own), why);
  if (!line_) return;
  end_surely();
  // If it fails since another rank is lost, that one is to be named.
  line_->give_up(Loss::How::failed, to_know_better);
}

void ProcessLifeline::set_patience(Duration patience) {
  if (!line_) return;
  if (patience != Duration::zero()) patience = std::max(patience, least_patience);
  patience_.store(patience.count());
  line_->set_patience(patience);
}

std::string ProcessLifeline::text(const Loss& loss) {
  return text_of(loss, line_->of(loss.rank), Duration(patience_.load()));
}

void ProcessLifeline::end_surely() {
  if (!ends_surely_.exchange(true)) kill_self_after(to_end);
}

void ProcessLifeline::end(const Loss& loss) {
  end_surely();
  const Whereabouts& lost = line_->of(loss.rank);
  if (loss.how == Loss::How::silent && line_->is_near(loss.rank)) kill_process(lost.process, lost.started);
  lose_networks(text(loss));
}

void ProcessLifeline::lose_networks(const std::string& why) {
  std::vector<std::shared_ptr<Network>> networks;
  {
    const std::lock_guard guard(mutex_);
    why_lost_ = why;
    for (const auto& it : networks_)
      if (auto network = it.lock()) networks.push_back(std::move(network));
  }
  for (const auto& network : networks) network->lose(why);
}

/// MPI ends one process alone once its end has begun: then a rank was lost on its way out, and the launcher is told itself.
void ProcessLifeline::end_job() {
  if (!mpi_ends_.load()) return plugin_->abort();
  if (launcher_ > 1 && ::getppid() == launcher_) ::kill(launcher_, SIGTERM);
}

/// By the launcher, or by the system some seconds after the loss.
void ProcessLifeline::wait_for_the_end() {
  std::fflush(nullptr);
  for (;;) ::pause();
}

template <class Is>
bool ProcessLifeline::some_network(const Is& is) {
  const std::lock_guard guard(mutex_);
  return std::ranges::any_of(networks_, [&](const auto& it) {
    const auto network = it.lock();
    return network != nullptr && is(*network);
  });
}

void ProcessLifeline::exit(int status) {
  if (::getpid() != process_) return;
  const auto is_lost = [this] {
    const std::lock_guard guard(mutex_);
    return !why_lost_.empty();
  };
  if (!line_ && is_lost()) {  // the others do not hear of it otherwise
    std::fflush(nullptr);
    return plugin_->abort();
  }
  if (!line_) return ends_mpi_ ? plugin_->end() : void();
  // Also where it claims success in the middle of a run. Between runs all may leave their runtimes behind, together.
  const bool is_open = some_network([](const Network& it) { return it.is_open(); });
  const bool in_a_run = some_network([](const Network& it) { return it.is_open() && it.listens(); });
  const bool needed = is_broken_.load() || (status != 0 ? is_open : in_a_run);
  // Where a process has failed, launchers end the others, wherever these are, once it has ended.
  if (status != 0 && !needed) is_over_.store(true);
  // MPI's end waits for all ranks, so it is none where one is lost, or has left in the middle.
  if (ends_mpi_ && !needed && !is_lost()) {
    mpi_ends_.store(true);
    // Who has failed alone ends all the same: launchers end the others then, which may wait for this rank.
    if (status != 0) kill_self_after(to_end);
    if (status == 0 && is_open) {
      line_->give_up(Loss::How::left, to_end);
      kill_self_after(2 * to_end);
    }
    plugin_->end();
    is_over_.store(true);
    // Open MPI's launcher ends the job by itself, unless it lets the others live: then it would wait for ever, and gets a
    // word after the grace.
    if (launcher_ != 0 && is_lost() && tells_.load()) wait_for_the_end();
  }
  line_->leave(needed);
  if (!is_lost() && !needed) return;
  std::fflush(nullptr);
  // A launcher that lets the others live may wait for a word from MPI, and takes this one's for its status.
  if (tells_.load() && !mpi_ends_.load()) plugin_->abort();
  if (status == 0) ::_exit(EXIT_FAILURE);
}

}  // namespace

void begin_lifeline(const MpiPlugin& plugin, const config::Launched& launched) {
  of_this_process().begin(plugin, launched);
}

void end_with_lifeline(const std::shared_ptr<Network>& network) { of_this_process().add(network); }

void set_patience_of_lifeline(Duration patience) { of_this_process().set_patience(patience); }

std::string text_of(const Loss& loss, const Whereabouts& of, Duration patience) {
  const auto rank = fmt::format("rank {} on {} (process {})", index(loss.rank), of.host, of.process);
  if (loss.how == Loss::How::gone) return rank + " is gone";
  if (loss.how == Loss::How::failed) return rank + " cannot speak to others: its MPI has failed";
  if (loss.how == Loss::How::left) return rank + " has ended while others needed it";
  return fmt::format("{} has not answered for {} s", rank,
                     std::chrono::duration_cast<std::chrono::seconds>(patience).count());
}

}  // namespace fairlead::net
