// Registers partial results one by one, as tasks arrive that can use them. They stay for later reductions of the same
// datum.
#include "engine/reduction_registry.hpp"

#include <algorithm>

#include "base/pages.hpp"
#include "engine/registered_datum.hpp"
#include "engine/runtime_core.hpp"

namespace fairlead::engine {

namespace {
constexpr std::size_t most_partials = 255;  // Access::partial is a byte
}  // namespace

Reduction& ReductionRegistry::open(RegisteredDatum& datum, const detail::ReductionInfo& how) {
  if (datum.reduction == nullptr) {
    datum.reduction = all_.emplace_back(std::make_unique<Reduction>()).get();
    datum.reduction->datum = &datum;
    core_.note_data_change();
  }
  Reduction& reduction = *datum.reduction;
  reduction.fold = how.fold;
  open_.push_back(&reduction);
  return reduction;
}

void ReductionRegistry::closed(Reduction& reduction) {
  std::erase(open_, &reduction);
  reduction.fold = nullptr;
  reduction.in_use = 0;
  reduction.joined.clear();
}

void ReductionRegistry::close_all(const void* flow) {
  const std::vector<Reduction*> open = open_;  // a copy, since folding changes open_
  for (Reduction* reduction : open) {
    const auto& joined = reduction->joined;
    const auto found =
        flow == nullptr ? joined.begin() : std::ranges::find(joined, flow, &Reduction::Joined::flow);
    if (found == joined.end()) continue;
    const auto fold = found->fold;  // a copy, since folding destroys it
    fold();
  }
}

void ReductionRegistry::close(const RegisteredDatum& datum) {
  if (datum.reduction == nullptr || datum.reduction->joined.empty()) return;
  const auto fold = datum.reduction->joined.front().fold;  // a copy, since folding destroys it
  fold();
}

void ReductionRegistry::replaced(const RegisteredDatum& datum) {
  if (datum.reduction != nullptr && datum.reduction->fold != nullptr) closed(*datum.reduction);
}

void ReductionRegistry::orphan(const void* flow) noexcept {
  for (Reduction* reduction : open_)
    std::erase_if(reduction->joined, [&](const Reduction::Joined& it) { return it.flow == flow; });
}

std::uint32_t ReductionRegistry::nodes_excluded(const RegisteredDatum& datum) const {
  std::uint32_t excluded = 0;
  for (std::size_t i = 0; i < core_.topology().nodes.size(); ++i) {
    const NodeSpec& node = core_.topology().nodes[i];
    if (node.role != NodeRole::cache ||
        std::ranges::find(node.directly_accessible_homes, datum.home) != node.directly_accessible_homes.end())
      continue;
    if (2 * whole_pages_for(datum.bytes) > whole_pages_in(node.capacity)) excluded |= 1u << i;
  }
  return excluded;
}

std::uint8_t ReductionRegistry::one_more(Reduction& reduction) {
  const Bytes to_fold = reduction.datum->in_place ? 0 : 2 * whole_pages_for(reduction.datum->bytes);
  // A fold must not be refused because of the application's holds.
  if (!core_.holds().leave(to_fold)) return static_cast<std::uint8_t>(reduction.in_use);
  if (reduction.in_use == reduction.partials.size()) set_aside(reduction);
  reduction.in_use = std::min(reduction.in_use + 1, reduction.partials.size());
  if (reduction.in_use != 0) core_.holds().note_footprint(to_fold);
  return static_cast<std::uint8_t>(reduction.in_use);
}

void ReductionRegistry::set_aside(Reduction& reduction) {
  const Topology& topology = core_.topology();
  if (reduction.no_more || !space_ || reduction.partials.size() + 1 >= topology.workers.size() ||
      reduction.partials.size() == most_partials)
    return;
  const RegisteredDatum& datum = *reduction.datum;
  // A fold must fit on a node.
  const std::uint32_t excluded = nodes_excluded(datum);
  const bool fits = std::ranges::any_of(topology.workers, [&](const WorkerSpec& worker) {
    return ((fold_kinds >> static_cast<unsigned>(worker.kind)) & 1) != 0 &&
           ((excluded >> index(worker.node)) & 1) == 0;
  });
  reduction.no_more = !fits;
  if (!fits) return;
  auto place = space_(datum.bytes, datum.home);
  reduction.no_more = !place;
  if (!place) return;
  auto partial = std::make_unique<RegisteredDatum>();
  partial->owner = reduction.datum;
  partial->name = [](const void* owner, const RegisteredDatum&) {
    return "a partial result of " + static_cast<const RegisteredDatum*>(owner)->text();
  };
  core_.register_datum(*partial, {.bytes = datum.bytes,
                                  .home = place->home,
                                  .address = place->address,
                                  .home_offset = place->home_offset,
                                  .partial_of = datum.id});
  reduction.partials.push_back({std::move(partial), std::move(place->keep)});
}

void ReductionRegistry::forget(RegisteredDatum& datum) {
  Reduction& reduction = *datum.reduction;
  closed(reduction);
  for (auto& partial : reduction.partials) core_.remove_datum(*partial.datum);
  datum.reduction = nullptr;
  std::erase_if(all_, [&](const auto& it) { return it.get() == &reduction; });
}

}  // namespace fairlead::engine
