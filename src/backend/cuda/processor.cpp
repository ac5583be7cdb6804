// Runs bodies in the worker's stream and waits for their work.
#include "backend/cuda/processor.hpp"

#include <fairlead/error.hpp>

#include <algorithm>
#include <optional>

namespace fairlead::backend::cu {

CudaProcessor::CudaProcessor(const CudaDevice& device, std::byte* workspace, Bytes workspace_bytes)
    : device_(device), workspace_(workspace), workspace_bytes_(workspace_bytes) {
  const CudaDevice::Current current(device_);
  try {
    stream_ = device_.make_stream();
    event_ = device_.make_event();
    answer_ = device_.allocate_pinned(CudaStream::answer_bytes);
  } catch (...) {
    release();
    throw;
  }
}

/// Objects kept for the stream of a lost device leak: their destructors would call the driver for it.
CudaProcessor::~CudaProcessor() {
  device_.with_context_noexcept([&] {
    while (!kept_.empty()) {
      kept_.back().destroy(kept_.back().object);
      kept_.pop_back();
    }
    release();
  });
}

void CudaProcessor::release() noexcept {
  device_.release_host(answer_);
  device_.release(event_);
  device_.release(stream_);
}

struct CudaProcessor::ChecksOfOneTask {
  explicit ChecksOfOneTask(std::vector<std::function<void()>>& all) noexcept : checks(all) {}
  ChecksOfOneTask(const ChecksOfOneTask&) = delete;
  ChecksOfOneTask& operator=(const ChecksOfOneTask&) = delete;
  ~ChecksOfOneTask() { checks.clear(); }
  std::vector<std::function<void()>>& checks;
};

bool CudaProcessor::run(const Implementation& implementation, TaskContext& context) {
  std::optional<CudaDevice::Current> current;
  try {
    current.emplace(device_);
  } catch (const DeviceLostError&) {
    return false;
  }
  context.launcher = static_cast<detail::CudaLauncher*>(this);
  const ChecksOfOneTask until_it_is_over(checks_);
  try {
    implementation.run(implementation.body.get(), context);
  } catch (...) {
    try {
      wait();
    } catch (const DeviceLostError&) {  // precedes a library's error, which may be only a number
      throw;
    } catch (const SystemError&) {  // the first error is reported
    }
    throw;
  }
  wait();
  for (const auto& check : checks_) check();
  return true;
}

/// Waits until all work in the stream has completed.
void CudaProcessor::wait() {
  device_.throw_if_lost();
  device_.record(stream_, event_);
  device_.wait(stream_, event_);
}

void CudaProcessor::launch(const CudaKernel& kernel, const CudaGrid& grid, void** arguments) {
  const Function function = device_.function(kernel);
  device_.check(device_.driver().cuLaunchKernel(function, grid.blocks[0], grid.blocks[1], grid.blocks[2],
                                                grid.threads[0], grid.threads[1], grid.threads[2],
                                                grid.shared_bytes, stream_, arguments, nullptr),
                "cuLaunchKernel");
}

void* CudaProcessor::kept(std::type_index type) const noexcept {
  const auto found = std::ranges::find(kept_, type, &Kept::type);
  return found == kept_.end() ? nullptr : found->object;
}

void CudaProcessor::keep(std::type_index type, void* object, void (*destroy)(void*)) {
  kept_.push_back({type, object, destroy});
}

}  // namespace fairlead::backend::cu
