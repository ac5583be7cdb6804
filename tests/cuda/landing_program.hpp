// A program over ranks whose values go from each rank to all others, for tests of where they land: its tasks run on cores and on the fake
// CUDA devices, and what comes of it is compared with a sequential run.
#pragma once
#include <fairlead/cuda.hpp>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/platform.hpp"
#include "fake_cuda/fake_cuda.hpp"

namespace fairlead::tests::landing {

using Numbers = Vector<long>;
using Column = std::vector<long>;

inline void make(long* to, long size, long k) {
  for (long i = 0; i < size; ++i) to[i] = 1000 * k + i;
}
/// In which order they come makes a difference.
inline void take(const long* from, long* to, long size) {
  for (long i = 0; i < size; ++i) to[i] = (3 * to[i] + from[i]) % 1'000'003;
}
inline int launch_make(CUstream_st* stream, long* to, long size, long k) {
  return fake_cuda::launch(stream, "make", {{to, static_cast<std::size_t>(size) * sizeof(long), true}},
                           [=](auto at) { make(reinterpret_cast<long*>(at[0]), size, k); });
}
inline int launch_take(CUstream_st* stream, const long* from, long* to, long size) {
  const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(long);
  return fake_cuda::launch(stream, "take", {{from, bytes, false}, {to, bytes, true}}, [size](auto at) {
    take(reinterpret_cast<const long*>(at[0]), reinterpret_cast<long*>(at[1]), size);
  });
}

/// Who has them.
enum class Bodies : std::uint8_t { both, devices, devices_of_readers };

/// As many columns of A and of C on each rank. Each of A is made and then read by a task for each of C, in the order of A:
/// C(r) := 3 C(r) + A(k).
struct Program {
  std::int64_t of_each = 2;
  long elements = 700;  ///< 2 pages
  Bodies bodies = Bodies::both;
  int runs = 2;

