// The options of a CUDA device, and what it adds to a machine; see cuda.hpp.
#include "backend/cuda/cuda.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <variant>

#include "backend/cuda/device.hpp"
#include "backend/cuda/launcher.hpp"
#include "backend/cuda/pinned_memory.hpp"
#include "backend/cuda/wire.hpp"
#include "backend/device/entry.hpp"
#include "base/pages.hpp"

namespace fairlead::backend {

namespace {

using enum SettingType;

enum class CudaOption : std::uint8_t { device, memory, bandwidth, latency, streams, workspace };
constexpr std::array<Setting, 6> cuda_options{{
    device_by_number,
    memory_of_device,
    bandwidth_of_wire,
    latency_of_wire,
    {.key = "streams",
     .type = count,
     .fallback = "1",
     .minimum = "1",
     .maximum = "16",
     .help = "tasks that it runs at the same time"},
    {.key = "workspace",
     .type = size,
     .minimum = "4KiB",
     .help = "of its memory: for what kernels need beside a task's data, for each stream; unless given an "
             "eighth of it "
             "for all, and at most 32 MiB for each"},
}};
constexpr Bytes smallest_workspace = 4096;            // without any cuBLAS takes memory by itself
constexpr Bytes largest_workspace = Bytes{32} << 20;  // what NVIDIA advises for cuBLAS on its larger devices

class CudaPart final : public Part {
 public:
  explicit CudaPart(const CudaBackend::Find& find) : find_(find) {}
  CudaPart(const CudaPart&) = delete;
  CudaPart& operator=(const CudaPart&) = delete;
  ~CudaPart() override { running_ = false; }
  void add_device(Topology& topology, const DeviceEntry& entry) override {
    const Bytes memory = entry.memory(CudaOption::memory, "cuda:0,memory=2GiB");
    if (!found_) found_ = find_();
    const cu::FoundDevice& found =
        device_numbered(*found_, entry.number(CudaOption::device), memory, entry.text, "CUDA");
    const Bytes streams = entry.number(CudaOption::streams);
    Bytes workspace =
        std::max(smallest_workspace, whole_pages_in(std::min(memory / 8 / streams, largest_workspace)));
    if (const auto* const given = std::get_if<std::uint64_t>(&entry.value(CudaOption::workspace)))
      workspace = whole_pages_for(*given);
    if (workspace > memory / streams || workspace * streams + 4096 > memory)
      throw ConfigError(fmt::format(
          "devices: of the memory of \"{}\" the workspaces of its streams leave nothing\n  They take {} "
          "each: "
          "give it at least {} and what data need, or fewer streams, or less by workspace=.",
          entry.text, config::readable_size(workspace), config::readable_size(workspace * streams + 4096)));
    One& one = devices_.emplace_back();
    one.found = &found;
    one.name = entry.name;
    one.memory = memory;
    one.workspace = workspace;
    one.capacity = memory - streams * workspace;
    one.node = fairlead::add_device(
        topology, {.name = entry.name,
                   .kind = WorkerKind::cuda,
                   .capacity = one.capacity,
                   .bytes_per_second = static_cast<double>(entry.number(CudaOption::bandwidth)),
                   .duplex = true,
                   .latency = Duration(static_cast<std::int64_t>(entry.number(CudaOption::latency)) * 1000),
                   .workers = static_cast<unsigned>(streams),
                   .processor = found.name});
  }

  void begin(Site& site) override {
    if (devices_.empty()) return;
    const Topology& topology = site.topology();
    pinned_.emplace(
        std::vector(site.surroundings().host_memory.begin(), site.surroundings().host_memory.end()));
    for (One& one : devices_) {
      one.device.emplace(
          found_->driver, *one.found,
          cu::OpenDevice::Settings{one.name, one.memory, fate_of(*one.found, site), &somebody_asks_});
      site.memory_of(one.node, one.device->at(0));
      Bytes workspace = one.capacity;  // they lie behind it
      for (std::size_t i = 0; i < topology.workers.size(); ++i)
        if (topology.workers[i].node == one.node) {
          site.run_by(static_cast<WorkerId>(i),
                      one.launchers.emplace_back(*one.device, one.device->at(workspace), one.workspace));
          workspace += one.workspace;
        }
      site.carry(topology.link_between(topology.host(), one.node),
                 wires_.emplace_back(*one.device, *pinned_));
    }
    running_ = true;
  }

 private:
  /// What is on the same device of the driver shares it.
  std::shared_ptr<cu::Fate> fate_of(const cu::FoundDevice& found, Site& site) {
    std::shared_ptr<cu::Fate>& fate = fates_[&found];
    if (fate == nullptr)
      fate = std::make_shared<cu::Fate>([this, &found, &site](const std::string& words) {
        for (const One& one : devices_)
          if (running_ && one.found == &found) site.lose(one.node, words);
      });
    return fate;
  }

  struct One {
    const cu::FoundDevice* found = nullptr;
    std::string name;
    Bytes memory = 0, workspace = 0, capacity = 0;  // all of it, of each stream, what is left for data
    NodeId node{};
    std::optional<cu::OpenDevice> device;
    std::deque<cu::Launcher> launchers;
  };

  const CudaBackend::Find find_;
  bool running_ = false;            // before and after, nobody is to be told that a device is lost
  std::optional<cu::Found> found_;  // when the first one is asked for
  std::atomic<bool> somebody_asks_ = false;
  std::map<const cu::FoundDevice*, std::shared_ptr<cu::Fate>> fates_;
  std::deque<One> devices_;
  std::optional<cu::PinnedMemory> pinned_;
  std::deque<cu::DeviceWire> wires_;  // last: their threads use the rest
};

}  // namespace

std::span<const Setting> CudaBackend::device_options() const noexcept { return cuda_options; }
std::unique_ptr<Part> CudaBackend::make() const { return std::make_unique<CudaPart>(find_); }

}  // namespace fairlead::backend
