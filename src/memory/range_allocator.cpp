// Holes are kept twice, by address (to join neighbours) and by length (to find the best fit), each packed
// into one integer, so that a search compares integers only.
#include "memory/range_allocator.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <limits>

namespace fairlead::memory {
namespace {

constexpr std::size_t longest_run = 128;  // keys; 1 KB is moved at most
constexpr std::uint64_t low_half = 0xffffffffu;

constexpr std::uint64_t pack(std::uint64_t high, std::uint64_t low) noexcept { return high << 32 | low; }
constexpr std::uint64_t high(std::uint64_t key) noexcept { return key >> 32; }
constexpr std::uint64_t low(std::uint64_t key) noexcept { return key & low_half; }

// The number of keys below `key`. The condition becomes a conditional move: half of these branches would be
// mispredicted, which costs more than the search.
std::size_t count_below(const std::vector<std::uint64_t>& keys, std::uint64_t key) noexcept {
  const std::uint64_t* first = keys.data();
  std::size_t count = keys.size();
  if (count == 0) return 0;
  while (count > 1) {
    const std::size_t half = count / 2;
    first = first[half - 1] < key ? first + half : first;
    count -= half;
  }
  return static_cast<std::size_t>(first - keys.data()) + (*first < key ? 1 : 0);
}

}  // namespace

SortedKeys::Place SortedKeys::at_or_after(std::uint64_t key) const noexcept {
  const std::size_t run = count_below(last_, key);
  return {run, run == runs_.size() ? 0 : count_below(runs_[run], key)};
}

SortedKeys::Place SortedKeys::before(Place place) const noexcept {
  if (place.index > 0) return {place.run, place.index - 1};
  return {place.run - 1, runs_[place.run - 1].size() - 1};
}

void SortedKeys::insert(std::uint64_t key) {
  Place place = at_or_after(key);
  if (is_end(place)) {  // larger than all: at the end of the last run
    if (runs_.empty()) {
      runs_.emplace_back().reserve(longest_run);
      last_.push_back(key);
    }
    place = {runs_.size() - 1, runs_.back().size()};
  }
  auto& run = runs_[place.run];
  run.insert(run.begin() + static_cast<std::ptrdiff_t>(place.index), key);
  last_[place.run] = run.back();
  if (run.size() < longest_run) return;
  std::vector<std::uint64_t> upper;
  upper.reserve(longest_run);
  upper.assign(run.begin() + longest_run / 2, run.end());
  run.resize(longest_run / 2);
  last_[place.run] = run.back();
  const auto after = static_cast<std::ptrdiff_t>(place.run) + 1;
  last_.insert(last_.begin() + after, upper.back());
  runs_.insert(runs_.begin() + after, std::move(upper));
}

void SortedKeys::erase(Place place) {
  auto& run = runs_[place.run];
  run.erase(run.begin() + static_cast<std::ptrdiff_t>(place.index));
  if (!run.empty()) {
    last_[place.run] = run.back();
    return;
  }
  runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(place.run));
  last_.erase(last_.begin() + static_cast<std::ptrdiff_t>(place.run));
}

void SortedKeys::replace(Place place, std::uint64_t key) noexcept {
  runs_[place.run][place.index] = key;
  last_[place.run] = runs_[place.run].back();
}

RangeAllocator::RangeAllocator(Bytes capacity, Bytes unit) : unit_(unit) {
  if (unit == 0) throw UsageError("a range allocator needs a unit of at least 1 byte");
  grow(capacity);
}

void RangeAllocator::grow(Bytes added) {
  const Bytes units = added / unit_;
  if (units > low_half - capacity_)
    throw UsageError(fmt::format(
        "a range allocator with a unit of {} bytes can manage at most {} bytes; {} were asked for", unit_,
        low_half * unit_, capacity() + added));
  if (units == 0) return;
  const Range range{capacity(), units * unit_};
  capacity_ += units;
  release(range);
}

