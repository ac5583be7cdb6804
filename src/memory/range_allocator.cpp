// Two ordered sets hold the holes: by address (to merge neighbours) and by length (to find the best fit). Each key
// packs address and length into one integer, so that searches compare integers only.
#include "memory/range_allocator.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <limits>
#include <utility>

namespace fairlead::memory {
namespace {

constexpr std::size_t longest_run = 128;  // keys; an insertion moves at most 1 KB
constexpr std::size_t half_run = longest_run / 2;
constexpr std::uint64_t low_half = 0xffffffffu;

constexpr std::uint64_t pack(std::uint64_t high, std::uint64_t low) noexcept { return high << 32 | low; }
constexpr std::uint64_t high(std::uint64_t key) noexcept { return key >> 32; }
constexpr std::uint64_t low(std::uint64_t key) noexcept { return key & low_half; }

// The number of keys below `key`. The condition compiles to a conditional move: mispredictions of half of the
// branches would cost more than the search.
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

// Each insertion increases the excess by one at most; each split reduces it by half a run.
void SortedKeys::prepare(std::size_t insertions) {
  const std::size_t splits = (excess_ + insertions) / half_run + 1;  // plus one for the first key
  if (spare_.size() >= splits) return;
  const std::size_t all = runs_.size() + splits;
  if (runs_.capacity() < all) {
    const std::size_t more = all + all / 2;
    last_.reserve(more);
    spare_.reserve(more);
    runs_.reserve(more);  // last, since its capacity stands for all three
  }
  while (spare_.size() < splits) {
    std::vector<std::uint64_t> run;
    run.reserve(longest_run);
    spare_.push_back(std::move(run));
  }
}

std::vector<std::uint64_t> SortedKeys::take_spare() {
  std::vector<std::uint64_t> run;
  if (!spare_.empty()) {
    run = std::move(spare_.back());
    spare_.pop_back();
  }
  run.reserve(longest_run);
  return run;
}

void SortedKeys::insert(std::uint64_t key) {
  Place place = at_or_after(key);
  if (is_end(place)) {  // larger than all keys: append to the last run
    if (runs_.empty()) {
      runs_.push_back(take_spare());
      last_.push_back(key);
    }
    place = {runs_.size() - 1, runs_.back().size()};
  }
  auto& run = runs_[place.run];
  run.insert(run.begin() + static_cast<std::ptrdiff_t>(place.index), key);
  last_[place.run] = run.back();
  excess_ += run.size() > half_run;
  if (run.size() < longest_run) return;
  std::vector<std::uint64_t> upper = take_spare();
  upper.assign(run.begin() + half_run, run.end());
  run.resize(half_run);
  excess_ -= half_run;
  last_[place.run] = run.back();
  const auto after = static_cast<std::ptrdiff_t>(place.run) + 1;
  last_.insert(last_.begin() + after, upper.back());
  runs_.insert(runs_.begin() + after, std::move(upper));
}

void SortedKeys::erase(Place place) noexcept {
  auto& run = runs_[place.run];
  excess_ -= run.size() > half_run;
  run.erase(run.begin() + static_cast<std::ptrdiff_t>(place.index));
  if (!run.empty()) {
    last_[place.run] = run.back();
    return;
  }
  if (spare_.size() < spare_.capacity()) spare_.push_back(std::move(run));
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
        "a range allocator with a unit of {} bytes can manage at most {} bytes; {} were requested", unit_,
        low_half * unit_, capacity() + added));
  if (units == 0) return;
  prepare(handed_out_ + 1);
  const Bytes first = std::exchange(capacity_, capacity_ + units);
  add_hole(first, units, by_address_.at_or_after(pack(first, 0)));
}

// Each release adds at most one key to each set.
void RangeAllocator::prepare(std::size_t releases) {
  by_address_.prepare(releases);
  by_length_.prepare(releases + 1);  // plus the rest of a hole that is cut
}

std::optional<ByteRange> RangeAllocator::allocate(Bytes bytes) {
  const Bytes units = rounded(bytes) / unit_;
  if (units == 0) return ByteRange{};
  if (units > free_) return std::nullopt;
  const auto hole = by_length_.at_or_after(pack(units, 0));
  if (by_length_.is_end(hole)) return std::nullopt;
  prepare(handed_out_ + 1);
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
  ++handed_out_;
  return ByteRange{first * unit_, units * unit_};
}

void RangeAllocator::release(ByteRange range) {
  if (range.bytes == 0) return;
  const Bytes first = range.offset / unit_, length = range.bytes / unit_;
  const auto refuse = [&](const char* why) {
    throw UsageError(
        fmt::format("release of the range at {} of {} bytes, which {}", range.offset, range.bytes, why));
  };
  if (range.offset % unit_ != 0 || range.bytes % unit_ != 0 || length > capacity_ ||
      first > capacity_ - length)
    refuse("was never allocated");
  const auto next = by_address_.at_or_after(pack(first, 0));
  const bool has_next = !by_address_.is_end(next), has_previous = !by_address_.is_begin(next);
  const std::uint64_t after = has_next ? by_address_[next] : 0;
  const auto previous = has_previous ? by_address_.before(next) : next;
  const std::uint64_t before = has_previous ? by_address_[previous] : 0;
  if ((has_next && high(after) < first + length) || (has_previous && high(before) + low(before) > first))
    refuse("is already free, at least in part");
  add_hole(first, length, next);
  if (handed_out_ > 0) --handed_out_;  // 0 only if ranges are released in pieces
}

/// The range must not be free. `next`: the first hole after it.
void RangeAllocator::add_hole(Bytes first, Bytes length, SortedKeys::Place next) {
  const Bytes released = length;
  const bool has_next = !by_address_.is_end(next), has_previous = !by_address_.is_begin(next);
  const std::uint64_t after = has_next ? by_address_[next] : 0;
  const auto previous = has_previous ? by_address_.before(next) : next;
  const std::uint64_t before = has_previous ? by_address_[previous] : 0;
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
    if (joins_next) by_address_.erase(next);  // `previous` is before it and keeps its place
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
  // a single hole, cut from its start, so that no space is lost between ranges
  return units_of_all(sizes).has_value();
}

bool RangeAllocator::can_allocate(std::span<const Bytes> sizes) const {
  const std::optional<Bytes> total = units_of_all(sizes);
  if (!total || *total > free_) return false;
  if (*total * unit_ <= largest_free()) return true;  // the largest hole alone suffices
  SortedKeys holes = by_length_;  // the holes that remain after each request; only their lengths matter
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
