// See failure_detector_thread.hpp.
#include "net/failure_detector_thread.hpp"

#include <unistd.h>
#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/guarded_thread.hpp"
#include "base/signals_blocked.hpp"
#include "net/own_descriptors.hpp"
#include "net/thread_priority.hpp"

namespace fairlead::net {

namespace {

/// Limit of connections without a handshake: more are no children of this rank.
constexpr std::size_t most_strangers = 64;

Time steady_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

FailureDetectorThread::FailureDetectorThread(RankId own, const Options& options, Actions actions)
    : own_(own), options_(options), actions_(std::move(actions)) {
  if (own_ == RankId{0}) door_.place.token = random_token();
}

FailureDetectorThread::~FailureDetectorThread() { end(Shutdown::vanishes); }

const ProcessAddress& FailureDetectorThread::open_locally() {
  woken_ = open_event_counter();
  if (!woken_) throw monitor_error("an event counter");
  door_.open_locally();
  return door_.place;
}

const ProcessAddress& FailureDetectorThread::open_to_network() {
  door_.open_to_network();
  if (options_.by_network) door_.place.addresses.emplace_back("127.0.0.1");
  return door_.place;
}

bool FailureDetectorThread::is_near(RankId rank) const {
  return !options_.by_network && all_[index(rank)] && all_[index(rank)]->machine == door_.place.machine;
}

void FailureDetectorThread::begin(std::vector<std::optional<ProcessAddress>> all) {
  all_ = std::move(all);
  if (!all_.front() || !all_.front()->token)
    throw SystemError("ranks cannot watch each other: rank 0 does not");
  token_ = *all_.front()->token;
  lifeline_.emplace(FailureDetector::Place{own_, static_cast<std::uint32_t>(all_.size()), options_.fan_out},
                    options_.pace, steady_now());
  const SignalsBlocked blocked;
  cutter_.emplace(actions_.cut);
  thread_ = guarded_thread([this] { run(); }, [this](const std::exception_ptr&) { run_failed(); });
  std::unique_lock lock(mutex_);
  begun_.wait(lock, [this] { return own_table_.has_value(); });
  if (!*own_table_) return;
  ::close(door_.local.get());  // the thread has its own copies
  if (door_.far) ::close(door_.far.get());
}

bool FailureDetectorThread::linked_within(Duration time) {
  std::unique_lock lock(mutex_);
  if (!lifeline_->parent()) return true;
  linked_.wait_for(lock, time, [this] { return has_parent_line_.has_value(); });
  return has_parent_line_.value_or(false);
}

void FailureDetectorThread::drop_unconnected(const std::function<bool(RankId)>& has_line) {
  const std::lock_guard guard(mutex_);
  if (!has_line(own_))
    if (const auto parent = lifeline_->parent()) lifeline_->remove_neighbour(*parent);
  for (const RankId child : lifeline_->children())
    if (!has_line(child)) lifeline_->remove_neighbour(child);
}

void FailureDetectorThread::set_patience(Duration patience) {
  const std::lock_guard guard(mutex_);
  lifeline_->set_patience(patience, steady_now());
}

void FailureDetectorThread::give_up(Loss::Kind how, Duration after) {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard(mutex_);
    gives_up_ = {how, steady_now() + after};
  }
  wake();
}

void FailureDetectorThread::leave(bool needed) { end(needed ? Shutdown::leaves_needed : Shutdown::leaves); }

void FailureDetectorThread::end(Shutdown how) {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard(mutex_);
    stay_ = how;
  }
  wake();
  thread_.join();
  cutter_.reset();
}

void FailureDetectorThread::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(woken_.get(), &one, sizeof one);
}

std::vector<pollfd> FailureDetectorThread::wanted(int& milliseconds) {
  const std::lock_guard guard(mutex_);
  std::vector<pollfd> all{
      {woken_.get(), POLLIN, 0}, {door_.local.get(), POLLIN, 0}, {door_.far.get(), POLLIN, 0}};
  for (const MonitorConnection& link : links_) all.push_back(link.wanted());
  Time next = lifeline_->next_tick();
  if (cut_at_ && *cut_at_ > steady_now()) next = std::min(next, *cut_at_);
  if (gives_up_) next = std::min(next, gives_up_->at);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - steady_now()).count();
  milliseconds = static_cast<int>(std::max<std::int64_t>(left, 0));
  return all;
}

void FailureDetectorThread::run() {
  raise_thread_priority();  // a launcher that sees a rank end kills the others at once
  {
    const std::array kept{STDERR_FILENO, woken_.get(), door_.local.get(), door_.far.get()};
    const std::lock_guard guard(mutex_);
    const bool own_table = options_.own_descriptors && take_own_descriptors(kept);
    FailureDetector::Orders orders;
    const auto parent = lifeline_->parent();
    // A rank without sockets is not expected by its parent either.
    const bool has_line = parent && all_[index(*parent)] && all_[index(own_)];
    if (has_line) reach(*parent, orders);
    if (parent && !has_line) {
      has_parent_line_ = false;
      lifeline_->remove_neighbour(*parent);
    }
    for (const RankId child : lifeline_->children())
      if (!all_[index(child)]) lifeline_->remove_neighbour(child);
    carry_out(orders);
    own_table_ = own_table;
    begun_.notify_one();
  }
  while (run_once()) {
  }
  // By this thread: the descriptors are in its own table.
  const std::lock_guard guard(mutex_);
  links_.clear();
  door_.close();
}

/// Out of memory. The connections close, so that the other ranks notice; this rank ends as well.
void FailureDetectorThread::run_failed() noexcept {
  {
    const std::lock_guard guard(mutex_);
    own_table_ = own_table_.value_or(false);
    has_parent_line_ = has_parent_line_.value_or(false);
    links_.clear();
    door_.close();
    begun_.notify_all();
    linked_.notify_all();
  }
  try {
    actions_.end({own_, Loss::Kind::failed});
  } catch (const std::exception&) {
    cutter_->start();
  }
}

