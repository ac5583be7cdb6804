// See failure_detector.hpp.
#include "net/failure_detector.hpp"

#include <algorithm>

namespace fairlead::net {

namespace {
bool gives_up(Loss::Kind how) { return how == Loss::Kind::left || how == Loss::Kind::failed; }
}  // namespace

FailureDetector::FailureDetector(const Place& place, const Timing& pace, Time now)
    : place_(place), pace_(pace), looked_(now) {
  if (const auto above = parent()) neighbours_.push_back({.rank = *above, .heard = now});
  for (const RankId below : children()) neighbours_.push_back({.rank = below, .heard = now});
}

RankId FailureDetector::parent_of(RankId rank) const {
  const auto number = static_cast<std::uint32_t>(rank);
  return number == 0 ? no_rank : RankId{(number - 1) / place_.fan_out};
}

std::vector<RankId> FailureDetector::children_of(RankId rank) const {
  std::vector<RankId> of;
  const std::uint64_t first = std::uint64_t{static_cast<std::uint32_t>(rank)} * place_.fan_out + 1;
  for (std::uint64_t i = first; i < first + place_.fan_out && i < place_.ranks; ++i)
    of.push_back(RankId{static_cast<std::uint32_t>(i)});
  return of;
}

std::optional<RankId> FailureDetector::parent() const {
  const RankId above = parent_of(place_.own);
  return above == no_rank ? std::nullopt : std::optional(above);
}
std::vector<RankId> FailureDetector::children() const { return children_of(place_.own); }

std::vector<RankId> FailureDetector::heirs_before_own(RankId lost) const {
  std::vector<RankId> heirs = children_of(lost);
  if (lost != RankId{0}) heirs.insert(heirs.begin(), parent_of(lost));
  heirs.erase(std::find(heirs.begin(), heirs.end(), place_.own), heirs.end());
  return heirs;
}

void FailureDetector::set_patience(Duration patience, Time now) {
  pace_.timeout = patience;
  for (Neighbour& it : neighbours_) it.heard = now;
}

FailureDetector::Neighbour* FailureDetector::find(RankId rank) {
  const auto found = std::ranges::find(neighbours_, rank, &Neighbour::rank);
  return found == neighbours_.end() ? nullptr : &*found;
}

void FailureDetector::notify_others(RankId but, Orders& out) const {
  for (const Neighbour& it : neighbours_)
    if (it.linked && it.rank != but)  // also to the lost rank: it may continue for some time
      out.words.push_back({it.rank, {MonitorMessage::Kind::lost, *loss_}});
}

void FailureDetector::heard(RankId from, const MonitorMessage& word, Time now, Orders& out) {
  Neighbour* const neighbour = find(from);
  switch (word.kind) {
    case MonitorMessage::Kind::heartbeat: {
      if (neighbour == nullptr) return;
      neighbour->heard = now;
      const bool first = !neighbour->linked;
      neighbour->linked = true;
      if (first && loss_) out.words.push_back({from, {MonitorMessage::Kind::lost, *loss_}});
      return;
    }
    case MonitorMessage::Kind::leaving:
      remove_neighbour(from);
      return;
    case MonitorMessage::Kind::lost:
      if (from == asked_) {
        asked_ = no_rank;
        heirs_.clear();
        out.end = true;
      } else if (!loss_) {
        // The detecting rank does the rest. If a rank reports its own loss, the neighbours that it notified do.
        if (gives_up(word.loss.how) && word.loss.rank == from) return found(word.loss, from, now, out);
        loss_ = word.loss;
        notify_others(from, out);
        out.end = true;
      }
      return;
    case MonitorMessage::Kind::report_loss:
      found(word.loss, from, now, out);
      out.words.push_back({from, {MonitorMessage::Kind::lost, *loss_}});
      return;
  }
}

void FailureDetector::broken(RankId from, Time now, Orders& out) {
  if (from == asked_) return ask_next_heir(now, out);
  const Neighbour* const neighbour = find(from);
  if (neighbour == nullptr) return;
  remove_neighbour(from);
  found({from, Loss::Kind::gone}, from, now, out);
}

bool FailureDetector::never_linked(RankId rank) const {
  return std::ranges::any_of(neighbours_, [&](const Neighbour& it) { return it.rank == rank && !it.linked; });
}

void FailureDetector::remove_neighbour(RankId neighbour) {
  std::erase_if(neighbours_, [&](const Neighbour& it) { return it.rank == neighbour; });
}

void FailureDetector::found(const Loss& loss, RankId by, Time now, Orders& out) {
  if (loss_) return;
  loss_ = loss;
  notify_others(by, out);
  heirs_ = heirs_before_own(loss.rank);
  std::erase(heirs_, by);
  std::ranges::reverse(heirs_);
  ask_next_heir(now, out);
}

void FailureDetector::ask_next_heir(Time now, Orders& out) {
  asked_ = no_rank;
  if (heirs_.empty()) {
    out.report_to_user = out.end = true;
    return;
  }
  out.reach = asked_ = heirs_.back();
  asked_at_ = now;
  heirs_.pop_back();
  out.words.push_back({asked_, {MonitorMessage::Kind::report_loss, *loss_}});
}

void FailureDetector::tick(Time now, Orders& out) {
  // If this rank itself was stopped, it has received nothing: that time does not count.
  if (const Duration late = now - next_tick(); late > Duration::zero())
    for (Neighbour& it : neighbours_) it.heard = std::min(now, it.heard + late);
  if (now >= next_tick()) {
    looked_ = now;
    for (const Neighbour& it : neighbours_)
      if (it.linked) out.words.push_back({it.rank, {}});
  }
  if (asked_ != no_rank && now - asked_at_ > pace_.heir_timeout) return ask_next_heir(now, out);
  if (loss_ || pace_.timeout == Duration::zero()) return;
  for (const Neighbour& it : neighbours_)
    if (now - it.heard > pace_.timeout) return found({it.rank, Loss::Kind::silent}, no_rank, now, out);
}

void FailureDetector::leave(bool needed, Orders& out) {
  if (needed) return give_up(Loss::Kind::left, out);
  for (const Neighbour& it : neighbours_)
    if (it.linked) out.words.push_back({it.rank, {MonitorMessage::Kind::leaving}});
}

void FailureDetector::give_up(Loss::Kind how, Orders& out) {
  if (loss_) return;
  loss_ = Loss{place_.own, how};
  notify_others(no_rank, out);
}

}  // namespace fairlead::net
