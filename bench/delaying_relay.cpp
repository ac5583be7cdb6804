// A link with a delay between two network namespaces: packets sent over a TUN device of one leave that of the
// other after the delay. For kernels without netem; `tc` sets the bandwidth. Needs root.
//
//   delaying_relay NAMESPACE DEVICE NAMESPACE DEVICE MICROSECONDS
//
// Creates the devices, prints "ready", and relays until its standard input ends. Then it prints the lateness
// of packets after the delay, which the relay itself causes. It moves from core to core, to load all equally.
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A TUN device of that name in that namespace; it disappears when this process exits.
int device_in(const std::string& space, const std::string& name) {
  const std::string path = "/run/netns/" + space;
  const int of_space = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (of_space < 0 || setns(of_space, CLONE_NEWNET) != 0) fail("the network namespace " + space);
  close(of_space);
  const int device = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (device < 0) fail("/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (ioctl(device, TUNSETIFF, &request) != 0) fail("the device " + name);
  return device;
}

/// The cores that this process may use, round robin.
class Cores {
 public:
  Cores() {
    cpu_set_t all;
    CPU_ZERO(&all);
    if (sched_getaffinity(0, sizeof all, &all) != 0) fail("the available cores");
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &all)) cores_.push_back(core);
  }
  void go_on(Clock::time_point now) {
    constexpr std::chrono::milliseconds cancel_eviction{5};
    if (now - since_ < cancel_eviction) return;
    since_ = now;
    cpu_set_t next;
    CPU_ZERO(&next);
    CPU_SET(cores_[++at_ % cores_.size()], &next);
    if (sched_setaffinity(0, sizeof next, &next) != 0) fail("the next core");
  }

 private:
  std::vector<int> cores_;
  std::size_t at_ = 0;
  Clock::time_point since_{};
};

struct Packet {
  Clock::time_point due;
  std::vector<char> bytes;
};

class Relay {
 public:
  Relay(std::array<int, 2> devices, std::chrono::nanoseconds delay) : devices_(devices), delay_(delay) {}

  void run() {
    for (std::array<pollfd, 3> waits{};;) {
      const auto now = Clock::now();
      cores_.go_on(now);
      Clock::time_point next = Clock::time_point::max();
      for (std::size_t side = 0; side < 2; ++side) {
        leave(side, now);
        if (!in_flight_[side].empty()) next = std::min(next, in_flight_[side].front().due);
      }
      for (std::size_t side = 0; side < 2; ++side) waits[side] = {devices_[side], POLLIN, 0};
      waits[2] = {STDIN_FILENO, POLLIN, 0};
      timespec rest{};
      const bool some = next != Clock::time_point::max();
      if (some) {
        const auto left =
            std::max(std::chrono::nanoseconds(next - Clock::now()), std::chrono::nanoseconds(0));
        rest.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
        rest.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
      }
      if (ppoll(waits.data(), waits.size(), some ? &rest : nullptr, nullptr) < 0 && errno != EINTR)
        fail("ppoll");
      if (waits[2].revents != 0) return;
      for (std::size_t side = 0; side < 2; ++side)
        if (waits[side].revents != 0) come(side);
    }
  }

  void print() {
    if (late_.empty()) return;
    std::ranges::sort(late_);
    const auto at = [&](double part) {
      return late_[static_cast<std::size_t>(part * static_cast<double>(late_.size() - 1))] * 1e-3;
    };
    fmt::print(
        "{} packets, late by {:.1f} us (median), {:.1f} (nine of ten at most), {:.1f} (99 of 100); {} lost\n",
        late_.size(), at(0.5), at(0.9), at(0.99), lost_);
  }

 private:
  void come(std::size_t side) {
    for (;;) {
      const ssize_t bytes = read(devices_[side], buffer_.data(), buffer_.size());
      if (bytes <= 0) return;
      in_flight_[1 - side].push_back({Clock::now() + delay_, {buffer_.data(), buffer_.data() + bytes}});
    }
  }
  void leave(std::size_t side, Clock::time_point now) {
    for (auto& packets = in_flight_[side]; !packets.empty() && packets.front().due <= now;
         packets.pop_front()) {
      const Packet& packet = packets.front();
      if (write(devices_[side], packet.bytes.data(), packet.bytes.size()) < 0) ++lost_;
      late_.push_back(std::chrono::duration<double, std::nano>(Clock::now() - packet.due).count());
    }
  }

  const std::array<int, 2> devices_;
  const std::chrono::nanoseconds delay_;
  Cores cores_;
  std::array<std::deque<Packet>, 2> in_flight_;  // to that side
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 17);
  std::vector<double> late_;  // nanoseconds per packet
  std::size_t lost_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "delaying_relay NAMESPACE DEVICE NAMESPACE DEVICE MICROSECONDS\n");
    return 2;
  }
  try {
    const std::array<int, 2> devices{device_in(argv[1], argv[2]), device_in(argv[3], argv[4])};
    prctl(PR_SET_TIMERSLACK, 1);
    const sched_param first{.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &first) != 0)
      fmt::print(stderr, "delaying_relay: no real-time priority, other processes may run first\n");
    fmt::print("ready\n");
    std::fflush(stdout);
    Relay relay(devices, std::chrono::nanoseconds(static_cast<std::int64_t>(std::atof(argv[5]) * 1e3)));
    relay.run();
    relay.print();
  } catch (const std::exception& error) {
    fmt::print(stderr, "delaying_relay: {}\n", error.what());
    return 1;
  }
  return 0;
}
