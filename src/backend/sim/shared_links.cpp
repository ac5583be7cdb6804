// Progressive filling over the links that are connected by common copies.
#include "backend/sim/shared_links.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace fairlead::backend {

SharedLinks::CopyNumber SharedLinks::begin(Bytes bytes, std::span<const Crossing> crossed, Time now) {
  if (free_.empty()) {
    free_.push_back(static_cast<CopyNumber>(copies_.size()));
    copies_.emplace_back();
  }
  const CopyNumber number = free_.back();
  free_.pop_back();
  Copy& copy = copies_[number];
  copy.crossed.assign(crossed.begin(), crossed.end());
  copy.bytes_left = static_cast<double>(bytes);
  copy.bytes_per_second = 0;
  copy.since = copy.ends = now;
  copy.order = begun_++;
  active_.push_back(number);
  for (const Crossing& crossing : crossed) wires_[crossing.wire].copies.push_back(number);
  share(crossed, now);
  return number;
}

void SharedLinks::end(CopyNumber number, Time now) {
  Copy& copy = copies_[number];
  for (const Crossing& crossing : copy.crossed) std::erase(wires_[crossing.wire].copies, number);
  ensure(std::erase(active_, number) == 1, "a copy ends once");
  share(copy.crossed, now);
  free_.push_back(number);
}

SharedLinks::End SharedLinks::next() const noexcept {
  End first;
  const Copy* best = nullptr;
  for (const CopyNumber number : active_) {
    const Copy& copy = copies_[number];
    if (best != nullptr && (copy.ends > best->ends || (copy.ends == best->ends && copy.order > best->order)))
      continue;
    best = &copy;
    first = {copy.ends, number};
  }
  return first;
}

/// Collects all links and copies connected with these links, each once. The order depends on the start order only, so
/// runs are reproducible.
void SharedLinks::collect(std::span<const Crossing> crossed) {
  found_wires_.clear();
  found_copies_.clear();
  const auto find = [this](const Crossing& crossing) {
    if (std::exchange(wires_[crossing.wire].found, true)) return;
    found_wires_.push_back(crossing.wire);
  };
  for (const Crossing& crossing : crossed) find(crossing);
  for (std::size_t i = 0; i < found_wires_.size(); ++i)
    for (const CopyNumber number : wires_[found_wires_[i]].copies) {
      if (std::exchange(copies_[number].found, true)) continue;
      found_copies_.push_back(number);
      for (const Crossing& crossing : copies_[number].crossed) find(crossing);
    }
}

void SharedLinks::share(std::span<const Crossing> crossed, Time now) {
  collect(crossed);
  for (const LinkIndex wire : found_wires_) {
    State& state = wires_[wire];
    state.found = false;
    state.left = capacity_[wire];
    state.unfixed = 0;
    state.cost = 0;
  }
  for (const CopyNumber number : found_copies_) {
    Copy& copy = copies_[number];
    copy.found = copy.fixed = false;
    for (const Crossing& crossing : copy.crossed) {
      ++wires_[crossing.wire].unfixed;
      wires_[crossing.wire].cost += crossing.cost;
    }
  }
  for (std::size_t fixed = 0; fixed < found_copies_.size();) {
    State* tightest = nullptr;
    double rate = 0;
    for (const LinkIndex wire : found_wires_) {
      State& state = wires_[wire];
      if (state.unfixed == 0) continue;
      const double fair = state.left / state.cost;
      if (tightest == nullptr || fair < rate) {
        tightest = &state;
        rate = fair;
      }
    }
    for (const CopyNumber number : tightest->copies) {
      Copy& copy = copies_[number];
      if (std::exchange(copy.fixed, true)) continue;
      ++fixed;
      for (const Crossing& crossing : copy.crossed) {
        State& state = wires_[crossing.wire];
        // Rounding must not make it negative.
        state.left = std::max(state.left - rate * crossing.cost, 0.0);
        --state.unfixed;
        state.cost -= crossing.cost;
      }
      set_rate(copy, rate, now);
    }
  }
}

/// Accounts for the bytes transferred at the old rate. Rounds the end up: a copy does not complete before its last
/// byte.
void SharedLinks::set_rate(Copy& copy, double bytes_per_second, Time now) {
  if (bytes_per_second == copy.bytes_per_second) return;  // the end does not change either
  copy.bytes_left = std::max(copy.bytes_left - copy.bytes_per_second * seconds(now - copy.since), 0.0);
  copy.since = now;
  copy.bytes_per_second = bytes_per_second;
  copy.ends = now + virtual_duration(std::ceil(copy.bytes_left / bytes_per_second * 1e9));
}

}  // namespace fairlead::backend
