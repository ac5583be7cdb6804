// Deliberate mistakes between the CUDA backend and the driver: each is detected, by the fake driver or by wrong values. So
// the absence of findings is meaningful.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "at_length.hpp"
#include "backend/cuda/cuda.hpp"
#include "cuda/platform.hpp"
#include "cuda/programs.hpp"

namespace fairlead::tests {

namespace {

namespace cu = backend::cu;

/// State of the functions below, which have no object.
struct Shared {
  std::shared_ptr<const cu::CudaDriver> real;
  std::mutex mutex;  // guards the fields below
  struct Made {
    cu::Stream stream;
    int device;
  };
  std::vector<Made> streams;
  std::set<cu::Stream> of_copies;
  std::set<cu::Event> of_kernels;
  cu::Event event = nullptr;
  cu::Pointer memory = 0;
};
Shared& shared() {
  static Shared one;
  return one;
}
const cu::CudaDriver& real() { return *shared().real; }

cu::Stream another_than(cu::Stream stream) {
  const std::lock_guard lock(shared().mutex);
  const auto& all = shared().streams;
  const auto found = std::ranges::find_if(all, [&](const Shared::Made& one) {
    return one.stream != stream && one.device == fake_cuda::current_device();
  });
  return found == all.end() ? stream : found->stream;
}
cu::Status note_stream(cu::Stream* stream, unsigned flags) {
  const cu::Status status = real().cuStreamCreate(stream, flags);
  const std::lock_guard lock(shared().mutex);
  shared().streams.push_back({*stream, fake_cuda::current_device()});
  return status;
}
cu::Status forget_stream(cu::Stream stream) {
  const std::lock_guard lock(shared().mutex);
  std::erase_if(shared().streams, [&](const Shared::Made& one) { return one.stream == stream; });
  return real().cuStreamDestroy_v2(stream);
}

void leave_a_wait_out(cu::CudaDriver& driver) {
  driver.cuEventSynchronize = [](cu::Event) { return cu::success; };
}
void report_completion_before_its_event(cu::CudaDriver& driver) {
  driver.cuEventQuery = [](cu::Event) { return cu::success; };
}
void give_a_buffer_back_early(cu::CudaDriver& driver) {
  driver.cuMemcpyHtoDAsync_v2 = [](cu::Pointer to, const void* from, std::size_t bytes, cu::Stream stream) {
    const cu::Status status = real().cuMemcpyHtoDAsync_v2(to, from, bytes, stream);
    void* const buffer = const_cast<void*>(from);
    if (real().cuMemHostUnregister(buffer) == cu::success)  // where it begins with what is copied
      real().cuMemHostRegister_v2(buffer, bytes, cu::register_for_all);
    return status;
  };
}
void copy_in_another_stream(cu::CudaDriver& driver) {
  driver.cuStreamCreate = note_stream;
  driver.cuMemcpyHtoDAsync_v2 = [](cu::Pointer to, const void* from, std::size_t bytes, cu::Stream stream) {
    return real().cuMemcpyHtoDAsync_v2(to, from, bytes, another_than(stream));
  };
}
void copy_to_a_peer_in_another_stream(cu::CudaDriver& driver) {
  driver.cuStreamCreate = note_stream;
  driver.cuStreamDestroy_v2 = forget_stream;
  driver.cuMemcpyPeerAsync = [](cu::Pointer to, cu::Context to_context, cu::Pointer from,
                                cu::Context from_context, std::size_t bytes, cu::Stream stream) {
    return real().cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, another_than(stream));
  };
}
/// The completion of a kernel is reported at its launch.
void copy_to_a_peer_before_it_is_written(cu::CudaDriver& driver) {
  driver.cuMemcpyHtoDAsync_v2 = [](cu::Pointer to, const void* from, std::size_t bytes, cu::Stream stream) {
    const std::lock_guard lock(shared().mutex);
    shared().of_copies.insert(stream);
    return real().cuMemcpyHtoDAsync_v2(to, from, bytes, stream);
  };
  driver.cuMemcpyDtoHAsync_v2 = [](void* to, cu::Pointer from, std::size_t bytes, cu::Stream stream) {
    const std::lock_guard lock(shared().mutex);
    shared().of_copies.insert(stream);
    return real().cuMemcpyDtoHAsync_v2(to, from, bytes, stream);
  };
  driver.cuMemcpyPeerAsync = [](cu::Pointer to, cu::Context to_context, cu::Pointer from,
                                cu::Context from_context, std::size_t bytes, cu::Stream stream) {
    const std::lock_guard lock(shared().mutex);
    shared().of_copies.insert(stream);
    return real().cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, stream);
  };
  driver.cuEventRecord = [](cu::Event event, cu::Stream stream) {
    const std::lock_guard lock(shared().mutex);
    if (!shared().of_copies.contains(stream)) shared().of_kernels.insert(event);
    return real().cuEventRecord(event, stream);
  };
  driver.cuEventQuery = [](cu::Event event) {
    const std::lock_guard lock(shared().mutex);
    return shared().of_kernels.contains(event) ? cu::success : real().cuEventQuery(event);
  };
}
/// The next owner of the memory writes there at once.
void give_the_source_of_a_peer_back_early(cu::CudaDriver& driver) {
  driver.cuStreamCreate = note_stream;
  driver.cuStreamDestroy_v2 = forget_stream;
  driver.cuMemcpyPeerAsync = [](cu::Pointer to, cu::Context to_context, cu::Pointer from,
                                cu::Context from_context, std::size_t bytes, cu::Stream stream) {
    const cu::Status status = real().cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, stream);
    fake_cuda::launch(another_than(stream), "the next owner", {{reinterpret_cast<void*>(from), bytes, true}},
                      [](auto) {});
    return status;
  };
}
void copy_to_a_peer_without_access(cu::CudaDriver& driver) {
  driver.cuCtxEnablePeerAccess = [](cu::Context, unsigned) { return cu::success; };
}
void take_ram_for_registered(cu::CudaDriver& driver) {
  driver.cuMemHostRegister_v2 = [](void*, std::size_t, unsigned) { return cu::success; };
  driver.cuMemHostUnregister = [](void*) { return cu::success; };
}
constexpr std::size_t too_small = 3 * 4096;
void copy_across_two_registrations(cu::CudaDriver& driver) {
  driver.cuMemHostRegister_v2 = [](void* at, std::size_t bytes, unsigned flags) {
    if (bytes <= too_small) return real().cuMemHostRegister_v2(at, bytes, flags);
    real().cuMemHostRegister_v2(at, too_small, flags);
    return real().cuMemHostRegister_v2(static_cast<std::byte*>(at) + too_small, bytes - too_small, flags);
  };
  driver.cuMemHostUnregister = [](void* at) {
    real().cuMemHostUnregister(static_cast<std::byte*>(at) + too_small);
    return real().cuMemHostUnregister(at);
  };
}
void use_the_default_stream(cu::CudaDriver& driver) {
  driver.cuMemcpyDtoHAsync_v2 = [](void* to, cu::Pointer from, std::size_t bytes, cu::Stream) {
    return real().cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr);
  };
}
void ignore_an_error(cu::CudaDriver& driver) {
  fake_cuda::fail("cuMemcpyHtoDAsync_v2", 4, false, 1);
  driver.cuMemcpyHtoDAsync_v2 = [](cu::Pointer to, const void* from, std::size_t bytes, cu::Stream stream) {
    real().cuMemcpyHtoDAsync_v2(to, from, bytes, stream);
    return cu::success;
  };
}
void call_from_a_host_function(cu::CudaDriver& driver) {
  driver.cuEventRecord = [](cu::Event event, cu::Stream stream) {
    fake_cuda::launch(stream, "a host function", {}, [event](auto) { real().cuEventQuery(event); });
    return real().cuEventRecord(event, stream);
  };
}
void release_for_a_lost_device(cu::CudaDriver& driver) {
  fake_cuda::lose(0, 20);
  driver.cuMemAlloc_v2 = [](cu::Pointer* at, std::size_t bytes) {
    const cu::Status status = real().cuMemAlloc_v2(at, bytes);
    shared().memory = *at;
    return status;
  };
  driver.cuEventQuery = [](cu::Event event) {
    const cu::Status status = real().cuEventQuery(event);
    if (cu::is_fatal(status)) real().cuMemFree_v2(shared().memory);
    return status;
  };
  driver.cuEventSynchronize = [](cu::Event event) {
    const cu::Status status = real().cuEventSynchronize(event);
    if (cu::is_fatal(status)) real().cuMemFree_v2(shared().memory);
    return status;
  };
}
void use_one_event_for_all(cu::CudaDriver& driver) {
  driver.cuEventCreate = [](cu::Event* event, unsigned flags) {
    const std::lock_guard lock(shared().mutex);
    cu::Status status = cu::success;
    if (shared().event == nullptr) status = real().cuEventCreate(&shared().event, flags);
    *event = shared().event;
    return status;
  };
  driver.cuEventDestroy_v2 = [](cu::Event) {
    const std::lock_guard lock(shared().mutex);
    if (shared().event != nullptr) real().cuEventDestroy_v2(shared().event);
    shared().event = nullptr;
    return cu::success;
  };
}

