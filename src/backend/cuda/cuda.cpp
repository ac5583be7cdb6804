// The options of a CUDA device and its contribution to the machine; see cuda.hpp.
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
#include <string>
#include <utility>
#include <variant>

#include "backend/cuda/device.hpp"
#include "backend/cuda/device_link.hpp"
#include "backend/cuda/network_target.hpp"
#include "backend/cuda/peer_link.hpp"
#include "backend/cuda/peers.hpp"
#include "backend/cuda/pinned_memory.hpp"
#include "backend/cuda/processor.hpp"
#include "backend/device/entry.hpp"
#include "backend/device/no_peers.hpp"
#include "base/pages.hpp"

namespace fairlead::backend {

namespace {

using enum SettingType;

enum class CudaOption : std::uint8_t { device, memory, bandwidth, latency, streams, workspace, peers };
constexpr std::array<Setting, 7> cuda_options{{
    device_by_number,
    memory_of_device,
    {.key = "bandwidth",
     .type = SettingType::bandwidth,
     .minimum = "1KB/s",
     .help =
         "of its link to RAM, for estimates; the default depends on its compute capability: 50 GB/s from 9.0 "
         "on, 20 from 8.0 on, otherwise 10"},
    latency_of_wire,
    {.key = "streams",
     .type = count,
     .default_value = "1",
     .minimum = "1",
     .maximum = "16",
     .help = "tasks that it runs at the same time"},
    {.key = "workspace",
     .type = size,
     .minimum = "4KiB",
     .help = "memory per stream for temporary data of kernels; default: an eighth of the "
             "device memory for all streams together, at most 32 MiB each"},
    {.key = "peers",
     .type = SettingType::bandwidth,
     .default_value = "20GB/s",
     .unset_word = no_peers,
     .minimum = "1KB/s",
     .help = "of links to other CUDA devices, for estimates; off: copies to and from them go through RAM"},
}};
constexpr Bytes smallest_workspace = 4096;            // without a workspace, cuBLAS allocates memory itself
constexpr Bytes largest_workspace = Bytes{32} << 20;  // NVIDIA's advice for cuBLAS on its larger devices

/// Bandwidth of PCI Express 5, 4 and 3 with 16 lanes, less the losses of copies: an H200 reaches 54 GB/s.
constexpr double usual_bytes_per_second(const cu::CudaDeviceInfo& device) noexcept {
  return device.major >= 9 ? 50e9 : device.major == 8 ? 20e9 : 10e9;
}

class CudaPart final : public BackendInstance {
 public:
  explicit CudaPart(const CudaBackend::Find& find) : find_(find) {}
  CudaPart(const CudaPart&) = delete;
  CudaPart& operator=(const CudaPart&) = delete;
  ~CudaPart() override { running_ = false; }
  void add_device(Topology& topology, const DeviceEntry& entry) override {
    const Bytes memory = entry.memory(CudaOption::memory, "cuda:0,memory=2GiB");
    if (!found_) found_ = find_();
    const cu::CudaDeviceInfo& found =
        device_numbered(*found_, entry.number(CudaOption::device), memory, entry.text, "CUDA");
    const Bytes streams = entry.number(CudaOption::streams);
    Bytes workspace =
        std::max(smallest_workspace, whole_pages_in(std::min(memory / 8 / streams, largest_workspace)));
    if (const auto* const given = std::get_if<std::uint64_t>(&entry.value(CudaOption::workspace)))
      workspace = whole_pages_for(*given);
    if (workspace > memory / streams || workspace * streams + 4096 > memory)
      throw ConfigError(fmt::format(
          "devices: the workspaces of the streams of \"{}\" leave nothing of its memory for data\n  They "
          "take {} each: give it at least {} and what data need, or fewer streams, or a smaller workspace=.",
          entry.text, config::readable_size(workspace), config::readable_size(workspace * streams + 4096)));
    DeviceState& one = devices_.emplace_back();
    one.found = &found;
    one.name = entry.name;
    one.memory = memory;
    one.workspace = workspace;
    one.capacity = memory - streams * workspace;
    one.latency = Duration(static_cast<std::int64_t>(entry.number(CudaOption::latency)) * 1000);
    if (const auto* const rate = std::get_if<std::uint64_t>(&entry.value(CudaOption::peers)))
      one.peer_bytes_per_second = static_cast<double>(*rate);
    const auto* const given_rate = std::get_if<std::uint64_t>(&entry.value(CudaOption::bandwidth));
    one.node = fairlead::add_device(
        topology, {.name = entry.name,
                   .kind = WorkerKind::cuda,
                   .capacity = one.capacity,
                   .bytes_per_second = given_rate != nullptr ? static_cast<double>(*given_rate)
                                                             : usual_bytes_per_second(found),
                   .duplex = true,
                   .latency = one.latency,
                   .workers = static_cast<unsigned>(streams),
                   .processor = found.name});
  }

  void add_links(Topology& topology) override {
    for (std::size_t i = 0; i < devices_.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const DeviceState &first = devices_[j], &second = devices_[i];
        const double rate = std::min(first.peer_bytes_per_second, second.peer_bytes_per_second);
        if (rate <= 0) continue;
        const std::string why_not = why_no_peers(first, second);
        if (why_not.empty())
          fairlead::join_peers(topology, first.node, second.node, rate,
                               std::max(first.latency, second.latency));
        else
          set_no_peer_reason(topology, first.node, second.node, why_not);
      }
  }

