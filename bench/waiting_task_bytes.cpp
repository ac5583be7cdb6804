// Memory of a waiting task with three accesses, all bookkeeping included: the growth of the heap and the
// process while many such tasks are submitted and none can run.
//
//   waiting_task_bytes [--json]
#include <fairlead/fairlead.hpp>

#include <malloc.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace {

namespace fl = fairlead;

constexpr std::size_t data_count = 400;

std::uint64_t heap_bytes() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
  constexpr std::size_t tasks = 500'000;
  fl::Config config;
  config.set("workers", 1);
  config.set("memory", "64MiB");
  config.set("window", tasks + 1);
  fl::Runtime runtime(config);
  std::vector<std::uint64_t> values(data_count);
  std::vector<fl::Handle<std::uint64_t>> data;
  for (auto& value : values) data.push_back(runtime.value("value", value));
  const auto body =
      fl::codelet("three").cpu([](fl::In<std::uint64_t> a, fl::In<std::uint64_t> b,
                                  fl::InOut<std::uint64_t> own) { own.get() += a.get() + b.get(); });
  fl::Flow flow(runtime);
  flow.submit(body(data[0], data[1], data[2]));  // one-time allocations of the first task do not count
  // Each task waits for the previous one, and the first for the program.
  auto held = std::optional(flow.acquire(fl::update(data[0])));
  const std::uint64_t heap = heap_bytes(), resident = resident_bytes();
  for (std::size_t i = 0; i < tasks; ++i)
    flow.submit(body(data[i % data_count], data[(i + 1) % data_count], data[(i + 2) % data_count]));
  const auto per_task = [](std::uint64_t after, std::uint64_t before) {
    return static_cast<double>(after - before) / tasks;
  };
  const double heap_each = per_task(heap_bytes(), heap), resident_each = per_task(resident_bytes(), resident);
  held.reset();
  flow.wait();
  if (json)
    std::printf(R"({"tasks": %zu, "heap_bytes_per_task": %.1f, "resident_bytes_per_task": %.1f})"
                "\n",
                tasks, heap_each, resident_each);
  else
    std::printf("%zu waiting tasks with three accesses: %.1f bytes each on the heap, %.1f resident\n", tasks,
                heap_each, resident_each);
  return 0;
}
