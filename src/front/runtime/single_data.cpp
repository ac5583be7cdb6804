// See single_data.hpp.
#include "front/runtime/single_data.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "front/runtime/sizes.hpp"

namespace fairlead::front {

namespace {

constexpr std::int64_t most_runs = 0xffff'ffff;  // what a layout counts

/// Its bytes, packed. Throws UsageError if it is no array, if it is too large, or if elements lie upon each
/// other.
Bytes check_array(const std::string& name, const detail::Description& as) {
  const auto& [extents, strides] = as.array;
  for (const std::int64_t extent : extents)
    if (extent <= 0) throw UsageError(fmt::format("{}: a {} of {} elements is empty", name, as.kind, extent));
  if (as.kept) return checked_bytes(name, as.kind, {extents, {1, 0, 0}}, as.element_bytes);
  if (as.address == nullptr) throw UsageError(fmt::format("{}: a {} at no address", name, as.kind));
  // From the smallest stride to the largest, each has to step over what lies within.
  std::array<std::size_t, 3> order{0, 1, 2};
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const bool a_counts = extents[a] > 1, b_counts = extents[b] > 1;
    return a_counts != b_counts ? a_counts : strides[a] < strides[b];
  });
  Strided forward = as.array;
  for (std::int64_t& stride : forward.strides) stride = std::max<std::int64_t>(stride, 0);
  const Bytes bytes = checked_bytes(name, as.kind, forward, as.element_bytes);
  std::int64_t covered = 1;
  for (const std::size_t i : order) {
    if (extents[i] == 1) break;
    if (strides[i] < covered)
      throw UsageError(fmt::format(
          "{}: elements of the {} lie upon each other: {} of them at a distance of {}, where the distance is "
          "at least {}",
          name, as.kind, extents[i], strides[i], covered));
    covered = strides[i] * (extents[i] - 1) + covered;
  }
  if (extents[1] > most_runs || extents[2] > most_runs || (strides[0] != 1 && extents[0] > most_runs))
    throw UsageError(
        fmt::format("{}: a {} may have {} strides in one direction at most", name, as.kind, most_runs));
  return bytes;
}

}  // namespace

SingleDatum& SingleData::add(engine::RuntimeCore& core, const std::string& name,
                             const detail::Description& as) {
  core.check_caller(as.kind);
  const Bytes bytes = check_array(name, as);
  if (bytes == 0) throw UsageError(fmt::format("{}: a {} of 0 bytes", name, as.kind));
  SingleDatum single{.name = name, .as = as};
  memory::DatumSpec spec{.bytes = bytes, .home = OutOfCoreNodes::user_memory, .address = as.address};
  if (as.kept) {
    single.as.array = as.array.packed();
    single.slot = spill_.allocate(bytes);
    spec.home = OutOfCoreNodes::disk;
    spec.home_offset = single.slot.offset;
  } else if (as.pack != nullptr) {
    single.layout.emplace();
    single.layout->pack_all = as.pack;
    single.layout->unpack_all = as.unpack;
  } else {
    single.layout = data::layout_of(as.array, as.element_bytes);
  }
  const auto with_names = [this](auto&& change) -> decltype(auto) {
    const std::lock_guard guard(mutex_);
    return change();
  };
  SingleDatum& kept = with_names([&]() -> SingleDatum& { return all_.emplace_back(std::move(single)); });
  if (kept.layout) spec.layout = &*kept.layout;
  kept.datum = &store_.make();
  if (kept.as.fill) {
    const auto& [rows, columns, layers] = kept.as.array.extents;
    kept.generator = std::make_unique<GeneratedArray>(
        kept.as.fill, GeneratedArray::Place{0, rows, 0, columns, as.element_bytes}, *kept.datum);
    spec.generator = kept.generator.get();
  }
  core.register_datum(*kept.datum, spec);  // not under our mutex: the engine asks for names under its lock
  with_names([&] { kept.id = kept.datum->id; });
  kept.datum->ever_written = kept.generator != nullptr;
  kept.datum->owner = &kept;
  kept.datum->name = &SingleData::text_of;
  return kept;
}

void SingleData::remove(engine::RuntimeCore& core, SingleDatum& single) {
  core.remove_datum(*single.datum);
  store_.give_back(*single.datum);
  single.datum = nullptr;
  if (single.as.kept) spill_.release(single.slot);
  single.generator.reset();
  single.as.fill = nullptr;  // what it captures may go
}

SingleDatum* SingleData::find(const engine::RegisteredDatum& datum) noexcept {
  if (datum.name != &SingleData::text_of) return nullptr;
  return const_cast<SingleDatum*>(static_cast<const SingleDatum*>(datum.owner));
}

std::string SingleData::text_of(const void* owner, const engine::RegisteredDatum&) {
  return static_cast<const SingleDatum*>(owner)->name;
}

std::string SingleData::name_of(DatumId id) const {
  const std::lock_guard guard(mutex_);
  // Ids grow in this order.
  const auto found = std::ranges::lower_bound(all_, id, {}, &SingleDatum::id);
  return found != all_.end() && found->id == id ? found->name : std::string();
}

}  // namespace fairlead::front
