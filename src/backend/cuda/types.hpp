// Fairlead's own declarations of CUDA's driver API, so that building needs no CUDA. tests/cuda compares them with the
// header if available.
#pragma once
#include <fairlead/cuda.hpp>

#include <cstddef>
#include <cstdint>

struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUmod_st;

namespace fairlead::backend::cu {

using Status = int;
using Device = int;
using Pointer = unsigned long long;  // in device memory
using Context = CUctx_st*;
using Event = CUevent_st*;
using Stream = CUstream_st*;
using Module = CUmod_st*;
using Function = CUfunc_st*;

constexpr Status success = 0;
constexpr Status out_of_memory = 2;
constexpr Status no_device = 100;
constexpr Status not_ready = 600;
constexpr Status peer_access_already_enabled = 704;

constexpr unsigned stream_non_blocking = 1;            // CU_STREAM_NON_BLOCKING
constexpr unsigned event_sleeps = 1, event_plain = 2;  // CU_EVENT_BLOCKING_SYNC, _DISABLE_TIMING
constexpr unsigned host_for_all = 1, host_mapped = 2;  // CU_MEMHOSTALLOC_PORTABLE, _DEVICEMAP
constexpr unsigned register_for_all = 1;               // CU_MEMHOSTREGISTER_PORTABLE
constexpr int clock_kilohertz = 13, multiprocessors = 16, capability_major = 75, capability_minor = 76;

/// The library's functions: X(name, result, parameters).
#define FAIRLEAD_CUDA_FUNCTIONS(X)                                                                          \
  X(cuInit, Status, unsigned)                                                                               \
  X(cuGetErrorName, Status, Status, const char**)                                                           \
  X(cuGetErrorString, Status, Status, const char**)                                                         \
  X(cuDeviceGetCount, Status, int*)                                                                         \
  X(cuDeviceGet, Status, Device*, int)                                                                      \
  X(cuDeviceGetName, Status, char*, int, Device)                                                            \
  X(cuDeviceTotalMem_v2, Status, std::size_t*, Device)                                                      \
  X(cuDeviceGetAttribute, Status, int*, int, Device)                                                        \
  X(cuDevicePrimaryCtxRetain, Status, Context*, Device)                                                     \
  X(cuDevicePrimaryCtxRelease_v2, Status, Device)                                                           \
  X(cuCtxPushCurrent_v2, Status, Context)                                                                   \
  X(cuCtxPopCurrent_v2, Status, Context*)                                                                   \
  X(cuMemGetInfo_v2, Status, std::size_t*, std::size_t*)                                                    \
  X(cuMemAlloc_v2, Status, Pointer*, std::size_t)                                                           \
  X(cuMemFree_v2, Status, Pointer)                                                                          \
  X(cuMemHostAlloc, Status, void**, std::size_t, unsigned)                                                  \
  X(cuMemFreeHost, Status, void*)                                                                           \
  X(cuMemHostRegister_v2, Status, void*, std::size_t, unsigned)                                             \
  X(cuMemHostUnregister, Status, void*)                                                                     \
  X(cuMemcpyHtoDAsync_v2, Status, Pointer, const void*, std::size_t, Stream)                                \
  X(cuMemcpyDtoHAsync_v2, Status, void*, Pointer, std::size_t, Stream)                                      \
  X(cuMemcpyDtoDAsync_v2, Status, Pointer, Pointer, std::size_t, Stream)                                    \
  X(cuMemcpyPeerAsync, Status, Pointer, Context, Pointer, Context, std::size_t, Stream)                     \
  X(cuDeviceCanAccessPeer, Status, int*, Device, Device)                                                    \
  X(cuCtxEnablePeerAccess, Status, Context, unsigned)                                                       \
  X(cuStreamCreate, Status, Stream*, unsigned)                                                              \
  X(cuStreamDestroy_v2, Status, Stream)                                                                     \
  X(cuStreamSynchronize, Status, Stream)                                                                    \
  X(cuEventCreate, Status, Event*, unsigned)                                                                \
  X(cuEventRecord, Status, Event, Stream)                                                                   \
  X(cuEventQuery, Status, Event)                                                                            \
  X(cuEventSynchronize, Status, Event)                                                                      \
  X(cuEventDestroy_v2, Status, Event)                                                                       \
  X(cuModuleLoadData, Status, Module*, const void*)                                                         \
  X(cuModuleUnload, Status, Module)                                                                         \
  X(cuModuleGetFunction, Status, Function*, Module, const char*)                                            \
  X(cuLaunchKernel, Status, Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
    Stream, void**, void**)

}  // namespace fairlead::backend::cu
