// Contexts, memory, waiting, and the detection of a lost device.
#include "backend/cuda/device.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

#include <chrono>
#include <new>
#include <optional>
#include <utility>

#include "config/value.hpp"

namespace fairlead::backend::cu {

namespace {

// Polling occupies a core, sleeping costs a wake-up; tasks and copies shorter than this avoid the latter. Only one
// thread polls at a time, otherwise as many cores as there are streams would only poll.
constexpr std::chrono::microseconds polling_time{20};

}  // namespace

void LossState::become_lost(const std::string& words) {
  const std::lock_guard lock(mutex_);  // held during on_lost_, so that no failure is reported before the loss
  if (lost()) return;
  how_ = words;
  on_lost_(words);
  lost_ = true;
}

void LossState::mark_lost_silently(const std::string& words) {
  const std::lock_guard lock(mutex_);
  if (lost()) return;
  how_ = words;
  lost_ = true;
}

std::string LossState::reason() const {
  const std::lock_guard lock(mutex_);
  return how_;
}

CudaDevice::CudaDevice(std::shared_ptr<const CudaDriver> driver, const CudaDeviceInfo& device,
                       Settings settings)
    : driver_(std::move(driver)),
      device_(device.device),
      device_name_(device.name),
      settings_(std::move(settings)) {
  check(driver_->cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  if (settings_.memory_bytes == 0) return;
  try {
    const Current current(*this);
    const Status status = driver_->cuMemAlloc_v2(&memory_, settings_.memory_bytes);
    if (status == out_of_memory)
      throw SystemError(fmt::format("{}\n  It cannot allocate {}: let Fairlead use less of its memory.",
                                    problem(status, "cuMemAlloc"),
                                    config::readable_size(settings_.memory_bytes)));
    check(status, "cuMemAlloc");
  } catch (...) {
    if (!lost()) driver_->cuDevicePrimaryCtxRelease_v2(device_);
    throw;
  }
}

CudaDevice::~CudaDevice() {
  if (memory_ != 0)
    with_context_noexcept([&] {
      while (const std::optional<Module> module = modules_.take_last())
        if (!lost()) check_released(driver_->cuModuleUnload(*module), "cuModuleUnload");
      if (!lost()) check_released(driver_->cuMemFree_v2(memory_), "cuMemFree");
    });
  if (!lost()) driver_->cuDevicePrimaryCtxRelease_v2(device_);
}

CudaDevice::Current::Current(const CudaDevice& device) : device_(device) {
  device.throw_if_lost();
  device.check(device.driver().cuCtxPushCurrent_v2(device.context_), "cuCtxPushCurrent");
}

CudaDevice::Current::~Current() {
  Context popped = nullptr;
  const Status status = device_.driver().cuCtxPopCurrent_v2(&popped);
  if (is_fatal(status)) device_.become_lost(status, "cuCtxPopCurrent");
}

void CudaDevice::with_context_noexcept(const std::function<void()>& act) const noexcept {
  for (int attempt = 0; attempt < 2 && !lost(); ++attempt) {
    try {
      const Current current(*this);
      return act();
    } catch (const SystemError&) {  // retry, or the device was lost just now
    }
  }
}

Stream CudaDevice::make_stream() const {
  Stream stream = nullptr;
  check(driver_->cuStreamCreate(&stream, stream_non_blocking), "cuStreamCreate");
  return stream;
}

Event CudaDevice::make_event() const {
  Event event = nullptr;
  check(driver_->cuEventCreate(&event, event_sleeps | event_plain), "cuEventCreate");
  return event;
}

Function CudaDevice::function(const CudaKernel& kernel) const {
  return modules_.function(kernel, *driver_,
                           [this](Status status, const char* what) { check(status, what); });
}

std::byte* CudaDevice::allocate_pinned(Bytes bytes) const {
  void* memory = nullptr;
  check(driver_->cuMemHostAlloc(&memory, bytes, host_for_all | host_mapped), "cuMemHostAlloc");
  return static_cast<std::byte*>(memory);
}

void CudaDevice::release(Stream stream) const noexcept {
  if (stream != nullptr && !lost()) check_released(driver_->cuStreamDestroy_v2(stream), "cuStreamDestroy");
}
void CudaDevice::release(Event event) const noexcept {
  if (event != nullptr && !lost()) check_released(driver_->cuEventDestroy_v2(event), "cuEventDestroy");
}
void CudaDevice::release_host(void* memory) const noexcept {
  if (memory != nullptr && !lost()) check_released(driver_->cuMemFreeHost(memory), "cuMemFreeHost");
}

void CudaDevice::check_released(Status status, const char* what) const noexcept {
  if (!is_fatal(status)) return;
  try {
    settings_.loss->mark_lost_silently(problem(status, what));
  } catch (const std::bad_alloc&) {
    settings_.loss->mark_lost_silently({});
  }
}

void CudaDevice::record(Stream stream, Event event) const {
  const Status status = driver_->cuEventRecord(event, stream);
  if (status == success) return;
  if (!is_fatal(status)) synchronize(stream);
  check(status, "cuEventRecord");
}

void CudaDevice::wait(Stream stream, Event event) const {
  const char* call = "cuEventQuery";
  Status status = driver_->cuEventQuery(event);
  if (status == not_ready && !settings_.has_poller->exchange(true)) {
    status = poll(event);
    settings_.has_poller->store(false);
  }
  if (status == not_ready) {
    call = "cuEventSynchronize";
    status = driver_->cuEventSynchronize(event);
  }
  if (status == success) return;
  if (!is_fatal(status)) synchronize(stream);
  check(status, call);
}

Status CudaDevice::poll(Event event) const {
  const auto begin = std::chrono::steady_clock::now();
  Status status = not_ready;
  while (status == not_ready && std::chrono::steady_clock::now() - begin < polling_time)
    status = driver_->cuEventQuery(event);
  return status;
}

void CudaDevice::synchronize(Stream stream) const {
  Status status = driver_->cuStreamSynchronize(stream);
  for (int more = 2; status != success && !is_fatal(status) && more > 0; --more)
    status = driver_->cuStreamSynchronize(stream);
  if (status == success) return;
  become_lost(status, "cuStreamSynchronize");
  throw_lost();
}

void CudaDevice::throw_if_lost() const {
  if (lost()) throw_lost();
}

void CudaDevice::query_and_throw_if_lost() const {
  throw_if_lost();
  try {
    const Current current(*this);
    std::size_t free = 0, all = 0;
    const Status status = driver_->cuMemGetInfo_v2(&free, &all);
    if (is_fatal(status)) check(status, "cuMemGetInfo");
  } catch (const DeviceLostError&) {
    throw;
  } catch (const SystemError&) {  // the query is not possible now
  }
}

void CudaDevice::throw_lost() const {
  throw DeviceLostError(
      fmt::format("the device \"{}\" is lost: {}", settings_.name, settings_.loss->reason()));
}

std::string CudaDevice::problem(Status status, const char* what) const {
  return fmt::format("{} ({}): {}: {}", settings_.name, device_name_, what, driver_->name_of_status(status));
}

void CudaDevice::check(Status status, const char* what) const {
  if (status == success) return;
  if (!is_fatal(status)) throw SystemError(problem(status, what));
  become_lost(status, what);
  throw_lost();
}

void CudaDevice::become_lost(Status status, const char* what) const {
  settings_.loss->become_lost(problem(status, what));
}

}  // namespace fairlead::backend::cu
