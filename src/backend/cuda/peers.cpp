// Enables peer access and tests it by a trial copy.
#include "backend/cuda/peers.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace fairlead::backend::cu {

namespace {

constexpr Bytes tried_bytes = 4096;

/// The resources of one of two devices for a trial copy. Throws SystemError.
class TrialEnd {
 public:
  explicit TrialEnd(const CudaDevice& device) : device_(device) {
    const CudaDevice::Current current(device_);
    try {
      device_.check(device_.driver().cuMemAlloc_v2(&memory_, tried_bytes), "cuMemAlloc");
      buffer_ = device_.allocate_pinned(tried_bytes);
      stream_ = device_.make_stream();
      event_ = device_.make_event();
    } catch (...) {
      release();
      throw;
    }
  }
  TrialEnd(const TrialEnd&) = delete;
  TrialEnd& operator=(const TrialEnd&) = delete;
  ~TrialEnd() {
    device_.with_context_noexcept([this] { release(); });
  }

  void fill(std::byte value) const {
    const CudaDevice::Current current(device_);
    std::fill_n(buffer_, tried_bytes, value);
    device_.check(device_.driver().cuMemcpyHtoDAsync_v2(memory_, buffer_, tried_bytes, stream_),
                  "cuMemcpyHtoDAsync");
    wait();
  }
  void send_to(const TrialEnd& other) const {
    const CudaDevice::Current current(device_);
    copy_to_peer(device_, memory_, other.device_, other.memory_, tried_bytes, stream_);
    wait();
  }
  /// Reads the memory back through the device itself.
  bool is_full_of(std::byte value) const {
    const CudaDevice::Current current(device_);
    device_.check(device_.driver().cuMemcpyDtoHAsync_v2(buffer_, memory_, tried_bytes, stream_),
                  "cuMemcpyDtoHAsync");
    wait();
    return std::all_of(buffer_, buffer_ + tried_bytes, [&](std::byte one) { return one == value; });
  }

 private:
  void wait() const {
    device_.record(stream_, event_);
    device_.wait(stream_, event_);
  }
  void release() noexcept {
    device_.release(event_);
    device_.release(stream_);
    device_.release_host(buffer_);
    if (memory_ != 0 && !device_.lost())
      device_.check_released(device_.driver().cuMemFree_v2(memory_), "cuMemFree");
  }
  const CudaDevice& device_;
  Pointer memory_ = 0;
  std::byte* buffer_ = nullptr;
  Stream stream_ = nullptr;
  Event event_ = nullptr;
};

/// For a call on `from` that also involves `to`: the error may be a loss of `to`, and then `from` is not lost.
void check_both(const CudaDevice& from, const CudaDevice& to, Status status, const char* what) {
  if (is_fatal(status)) to.query_and_throw_if_lost();
  from.check(status, what);
}

void allow(const CudaDevice& from, const CudaDevice& to) {
  const CudaDevice::Current current(from);
  const Status status = from.driver().cuCtxEnablePeerAccess(to.context(), 0);
  if (status != peer_access_already_enabled) check_both(from, to, status, "cuCtxEnablePeerAccess");
}

}  // namespace

std::string join_peers(const CudaDevice& first, const CudaDevice& second) {
  using Way = std::pair<const CudaDevice&, const CudaDevice&>;
  const std::array ways{Way{first, second}, Way{second, first}};
  try {
    for (const auto& [from, to] : ways) {
      int may = 0;
      from.check(from.driver().cuDeviceCanAccessPeer(&may, from.number(), to.number()),
                 "cuDeviceCanAccessPeer");
      if (may == 0) return fmt::format("the driver gives {} no access to {}", from.name(), to.name());
    }
    for (const auto& [from, to] : ways) allow(from, to);
    const TrialEnd one(first), other(second);
    for (const auto& [from, to] : {std::pair<const TrialEnd&, const TrialEnd&>{one, other}, {other, one}}) {
      constexpr std::byte before{0x3c}, sent{0xa5};
      to.fill(before);
      from.fill(sent);
      from.send_to(to);
      if (!to.is_full_of(sent))
        return fmt::format("the driver gives {} access to {}, but bytes that are copied there do not arrive",
                           &from == &one ? first.name() : second.name(),
                           &from == &one ? second.name() : first.name());
    }
  } catch (const SystemError& error) {
    return error.what();
  }
  return {};
}

void copy_to_peer(const CudaDevice& from, Pointer source, const CudaDevice& to, Pointer target, Bytes bytes,
                  Stream stream) {
  const CudaDriver& driver = from.driver();
  if (from.context() == to.context())
    return from.check(driver.cuMemcpyDtoDAsync_v2(target, source, bytes, stream), "cuMemcpyDtoDAsync");
  check_both(from, to, driver.cuMemcpyPeerAsync(target, to.context(), source, from.context(), bytes, stream),
             "cuMemcpyPeerAsync");
}

}  // namespace fairlead::backend::cu
