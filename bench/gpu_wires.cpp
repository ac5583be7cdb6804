// Bandwidth of copies to and from a CUDA device by size, with registered and unregistered RAM, in one
// direction and both at once; the time to register memory; and copies to all other accessible devices, up to
// the size --peers (0: none). Uses the driver API, as a baseline for Fairlead's copies.
//
//   gpu_wires [--device 0] [--largest 268435456] [--pin 1073741824] [--repetitions 5] [--peers 0]
#include <array>
#include <cstring>

#include "gpu_common.hpp"

namespace {

using namespace gpu;

/// Touched RAM, optionally registered during its lifetime.
class Host {
 public:
  Host(const Device& device, std::size_t bytes, bool pinned)
      : device_(device),
        memory_(static_cast<std::byte*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096))) {
    if (memory_ == nullptr)
      throw fairlead::SystemError(fmt::format("cannot allocate {} bytes of RAM", bytes));
    std::memset(memory_, 1, bytes);
    if (!pinned) return;
    const auto begin = Clock::now();
    const cu::Status status = device.driver().cuMemHostRegister_v2(memory_, bytes, cu::register_for_all);
    seconds_to_pin = seconds_since(begin);
    if (status != cu::success) std::free(memory_);
    device.check(status, "cuMemHostRegister");
    pinned_ = true;
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() {
    if (pinned_) device_.driver().cuMemHostUnregister(memory_);
    std::free(memory_);
  }
  std::byte* data() const noexcept { return memory_; }
  double seconds_to_pin = 0;

 private:
  const Device& device_;
  std::byte* const memory_;
  bool pinned_ = false;
};

template <class Copy>
double seconds_of(const Copy& copy, std::int64_t repetitions) {
  copy();  // once, to warm up
  std::vector<double> times;
  for (std::int64_t i = 0; i < repetitions; ++i) {
    const auto begin = Clock::now();
    copy();
    times.push_back(seconds_since(begin));
  }
  return median(times);
}

struct Wires {
  const Device& device;
  std::int64_t repetitions;
  // For unregistered RAM: the driver copies it in chunks, and the call returns after the copy.
  cu::Status (*to)(cu::Pointer, const void*, std::size_t);
  cu::Status (*from)(void*, cu::Pointer, std::size_t);

  template <class Copy>
  double seconds(const Copy& copy) const {
    return seconds_of(copy, repetitions);
  }

  Json at(std::size_t bytes) const {
    const cu::CudaDriver& driver = device.driver();
    const Block first(device, bytes), second(device, bytes);
    const Stream there(device), back(device);
    const auto rate = [&](double seconds, int directions = 1) {
      return static_cast<double>(bytes) * directions / seconds;
    };
    Json json = Json::object({{"bytes", bytes}});
    {
      const Host pinned(device, bytes, true), other(device, bytes, true);
      const auto go = [&] {
        device.check(driver.cuMemcpyHtoDAsync_v2(first.at, pinned.data(), bytes, there.stream),
                     "a copy to the device");
      };
      const auto come = [&] {
        device.check(driver.cuMemcpyDtoHAsync_v2(other.data(), second.at, bytes, back.stream),
                     "a copy from the device");
      };
      json.add("pinned_to_device", rate(seconds([&] { go(), there.wait(); })));
      json.add("pinned_from_device", rate(seconds([&] { come(), back.wait(); })));
      json.add("pinned_both", rate(seconds([&] { go(), come(), there.wait(), back.wait(); }), 2));
    }
    const Host plain(device, bytes, false);
    json.add("plain_to_device",
             rate(seconds([&] { device.check(to(first.at, plain.data(), bytes), "a copy to the device"); })));
    json.add(
        "plain_from_device",
        rate(seconds([&] { device.check(from(plain.data(), second.at, bytes), "a copy from the device"); })));
    return json;
  }
};

