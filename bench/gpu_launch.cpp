// The cost of a task on a CUDA device compared with a bare launch: an empty kernel through the driver, with
// detection of its completion by polling, a blocking wait or a host callback, and as a node of a CUDA graph;
// and Fairlead's empty tasks, in a chain and independent, of a flow and of a recording.
//
//   gpu_launch [--device 0] [--launches 2000] [--tasks 2000] [--streams 1] [--memory 67108864]
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>

#include <atomic>

#include "gpu_common.hpp"

namespace {

using namespace gpu;
namespace fl = fairlead;

struct Module;
struct Function;
struct Graph;
struct Node;
struct ReadyGraph;

/// CUDA_KERNEL_NODE_PARAMS_v1, the parameter type of the unversioned functions.
struct KernelNode {
  Function* function = nullptr;
  unsigned grid[3] = {1, 1, 1}, threads[3] = {1, 1, 1}, shared_bytes = 0;
  void **arguments = nullptr, **more = nullptr;
};

// The driver compiles it for the device: no toolkit is needed.
constexpr const char* nothing =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";

/// Microseconds per kernel of a repeatedly launched graph, like a recording: in one chain, and in `chains`
/// parallel ones; and the time per kernel to build such a graph.
Json graphs(const Device& device, Function* kernel, std::int64_t kernels, std::int64_t chains) {
  const auto create = device.function<cu::Status(Graph**, unsigned)>("cuGraphCreate");
  const auto add = device.function<cu::Status(Node**, Graph*, Node* const*, std::size_t, const KernelNode*)>(
      "cuGraphAddKernelNode");
  const auto make_ready =
      device.function<cu::Status(ReadyGraph**, Graph*, unsigned long long)>("cuGraphInstantiateWithFlags");
  const auto launch = device.function<cu::Status(ReadyGraph*, cu::Stream)>("cuGraphLaunch");
  const auto destroy_ready = device.function<cu::Status(ReadyGraph*)>("cuGraphExecDestroy");
  const auto destroy = device.function<cu::Status(Graph*)>("cuGraphDestroy");
  const Stream stream(device);
  Json json = Json::object();
  const auto measure = [&](std::size_t side_by_side, const char* name) {
    Graph* graph = nullptr;
    ReadyGraph* ready = nullptr;
    const auto begin = Clock::now();
    device.check(create(&graph, 0), "cuGraphCreate");
    std::vector<Node*> last(side_by_side, nullptr);
    const KernelNode node{.function = kernel};
    for (std::int64_t i = 0; i < kernels; ++i) {
      Node*& before = last[static_cast<std::size_t>(i) % side_by_side];
      Node* one = nullptr;
      device.check(add(&one, graph, &before, before == nullptr ? 0 : 1, &node), "cuGraphAddKernelNode");
      before = one;
    }
    device.check(make_ready(&ready, graph, 0), "cuGraphInstantiate");
    const double seconds_to_make = seconds_since(begin);
    std::vector<double> times;
    for (int i = 0; i < 6; ++i) {  // the first uploads the graph
      const auto launched = Clock::now();
      device.check(launch(ready, stream.stream), "cuGraphLaunch");
      stream.wait();
      if (i > 0) times.push_back(seconds_since(launched));
    }
    destroy_ready(ready);
    destroy(graph);
    const auto each = [&](double seconds) { return seconds / static_cast<double>(kernels) * 1e6; };
    json.add(fmt::format("{}_us", name), each(median(times)));
    json.add(fmt::format("{}_made_us", name), each(seconds_to_make));
  };
  measure(1, "chain");
  measure(static_cast<std::size_t>(std::max<std::int64_t>(chains, 1)), "side_by_side");
  return json;
}

/// Microseconds per launch: all put into the stream with one wait at the end; and with a wait for each before
/// the next, in one of three ways.
Json bare(const Device& device, std::int64_t launches, std::int64_t chains) {
  const auto load = device.function<cu::Status(Module**, const void*)>("cuModuleLoadData");
  const auto get = device.function<cu::Status(Function**, Module*, const char*)>("cuModuleGetFunction");
  const auto unload = device.function<cu::Status(Module*)>("cuModuleUnload");
  const auto launch =
      device.function<cu::Status(Function*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, cu::Stream, void**, void**)>("cuLaunchKernel");
  const auto call = device.function<cu::Status(cu::Stream, void (*)(void*), void*)>("cuLaunchHostFunc");
  const cu::CudaDriver& driver = device.driver();
  Module* module = nullptr;
  Function* kernel = nullptr;
  device.check(load(&module, nothing), "cuModuleLoadData");
  device.check(get(&kernel, module, "nothing"), "cuModuleGetFunction");
  Json json = Json::object();
  {
    const Stream stream(device);
    cu::Event event = nullptr;
    device.check(driver.cuEventCreate(&event, cu::event_sleeps | cu::event_plain), "cuEventCreate");
    const auto put = [&] {
      device.check(launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream.stream, nullptr, nullptr), "cuLaunchKernel");
    };
    const auto timed = [&](const auto& each, const auto& end) {
      put();
      stream.wait();
      const auto begin = Clock::now();
      for (std::int64_t i = 0; i < launches; ++i) each();
      end();
      return seconds_since(begin) / static_cast<double>(launches) * 1e6;
    };
    const auto record = [&] { device.check(driver.cuEventRecord(event, stream.stream), "cuEventRecord"); };
    json.add("in_a_row_us", timed(put, [&] { stream.wait(); }));
    json.add("asked_us", timed(
                             [&] {
                               put(), record();
                               while (driver.cuEventQuery(event) == cu::not_ready) {
                               }
                             },
                             [] {}));
    json.add("waited_us", timed(
                              [&] {
                                put(), record();
                                device.check(driver.cuEventSynchronize(event), "cuEventSynchronize");
                              },
                              [] {}));
    std::atomic<bool> over{false};
    json.add("host_function_us", timed(
                                     [&] {
                                       over = false;
                                       put();
                                       device.check(call(
                                                        stream.stream,
                                                        [](void* flag) {
                                                          auto& done = *static_cast<std::atomic<bool>*>(flag);
                                                          done = true;
                                                          done.notify_one();
                                                        },
                                                        &over),
                                                    "cuLaunchHostFunc");
                                       over.wait(false);
                                     },
                                     [&] { stream.wait(); }));
    driver.cuEventDestroy_v2(event);
    json.add("graph", graphs(device, kernel, std::min<std::int64_t>(launches, 1000), chains));
  }
  unload(module);
  return json;
}