  Bytes bytes() const { return static_cast<Bytes>(elements) * sizeof(long); }
  Bytes pages() const { return (bytes() + 4095) / 4096 * 4096; }
  /// Values that come to a rank from the others.
  std::uint64_t values_that_come(std::uint32_t ranks) const {
    return static_cast<std::uint64_t>(of_each) * (ranks - 1) * static_cast<std::uint64_t>(runs);
  }
};

/// What C has at the end.
inline std::vector<Column> expected(const Program& program, std::int64_t ranks) {
  const std::int64_t count = program.of_each * ranks;
  std::vector<Column> c;
  for (std::int64_t r = 0; r < count; ++r) c.emplace_back(program.elements, r);
  Column a(static_cast<std::size_t>(program.elements));
  for (int run = 0; run < program.runs; ++run)
    for (std::int64_t k = 0; k < count; ++k) {
      make(a.data(), program.elements, k);
      for (Column& one : c) take(a.data(), one.data(), program.elements);
    }
  return c;
}

/// The result on a rank.
struct Seen {
  bool ended = false;  ///< without an error; of processes the own
  bool right = false;
  Statistics statistics{};
};

/// `advised`: data of C should live on so many devices in turn; 0: no advice.
inline Seen run(Runtime& runtime, const Program& program, int advised) {
  const std::int64_t ranks = runtime.ranks(), count = program.of_each * ranks;
  const Distribution dealt([ranks](std::int32_t at, std::int32_t) {
    return static_cast<std::uint32_t>(at) % static_cast<std::uint32_t>(ranks);
  });
  Flow flow(runtime);
  std::vector<Handle<Numbers>> a, c;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool here = dealt.owner(static_cast<std::int32_t>(i), 0) == runtime.rank();
    for (auto* const data : {&a, &c})
      data->push_back(
          here ? runtime.vector<long>((data == &a ? "A" : "C") + std::to_string(i), program.elements)
               : Handle<Numbers>({}, {program.elements, 1}));
    if (!here) continue;
    if (advised != 0) runtime.advise(c.back(), static_cast<int>(i / ranks) % advised);
    auto hold = flow.acquire(write(c.back()));
    std::fill_n(hold.get<0>().data(), program.elements, i);
  }
  flow.wait();
  const auto collection = [&](ptg::Graph& graph, const char* name, const std::vector<Handle<Numbers>>& data) {
    return graph.data<Numbers>(
        name, {count}, [&data](const std::int64_t* at) { return data[static_cast<std::size_t>(at[0])]; },
        &dealt);
  };
  ptg::Graph graph(runtime);
  const ptg::Index k("k"), r("r");
  const auto A = collection(graph, "A", a), C = collection(graph, "C", c);
  auto makes = graph.task("make", k.in(0, count - 1));
  auto takes = graph.task("take", k.in(0, count - 1), r.in(0, count - 1));
  const auto make_on_core = [](Out<Numbers> to, long number) { make(to.data(), to.size(), number); };
  const auto make_on_device = [](CudaStream stream, Out<Numbers> to, long number) {
    stream.check(launch_make(stream, to.data(), to.size(), number), "the kernel");
  };
  const auto take_on_core = [](In<Numbers> from, InOut<Numbers> to) {
    take(from.data(), to.data(), to.size());
  };
  const auto take_on_device = [](CudaStream stream, In<Numbers> from, InOut<Numbers> to) {
    stream.check(launch_take(stream, from.data(), to.data(), to.size()), "the kernel");
  };
  const auto set = [&](const auto& maker, const auto& taker) {
    makes.runs(maker, ptg::flow("v").from(A(k)), k).at(A(k));
    takes
        .runs(taker, ptg::flow("from").from(makes["v"](k)),
              ptg::flow("to").from(C(r)).when(k == 0).from(takes["to"](k - 1, r)))
        .at(C(r));
  };
  if (program.bodies == Bodies::both)
    set(codelet("make").cpu(make_on_core).cuda(make_on_device),
        codelet("take").cpu(take_on_core).cuda(take_on_device));
  else if (program.bodies == Bodies::devices)
    set(codelet("make").cuda(make_on_device), codelet("take").cuda(take_on_device));
  else
    set(codelet("make").cpu(make_on_core), codelet("take").cuda(take_on_device));
  for (int run = 0; run < program.runs; ++run) graph.run();
  Seen seen{.right = true, .statistics = runtime.statistics()};
  const std::vector<Column> values = expected(program, ranks);
  for (std::int64_t i = runtime.rank(); i < count; i += ranks) {
    const auto hold = flow.acquire(read(c[static_cast<std::size_t>(i)]));
    const In<Numbers> there = hold.template get<0>();
    seen.right &= std::equal(there.data(), there.data() + program.elements,
                             values[static_cast<std::size_t>(i)].begin());
  }
  seen.ended = true;
  return seen;
}

/// A way to run it.
struct Way {
  std::string into = "auto";
  int devices = 1;            ///< of each rank
  bool tight_device = false;  ///< for a task and two values; else for all
  bool tight_ram = false;     ///< so that it spills
  Bytes eager = 0;
  std::string policy = "eager";
  bool advised = true;
};
inline std::string text_of(const Way& way) {
  return fmt::format("into {}, {} {}devices, {}RAM, eager {}, {}, {}", way.into, way.devices,
                     way.tight_device ? "tight " : "", way.tight_ram ? "tight " : "", way.eager, way.policy,
                     way.advised ? "advised" : "not advised");
}
inline Config config_of(const Program& program, const Way& way, std::uint32_t ranks, std::uint64_t seed) {
  std::string list;
  const Bytes memory = way.tight_device ? 4 * program.pages() + 4096 : 32 * program.pages();
  for (std::uint32_t i = 0; i < ranks * static_cast<std::uint32_t>(way.devices); ++i)
    list += fmt::format("{}cuda:{},memory={}B,workspace=4KiB,streams={}", i == 0 ? "" : " + ", i, memory,
                        way.tight_device ? 1 : 1 + seed % 2);
  Config config =
      cuda_machine(list, way.policy, way.tight_ram ? fmt::format("{}B", 12 * program.pages()) : "16MiB",
                   1 + static_cast<int>(seed % 2));
  config.set("receive-into", way.into);
  config.set("eager-limit", way.eager);
  config.set("seed", seed);
  return config;
}

}  // namespace fairlead::tests::landing
