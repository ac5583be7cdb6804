// What a task on a CUDA device costs beside a bare launch: an empty kernel by the driver alone, what it takes to learn that it is
// over (asking, waiting in the driver, a function of the host), and Fairlead's empty tasks, in a chain and independent.
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

// The driver compiles it for its device: no toolkit is needed.
constexpr const char* nothing =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";

/// Of one launch, in microseconds: put into the stream one after the other and waited for at the end; and each waited for before
/// the next, in one of three ways.
Json bare(const Device& device, std::int64_t launches) {
  const auto load = device.function<cu::Status(Module**, const void*)>("cuModuleLoadData");
  const auto get = device.function<cu::Status(Function**, Module*, const char*)>("cuModuleGetFunction");
  const auto unload = device.function<cu::Status(Module*)>("cuModuleUnload");
  const auto launch =
      device.function<cu::Status(Function*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, cu::Stream, void**, void**)>("cuLaunchKernel");
  const auto call = device.function<cu::Status(cu::Stream, void (*)(void*), void*)>("cuLaunchHostFunc");
  const cu::Driver& driver = device.driver();
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
                                                          auto& told = *static_cast<std::atomic<bool>*>(flag);
                                                          told = true;
                                                          told.notify_one();
                                                        },
                                                        &over),
                                                    "cuLaunchHostFunc");
                                       over.wait(false);
                                     },
                                     [&] { stream.wait(); }));
    driver.cuEventDestroy_v2(event);
  }
  unload(module);
  return json;
}

/// Microseconds a task, from submission to the end of all. The body launches the empty kernel, or puts nothing into the stream.
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
    json.add("bare", bare(device, launches));
  }
  const std::string devices = fmt::format("cuda:{},memory={}B,streams={}", number, memory, streams);
  json.add("tasks", tasks(devices, count, static_cast<std::size_t>(streams), true));
  json.add("tasks_without_launch", tasks(devices, count, static_cast<std::size_t>(streams), false));
  return json;
}

}  // namespace

int main(int argc, char** argv) { return gpu::run(argc, argv, measure); }