std::optional<Range> RangeAllocator::allocate(Bytes bytes) {
  const Bytes units = rounded(bytes) / unit_;
  if (units == 0) return Range{};
  if (units > free_) return std::nullopt;
  const auto hole = by_length_.at_or_after(pack(units, 0));
  if (by_length_.is_end(hole)) return std::nullopt;
  const Bytes length = high(by_length_[hole]), first = low(by_length_[hole]);
  by_length_.erase(hole);
  const auto same = by_address_.at_or_after(pack(first, length));
  if (length == units) {
    by_address_.erase(same);
  } else {
    by_address_.replace(same, pack(first + units, length - units));
    by_length_.insert(pack(length - units, first + units));
  }
  free_ -= units;
  return Range{first * unit_, units * unit_};
}

void RangeAllocator::release(Range range) {
  if (range.bytes == 0) return;
  Bytes first = range.offset / unit_, length = range.bytes / unit_;
  const auto refuse = [&](const char* why) {
    throw UsageError(
        fmt::format("release of the range at {} of {} bytes, which {}", range.offset, range.bytes, why));
  };
  if (range.offset % unit_ != 0 || range.bytes % unit_ != 0 || length > capacity_ ||
      first > capacity_ - length)
    refuse("was never handed out");
  const Bytes released = length;
  const auto next = by_address_.at_or_after(pack(first, 0));
  const bool has_next = !by_address_.is_end(next), has_previous = !by_address_.is_begin(next);
  const std::uint64_t after = has_next ? by_address_[next] : 0;
  const auto previous = has_previous ? by_address_.before(next) : next;
  const std::uint64_t before = has_previous ? by_address_[previous] : 0;
  if ((has_next && high(after) < first + length) || (has_previous && high(before) + low(before) > first))
    refuse("is free already, at least in part");

  const bool joins_next = has_next && high(after) == first + length;
  const bool joins_previous = has_previous && high(before) + low(before) == first;
  if (joins_next) {
    by_length_.erase(pack(low(after), high(after)));
    length += low(after);
  }
  if (joins_previous) {
    by_length_.erase(pack(low(before), high(before)));
    first = high(before);
    length += low(before);
    if (joins_next) by_address_.erase(next);  // `previous` lies before it and stays where it is
    by_address_.replace(previous, pack(first, length));
  } else if (joins_next) {
    by_address_.replace(next, pack(first, length));
  } else {
    by_address_.insert(pack(first, length));
  }
  by_length_.insert(pack(length, first));
  free_ += released;
}

Bytes RangeAllocator::largest_free() const noexcept {
  return by_length_.empty() ? 0 : high(by_length_.largest()) * unit_;
}

Bytes RangeAllocator::rounded(Bytes bytes) const noexcept {
  const Bytes units = bytes / unit_ + (bytes % unit_ != 0 ? 1 : 0);
  const Bytes most = std::numeric_limits<Bytes>::max() / unit_;
  return (units < most ? units : most) * unit_;
}

std::optional<Bytes> RangeAllocator::units_of_all(std::span<const Bytes> sizes) const noexcept {
  Bytes total = 0;
  for (const Bytes bytes : sizes) {
    const Bytes units = rounded(bytes) / unit_;
    if (units > capacity_ - total) return std::nullopt;
    total += units;
  }
  return total;
}

bool RangeAllocator::would_fit_in_empty(std::span<const Bytes> sizes) const noexcept {
  return units_of_all(sizes).has_value();  // one hole, cut from its beginning: nothing is lost between them
}

bool RangeAllocator::can_allocate(std::span<const Bytes> sizes) const {
  const std::optional<Bytes> total = units_of_all(sizes);
  if (!total || *total > free_) return false;
  if (*total * unit_ <= largest_free()) return true;  // even if all of them come from the largest hole
  SortedKeys holes = by_length_;  // what is left of a hole after each request; where it lies does not matter
  for (const Bytes bytes : sizes) {
    const Bytes units = rounded(bytes) / unit_;
    if (units == 0) continue;
    const auto hole = holes.at_or_after(pack(units, 0));
    if (holes.is_end(hole)) return false;
    const std::uint64_t key = holes[hole];
    holes.erase(hole);
    if (high(key) > units) holes.insert(pack(high(key) - units, low(key) + units));
  }
  return true;
}

}  // namespace fairlead::memory
