// A window of samples that is sorted only now and then: in between, adding one is a single store.
#include "model/quantile_history.hpp"

#include <algorithm>

namespace fairlead::model {

namespace {

constexpr std::size_t few = 16;  // samples; with fewer, half may be warm-up
constexpr std::size_t look_every = 8;
constexpr std::int64_t longest = std::int64_t{1} << 52;  // ns; about fifty days
// limit of samples, in medians, for windows with too many outliers to cut off
constexpr std::int64_t longest_over_median = 8;

Quantiles eight_of(std::span<const std::int64_t> ordered) noexcept {
  Quantiles eight{};
  for (std::size_t i = 0; i < eight.size(); ++i) eight[i] = ordered[(2 * i + 1) * ordered.size() / 16];
  return eight;
}

}  // namespace

std::span<const std::int64_t> QuantileHistory::sorted(std::array<std::int64_t, window>& room) const noexcept {
  std::copy_n(recent_.begin(), filled_, room.begin());
  std::sort(room.begin(), room.begin() + filled_);
  return {room.data(), filled_};
}

void QuantileHistory::add(std::int64_t duration_ns) noexcept {
  const std::uint64_t before = added_++;
  if (before == 0 && filled_ > 0) return;      // earlier processes give better values
  if (before == 1 && filled_ == 1) next_ = 0;  // replaces the first
  recent_[next_] = std::clamp<std::int64_t>(duration_ns, 1, longest);
  filled_ = std::max(filled_, next_ + 1);
  next_ = (next_ + 1) % window;
  if (filled_ < look_every || added_ % (filled_ < window ? look_every / 2 : look_every) == 0) update();
}

void QuantileHistory::start_with(const Quantiles& kept) noexcept {
  for (std::size_t i = 0; i < 2 * kept.size(); ++i)
    recent_[i] = std::clamp<std::int64_t>(kept[i / 2], 1, longest);
  filled_ = next_ = 2 * kept.size();
  update();
}

void QuantileHistory::update() noexcept {
  std::array<std::int64_t, window> room;
  const auto ordered = sorted(room);
  const std::size_t count = ordered.size();
  const std::size_t begin = count / 4;
  const std::size_t end = count < few ? std::max(begin + 1, (count + 1) / 2) : count - begin;
  const std::int64_t highest = ordered[count / 2] * longest_over_median;
  std::int64_t sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += std::min(ordered[i], highest);
  expected_ = std::max<std::int64_t>(sum / static_cast<std::int64_t>(end - begin), 1);
}

Quantiles QuantileHistory::quantiles() const noexcept {
  if (filled_ == 0) return {};
  std::array<std::int64_t, window> room;
  return eight_of(sorted(room));
}

Quantiles merged(const Quantiles& a, const Quantiles& b) noexcept {
  std::array<std::int64_t, 16> both;
  std::ranges::merge(a, b, both.begin());
  return eight_of(both);
}

}  // namespace fairlead::model
