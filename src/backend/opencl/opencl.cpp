// The options of an OpenCL device and its contribution to the machine; see opencl.hpp.
#include "backend/opencl/opencl.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <variant>

#include "backend/device/entry.hpp"
#include "backend/opencl/device.hpp"
#include "backend/opencl/device_link.hpp"
#include "backend/opencl/processor.hpp"
#include "backend/opencl/programs.hpp"
#include "base/pages.hpp"

namespace fairlead::backend {

namespace {

using enum SettingType;

enum class OpenclOption : std::uint8_t { device, memory, bandwidth, latency, queues, workspace };
constexpr std::array<Setting, 6> opencl_options{{
    device_by_number,
    memory_of_device,
    bandwidth_of_wire,
    latency_of_wire,
    {.key = "queues",
     .type = count,
     .default_value = "1",
     .minimum = "1",
     .maximum = "16",
     .help = "tasks that it runs at the same time"},
    {.key = "workspace",
     .type = size,
     .default_value = "0B",
     .help = "the part of its memory for temporary data of kernels, for each queue"},
}};

/// Artificial start addresses of device memories and their distance, where no process of any machine has anything.
constexpr std::uintptr_t first_address = 0x00f0'0000'0000'0000, addresses_of_each = 0x1000'0000'0000;

class OpenclPart final : public BackendInstance {
 public:
  explicit OpenclPart(const OpenclBackend::Find& find) : find_(find) {}
  void add_device(Topology& topology, const DeviceEntry& entry) override {
    const Bytes memory = entry.memory(OpenclOption::memory, "opencl:0,memory=256MiB");
    if (!found_) found_ = find_();
    const cl::OpenclDeviceInfo& found =
        device_numbered(*found_, entry.number(OpenclOption::device), memory, entry.text, "OpenCL");
    if (memory > found.largest_buffer_bytes || memory > addresses_of_each)
      throw ConfigError(
          fmt::format("devices: \"{}\" requests {}, but {} allocates at most {} at once\n  Name it several "
                      "times to use more: each is a separate memory.",
                      entry.text, config::readable_size(memory), found.name,
                      config::readable_size(found.largest_buffer_bytes)));
    const Bytes queues = entry.number(OpenclOption::queues);
    const Bytes workspace = whole_pages_for(entry.number(OpenclOption::workspace));
    if (workspace > memory / queues || workspace * queues + 4096 > memory)
      throw ConfigError(fmt::format(
          "devices: the workspaces of the queues of \"{}\" leave nothing of its memory for data\n  They take "
          "{} each: give it at least {} and what data need, or fewer queues, or a smaller workspace=.",
          entry.text, config::readable_size(workspace), config::readable_size(workspace * queues + 4096)));
    One& one = devices_.emplace_back();
    one.found = &found;
    one.workspace = workspace;
    const Bytes capacity = memory - queues * workspace;
    one.settings = {.name = entry.name,
                    .memory_bytes = capacity,
                    .begin = first_address + addresses_of_each * devices_.size()};
    one.node = fairlead::add_device(
        topology, {.name = entry.name,
                   .kind = WorkerKind::opencl,
                   .capacity = capacity,
                   .bytes_per_second = static_cast<double>(entry.number(OpenclOption::bandwidth)),
                   .duplex = true,
                   .latency = Duration(static_cast<std::int64_t>(entry.number(OpenclOption::latency)) * 1000),
                   .workers = static_cast<unsigned>(queues),
                   .processor = found.name,
                   .on_cores = found.cores});
  }

  void attach(BackendHost& site) override {
    const Topology& topology = site.topology();
    for (One& one : devices_) {
      one.device.emplace(found_->driver, *one.found, one.settings);
      one.programs.emplace(*one.device);
      site.set_memory(one.node, one.device->begin());
      for (std::size_t i = 0; i < topology.workers.size(); ++i)
        if (topology.workers[i].node == one.node)
          site.set_processor(static_cast<WorkerId>(i),
                             one.processors.emplace_back(*one.device, *one.programs, one.workspace));
      one.wire.emplace(*one.device);
      site.set_transfer_engine(topology.link_between(topology.host(), one.node), *one.wire);
    }
  }

 private:
  struct One {
    const cl::OpenclDeviceInfo* found = nullptr;
    cl::OpenclDevice::Settings settings;
    Bytes workspace = 0;  // of each queue
    NodeId node{};
    std::optional<cl::OpenclDevice> device;
    std::optional<cl::Programs> programs;
    std::deque<cl::OpenclProcessor> processors;
    std::optional<cl::OpenclDeviceLink> wire;  // last: its threads use the device
  };

  const OpenclBackend::Find find_;
  std::optional<cl::OpenclDevices> found_;  // set when the first device is requested
  std::deque<One> devices_;
};

}  // namespace

std::span<const Setting> OpenclBackend::device_options() const noexcept { return opencl_options; }
std::unique_ptr<BackendInstance> OpenclBackend::make() const { return std::make_unique<OpenclPart>(find_); }

}  // namespace fairlead::backend
