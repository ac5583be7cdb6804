// Writes into device memory in a separate stream.
#include "backend/cuda/network_target.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

namespace fairlead::backend::cu {

namespace {
constexpr Bytes piece_bytes = Bytes{1} << 20;
}

NetworkTarget::~NetworkTarget() {
  if (stream_ == nullptr) return;  // never used
  device_.with_context_noexcept([this] {
    device_.release_host(buffer_);
    device_.release(event_);
    device_.release(stream_);
    buffer_ = nullptr;
    event_ = nullptr;
    stream_ = nullptr;
  });
}

void NetworkTarget::prepare() {
  if (stream_ == nullptr) stream_ = device_.make_stream();
  if (event_ == nullptr) event_ = device_.make_event();
  if (buffer_ == nullptr) buffer_ = device_.allocate_pinned(piece_bytes);
}

/// Waits for each chunk: afterwards a kernel in any stream may read it.
bool NetworkTarget::write(void* to, const void* from, Bytes bytes) {
  try {
    const CudaDevice::Current current(device_);
    const std::lock_guard guard(mutex_);
    prepare();
    for (Bytes done = 0; done < bytes;) {
      const Bytes piece = std::min(bytes - done, piece_bytes);
      std::memcpy(buffer_, static_cast<const std::byte*>(from) + done, piece);
      device_.check(device_.driver().cuMemcpyHtoDAsync_v2(reinterpret_cast<Pointer>(to) + done, buffer_,
                                                          piece, stream_),
                    "cuMemcpyHtoDAsync");
      device_.record(stream_, event_);
      device_.wait(stream_, event_);
      done += piece;
    }
    return true;
  } catch (const DeviceLostError&) {
    return false;
  }
}

bool NetworkTarget::call(const std::function<void()>& it) {
  std::optional<CudaDevice::Current> current;
  try {
    current.emplace(device_);
  } catch (const DeviceLostError&) {
    return false;
  }
  it();
  return true;
}

}  // namespace fairlead::backend::cu
