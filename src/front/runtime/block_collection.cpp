// Registration of a partition's blocks. See block_collection.hpp.
#include "front/runtime/block_collection.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "front/flow/flow_source.hpp"

namespace fairlead::detail {

namespace {
constexpr std::int64_t most_parts = 30'000;  // a switch between two partitions uses the blocks of both
}

PartCollection::PartCollection(engine::RuntimeCore& core, front::DatumStore& store, front::SingleDatum& whole,
                               const std::array<std::int64_t, 3>& extents, std::size_t dimensions,
                               Bytes alignment)
    : core_(core),
      store_(store),
      whole_(whole),
      extents_(extents),
      counts_{1, 1, 1},
      dimensions_(dimensions) {
  const Strided& array = whole.as.array;
  if (whole.datum->shared != nullptr)
    throw UsageError(fmt::format("{} cannot be split: all ranks know it as a whole", whole.name));
  for (std::size_t i = 0; i < dimensions; ++i) {
    if (extents[i] <= 0)
      throw UsageError(fmt::format("{} cannot be split into parts of {} elements", whole.name, extents[i]));
    counts_[i] = (array.extents[i] - 1) / extents[i] + 1;
    if (counts_[i] > most_parts || counts_[0] * counts_[1] * counts_[2] > most_parts)
      throw UsageError(fmt::format("{} cannot be split into more than {} parts", whole.name, most_parts));
  }
  const auto count = static_cast<std::size_t>(counts_[0] * counts_[1] * counts_[2]);
  const auto offset_of = [&](std::size_t n) {
    const auto at = place_of(n);
    return static_cast<Bytes>(array.offset({at[0] * extents_[0], at[1] * extents_[1], at[2] * extents_[2]})) *
           whole.as.element_bytes;
  };
  if (whole.as.kept)
    for (std::size_t n = 0; n < count; ++n)
      if (offset_of(n) % alignment != 0 ||
          data::layout_of(shape_of(place_of(n)), whole.as.element_bytes).has_value())
        throw UsageError(fmt::format(
            "{} cannot be split like this: its home is on disk, where each part must be contiguous and start "
            "at a multiple of {} bytes, which {} does not\n  Split only the slowest dimension, in larger "
            "parts (elements have {} bytes), or register tiles (Runtime::tiled), or keep it in your memory.",
            whole.name, alignment, text_of(n), whole.as.element_bytes));
  if (whole.views == nullptr) {
    whole.views = std::make_shared<engine::DatumViews>();
    whole.views->whole = {whole.views.get(), {whole.datum}};
    whole.datum->view = &whole.views->whole;
    core_.note_data_change();
  }
  view_.of = whole.views.get();
  try {
    view_.data.reserve(count);  // other threads may read the names of data that are already registered
    for (std::size_t n = 0; n < count; ++n) {
      const Strided shape = shape_of(place_of(n));
      memory::DatumSpec spec;
      spec.bytes = static_cast<Bytes>(shape.elements()) * whole.as.element_bytes;
      spec.out_of_view = true;
      if (whole.as.kept) {
        spec.home = core.topology().store();
        spec.home_offset = whole.slot.offset + offset_of(n);
      } else {
        spec.home = core.topology().user_memory();
        spec.address = static_cast<std::byte*>(whole.as.address) + offset_of(n);
        spec.layout = layout_for(shape);
      }
      engine::RegisteredDatum& datum = store_.make();
      view_.data.push_back(&datum);
      datum.owner = this;
      datum.name = [](const void* owner, const engine::RegisteredDatum& part) {
        const auto& parts = *static_cast<const PartCollection*>(owner);
        return parts.text_of(
            static_cast<std::size_t>(std::ranges::find(parts.view_.data, &part) - parts.view_.data.begin()));
      };
      core_.register_datum(datum, spec);
      datum.view = &view_;
    }
  } catch (...) {
    remove_all();
    throw;
  }
  ++view_.of->partitions;
}

Strided PartCollection::shape_of(const std::array<std::int64_t, 3>& at) const noexcept {
  Strided shape = whole_.as.array;
  for (std::size_t i = 0; i < dimensions_; ++i)
    shape.extents[i] = std::min(extents_[i], shape.extents[i] - at[i] * extents_[i]);
  return shape;
}

std::array<std::int64_t, 3> PartCollection::place_of(std::size_t position) const noexcept {
  const auto n = static_cast<std::int64_t>(position);
  return {n % counts_[0], n / counts_[0] % counts_[1], n / counts_[0] / counts_[1]};
}

std::string PartCollection::text_of(std::size_t position) const {
  const auto at = place_of(position);
  return fmt::format("{}[{}]", whole_.name, fmt::join(at.begin(), at.begin() + dimensions_, ","));
}

const data::HomeLayout* PartCollection::layout_for(const Strided& shape) {
  const auto found = data::layout_of(shape, whole_.as.element_bytes);
  if (!found) return nullptr;
  for (const data::HomeLayout& known : layouts_)
    if (known.run_bytes == found->run_bytes && known.counts == found->counts) return &known;
  return &layouts_.emplace_back(*found);
}

PartReference PartCollection::part(const std::array<std::int64_t, 3>& at) const {
  for (std::size_t i = 0; i < 3; ++i)
    if (at[i] < 0 || at[i] >= counts_[i])
      throw UsageError(fmt::format("{} has no part [{}]: it is split into {}", whole_.name,
                                   fmt::join(at.begin(), at.begin() + dimensions_, ","),
                                   fmt::join(counts_.begin(), counts_.begin() + dimensions_, " x ")));
  const auto position = static_cast<std::size_t>(at[0] + counts_[0] * (at[1] + counts_[1] * at[2]));
  engine::RegisteredDatum* const datum = view_.data[position];
  return {{datum, datum->generation}, shape_of(at)};
}

bool PartCollection::release() noexcept {
  if (!core_.caller().may_wait()) return false;
  try {
    if (!core_.wait_for_all(true)) return false;
    for (const engine::RegisteredDatum* part : view_.data)
      if (core_.holds().holds(*part)) return false;
    if (view_.of->active == &view_) {
      auto last = std::make_unique<front::FlowSource>(core_);
      last->activate_view(view_.of->whole, __FILE__, __LINE__);
      if (!last->finish()) {
        core_.keep(std::move(last));
        return false;
      }
    }
  } catch (...) {
    return false;
  }
  --view_.of->partitions;
  remove_all();
  return true;
}

void PartCollection::remove_all() noexcept {
  for (engine::RegisteredDatum* part : view_.data) {
    try {
      core_.remove_datum(*part);
      store_.give_back(*part);
    } catch (...) {
      // The run was stopped inside the engine: the data stay registered until the runtime ends.
      core_.names().fix(part->id);
      ++part->generation;
    }
  }
}

PartReference part_of(const PartCollection* parts, const std::array<std::int64_t, 3>& at) {
  if (parts == nullptr) throw UsageError("a part was requested from a partition that was moved from");
  return parts->part(at);
}
std::int64_t count_of(const PartCollection& parts, std::size_t dimension) noexcept {
  return parts.counts()[dimension];
}

}  // namespace fairlead::detail
