// See shared_wires.hpp.
#include "backend/sim/shared_wires.hpp"

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace fairlead::backend {

SharedWires::CopyNumber SharedWires::begin(Bytes bytes, std::span<const Wire> wires, Time now) {
  if (free_.empty()) {
    free_.push_back(static_cast<CopyNumber>(copies_.size()));
    copies_.emplace_back();
  }
  const CopyNumber number = free_.back();
  free_.pop_back();
  Copy& copy = copies_[number];
  copy.wires.assign(wires.begin(), wires.end());
  copy.bytes_left = static_cast<double>(bytes);
  copy.bytes_per_second = 0;
  copy.since = copy.ends = now;
  copy.order = begun_++;
  active_.push_back(number);
  for (const Wire wire : wires) wires_[wire].copies.push_back(number);
  share(wires, now);
  return number;
}

void SharedWires::end(CopyNumber number, Time now) {
  Copy& copy = copies_[number];
  for (const Wire wire : copy.wires) std::erase(wires_[wire].copies, number);
  ensure(std::erase(active_, number) == 1, "a copy ends once");
  share(copy.wires, now);
  free_.push_back(number);
}

SharedWires::End SharedWires::next() const noexcept {
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

/// All wires and copies that can be reached from these wires, each once, in an order that follows from the
/// order of beginning alone.
void SharedWires::collect(std::span<const Wire> wires) {
  found_wires_.clear();
  found_copies_.clear();
  const auto find = [this](Wire wire) {
    if (std::exchange(wires_[wire].found, true)) return;
    found_wires_.push_back(wire);
  };
  for (const Wire wire : wires) find(wire);
  for (std::size_t i = 0; i < found_wires_.size(); ++i)
    for (const CopyNumber number : wires_[found_wires_[i]].copies) {
      if (std::exchange(copies_[number].found, true)) continue;
      found_copies_.push_back(number);
      for (const Wire wire : copies_[number].wires) find(wire);
    }
}

void SharedWires::share(std::span<const Wire> wires, Time now) {
  collect(wires);
  for (const Wire wire : found_wires_) {
    State& state = wires_[wire];
    state.found = false;
    state.left = capacity_[wire];
    state.unfixed = state.copies.size();
  }
  for (const CopyNumber number : found_copies_) copies_[number].found = copies_[number].fixed = false;
  for (std::size_t fixed = 0; fixed < found_copies_.size();) {
    State* tightest = nullptr;
    double rate = 0;
    for (const Wire wire : found_wires_) {
      State& state = wires_[wire];
      if (state.unfixed == 0) continue;
      const double fair = state.left / static_cast<double>(state.unfixed);
      if (tightest == nullptr || fair < rate) {
        tightest = &state;
        rate = fair;
      }
    }
    for (const CopyNumber number : tightest->copies) {
      Copy& copy = copies_[number];
      if (std::exchange(copy.fixed, true)) continue;
      ++fixed;
      for (const Wire wire : copy.wires) {
        State& state = wires_[wire];
        state.left = std::max(state.left - rate, 0.0);  // rounding must not make it negative
        --state.unfixed;
      }
      set_rate(copy, rate, now);
    }
  }
}

/// What has crossed at the old rate is over. The end is rounded up: a copy is not over before its last byte.
void SharedWires::set_rate(Copy& copy, double bytes_per_second, Time now) {
  if (bytes_per_second == copy.bytes_per_second) return;  // nor does its end change then
  copy.bytes_left = std::max(copy.bytes_left - copy.bytes_per_second * seconds(now - copy.since), 0.0);
  copy.since = now;
  copy.bytes_per_second = bytes_per_second;
  copy.ends = now + Duration(static_cast<std::int64_t>(std::ceil(copy.bytes_left / bytes_per_second * 1e9)));
}

}  // namespace fairlead::backend
