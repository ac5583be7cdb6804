// Shared by the fake cuBLAS and cuSOLVER: their handles, and submission of kernels to streams of the fake driver. The checker
// gets their accesses, including the workspace.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "fake_cuda/fake_cuda.hpp"

namespace fake_cuda {

struct Handle {
  int device = -1;
  CUstream_st* stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

inline constexpr int good = 0, not_initialized = 1, invalid_value = 7, failed = 13;
inline constexpr int op_no = 0, op_yes = 1, side_left = 0, fill_lower = 0, diagonal_unit = 1;

template <class T>
Access matrix(const T* at, int rows, int columns, int ld, bool write) {
  const std::size_t elements =
      rows == 0 || columns == 0 ? 0
                                : static_cast<std::size_t>(columns - 1) * ld + static_cast<std::size_t>(rows);
  return {at, elements * sizeof(T), write};
}

template <class T>
T* as(std::byte* at) {
  return reinterpret_cast<T*>(at);
}

inline int start(Handle* handle, const char* name, std::vector<Access> accesses, Kernel run) {
  if (handle == nullptr || handle->device < 0) return not_initialized;
  if (handle->device != current_device())
    report(std::string(name) + " was called with the handle of a device that is not current");
  if (handle->workspace == nullptr)
    report(std::string(name) + " takes memory of the device by itself, as it was given none");
  else
    accesses.push_back({handle->workspace, handle->workspace_bytes, true});
  return launch(handle->stream, name, std::move(accesses), std::move(run)) == 0 ? good : failed;
}

template <class Library>
int create(const char* function, Library** handle) {
  if (called(function) != 0) return failed;
  const int device = current_device();
  if (device < 0) return not_initialized;
  *handle = new Library;
  (*handle)->device = device;
  return good;
}

}  // namespace fake_cuda
