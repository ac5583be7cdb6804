// See unsaved.hpp.
#include "fake_cuda/unsaved.hpp"

namespace fake_cuda {

void Unsaved::written(const void* at, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  steps_.push_back({begin, begin + bytes, false, 0, 0});
}

void Unsaved::copied(const void* at, std::size_t bytes, std::uint32_t stream, std::uint64_t number) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  steps_.push_back({begin, begin + bytes, true, stream, number});
}

std::size_t Unsaved::bytes(const Clock& known) const {
  std::map<std::uintptr_t, std::uintptr_t> only_here;  // ends by beginnings, which do not overlap
  const auto cut_at = [&](std::uintptr_t at) {
    auto after = only_here.upper_bound(at);
    if (after == only_here.begin()) return;
    auto& [begin, end] = *--after;
    if (begin == at || end <= at) return;
    only_here[at] = end;
    end = at;
  };
  for (const Step& step : steps_) {
    if (step.copy) {
      const auto over = known.find(step.stream);
      if (over == known.end() || over->second < step.number) continue;
    }
    cut_at(step.begin);
    cut_at(step.end);
    only_here.erase(only_here.lower_bound(step.begin), only_here.lower_bound(step.end));
    if (!step.copy) only_here[step.begin] = step.end;
  }
  std::size_t bytes = 0;
  for (const auto& [begin, end] : only_here) bytes += end - begin;
  return bytes;
}

}  // namespace fake_cuda
