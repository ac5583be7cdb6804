// Fairlead's own declarations of OpenCL 1.2, so that building needs no header of OpenCL. tests/opencl compares them
// with the header if available.
#pragma once
#include <fairlead/opencl.hpp>

#include <cstddef>
#include <cstdint>

struct _cl_event;
struct _cl_kernel;
struct _cl_platform_id;
struct _cl_program;

namespace fairlead::backend::cl {

using Status = std::int32_t;
using Bitfield = std::uint64_t;
using Number = std::uint32_t;
using Property = std::intptr_t;

using Buffer = _cl_mem*;
using Context = _cl_context*;
using Device = _cl_device_id*;
using Event = _cl_event*;
using Kernel = _cl_kernel*;
using Platform = _cl_platform_id*;
using Program = _cl_program*;
using Queue = _cl_command_queue*;

constexpr Status success = 0;
constexpr Status device_not_found = -1;
constexpr Number yes = 1;

constexpr Bitfield all_devices = 0xffff'ffff, type_processor = 2, type_gpu = 4;
constexpr Number device_type = 0x1000;
constexpr Bitfield read_write = 1;  // CL_MEM_READ_WRITE

constexpr Number platform_name = 0x0902;
constexpr Number device_compute_units = 0x1002;
constexpr Number device_max_allocation = 0x1010;
constexpr Number device_global_memory = 0x101f;
constexpr Number device_available = 0x1027;
constexpr Number device_double_config = 0x1032;
constexpr Number device_name = 0x102b;
constexpr Number device_version = 0x102f;
constexpr Number build_log = 0x1183;
constexpr Number execution_status = 0x11d3;  // CL_EVENT_COMMAND_EXECUTION_STATUS

/// The library's functions: X(name, result, parameters).
#define FAIRLEAD_OPENCL_FUNCTIONS(X)                                                                      \
  X(clGetPlatformIDs, Status, Number, Platform*, Number*)                                                 \
  X(clGetPlatformInfo, Status, Platform, Number, std::size_t, void*, std::size_t*)                        \
  X(clGetDeviceIDs, Status, Platform, Bitfield, Number, Device*, Number*)                                 \
  X(clGetDeviceInfo, Status, Device, Number, std::size_t, void*, std::size_t*)                            \
  X(clCreateContext, Context, const Property*, Number, const Device*,                                     \
    void (*)(const char*, const void*, std::size_t, void*), void*, Status*)                               \
  X(clReleaseContext, Status, Context)                                                                    \
  X(clCreateCommandQueue, Queue, Context, Device, Bitfield, Status*)                                      \
  X(clReleaseCommandQueue, Status, Queue)                                                                 \
  X(clCreateBuffer, Buffer, Context, Bitfield, std::size_t, void*, Status*)                               \
  X(clReleaseMemObject, Status, Buffer)                                                                   \
  X(clEnqueueReadBuffer, Status, Queue, Buffer, Number, std::size_t, std::size_t, void*, Number,          \
    const Event*, Event*)                                                                                 \
  X(clEnqueueReadBufferRect, Status, Queue, Buffer, Number, const std::size_t*, const std::size_t*,       \
    const std::size_t*, std::size_t, std::size_t, std::size_t, std::size_t, void*, Number, const Event*,  \
    Event*)                                                                                               \
  X(clEnqueueWriteBuffer, Status, Queue, Buffer, Number, std::size_t, std::size_t, const void*, Number,   \
    const Event*, Event*)                                                                                 \
  X(clEnqueueWriteBufferRect, Status, Queue, Buffer, Number, const std::size_t*, const std::size_t*,      \
    const std::size_t*, std::size_t, std::size_t, std::size_t, std::size_t, const void*, Number,          \
    const Event*, Event*)                                                                                 \
  X(clCreateProgramWithSource, Program, Context, Number, const char**, const std::size_t*, Status*)       \
  X(clBuildProgram, Status, Program, Number, const Device*, const char*, void (*)(Program, void*), void*) \
  X(clGetProgramBuildInfo, Status, Program, Device, Number, std::size_t, void*, std::size_t*)             \
  X(clReleaseProgram, Status, Program)                                                                    \
  X(clCreateKernel, Kernel, Program, const char*, Status*)                                                \
  X(clReleaseKernel, Status, Kernel)                                                                      \
  X(clSetKernelArg, Status, Kernel, Number, std::size_t, const void*)                                     \
  X(clEnqueueNDRangeKernel, Status, Queue, Kernel, Number, const std::size_t*, const std::size_t*,        \
    const std::size_t*, Number, const Event*, Event*)                                                     \
  X(clFlush, Status, Queue)                                                                               \
  X(clFinish, Status, Queue)                                                                              \
  X(clGetEventInfo, Status, Event, Number, std::size_t, void*, std::size_t*)                              \
  X(clReleaseEvent, Status, Event)

}  // namespace fairlead::backend::cl