using Make = void (*)(cu::CudaDriver&);

/// How the mistake was detected, if the text contains `words`; empty: not detected.
std::string noticed_at(std::uint64_t seed, Make make_mistake, const char* machine, const char* words = "") {
  fake_cuda::begin({.seed = seed, .devices = 2, .longest_delay_us = 100});
  shared().streams.clear();
  shared().of_copies.clear();
  shared().of_kernels.clear();
  shared().event = nullptr;
  cu::CudaDevices found = cu::find_devices();
  shared().real = found.driver;
  auto driver = std::make_shared<cu::CudaDriver>(*found.driver);
  make_mistake(*driver);
  found.driver = driver;
  backend::Backends backends = backend::default_backends();
  for (auto& one : backends)
    if (one->kind() == "cuda") one = std::make_shared<backend::CudaBackend>([found] { return found; });
  const ProgramRun run = run_program(seed, cuda_machine(machine), backends);
  for (const std::string& text : fake_cuda::end())
    if (text.find(words) != text.npos) return text;
  if (*words == '\0' && run.said.empty() && !run.right) return "the values are wrong";
  return "";
}

}  // namespace

TEST(CudaMistakes, AreDetected) {
  struct Mistake {
    const char* name;
    Make make;
    const char* machine = "cuda:0,memory=36KiB,streams=2";
    const char* words = "";
  };
  constexpr const char* peers = "cuda:0,memory=36KiB,streams=2 + cuda:1,memory=36KiB";
  for (const Mistake& mistake :
       {Mistake{"a wait is left out", leave_a_wait_out},
        Mistake{"a buffer is given back early", give_a_buffer_back_early},
        Mistake{"a copy is in the wrong stream", copy_in_another_stream},
        Mistake{"RAM that is not registered is taken for it", take_ram_for_registered},
        Mistake{"a copy goes across two registrations", copy_across_two_registrations},
        Mistake{"the default stream is used", use_the_default_stream},
        Mistake{"a completion is reported before its event", report_completion_before_its_event},
        Mistake{"an error is ignored", ignore_an_error},
        Mistake{"a host function calls the driver", call_from_a_host_function},
        Mistake{"something is released for a lost device", release_for_a_lost_device},
        Mistake{"an event is used again while it is asked", use_one_event_for_all},
        Mistake{"a copy to a peer is in a stream that is not waited for", copy_to_a_peer_in_another_stream,
                peers, "\"a copy between devices\""},
        Mistake{"a copy to a peer does not wait for what writes its source",
                copy_to_a_peer_before_it_is_written, peers, "\"a copy between devices\" reads"},
        Mistake{"the source of a copy to a peer is given back before its end",
                give_the_source_of_a_peer_back_early, peers, "\"the next owner\" writes"},
        Mistake{"a copy to a peer without access", copy_to_a_peer_without_access, peers, "without access"}}) {
    std::string noticed;
    std::uint64_t seed = 0;
    while (noticed.empty() && ++seed <= 200)
      noticed = noticed_at(seed, mistake.make, mistake.machine, mistake.words);
    EXPECT_NE(noticed, "") << mistake.name;
    if (!noticed.empty()) std::cout << mistake.name << ": seed " << seed << ": " << noticed << '\n';
  }
}

