// The fake driver: its devices, streams and events, and the thread that runs the streams' operations, in an order among
// streams that a seed determines.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fake_cuda/checker.hpp"
#include "fake_cuda/fake_cuda.hpp"
#include "fake_cuda/memory.hpp"
#include "fake_cuda/unsaved.hpp"

struct CUctx_st {
  int device;
};
struct CUevent_st {
  int device;
  // Records: the number made, the last finished, the last observed by the host.
  std::uint64_t asked = 0, done = 0, seen = 0;
  std::uint32_t stream = 0;  // of the last; 0: there is none
  fake_cuda::Clock clock{};  // of the last
};
struct CUstream_st {
  struct Step {
    std::function<bool()> run;            // empty: the event only. False: an invalid access
    std::shared_ptr<CUevent_st> event{};  // which may have been destroyed by then, as CUDA allows
    std::uint64_t record = 0;
  };
  int device;
  std::uint32_t id;
  std::deque<Step> waiting{};
  bool running = false;
};

/// The kernels of PTX, which access nothing, or those of host_kernels.hpp.
struct CUfunc_st {
  std::string name;
  bool launched = false;
};
struct CUmod_st {
  int device;
  std::string image;
  std::deque<CUfunc_st> functions{};
};

/// A kernel of a graph; a graph, and one that is ready to be launched.
struct CUgraphNode_st {
  CUfunc_st* function;
};
struct CUgraph_st {
  std::deque<CUgraphNode_st> nodes{};
};
struct CUgraphExec_st {
  std::deque<CUgraphNode_st> nodes;
};

namespace fake_cuda {

using Status = int;
constexpr Status success = 0, invalid_value = 1, no_memory = 2, no_context = 201, invalid_handle = 400,
                 illegal_address = 700, not_ready = 600;

class Fake {
 public:
  static Fake& of_process();
  ~Fake();

  void begin(const Settings& settings);
  std::vector<std::string> end();
  void fail(const char* function, int call, bool for_good, Status status, bool alone);
  void lose(int device, std::uint64_t after, Status status);
  int failures();
  std::map<std::string, int> calls();
  std::uint64_t operations();

  /// A call of a driver function: `act` implements it, under the lock. `device`: the one that it names, if any.
  template <class Act>
  Status call(const char* function, const Act& act, int device = -1) {
    std::unique_lock lock(mutex_);
    if (const Status status = enter(lock, function, device)) return status;
    return act(lock);
  }
  /// As call(), for the current device, which `act` gets.
  template <class Act>
  Status call_there(const char* function, const Act& act) {
    return call(function, [&](std::unique_lock<std::mutex>& lock) {
      const int device = current();
      if (device < 0) {
        checker.report(std::string(function) + " was called without a context");
        return no_context;
      }
      Device& there = devices[static_cast<std::size_t>(device)];
      if (there.lost == success) return act(lock, device);
      if (there.loss_reported && gives_back(function))
        checker.report(std::string(function) + " was called for a device that is lost");
      there.loss_reported = true;
      return there.lost;
    });
  }

  // Under the lock.
  Status put(CUstream_st* stream, const std::string& name, const std::vector<Access>& accesses,
             std::function<bool()> run);
  Status put_kernel(CUstream_st* stream, const std::string& name, int device,
                    const std::vector<Access>& accesses, Kernel run);
  Outside begin_outside(const std::string& name, const Access& access);
  Status record(CUevent_st* event, CUstream_st* stream);
  Status wait_for(std::unique_lock<std::mutex>& lock, CUevent_st* event);
  Status wait_for(std::unique_lock<std::mutex>& lock, CUstream_st* stream);
  Status query(CUevent_st* event);
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  /// For two different devices.
  bool may_be_peers(int device, int other) const;
  bool knows(const CUstream_st* stream) const;
  std::shared_ptr<CUevent_st> find(const CUevent_st* event) const;  // null: unknown

  static int current();
  static std::vector<int>& contexts_of_thread();

  struct Device {
    CUctx_st context{};
    int retained = 0;
    std::set<int> has_access_to{};  // others' memory, while the context is there
    Status lost = success;
    bool loss_reported = false;              // a call has returned the loss
    std::uint64_t done = 0, ends_after = 0;  // 0: never
    Status ends_by = success;
    Unsaved unsaved{};
    std::size_t lost_bytes = 0;  // without another replica
  };
  // Guarded by the lock.
  Settings settings;
  Checker checker;
  std::unique_ptr<Memory> memory = std::make_unique<Memory>();
  std::deque<Device> devices;
  std::vector<std::unique_ptr<CUstream_st>> streams;
  std::vector<std::shared_ptr<CUevent_st>> events;
  std::vector<std::unique_ptr<CUmod_st>> modules;
  std::vector<std::unique_ptr<CUgraph_st>> graphs;
  std::vector<std::unique_ptr<CUgraphExec_st>> ready_graphs;
  std::uint32_t streams_made = 0;

  std::mutex& mutex() noexcept { return mutex_; }

 private:
  Fake() = default;
  Status enter(std::unique_lock<std::mutex>& lock, const char* function, int device);
  static bool gives_back(std::string_view function) noexcept {
    return function.find("Destroy") != function.npos || function.find("Free") != function.npos ||
           function.find("Unregister") != function.npos || function.find("Unload") != function.npos;
  }
  void work();
  void do_step(std::unique_lock<std::mutex>& lock, CUstream_st& stream);
  void become_lost(int device, Status status);
  void stop();

  struct Failure {
    std::string function;
    int call = 0, calls = 0;
    bool for_good = false;
    Status status = success;
  };
  std::mutex mutex_;  // also guards the fields below
  std::condition_variable changed_;
  std::vector<Failure> failures_;
  std::map<std::string, int> calls_;
  int struck_ = 0;
  std::string write_calls_to_;  // empty: nowhere
  std::mt19937_64 random_;
  std::uint64_t operations_ = 0;
  bool started_ = false, ending_ = false, by_environment_ = false;
  std::thread thread_;
};

}  // namespace fake_cuda
