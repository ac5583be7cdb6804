// Periods of a distribution, and the data that a rank keeps.
#include "front/ptg/own_data.hpp"

#include <utility>

namespace fairlead::ptg {

const std::vector<std::int64_t>& Owners::periods(std::span<const std::int64_t> extents) const {
  std::call_once(table_->periods_found, [&] {
    const std::vector<std::uint32_t>& ranks = table_->ranks;
    std::size_t stride = 1;
    for (const std::int64_t extent : extents) {
      const std::size_t next = stride * static_cast<std::size_t>(extent);
      const auto repeats = [&](std::size_t after) {
        for (std::size_t first = 0; first < ranks.size(); first += next)
          for (std::size_t at = first; at + after * stride < first + next; ++at)
            if (ranks[at] != ranks[at + after * stride]) return false;
        return true;
      };
      std::int64_t period = 1;
      while (period < extent && !repeats(static_cast<std::size_t>(period))) ++period;
      table_->periods.push_back(period);
      stride = next;
    }
  });
  return table_->periods;
}

void keep_own(CollectionDefinition& definition) {
  if (definition.owners.empty() || definition.data.empty()) return;
  const std::size_t bytes = definition.handle_bytes, count = definition.data.size();
  const auto add = [bytes](std::vector<std::byte>& to, const std::byte* handle) {
    to.insert(to.end(), handle, handle + bytes);
  };
  std::vector<std::byte> handles, shapes;
  std::vector<fairlead::detail::DatumReference> data;
  const auto known = [&](const std::byte* handle) {
    if (shapes.empty()) return false;
    if (definition.alike == nullptr) return true;
    for (std::size_t at = 0; at < shapes.size(); at += bytes)
      if (definition.alike(shapes.data() + at, handle, at != 0)) return true;
    return false;
  };
  for (std::size_t k = 0; k < count; ++k) {
    const std::byte* const handle = definition.handles.data() + k * bytes;
    if (!known(handle)) add(shapes, handle);
    if (definition.data[k].datum == nullptr) continue;
    definition.places.push_back(static_cast<std::uint32_t>(k));
    data.push_back(definition.data[k]);
    add(handles, handle);
  }
  definition.places.shrink_to_fit();
  data.shrink_to_fit();
  handles.shrink_to_fit();
  definition.handles = std::move(handles);
  definition.data = std::move(data);
  definition.shapes = std::move(shapes);
}

}  // namespace fairlead::ptg