// Without a mistake there are no findings: the function table itself causes none.
TEST(CudaMistakes, AreNotReportedWithoutAny) {
  for (const char* machine :
       {"cuda:0,memory=36KiB,streams=2", "cuda:0,memory=36KiB,streams=2 + cuda:1,memory=36KiB"})
    for (std::uint64_t seed = 1; seed <= (many_cases() ? 20 : 6); ++seed)
      EXPECT_EQ(noticed_at(
                    seed, [](cu::CudaDriver&) {}, machine),
                "")
          << seed;
}

// Bodies of two streams that use the same workspace.
TEST(CudaMistakes, AreDetectedIfStreamsShareAWorkspace) {
  std::uint64_t seed = 0;
  std::vector<std::string> noticed;
  while (noticed.empty() && ++seed <= 200) {
    fake_cuda::begin({.seed = seed, .devices = 1, .longest_delay_us = 100});
    std::atomic<void*> first = nullptr;
    const auto mix = codelet("mix").cuda([&first](CudaStream stream, In<Vector<long>> x, In<Vector<long>> y,
                                                  InOut<Vector<long>> z, long f) {
      void* none = nullptr;
      first.compare_exchange_strong(none, stream.workspace());
      const auto bytes = static_cast<std::size_t>(z.size()) * sizeof(long);
      fake_cuda::launch(
          stream, "mix",
          {{x.data(), bytes, false}, {y.data(), bytes, false}, {z.data(), bytes, true}, {first, 4096, true}},
          [size = z.size(), f](auto at) {
            combine(reinterpret_cast<const long*>(at[0]), reinterpret_cast<const long*>(at[1]),
                    reinterpret_cast<long*>(at[2]), size, f);
          });
    });
    run_program(seed, cuda_machine("cuda:0,memory=64KiB,streams=2"), backend::default_backends(),
                step_codelet(), mix);
    noticed = fake_cuda::end();
  }
  ASSERT_FALSE(noticed.empty());
  EXPECT_NE(noticed.front().find("a race"), std::string::npos) << noticed.front();
}

}  // namespace fairlead::tests
