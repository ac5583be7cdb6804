// Runs the tasks of one worker of a CUDA device. A body enqueues work in the worker's stream. The task completes when
// the device has done it and the body's check, if there is one, has passed. So a worker has one task on the device at
// a time, and a device as many as it has streams.
#pragma once
#include <fairlead/cuda.hpp>

#include <cstddef>
#include <functional>
#include <typeindex>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/device.hpp"

namespace fairlead::backend::cu {

class CudaProcessor final : public DeviceProcessor, public detail::CudaLauncher {
 public:
  /// The device must outlive it. `workspace`: device memory, used by this object from now on. Throws SystemError.
  CudaProcessor(const CudaDevice& device, std::byte* workspace, Bytes workspace_bytes);
  CudaProcessor(const CudaProcessor&) = delete;
  CudaProcessor& operator=(const CudaProcessor&) = delete;
  ~CudaProcessor() override;

  /// Throws the exception of the body, after launched work has ended, so that the data are unused; or that of the
  /// check; or SystemError if the device fails.
  bool run(const Implementation& implementation, TaskContext& context) override;

  CUstream_st* stream() const noexcept override { return stream_; }
  int device() const noexcept override { return device_.number(); }
  void* workspace() const noexcept override { return workspace_; }
  std::size_t workspace_bytes() const noexcept override { return workspace_bytes_; }
  void* answer() const noexcept override { return answer_; }
  void then(std::function<void()> check) override { checks_.push_back(std::move(check)); }
  void* kept(std::type_index type) const noexcept override;
  void keep(std::type_index type, void* object, void (*destroy)(void*)) override;
  void check(int status, const char* what) const override { device_.check(status, what); }
  void launch(const CudaKernel& kernel, const CudaGrid& grid, void** arguments) override;

 private:
  struct Kept {
    std::type_index type;
    void* object;
    void (*destroy)(void*);
  };
  /// Clears the checks, which may refer to the program's data, at the end of the task.
  struct ChecksOfOneTask;
  void wait();
  void release() noexcept;

  const CudaDevice& device_;
  std::byte* const workspace_;
  const Bytes workspace_bytes_;
  Stream stream_ = nullptr;
  Event event_ = nullptr;
  std::byte* answer_ = nullptr;
  std::vector<Kept> kept_;
  std::vector<std::function<void()>> checks_;  // of the running task
};

}  // namespace fairlead::backend::cu
