// A CUDA driver without a device, for tests: it has devices whose memory no core can follow, streams whose order among
// each other is a seed's, errors where a test wants them, and it looks at everything that is done with it. It is a shared
// library with the real one's name, so that what is tested finds it as it would find that.
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

/// Which of its devices copy to each other.
enum class Peers : std::uint8_t {
  all,
  none,
  by_seed,  // of each pair it is drawn
  silent,   // all, says the driver, but bytes do not arrive
};

struct Settings {
  std::uint64_t seed = 1;
  int devices = 1;
  std::size_t memory_bytes = std::size_t{1} << 30;  ///< of each
  unsigned longest_delay_us = 60;                   ///< before something in a stream is done
  Peers peers = Peers::all;
};
/// Forgets all that was before, of which nothing may be in use any more.
void begin(const Settings& settings);
/// What was done that may not be done, each once, in words; and what was not given back.
std::vector<std::string> end();

/// The function (as the library exports it) gives this status in its n-th call from now on, counted from 1, or from then
/// on, and does nothing; by some of those from 700 on the device that is current is lost. Null: none does.
void fail(const char* function, int call = 0, bool for_good = false, int status = 2);
/// Another function does so, too.
void fail_also(const char* function, int call = 0, bool for_good = false, int status = 2);
/// How often they have struck.
int failures();
/// How often each function was called.
std::map<std::string, int> calls();
/// A function of a library on top of the driver is called: it is counted, and fail() may strike it. Its status then, else 0.
int called(const char* function);
/// The device fails when it has done so many things from now on: calls for it give that status from then on.
void lose(int device, std::uint64_t after, int status = 719);
bool is_lost(int device);
/// Bytes that kernels had written there, or were about to write, when the device was lost, and that no copy had brought to RAM
/// which a thread had seen to be over, and had called again since. 0: nothing was lost that is nowhere else.
std::size_t lost_bytes(int device);
/// Most that was allocated there at a time, and now.
std::size_t most_bytes(int device);
std::size_t bytes(int device);
/// Copies and kernels that devices have done.
std::uint64_t operations();

struct Access {
  const void* at = nullptr;
  std::size_t bytes = 0;
  bool write = false;
};
using Kernel = std::function<void(std::span<std::byte* const>)>;
/// Puts a kernel into the stream: `run` is called with where each of these is, for cores. Gives a status of the driver.
int launch(CUstream_st* stream, const char* name, std::vector<Access> accesses, Kernel run);
/// Bytes that somebody moves who is in no stream, as a network that follows a device's addresses.
struct Outside {
  std::byte* bytes = nullptr;  ///< for cores; null: there is no memory of a device
  std::uint32_t number = 0;
  int device = -1;
};
/// Whatever uses them has to be over before, and what is put into a stream until end_outside() is not ordered with that. A context has
/// to be current.
Outside begin_outside(const char* name, const void* at, std::size_t bytes, bool write);
void end_outside(const Outside& outside);
/// That is current for the thread; -1: none.
int current_device();
/// Adds to what end() says.
void report(const std::string& text);

}  // namespace fake_cuda
