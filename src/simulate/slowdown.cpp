// Parses the setting, and maps it to workers.
#include "simulate/slowdown.hpp"

#include <fmt/format.h>
#include <fairlead/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace fairlead::simulate {

namespace {

constexpr double longest_seconds = 1e9, slowest = 1e6;

class Words {
 public:
  explicit Words(std::string_view written) : written_(written), rest_(written) {}

  bool at_end() const noexcept { return rest_.empty(); }
  bool next_is(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void require(std::string_view text) {
    if (!next_is(text)) refuse();
  }
  template <class T>
  T number(T least, T most) {
    T value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || !(value >= least && value <= most)) refuse();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  Time time() { return Time(std::llround(number(0.0, longest_seconds) * 1e9)); }
  [[noreturn]] void refuse() const {
    throw ConfigError(fmt::format(
        "slow is \"{}\", which is not like gpu1:4:0.5-0.9 (device 1 takes four times as long from "
        "0.5 s to 0.9 s), core0:2 (all the time), or several of these with commas between them",
        written_));
  }

 private:
  std::string_view written_, rest_;
};

Slowdown slowdown_in(Words& words) {
  Slowdown one;
  one.is_device = words.next_is("gpu");
  if (!one.is_device) words.require("core");
  one.number = words.number<std::size_t>(0, 1'000'000);
  words.require(":");
  one.times = words.number(1 / slowest, slowest);
  if (!words.next_is(":")) return one;
  one.from = words.time();
  words.require("-");
  one.until = words.time();
  if (one.until <= one.from) words.refuse();
  return one;
}

}  // namespace

std::vector<Slowdown> slowdowns_in(std::string_view written) {
  Words words(written);
  std::vector<Slowdown> all{slowdown_in(words)};
  while (!words.at_end()) {
    words.require(",");
    all.push_back(slowdown_in(words));
  }
  return all;
}

std::vector<backend::WorkerSlowdown> by_worker(const std::vector<Slowdown>& slowdowns,
                                               const Topology& topology) {
  std::vector<backend::WorkerSlowdown> found;
  const std::vector<NodeId> devices = topology.devices();
  for (const Slowdown& one : slowdowns) {
    const std::size_t before = found.size();
    std::size_t cores = 0;
    for (std::size_t i = 0; i < topology.workers.size(); ++i) {
      const WorkerSpec& worker = topology.workers[i];
      const bool it = one.is_device ? one.number < devices.size() && worker.node == devices[one.number]
                                    : worker.kind == WorkerKind::cpu && cores++ == one.number;
      if (it) found.push_back({static_cast<WorkerId>(i), one.times, one.from, one.until});
    }
    if (found.size() == before)
      throw ConfigError(fmt::format("slow names {}{}, which is not among the processors that are used",
                                    one.is_device ? "gpu" : "core", one.number));
  }
  return found;
}

}  // namespace fairlead::simulate