/// Microseconds per task, from submission to completion of all. The body launches the empty kernel, or leaves
/// the stream empty.
Json tasks(const std::string& devices, std::int64_t count, std::size_t streams, bool launches) {
  fl::Config config;
  config.set("workers", "1");
  config.set("memory", "64MiB");
  config.set("scheduler", "eager");
  config.set("devices", devices);
  fl::Runtime runtime(config);
  const fl::CudaModule module(nothing, {"nothing"});
  const auto empty =
      fl::codelet("empty").cuda([module, launches](fl::CudaStream stream, fl::InOut<fl::Vector<double>>) {
        if (launches) stream.run(module["nothing"], fl::cuda_grid(1, 1));
      });
  std::vector<fl::Handle<fl::Vector<double>>> data;
  for (std::size_t i = 0; i < 64 * streams; ++i) data.push_back(runtime.vector<double>("v", 8));
  const auto set = fl::codelet("set").cpu([](fl::Out<fl::Vector<double>> v) { v.data()[0] = 0; });
  fl::Flow flow(runtime);
  for (const auto& one : data) flow.submit(set(one));
  for (const auto& one : data) flow.submit(empty(one));
  flow.wait();
  const auto timed = [&](std::size_t of) {
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < count; ++i) flow.submit(empty(data[static_cast<std::size_t>(i) % of]));
    flow.wait();
    return seconds_since(begin) / static_cast<double>(count) * 1e6;
  };
  Json json = Json::object();
  json.add("chain_us", timed(1));
  json.add("independent_us", timed(data.size()));
  const auto recorded = [&](std::size_t of) {
    fl::Recording recording(runtime);
    for (std::int64_t i = 0; i < count; ++i) recording.submit(empty(data[static_cast<std::size_t>(i) % of]));
    std::vector<double> times;
    for (int i = 0; i < 3; ++i) {
      const auto begin = Clock::now();
      recording.run();
      times.push_back(seconds_since(begin) / static_cast<double>(count) * 1e6);
    }
    return median(times);
  };
  json.add("recorded_chain_us", recorded(1));
  json.add("recorded_independent_us", recorded(data.size()));
  json.add("streams", streams);
  return json;
}

Json measure(Arguments& arguments) {
  const std::int64_t number = arguments.number("--device", 0),
                     launches = arguments.number("--launches", 2000),
                     count = arguments.number("--tasks", 2000), streams = arguments.number("--streams", 1),
                     memory = arguments.number("--memory", 64 << 20);
  arguments.require_all_used();
  Json json = Json::object();
  {
    const Device device(number);
    json.add("device", device.found().name);
    json.add("bare", bare(device, launches, streams));
  }
  const std::string devices = fmt::format("cuda:{},memory={}B,streams={}", number, memory, streams);
  json.add("tasks", tasks(devices, count, static_cast<std::size_t>(streams), true));
  json.add("tasks_without_launch", tasks(devices, count, static_cast<std::size_t>(streams), false));
  return json;
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
