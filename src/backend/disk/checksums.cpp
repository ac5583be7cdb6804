// Stores the sums by the file offset of their chunks.
#include "backend/disk/checksums.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <iterator>

namespace fairlead::backend {

namespace {
std::uint64_t sum_of(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }
}  // namespace

std::vector<Checksums::Sum> Checksums::of(Bytes offset, std::span<const std::byte> content) const {
  std::vector<Sum> sums;
  sums.reserve(content.size() / chunk_bytes_ + 1);
  for (Bytes at = 0; at < content.size(); at += chunk_bytes_) {
    const auto chunk = content.subspan(at, std::min<Bytes>(chunk_bytes_, content.size() - at));
    sums.push_back({offset + at, chunk.size(), sum_of(chunk)});
  }
  return sums;
}

void Checksums::add(std::span<const Sum> sums) {
  const std::lock_guard lock(mutex_);
  for (const Sum& sum : sums) {
    forget_locked(sum.offset, sum.bytes);
    entries_[sum.offset] = {sum.bytes, sum.value, ++serial_};
  }
}

std::vector<Checksums::Sum> Checksums::within(Bytes offset, Bytes bytes) const {
  std::vector<Sum> sums;
  const std::lock_guard lock(mutex_);
  for (auto at = entries_.lower_bound(offset);
       at != entries_.end() && at->first + at->second.bytes <= offset + bytes; ++at)
    sums.push_back({at->first, at->second.bytes, at->second.value});
  return sums;
}

bool Checksums::matches(std::span<const std::byte> content, std::uint64_t value) {
  return sum_of(content) == value;
}

void Checksums::forget(Bytes offset, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  forget_locked(offset, bytes);
}

void Checksums::forget_locked(Bytes offset, Bytes bytes) {
  auto first = entries_.lower_bound(offset);
  if (first != entries_.begin())
    if (const auto before = std::prev(first); before->first + before->second.bytes > offset) first = before;
  entries_.erase(first, entries_.lower_bound(offset + bytes));
}

Checksums::Expected Checksums::expected(Bytes offset, Bytes bytes) const {
  Expected expected;
  expected.from_ = this;
  expected.offset_ = offset;
  const std::lock_guard lock(mutex_);
  for (auto at = entries_.lower_bound(offset);
       at != entries_.end() && at->first + at->second.bytes <= offset + bytes; ++at)
    expected.known_.push_back({{at->first, at->second.bytes, at->second.value}, at->second.serial});
  return expected;
}

bool Checksums::has(Bytes offset, std::uint64_t serial) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(offset);
  return found != entries_.end() && found->second.serial == serial;
}

std::optional<Bytes> Checksums::Expected::first_wrong(std::span<const std::byte> content) const {
  for (const auto& [sum, serial] : known_)
    if (sum_of(content.subspan(sum.offset - offset_, sum.bytes)) != sum.value &&
        from_->has(sum.offset, serial))
      return sum.offset;
  return {};
}

}  // namespace fairlead::backend
