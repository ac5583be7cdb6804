// See lifeline.hpp.
#include "net/lifeline.hpp"

#include <algorithm>

namespace fairlead::net {

namespace {
bool gives_up(Loss::How how) { return how == Loss::How::left || how == Loss::How::failed; }
}  // namespace

Lifeline::Lifeline(const Place& place, const Pace& pace, Time now)
    : place_(place), pace_(pace), looked_(now) {
  if (const auto above = parent()) neighbours_.push_back({.rank = *above, .heard = now});
  for (const RankId below : children()) neighbours_.push_back({.rank = below, .heard = now});
}

RankId Lifeline::parent_of(RankId rank) const {
  const auto number = static_cast<std::uint32_t>(rank);
  return number == 0 ? no_rank : RankId{(number - 1) / place_.fan_out};
}

std::vector<RankId> Lifeline::children_of(RankId rank) const {
  std::vector<RankId> of;
  const std::uint64_t first = std::uint64_t{static_cast<std::uint32_t>(rank)} * place_.fan_out + 1;
  for (std::uint64_t i = first; i < first + place_.fan_out && i < place_.ranks; ++i)
    of.push_back(RankId{static_cast<std::uint32_t>(i)});
  return of;
}

std::optional<RankId> Lifeline::parent() const {
  const RankId above = parent_of(place_.own);
  return above == no_rank ? std::nullopt : std::optional(above);
}
std::vector<RankId> Lifeline::children() const { return children_of(place_.own); }

std::vector<RankId> Lifeline::heirs_before_own(RankId lost) const {
  std::vector<RankId> heirs = children_of(lost);
  if (lost != RankId{0}) heirs.insert(heirs.begin(), parent_of(lost));
  heirs.erase(std::find(heirs.begin(), heirs.end(), place_.own), heirs.end());
  return heirs;
}

void Lifeline::set_patience(Duration patience, Time now) {
  pace_.patience = patience;
  for (Neighbour& it : neighbours_) it.heard = now;
}

Lifeline::Neighbour* Lifeline::find(RankId rank) {
  const auto found = std::ranges::find(neighbours_, rank, &Neighbour::rank);
  return found == neighbours_.end() ? nullptr : &*found;
}

void Lifeline::tell_others(RankId but, Orders& out) const {
  for (const Neighbour& it : neighbours_)
    if (it.linked && it.rank != but)  // the lost rank, too: it may go on some time
      out.words.push_back({it.rank, {Word::Kind::lost, *loss_}});
}

void Lifeline::heard(RankId from, const Word& word, Time now, Orders& out) {
  Neighbour* const neighbour = find(from);
  switch (word.kind) {
    case Word::Kind::beat: {
      if (neighbour == nullptr) return;
      neighbour->heard = now;
      const bool first = !neighbour->linked;
      neighbour->linked = true;
      if (first && loss_) out.words.push_back({from, {Word::Kind::lost, *loss_}});
      return;
    }
    case Word::Kind::end:
      without(from);
      return;
    case Word::Kind::lost:
      if (from == asked_) {
        asked_ = no_rank;
        heirs_.clear();
        out.end = true;
      } else if (!loss_) {
        // Whoever has found it sees to the rest; but who gives up is known to nobody else.
        if (gives_up(word.loss.how) && word.loss.rank == from) return found(word.loss, from, now, out);
        loss_ = word.loss;
        tell_others(from, out);
        out.end = true;
      }
      return;
    case Word::Kind::heir:
      found(word.loss, from, now, out);
      out.words.push_back({from, {Word::Kind::lost, *loss_}});
      return;
  }
}

void Lifeline::broken(RankId from, Time now, Orders& out) {
  if (from == asked_) return ask_next_heir(now, out);
  const Neighbour* const neighbour = find(from);
  if (neighbour == nullptr) return;
  without(from);
  found({from, Loss::How::gone}, from, now, out);
}

bool Lifeline::never_linked(RankId rank) const {
  return std::ranges::any_of(neighbours_, [&](const Neighbour& it) { return it.rank == rank && !it.linked; });
}

void Lifeline::without(RankId neighbour) {
  std::erase_if(neighbours_, [&](const Neighbour& it) { return it.rank == neighbour; });
}

void Lifeline::found(const Loss& loss, RankId by, Time now, Orders& out) {
  if (loss_) return;
  loss_ = loss;
  tell_others(by, out);
  heirs_ = heirs_before_own(loss.rank);
  std::erase(heirs_, by);
  std::ranges::reverse(heirs_);
  ask_next_heir(now, out);
}

void Lifeline::ask_next_heir(Time now, Orders& out) {
  asked_ = no_rank;
  if (heirs_.empty()) {
    out.tell = out.end = true;
    return;
  }
  out.reach = asked_ = heirs_.back();
  asked_at_ = now;
  heirs_.pop_back();
  out.words.push_back({asked_, {Word::Kind::heir, *loss_}});
}

void Lifeline::look(Time now, Orders& out) {
  // While this rank was stopped itself it has not heard what others said: that time does not count.
  if (const Duration late = now - next_look(); late > Duration::zero())
    for (Neighbour& it : neighbours_) it.heard = std::min(now, it.heard + late);
  if (now >= next_look()) {
    looked_ = now;
    for (const Neighbour& it : neighbours_)
      if (it.linked) out.words.push_back({it.rank, {}});
  }
  if (asked_ != no_rank && now - asked_at_ > pace_.for_heirs) return ask_next_heir(now, out);
  if (loss_ || pace_.patience == Duration::zero()) return;
  for (const Neighbour& it : neighbours_)
    if (now - it.heard > pace_.patience) return found({it.rank, Loss::How::silent}, no_rank, now, out);
}

void Lifeline::leave(bool needed, Orders& out) {
  if (needed) return give_up(Loss::How::left, out);
  for (const Neighbour& it : neighbours_)
    if (it.linked) out.words.push_back({it.rank, {Word::Kind::end}});
}

void Lifeline::give_up(Loss::How how, Orders& out) {
  if (loss_) return;
  loss_ = Loss{place_.own, how};
  tell_others(no_rank, out);
}

}  // namespace fairlead::net
