// Registration of single data. See single_data.hpp.
#include "front/runtime/single_data.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "front/ranks/rank_context.hpp"
#include "front/runtime/read_only_data.hpp"
#include "front/runtime/sizes.hpp"

namespace fairlead::detail {

void no_such_element(const char* array, std::span<const std::int64_t> at,
                     std::span<const std::int64_t> extents) {
  throw UsageError(fmt::format("there is no element ({}) in a {} of {}", fmt::join(at, ", "), array,
                               fmt::join(extents, " x ")));
}

}  // namespace fairlead::detail

namespace fairlead::front {

namespace {

constexpr std::int64_t most_runs = 0xffff'ffff;  // the counter range of data::HomeLayout

/// Returns the packed size in bytes. Throws UsageError if the array is invalid or too large, or if elements overlap.
Bytes check_array(const std::string& name, const detail::Description& as) {
  const std::array<std::int64_t, 3>&extents = as.array.extents, &strides = as.array.strides;
  for (const std::int64_t extent : extents)
    if (extent <= 0) throw UsageError(fmt::format("{}: a {} of {} elements is empty", name, as.kind, extent));
  if (as.kept) return checked_bytes(name, as.kind, {extents, {1, 0, 0}}, as.element_bytes);
  if (as.address == nullptr)
    throw UsageError(fmt::format("{}: the address of the {} is null", name, as.kind));
  // In order of increasing stride, each stride must exceed the extent of the dimensions inside it.
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
          "{}: elements of the {} overlap: {} of them at a distance of {}, where at least {} is needed", name,
          as.kind, extents[i], strides[i], covered));
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
  core.caller().check(as.kind);
  const Bytes bytes = check_array(name, as);
  if (bytes == 0) throw UsageError(fmt::format("{}: a {} of 0 bytes", name, as.kind));
  front::RankContext* const ranks = front::rank_context(core.surroundings());
  if (as.owner >= 0 && ranks != nullptr) return add_shared(core, name, as, bytes);
  if (as.owner > 0)
    throw UsageError(fmt::format("{}: its owner is rank {}, but there is one rank", name, as.owner));
  SingleDatum single{.name = name, .as = as};
  memory::DatumSpec spec{.bytes = bytes, .home = core.topology().user_memory(), .address = as.address};
  if (as.kept) {
    single.as.array = as.array.packed();
    if (!is_read_only(as.fill)) single.slot = spill_.allocate(bytes);
    spec.home = core.topology().store();
    spec.home_offset = single.slot.offset;
  } else if (as.pack != nullptr) {
    single.layout.emplace();
    single.layout->pack_all = as.pack;
    single.layout->unpack_all = as.unpack;
  } else {
    single.layout = data::layout_of(as.array, as.element_bytes);
  }
  SingleDatum& kept = keep(std::move(single));
  if (kept.layout) spec.layout = &*kept.layout;
  kept.datum = &store_.make();
  if (kept.as.fill) {
    const auto& [rows, columns, layers] = kept.as.array.extents;
    kept.generator = std::make_unique<GeneratedArray>(
        kept.as.fill, GeneratedArray::Place{0, rows, 0, columns, as.element_bytes}, *kept.datum);
    spec.generator = kept.generator.get();
  }
  kept.datum->owner = &kept;
  kept.datum->name = &SingleData::text_of;
  core.register_datum(*kept.datum, spec);
  kept.datum->ever_written = kept.generator != nullptr;
  return kept;
}

/// The owner rank allocates space in its spill file; other ranks only register a name.
SingleDatum& SingleData::add_shared(engine::RuntimeCore& core, const std::string& name,
                                    const detail::Description& as, Bytes bytes) {
  RankContext& ranks = *rank_context(core.surroundings());
  const net::RankId owner{static_cast<std::uint32_t>(as.owner)}, own = ranks.communicator().own();
  if (net::index(owner) >= ranks.communicator().ranks())
    throw UsageError(fmt::format("{}: its owner is rank {}, but there are {}", name, as.owner,
                                 ranks.communicator().ranks()));
  SingleDatum* kept = nullptr;
  if (owner == own) {
    detail::Description of_here = as;
    of_here.owner = -1;
    kept = &add(core, name, of_here);
  } else {
    kept = &keep({.name = name, .as = as});
    kept->as.array = kept->as.array.packed();
    kept->datum = &store_.make();
    kept->datum->owner = kept;
    kept->datum->name = &SingleData::text_of;
    kept->datum->runtime = &core;
    kept->datum->home = core.topology().store();
  }
  ranks.program().guests().set_storage(store_, spill_);
  ranks.program().share(*kept->datum, ranks.program().allocate_numbers(1), owner, bytes);
  return *kept;
}

SingleDatum& SingleData::keep(SingleDatum&& single) {
  if (free_.empty()) {
    if (free_.capacity() <= all_.size()) free_.reserve(2 * all_.size() + 64);
    return all_.emplace_back(std::move(single));
  }
  SingleDatum& free = *free_.back();
  free_.pop_back();
  return free = std::move(single);
}

void SingleData::remove(engine::RuntimeCore& core, SingleDatum& single) {
  if (single.datum->shared != nullptr) rank_context(core.surroundings())->program().forget(*single.datum);
  if (single.datum->id == no_id<DatumId>)
    ++single.datum->generation;  // owned by another rank
  else
    core.remove_datum(*single.datum);
  store_.give_back(*single.datum);
  if (single.as.kept && single.slot.bytes != 0) spill_.release(single.slot);
  single = {};
  free_.push_back(&single);
}

SingleDatum* SingleData::find(const engine::RegisteredDatum& datum) noexcept {
  if (datum.name != &SingleData::text_of) return nullptr;
  return const_cast<SingleDatum*>(static_cast<const SingleDatum*>(datum.owner));
}

std::string SingleData::text_of(const void* owner, const engine::RegisteredDatum&) {
  return static_cast<const SingleDatum*>(owner)->name;
}

}  // namespace fairlead::front
