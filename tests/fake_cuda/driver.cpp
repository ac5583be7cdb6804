// The functions that the fake library exports, as cuda.h declares them but for the names of types.
#include <algorithm>
#include <array>
#include <cstring>

#include "fake_cuda/calls.hpp"
#include "fake_cuda/host_kernels.hpp"

using namespace fake_cuda;

namespace {

struct Name {
  Status status;
  const char *name, *words;
};
constexpr std::array<Name, 14> names{{{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
                                      {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
                                      {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
                                      {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
                                      {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
                                      {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "no peer access"},
                                      {304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed"},
                                      {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
                                      {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
                                      {600, "CUDA_ERROR_NOT_READY", "device not ready"},
                                      {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access"},
                                      {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "enabled already"},
                                      {711, "CUDA_ERROR_TOO_MANY_PEERS", "no more peers are possible"},
                                      {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}}};

/// Either way. RAM that is not registered is a mistake, where order is meant to be the stream's. A real driver may read it at the call,
/// and wait until it is written, or not, by the size of the copy and its version; here the seed draws.
Status copy(const char* function, Pointer there, const void* host, std::size_t bytes, CUstream_st* stream,
            bool away) {
  return fake().call_there(function, [&](Lock& lock, int device) {
    const Memory::Found at = fake().memory->find(bytes_at(there), bytes),
                        ram = fake().memory->find(host, bytes);
    if (at.where == Memory::Where::freed) fake().checker.report("a copy uses memory that was given back");
    if (at.where != Memory::Where::device || at.device != device) {
      fake().checker.report("a copy goes where the device has nothing");
      return fake_cuda::invalid_value;
    }
    if (ram.where == Memory::Where::across) {
      fake().checker.report("a copy goes over the end of what is registered");
      return fake_cuda::invalid_value;
    }
    if (ram.where != Memory::Where::host)
      fake().checker.report("a copy that is not waited for takes RAM that is not registered");
    const bool now = ram.where != Memory::Where::host && fake().draw(2) == 0;
    std::vector<Access> accesses{{bytes_at(there), bytes, away}};
    std::vector<std::byte> staged;
    if (now && away)
      staged.assign(bytes_at(host), bytes_at(host) + bytes);
    else
      accesses.push_back({host, bytes, !away});
    const Status status =
        fake().put(stream, away ? "a copy to the device" : "a copy from the device", accesses,
                   [real = at.bytes, plain = bytes_at(host), staged = std::move(staged), bytes, away] {
                     const std::byte* const from = !away ? real : staged.empty() ? plain : staged.data();
                     std::memcpy(away ? real : plain, from, bytes);
                     return true;
                   });
    if (status != fake_cuda::success) return status;
    fake().devices[static_cast<std::size_t>(device)].unsaved.copied(bytes_at(there), bytes, stream->id,
                                                                    fake().checker.added(stream->id));
    return now && !away ? fake().wait_for(lock, stream) : fake_cuda::success;
  });
}

/// Between devices, or in one, which may read RAM that it follows. Whose stream it is put into has to have been given access to the
/// other's memory: a real driver would else take some RAM for it.
Status copy_there(const char* function, Pointer to, int to_device, Pointer from, int from_device,
                  std::size_t bytes, CUstream_st* stream) {
  return fake().call_there(function, [&](Lock&, int device) {
    const Memory::Found source = fake().memory->find(bytes_at(from), bytes),
                        target = fake().memory->find(bytes_at(to), bytes);
    for (const Memory::Found& end : {source, target})
      if (end.where == Memory::Where::freed) fake().checker.report("a copy uses memory that was given back");
    const bool from_shared = from_device == to_device && source.where == Memory::Where::host;
    if ((!from_shared && (source.where != Memory::Where::device || source.device != from_device)) ||
        target.where != Memory::Where::device || target.device != to_device) {
      fake().checker.report("a copy between devices goes where they have nothing");
      return fake_cuda::invalid_value;
    }
    if (device != from_device && device != to_device)
      fake().checker.report("a copy between devices is made by a third one");
    const int other = device == from_device ? to_device : from_device;
    Fake::Device &here = fake().devices[static_cast<std::size_t>(from_device)],
                 &there = fake().devices[static_cast<std::size_t>(to_device)];
    if (device != other && !fake().devices[static_cast<std::size_t>(device)].has_access_to.contains(other)) {
      fake().checker.report("a copy between devices without access");
      return 705;
    }
    for (const Fake::Device* const end : {&here, &there})
      if (end->lost != fake_cuda::success) return end->lost;
    const bool arrives = from_device == to_device || fake().settings.peers != fake_cuda::Peers::silent;
    const std::vector<Access> accesses{{bytes_at(from), bytes, false}, {bytes_at(to), bytes, true}};
    const Status status =
        fake().put(stream, from_device == to_device ? "a copy in a device" : "a copy between devices",
                   accesses, [real = source.bytes, copy = target.bytes, bytes, arrives] {
                     if (arrives) std::memcpy(copy, real, bytes);
                     return true;
                   });
    if (status != fake_cuda::success) return status;
    if (from_device != to_device)
      here.unsaved.copied(bytes_at(from), bytes, stream->id, fake().checker.added(stream->id));
    there.unsaved.written(bytes_at(to), bytes);
    return fake_cuda::success;
  });
}

/// One that the call waits for.
template <class Move>
Status copy_now(const char* function, Pointer there, const Move& move, std::size_t bytes) {
  return fake().call_there(function, [&](Lock&, int device) {
    const Memory::Found at = fake().memory->find(bytes_at(there), bytes);
    if (at.where != Memory::Where::device || at.device != device) {
      fake().checker.report("a copy goes where the device has nothing");
      return fake_cuda::invalid_value;
    }
    move(at.bytes);
    return fake_cuda::success;
  });
}

/// In PTX kernels are found by their names, and touch nothing. In a fat binary, and in what stands for one where there is no
/// compiler (tests::image_of_kernels), are all of host_kernels.hpp.
bool has_kernel(const std::string& image, const std::string& name) {
  if (image.find(".entry " + name + "(") != image.npos) return true;
  const bool all_of_ours = image.starts_with("\x50\xed\x55\xba") || image.starts_with("fake_cuda");
  return all_of_ours && fake_cuda::host_kernel(name) != nullptr;
}

/// Who gives up what is still in use is reported, and spared that the test crashes.
void give_up(Lock& lock, const void* at, std::size_t bytes, const char* how) {
  if (!fake().checker.give_up(at, bytes, how)) return;
  std::vector<CUstream_st*> all;
  for (const auto& stream : fake().streams) all.push_back(stream.get());
  for (CUstream_st* const stream : all) fake().wait_for(lock, stream);
}

}  // namespace

extern "C" {

Status cuInit(unsigned) {
  return fake().call("cuInit", [](Lock&) { return fake().devices.empty() ? 100 : fake_cuda::success; });
}
Status cuGetErrorName(Status status, const char** name) {
  for (const Name& one : names)
    if (one.status == status) return *name = one.name, fake_cuda::success;
  return fake_cuda::invalid_value;
}
Status cuGetErrorString(Status status, const char** words) {
  for (const Name& one : names)
    if (one.status == status) return *words = one.words, fake_cuda::success;
  return fake_cuda::invalid_value;
}
Status cuDeviceGetCount(int* count) {
  return fake().call("cuDeviceGetCount", [&](Lock&) {
    *count = static_cast<int>(fake().devices.size());
    return fake_cuda::success;
  });
}
Status cuDeviceGet(int* device, int number) {
  return fake().call("cuDeviceGet", [&](Lock&) {
    *device = number;
    return number < static_cast<int>(fake().devices.size()) ? fake_cuda::success : 101;
  });
}
Status cuDeviceGetName(char* name, int bytes, int device) {
  return fake().call("cuDeviceGetName", [&](Lock&) {
    std::strncpy(name, ("Fake CUDA device " + std::to_string(device)).c_str(),
                 static_cast<std::size_t>(bytes));
    return fake_cuda::success;
  });
}
Status cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  return fake().call("cuDeviceTotalMem_v2",
                     [&](Lock&) { return *bytes = fake().settings.memory_bytes, fake_cuda::success; });
}
/// Of one that is as fast by its data sheet as an H200: 132 multiprocessors at 1.98 GHz.
Status cuDeviceGetAttribute(int* value, int attribute, int) {
  return fake().call("cuDeviceGetAttribute", [&](Lock&) {
    *value = attribute == 13 ? 1'980'000 : attribute == 16 ? 132 : attribute == 76 ? 0 : 9;
    return fake_cuda::success;
  });
}
Status cuMemGetInfo_v2(std::size_t* free, std::size_t* all) {
  return fake().call_there("cuMemGetInfo_v2", [&](Lock&, int device) {
    *all = fake().settings.memory_bytes;
    *free = *all - fake().memory->bytes(device);
    return fake_cuda::success;
  });
}

Status cuDevicePrimaryCtxRetain(CUctx_st** context, int number) {
  return fake().call(
      "cuDevicePrimaryCtxRetain",
      [&](Lock&) {
        Fake::Device& device = fake().devices[static_cast<std::size_t>(number)];
        if (device.lost != fake_cuda::success) return device.lost;
        ++device.retained;
        *context = &device.context;
        return fake_cuda::success;
      },
      number);
}
Status cuDevicePrimaryCtxRelease_v2(int number) {
  return fake().call(
      "cuDevicePrimaryCtxRelease_v2",
      [&](Lock&) {
        Fake::Device& device = fake().devices[static_cast<std::size_t>(number)];
        if (device.lost != fake_cuda::success)
          fake().checker.report("cuDevicePrimaryCtxRelease was called for a device that is lost");
        if (device.retained-- == 0) fake().checker.report("a context was given back twice");
        if (device.retained == 0) device.has_access_to.clear();
        return fake_cuda::success;
      },
      number);
}
Status cuCtxPushCurrent_v2(CUctx_st* context) {
  return fake().call(
      "cuCtxPushCurrent_v2",
      [&](Lock&) {
        Fake::contexts_of_thread().push_back(context->device);
        return fake_cuda::success;
      },
      context->device);
}
Status cuCtxPopCurrent_v2(CUctx_st** context) {
  return fake().call("cuCtxPopCurrent_v2", [&](Lock&) {
    if (Fake::current() < 0) return fake_cuda::no_context;
    *context = &fake().devices[static_cast<std::size_t>(Fake::current())].context;
    Fake::contexts_of_thread().pop_back();
    return fake_cuda::success;
  });
}

Status cuMemAlloc_v2(Pointer* at, std::size_t bytes) {
  return fake().call_there("cuMemAlloc_v2", [&](Lock&, int device) {
    std::byte* const taken = fake().memory->take(device, bytes, fake().settings.memory_bytes);
    *at = reinterpret_cast<Pointer>(taken);
    return taken == nullptr ? fake_cuda::no_memory : fake_cuda::success;
  });
}
Status cuMemFree_v2(Pointer at) {
  return fake().call_there("cuMemFree_v2", [&](Lock& lock, int) {
    std::size_t bytes = fake().memory->give_back(bytes_at(at));
    const bool managed =
        bytes == 0 && (bytes = fake().memory->forget_host(bytes_at(at), Memory::Ram::managed)) != 0;
    give_up(lock, bytes_at(at), bytes, "memory of a device was given back");
    if (managed) std::free(bytes_at(at));
    if (bytes == 0) fake().checker.report("memory was given back that was not taken");
    return bytes == 0 ? fake_cuda::invalid_value : fake_cuda::success;
  });
}
Status cuMemHostAlloc(void** at, std::size_t bytes, unsigned) {
  return fake().call_there("cuMemHostAlloc", [&](Lock&, int) {
    *at = fake_cuda::take_ram(bytes, Memory::Ram::taken);
    return *at == nullptr ? fake_cuda::no_memory : fake_cuda::success;
  });
}
Status cuMemFreeHost(void* at) {
  return fake().call_there("cuMemFreeHost", [&](Lock& lock, int) {
    const std::size_t bytes = fake().memory->forget_host(bytes_at(at), Memory::Ram::taken);
    give_up(lock, at, bytes, "RAM of the driver was given back");
    if (bytes != 0) std::free(at);
    return bytes == 0 ? fake_cuda::invalid_value : fake_cuda::success;
  });
}
Status cuMemHostRegister_v2(void* at, std::size_t bytes, unsigned) {
  return fake().call_there("cuMemHostRegister_v2", [&](Lock&, int) {
    if (fake().memory->overlaps_registered(bytes_at(at), bytes)) return 712;
    fake().memory->register_host(bytes_at(at), bytes, Memory::Ram::registered);
    return fake_cuda::success;
  });
}
Status cuMemHostUnregister(void* at) {
  return fake().call_there("cuMemHostUnregister", [&](Lock& lock, int) {
    const std::size_t bytes = fake().memory->forget_host(bytes_at(at), Memory::Ram::registered);
    give_up(lock, at, bytes, "a registration was taken away");
    return bytes == 0 ? 713 : fake_cuda::success;
  });
}

Status cuMemcpyHtoDAsync_v2(Pointer to, const void* from, std::size_t bytes, CUstream_st* stream) {
  return copy("cuMemcpyHtoDAsync_v2", to, from, bytes, stream, true);
}
Status cuMemcpyDtoHAsync_v2(void* to, Pointer from, std::size_t bytes, CUstream_st* stream) {
  return copy("cuMemcpyDtoHAsync_v2", from, to, bytes, stream, false);
}

Status cuMemcpyPeerAsync(Pointer to, CUctx_st* to_context, Pointer from, CUctx_st* from_context,
                         std::size_t bytes, CUstream_st* stream) {
  return copy_there("cuMemcpyPeerAsync", to, to_context->device, from, from_context->device, bytes, stream);
}
Status cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, std::size_t bytes, CUstream_st* stream) {
  return copy_there("cuMemcpyDtoDAsync_v2", to, Fake::current(), from, Fake::current(), bytes, stream);
}
Status cuDeviceCanAccessPeer(int* may, int device, int other) {
  return fake().call(
      "cuDeviceCanAccessPeer",
      [&](Lock&) {
        *may = device != other && fake().may_be_peers(device, other) ? 1 : 0;
        return fake_cuda::success;
      },
      device);
}
/// For the context that is current, one way.
Status cuCtxEnablePeerAccess(CUctx_st* other, unsigned) {
  return fake().call_there("cuCtxEnablePeerAccess", [&](Lock&, int device) {
    const Fake::Device& there = fake().devices[static_cast<std::size_t>(other->device)];
    if (there.lost != fake_cuda::success) return there.lost;
    if (there.retained == 0) fake().checker.report("access to memory without a context");
    if (device == other->device || !fake().may_be_peers(device, other->device)) return 217;
    return fake().devices[static_cast<std::size_t>(device)].has_access_to.insert(other->device).second
               ? fake_cuda::success
               : 704;
  });
}

/// For all kinds of RAM: over when the call returns.
Status cuMemcpyHtoD_v2(Pointer to, const void* from, std::size_t bytes) {
  return copy_now(
      "cuMemcpyHtoD_v2", to, [&](std::byte* real) { std::memcpy(real, from, bytes); }, bytes);
}
Status cuMemcpyDtoH_v2(void* to, Pointer from, std::size_t bytes) {
  return copy_now(
      "cuMemcpyDtoH_v2", from, [&](std::byte* real) { std::memcpy(to, real, bytes); }, bytes);
}

Status cuModuleLoadData(CUmod_st** module, const void* image) {
  return fake().call_there("cuModuleLoadData", [&](Lock&, int device) {
    const std::string text = static_cast<const char*>(image);  // to the first zero, of a fat binary
    if (!has_kernel(text, "fairlead_add_64") && text.find(".entry ") == text.npos) return 200;
    fake().modules.emplace_back(new CUmod_st{device, text});
    *module = fake().modules.back().get();
    return fake_cuda::success;
  });
}
Status cuModuleUnload(CUmod_st* module) {
  return fake().call_there("cuModuleUnload", [&](Lock&, int) {
    const bool used = std::ranges::any_of(module->functions, &CUfunc_st::launched);
    for (const auto& stream : fake().streams)
      if (used && stream->device == module->device && (!stream->waiting.empty() || stream->running))
        fake().checker.report("a module was given back while something was in a stream");
    return destroy(fake().modules, module);
  });
}
Status cuModuleGetFunction(CUfunc_st** function, CUmod_st* module, const char* name) {
  return fake().call_there("cuModuleGetFunction", [&](Lock&, int) {
    if (!has_kernel(module->image, name)) return 500;
    *function = &module->functions.emplace_back(CUfunc_st{.name = name});
    return fake_cuda::success;
  });
}
/// Ours run in another grid than was asked for: in one for each size of what they touch, as sums in another order have other bits.
Status cuLaunchKernel(CUfunc_st* function, unsigned x, unsigned y, unsigned z, unsigned threads_x,
                      unsigned threads_y, unsigned threads_z, unsigned, CUstream_st* stream, void** arguments,
                      void**) {
  return fake().call_there("cuLaunchKernel", [&](Lock&, int device) {
    if (x * y * z == 0 || threads_x * threads_y * threads_z == 0 || threads_x * threads_y * threads_z > 1024)
      return fake_cuda::invalid_value;
    function->launched = true;
    const fake_cuda::HostKernel* const ours = fake_cuda::host_kernel(function->name);
    if (ours == nullptr) {
      if (arguments != nullptr && *arguments != nullptr) return fake_cuda::invalid_value;
      return fake().put(stream, function->name, {}, [] { return true; });
    }
    const auto place = [&](const void* at) -> void* { return fake().memory->find(at, 1).bytes; };
    const std::vector<Access> accesses = ours->accesses(arguments);
    std::size_t size = 0;
    for (const Access& access : accesses) size += access.bytes / sizeof(double);
    const fake_cuda::Threads how{1 + static_cast<unsigned>(size % std::min(x, 3u)),
                                 1 + static_cast<unsigned>(size % std::min(threads_x, 4u))};
    return fake().put_kernel(stream, function->name, device, accesses,
                             [run = ours->bind(arguments, place), how, name = function->name](auto) {
                               if (const std::string wrong = run(how); !wrong.empty())
                                 fake_cuda::report(name + ": " + wrong);
                             });
  });
}
Status cuLaunchHostFunc(CUstream_st* stream, void (*function)(void*), void* data) {
  return fake().call_there("cuLaunchHostFunc", [&](Lock&, int) {
    return fake().put(stream, "a function of the host", {}, [function, data] {
      function(data);
      return true;
    });
  });
}

Status cuStreamCreate(CUstream_st** stream, unsigned flags) {
  return fake().call_there("cuStreamCreate", [&](Lock&, int device) {
    if (flags != 1) fake().checker.report("a stream waits for the default stream");
    fake().streams.emplace_back(new CUstream_st{.device = device, .id = ++fake().streams_made});
    *stream = fake().streams.back().get();
    return fake_cuda::success;
  });
}
Status cuStreamDestroy_v2(CUstream_st* stream) {
  return fake().call_there("cuStreamDestroy_v2", [&](Lock& lock, int) {
    if (fake().knows(stream) && (!stream->waiting.empty() || stream->running)) {
      fake().checker.report("a stream was given back while something was in it");
      fake().wait_for(lock, stream);
    }
    return destroy(fake().streams, stream);
  });
}
Status cuStreamSynchronize(CUstream_st* stream) {
  return fake().call_there("cuStreamSynchronize",
                           [&](Lock& lock, int) { return fake().wait_for(lock, stream); });
}
Status cuEventCreate(CUevent_st** event, unsigned) {
  return fake().call_there("cuEventCreate", [&](Lock&, int device) {
    fake().events.emplace_back(new CUevent_st{.device = device});
    *event = fake().events.back().get();
    return fake_cuda::success;
  });
}
Status cuEventRecord(CUevent_st* event, CUstream_st* stream) {
  return fake().call_there("cuEventRecord", [&](Lock&, int) { return fake().record(event, stream); });
}
Status cuEventQuery(CUevent_st* event) {
  return fake().call_there("cuEventQuery", [&](Lock&, int) { return fake().query(event); });
}
Status cuEventSynchronize(CUevent_st* event) {
  return fake().call_there("cuEventSynchronize",
                           [&](Lock& lock, int) { return fake().wait_for(lock, event); });
}
Status cuEventDestroy_v2(CUevent_st* event) {
  return fake().call_there("cuEventDestroy_v2", [&](Lock&, int) {
    if (const auto known = fake().find(event); known != nullptr && known->done != known->asked)
      fake().checker.report("an event was given back before it was over");
    return destroy(fake().events, event);
  });
}

}  // extern "C"