/// Copies between two devices in both directions, each in a stream of the source.
Json between(const Device& here, std::size_t number, std::size_t largest, std::int64_t repetitions) {
  const auto first = static_cast<std::size_t>(&here.found() - here.all().devices.data());
  Json json = Json::object({{"device", number}, {"name", here.all().devices[number].name}});
  json.add("access", cu::may_be_peers(here.all(), first, number));
  if (!cu::may_be_peers(here.all(), first, number)) return json;
  const cu::CudaDriver& driver = here.driver();
  const Device there(static_cast<std::int64_t>(number));
  const auto allow = [&](const Device& from, const Device& to) {
    const Current current(from);
    const cu::Status status = driver.cuCtxEnablePeerAccess(to.context(), 0);
    if (status != cu::peer_access_already_enabled) from.check(status, "cuCtxEnablePeerAccess");
  };
  allow(here, there);
  allow(there, here);
  Json sizes = Json::array();
  for (std::size_t bytes = 4096; bytes <= largest; bytes *= 4) {
    const Block other_in(there, bytes), other_out(there, bytes);
    const Stream back(there);
    const Current current(here);
    const Block out(here, bytes), in(here, bytes);
    const Stream away(here);
    const auto go = [&] {
      here.check(
          driver.cuMemcpyPeerAsync(other_in.at, there.context(), out.at, here.context(), bytes, away.stream),
          "a copy to the device");
    };
    const auto come = [&] {
      const Current its(there);
      there.check(
          driver.cuMemcpyPeerAsync(in.at, here.context(), other_out.at, there.context(), bytes, back.stream),
          "a copy from the device");
    };
    const auto come_back = [&] {
      const Current its(there);
      back.wait();
    };
    const auto rate = [&](double seconds, int directions = 1) {
      return static_cast<double>(bytes) * directions / seconds;
    };
    Json one = Json::object({{"bytes", bytes}});
    one.add("there", rate(seconds_of([&] { go(), away.wait(); }, repetitions)));
    one.add("back", rate(seconds_of([&] { come(), come_back(); }, repetitions)));
    one.add("both", rate(seconds_of([&] { go(), come(), away.wait(), come_back(); }, repetitions), 2));
    sizes.add(std::move(one));
  }
  json.add("wires", std::move(sizes));
  return json;
}

Json measure(Arguments& arguments) {
  const Device device(arguments.number("--device", 0));
  const auto largest = static_cast<std::size_t>(arguments.number("--largest", 256 << 20));
  const auto most_to_pin = static_cast<std::size_t>(arguments.number("--pin", 1 << 30));
  const Wires wires{device, std::max<std::int64_t>(arguments.number("--repetitions", 5), 1),
                    device.function<cu::Status(cu::Pointer, const void*, std::size_t)>("cuMemcpyHtoD_v2"),
                    device.function<cu::Status(void*, cu::Pointer, std::size_t)>("cuMemcpyDtoH_v2")};
  const auto most_to_peers = static_cast<std::size_t>(arguments.number("--peers", 0));
  arguments.require_all_used();
  Json sizes = Json::array(), pinning = Json::array(), peers = Json::array();
  if (most_to_peers != 0)
    for (std::size_t i = 0; i < device.all().devices.size(); ++i)
      if (&device.all().devices[i] != &device.found())
        peers.add(between(device, i, most_to_peers, wires.repetitions));
  for (std::size_t bytes = 4096; bytes <= largest; bytes *= 4) sizes.add(wires.at(bytes));
  for (std::size_t bytes = std::max<std::size_t>(most_to_pin / 16, 4096); bytes <= most_to_pin; bytes *= 4) {
    const Host host(device, bytes, true);
    pinning.add(Json::object({{"bytes", bytes}, {"seconds", host.seconds_to_pin}}));
  }
  const cu::CudaDeviceInfo& found = device.found();
  return Json::object({{"device", found.name},
                       {"compute_capability", fmt::format("{}.{}", found.major, found.minor)},
                       {"multiprocessors", found.multiprocessors},
                       {"clock_kilohertz", found.clock_kilohertz},
                       {"memory_bytes", found.memory_bytes},
                       {"free_bytes", device.free_bytes()},
                       {"wires", sizes},
                       {"peers", peers},
                       {"pinning", pinning}});
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
