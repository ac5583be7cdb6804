// A CUDA driver without a device, for tests: its device memory is inaccessible to cores, a seed determines the order among
// streams, tests inject errors, and it checks every operation. It is a shared library with the real one's name, so that the
// tested code loads it in the same way.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

struct CUstream_st;

namespace fake_cuda {

/// Which devices are peers.
enum class Peers : std::uint8_t {
  all,
  none,
  by_seed,  // drawn for each pair
  silent,   // the driver reports all as peers, but bytes do not arrive
};

struct Settings {
  std::uint64_t seed = 1;
  int devices = 1;
  std::size_t memory_bytes = std::size_t{1} << 30;  ///< of each
  unsigned longest_delay_us = 60;                   ///< before an operation in a stream
  Peers peers = Peers::all;
};
/// Resets all state, of which nothing may be in use.
void begin(const Settings& settings);
/// The findings: each kind of invalid use once, and leaks.
std::vector<std::string> end();

/// The function (by its exported name) returns this status in its n-th call from now on, counted from 1, or in all calls from
/// then on, and does nothing; some statuses from 700 on lose the current device. Null: no function fails.
void fail(const char* function, int call = 0, bool for_good = false, int status = 2);
/// Lets another function fail as well.
void fail_also(const char* function, int call = 0, bool for_good = false, int status = 2);
/// Number of injected failures so far.
int failures();
/// Number of calls of each function.
std::map<std::string, int> calls();
/// Counts a call of a function of a library on top of the driver, which fail() may fail. Returns its status, or 0.
int called(const char* function);
/// The device is lost after this many operations from now on: calls for it return that status from then on.
void lose(int device, std::uint64_t after, int status = 719);
bool is_lost(int device);
/// Bytes that kernels had written there, or were about to write, when the device was lost, without a finished copy to RAM that a
/// thread had observed before a later call. 0: every lost datum has another replica.
std::size_t lost_bytes(int device);
/// Peak and current allocation.
std::size_t most_bytes(int device);
std::size_t bytes(int device);
/// Number of copies and kernels that devices have run.
std::uint64_t operations();

struct Access {
  const void* at = nullptr;
  std::size_t bytes = 0;
  bool write = false;
};
using Kernel = std::function<void(std::span<std::byte* const>)>;
/// Submits a kernel to the stream: `run` gets the address of each access, valid for cores. Returns a driver status.
int launch(CUstream_st* stream, const char* name, std::vector<Access> accesses, Kernel run);
/// An access outside of streams, as by a network that accesses device memory.
struct Outside {
  std::byte* bytes = nullptr;  ///< valid for cores; null: not device memory
  std::uint32_t number = 0;
  int device = -1;
};
/// Other accesses must be finished before; operations submitted before end_outside() are unordered with it. Requires a current
/// context.
Outside begin_outside(const char* name, const void* at, std::size_t bytes, bool write);
void end_outside(const Outside& outside);
/// The thread's current device; -1: none.
int current_device();
/// Adds a finding to those of end().
void report(const std::string& text);

}  // namespace fake_cuda
