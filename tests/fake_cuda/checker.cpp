// See checker.hpp.
#include "fake_cuda/checker.hpp"

#include <algorithm>

namespace fake_cuda {

namespace {

void join(Clock& into, const Clock& from) {
  for (const auto& [stream, number] : from) into[stream] = std::max(into[stream], number);
}

std::uint64_t at(const Clock& clock, std::uint32_t stream) {
  const auto found = clock.find(stream);
  return found == clock.end() ? 0 : found->second;
}

}  // namespace

const Clock& Checker::add(std::uint32_t stream, const std::string& name, std::span<const Access> accesses) {
  Clock& clock = streams_[stream];
  join(clock, host_);
  const std::uint64_t number = ++clock[stream];
  for (const Access& access : accesses) {
    const auto begin = reinterpret_cast<std::uintptr_t>(access.at), end = begin + access.bytes;
    for (const Open& other : open_)
      if (other.begin < end && begin < other.end && (other.write || access.write) &&
          at(clock, other.stream) < other.number)
        report("a race: \"" + name + "\" " + (access.write ? "writes" : "reads") + " what \"" + other.name +
               "\" " + (other.write ? "writes" : "reads") + ", and nothing orders them");
  }
  for (const Access& access : accesses) {
    const auto begin = reinterpret_cast<std::uintptr_t>(access.at);
    open_.push_back({begin, begin + access.bytes, access.write, stream, number, name});
  }
  return clock;
}

void Checker::seen(std::uint32_t stream, const Clock& clock) {
  join(host_, clock);
  join(just_seen_[std::this_thread::get_id()], {{stream, at(clock, stream)}});
  std::erase_if(open_, [&](const Open& one) { return at(host_, one.stream) >= one.number; });
}

void Checker::called() {
  const auto found = just_seen_.find(std::this_thread::get_id());
  if (found == just_seen_.end()) return;
  join(published_, found->second);
  just_seen_.erase(found);
}

std::uint64_t Checker::added(std::uint32_t stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? 0 : at(found->second, stream);
}

bool Checker::give_up(const void* memory, std::size_t bytes, const std::string& how) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory), end = begin + bytes;
  bool in_use = false;
  for (const Open& other : open_)
    if (other.begin < end && begin < other.end) {
      report(how + " while \"" + other.name + "\" may still use it");
      in_use = true;
    }
  return in_use;
}

}  // namespace fake_cuda