  void attach(BackendHost& site) override {
    if (devices_.empty()) return;
    site_ = &site;
    const Topology& topology = site.topology();
    pinned_.emplace(
        std::vector(site.surroundings().host_memory.begin(), site.surroundings().host_memory.end()));
    for (DeviceState& one : devices_) {
      one.device.emplace(
          found_->driver, *one.found,
          cu::CudaDevice::Settings{one.name, one.memory, loss_state_of(*one.found), &has_poller_});
      site.set_memory(one.node, one.device->at(0));
      site.set_network_target(one.node, written_.emplace_back(*one.device));
      Bytes workspace = one.capacity;  // the workspaces follow the data
      for (std::size_t i = 0; i < topology.workers.size(); ++i)
        if (topology.workers[i].node == one.node) {
          site.set_processor(
              static_cast<WorkerId>(i),
              one.processors.emplace_back(*one.device, one.device->at(workspace), one.workspace));
          workspace += one.workspace;
        }
      site.set_transfer_engine(topology.link_between(topology.host(), one.node),
                               wires_.emplace_back(*one.device, *pinned_));
    }
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const LinkSpec& link = topology.links[i];
      const DeviceState *const first = one_at(link.first), *const second = one_at(link.second);
      if (link.physical_links.empty() && first != nullptr && second != nullptr)
        site.set_transfer_engine(static_cast<LinkId>(i),
                                 peer_wires_.emplace_back(*first->device, *second->device));
    }
    contexts_.clear();  // each device holds its own context now
    running_ = true;
    for (const DeviceState& one : devices_)
      one.device->throw_if_lost();  // a loss before this point was not reported
  }

 private:
  struct DeviceState {
    const cu::CudaDeviceInfo* found = nullptr;
    std::string name;
    Bytes memory = 0, workspace = 0, capacity = 0;  // bytes: total, per stream, remaining for data
    Duration latency{};
    double peer_bytes_per_second = 0;  // 0: no peer copies
    NodeId node{};
    std::optional<cu::CudaDevice> device;
    std::deque<cu::CudaProcessor> processors;
  };
  using Pair = std::pair<const cu::CudaDeviceInfo*, const cu::CudaDeviceInfo*>;

  const DeviceState* one_at(NodeId node) const noexcept {
    const auto found = std::ranges::find(devices_, node, &DeviceState::node);
    return found == devices_.end() ? nullptr : &*found;
  }
  /// Why the two cannot copy directly; empty: they can, from now on. Tries each pair of the driver's devices once.
  const std::string& why_no_peers(const DeviceState& first, const DeviceState& second) {
    const auto [known, is_new] =
        why_no_peers_.try_emplace(Pair(std::minmax(first.found, second.found)), std::string());
    if (is_new && first.found != second.found) try {
        const cu::CudaDevice &one = context_of(first), &other = context_of(second);
        known->second = cu::join_peers(one, other);
      } catch (const SystemError& error) {  // no context could be made
        known->second = error.what();
      }
    return known->second;
  }
  const cu::CudaDevice& context_of(const DeviceState& one) {
    std::unique_ptr<cu::CudaDevice>& context = contexts_[one.found];
    if (context == nullptr)
      context = std::make_unique<cu::CudaDevice>(
          found_->driver, *one.found,
          cu::CudaDevice::Settings{one.name, 0, loss_state_of(*one.found), &has_poller_});
    return *context;
  }
  /// Devices of the runtime on the same device of the driver share one.
  std::shared_ptr<cu::LossState> loss_state_of(const cu::CudaDeviceInfo& found) {
    std::shared_ptr<cu::LossState>& loss = loss_states_[&found];
    if (loss == nullptr)
      loss = std::make_shared<cu::LossState>([this, &found](const std::string& words) {
        for (const DeviceState& one : devices_)
          if (running_ && one.found == &found) site_->report_device_loss(one.node, words);
      });
    return loss;
  }

  const CudaBackend::Find find_;
  BackendHost* site_ = nullptr;           // set by begin()
  bool running_ = false;                  // before and after the run, losses are not reported
  std::optional<cu::CudaDevices> found_;  // set when the first device is requested
  std::atomic<bool> has_poller_ = false;
  std::map<const cu::CudaDeviceInfo*, std::shared_ptr<cu::LossState>> loss_states_;
  std::map<const cu::CudaDeviceInfo*, std::unique_ptr<cu::CudaDevice>> contexts_;  // until begin()
  std::map<Pair, std::string> why_no_peers_;
  std::deque<DeviceState> devices_;
  std::deque<cu::NetworkTarget> written_;
  std::optional<cu::PinnedMemory> pinned_;
  std::deque<cu::CudaDeviceLink> wires_;  // last: their threads use the other fields
  std::deque<cu::PeerLink> peer_wires_;
};

}  // namespace

std::span<const Setting> CudaBackend::device_options() const noexcept { return cuda_options; }
std::unique_ptr<BackendInstance> CudaBackend::make() const { return std::make_unique<CudaPart>(find_); }

}  // namespace fairlead::backend
