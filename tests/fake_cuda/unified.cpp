// Managed memory, accessible to cores and devices at the same addresses, and graphs of kernels: for benchmarks of the real
// driver (bench/gpu_unified.cpp, bench/gpu_launch.cpp). Fairlead itself does not call these functions. Accesses of cores to data
// of running kernels are not detected.
#include <algorithm>

#include "fake_cuda/calls.hpp"

using namespace fake_cuda;

namespace {

/// As in cuda.h.
struct KernelNode {
  CUfunc_st* function;
  unsigned grid[3], threads[3], shared_bytes;
  void **arguments, **more;
};

/// Requires that the whole range is managed.
template <class Act>
Status of_managed(const char* function, Pointer at, std::size_t bytes, const Act& act) {
  return fake().call_there(function, [&](Lock&, int) {
    if (fake().memory->find(bytes_at(at), bytes).managed) return act();
    fake().checker.report(std::string(function) + " gets memory that is not managed");
    return fake_cuda::invalid_value;
  });
}

}  // namespace

extern "C" {

/// RAM, at most the free memory of the device: a real one may hang when it has to evict pages.
Status cuMemAllocManaged(Pointer* at, std::size_t bytes, unsigned flags) {
  return fake().call_there("cuMemAllocManaged", [&](Lock&, int device) {
    if (bytes == 0 || flags != 1) return fake_cuda::invalid_value;
    if (bytes > fake().settings.memory_bytes - fake().memory->bytes(device))
      fake().checker.report("more managed memory is taken than the device has free");
    *at = reinterpret_cast<Pointer>(fake_cuda::take_ram(bytes, Memory::Ram::managed));
    return *at == 0 ? fake_cuda::no_memory : fake_cuda::success;
  });
}
Status cuMemAdvise(Pointer at, std::size_t bytes, int advice, int device) {
  return of_managed("cuMemAdvise", at, bytes, [&] {
    return advice < 1 || advice > 6 || device >= static_cast<int>(fake().devices.size())
               ? fake_cuda::invalid_value
               : fake_cuda::success;
  });
}
Status cuMemPrefetchAsync(Pointer at, std::size_t bytes, int, CUstream_st* stream) {
  return of_managed("cuMemPrefetchAsync", at, bytes,
                    [&] { return fake().put(stream, "a prefetch", {}, [] { return true; }); });
}

Status cuGraphCreate(CUgraph_st** graph, unsigned flags) {
  return fake().call_there("cuGraphCreate", [&](Lock&, int) {
    if (flags != 0) return fake_cuda::invalid_value;
    *graph = fake().graphs.emplace_back(new CUgraph_st).get();
    return fake_cuda::success;
  });
}
/// Of kernels without parameters. They run in the order of their addition, which the graph allows.
Status cuGraphAddKernelNode(CUgraphNode_st** node, CUgraph_st* graph, const CUgraphNode_st* const* before,
                            std::size_t count, const KernelNode* kernel) {
  return fake().call_there("cuGraphAddKernelNode", [&](Lock&, int) {
    const auto is_in_it = [&](const CUgraphNode_st* one) {
      return std::ranges::any_of(graph->nodes, [&](const CUgraphNode_st& other) { return &other == one; });
    };
    if (kernel->arguments != nullptr || kernel->grid[0] == 0 || kernel->threads[0] == 0 ||
        !std::all_of(before, before + count, is_in_it))
      return fake_cuda::invalid_value;
    *node = &graph->nodes.emplace_back(CUgraphNode_st{kernel->function});
    kernel->function->launched = true;
    return fake_cuda::success;
  });
}
Status cuGraphInstantiateWithFlags(CUgraphExec_st** ready, CUgraph_st* graph, unsigned long long) {
  return fake().call_there("cuGraphInstantiateWithFlags", [&](Lock&, int) {
    *ready = fake().ready_graphs.emplace_back(new CUgraphExec_st{graph->nodes}).get();
    return fake_cuda::success;
  });
}
Status cuGraphLaunch(CUgraphExec_st* ready, CUstream_st* stream) {
  return fake().call_there("cuGraphLaunch", [&](Lock&, int) {
    for (const CUgraphNode_st& node : ready->nodes)
      if (const Status status = fake().put(stream, node.function->name, {}, [] { return true; }))
        return status;
    return fake_cuda::success;
  });
}
Status cuGraphDestroy(CUgraph_st* graph) {
  return fake().call_there("cuGraphDestroy", [&](Lock&, int) { return destroy(fake().graphs, graph); });
}
Status cuGraphExecDestroy(CUgraphExec_st* ready) {
  return fake().call_there("cuGraphExecDestroy",
                           [&](Lock&, int) { return destroy(fake().ready_graphs, ready); });
}

}  // extern "C"