bool FailureDetectorThread::run_once() {
  int milliseconds = 0;
  std::vector<pollfd> polled = wanted(milliseconds);
  if (::poll(polled.data(), polled.size(), milliseconds) < 0 && errno != EINTR && errno != ENOMEM)
    return false;
  Due due;
  std::optional<Loss> loss;
  bool over = false;
  {
    const std::lock_guard guard(mutex_);
    turn(polled);
    due = std::exchange(due_, {});
    loss = lifeline_->loss();
    if (cut_at_ && steady_now() >= *cut_at_) cutter_->start();
    over = stay_ != Shutdown::stays;
  }
  if (due.report) actions_.report(*loss);
  if (due.end) actions_.end(*loss);
  return !over;
}

void FailureDetectorThread::turn(const std::vector<pollfd>& polled) {
  FailureDetector::Orders orders;
  std::uint64_t times = 0;
  if (polled[0].revents != 0) {
    [[maybe_unused]] const ssize_t bytes = ::read(woken_.get(), &times, sizeof times);
  }
  go_on(polled, orders);
  if (polled[1].revents != 0) accept_peer(door_.local, true);
  if (polled[2].revents != 0) accept_peer(door_.far, false);
  lifeline_->tick(steady_now(), orders);
  if (gives_up_ &&
      (stay_ == Shutdown::leaves_needed || (stay_ == Shutdown::stays && steady_now() >= gives_up_->at))) {
    lifeline_->give_up(gives_up_->how, orders);
    gives_up_.reset();
  }
  if (stay_ == Shutdown::leaves || stay_ == Shutdown::leaves_needed)
    lifeline_->leave(stay_ == Shutdown::leaves_needed, orders);
  carry_out(orders);
}

void FailureDetectorThread::accept_peer(const FileDescriptor& listening, bool local) {
  FileDescriptor connected = accept_connection(listening);
  if (!connected || (local && !is_of_own_user(connected))) return;
  links_.emplace_back(std::move(connected), steady_now());
  const auto is_stranger = [](const MonitorConnection& link) { return link.other() == no_rank; };
  if (static_cast<std::size_t>(std::ranges::count_if(links_, is_stranger)) > most_strangers)
    links_.erase(std::ranges::find_if(links_, is_stranger));
}

void FailureDetectorThread::go_on(const std::vector<pollfd>& polled, FailureDetector::Orders& out) {
  constexpr std::size_t before_links = 3;
  const Time now = steady_now();
  std::size_t i = before_links;
  for (auto link = links_.begin(); link != links_.end(); ++i) {
    std::vector<MonitorMessage> come;
    const bool was_stranger = link->other() == no_rank;
    bool stays = link->go_on(polled[i].revents, token_, static_cast<std::uint32_t>(all_.size()), now, come);
    const RankId other = link->other();
    if (other == no_rank && now - link->since() > options_.to_greet) stays = false;
    if (was_stranger && other != no_rank && !add_peer(*link, out)) {
      link = links_.erase(link);
      continue;
    }
    if (!come.empty() && lifeline_->parent() == other && std::exchange(has_parent_line_, true) != true)
      linked_.notify_all();
    for (const MonitorMessage& word : come) lifeline_->heard(other, word, now, out);
    if (stays) {
      ++link;
      continue;
    }
    link = links_.erase(link);
    if (other != no_rank) broken(other, out);
  }
}

bool FailureDetectorThread::add_peer(MonitorConnection& link, FailureDetector::Orders& out) {
  const auto same = [&](const MonitorConnection& it) { return &it != &link && it.other() == link.other(); };
  if (std::ranges::any_of(links_, same)) return false;
  link.say({});
  lifeline_->heard(link.other(), {}, steady_now(), out);
  return true;
}

MonitorConnection* FailureDetectorThread::link_to(RankId rank) {
  const auto found =
      std::ranges::find_if(links_, [&](const MonitorConnection& it) { return it.other() == rank; });
  return found == links_.end() ? nullptr : &*found;
}

void FailureDetectorThread::reach(RankId rank, FailureDetector::Orders& out) {
  if (link_to(rank) != nullptr) return;
  if (all_[index(rank)]) {
    links_.emplace_back(own_, rank, *all_[index(rank)], is_near(rank), token_, steady_now());
    if (!links_.back().is_broken()) return;
    links_.pop_back();
  }
  broken(rank, out);
}

/// A neighbour on another machine that was never connected may be alive, behind a firewall or without a route. Both
/// ranks learn that they have no connection, and a warning is printed.
void FailureDetectorThread::broken(RankId rank, FailureDetector::Orders& out) {
  if (is_near(rank) || !lifeline_->never_linked(rank)) return lifeline_->broken(rank, steady_now(), out);
  if (lifeline_->parent() == rank) has_parent_line_ = false;
  lifeline_->remove_neighbour(rank);
  linked_.notify_all();
}

void FailureDetectorThread::carry_out(FailureDetector::Orders& orders) {
  while (!orders.words.empty() || orders.report_to_user || orders.end) {
    const FailureDetector::Orders now = std::exchange(orders, {});
    if (now.reach != no_rank) reach(now.reach, orders);
    for (const auto& [to, word] : now.words)
      if (MonitorConnection* const link = link_to(to)) link->say(word);
    due_.report = due_.report || now.report_to_user;
    due_.end = due_.end || now.end;
    if (now.end && !cut_at_) cut_at_ = steady_now() + options_.grace;
  }
}

}  // namespace fairlead::net
