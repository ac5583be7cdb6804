// The fake devices' memory: addresses that fault when a core follows them, the bytes behind them, and what RAM the
// driver has registered.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake_cuda {

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  /// Null if the device has not so much left. Full of what nobody has written.
  std::byte* take(int device, std::size_t bytes, std::size_t of_device);
  /// How large what begins there is; 0: nothing does. From then on nobody may use it.
  std::size_t give_back(std::byte* at);
  /// What was in it cannot be had any more.
  void lose(int device);

  /// RAM that devices follow: somebody's that is registered, what the driver has given, and what it moves as pages are touched.
  enum class Ram : std::uint8_t { registered, taken, managed };
  void register_host(std::byte* at, std::size_t bytes, Ram how);
  /// As give_back(), of such RAM only.
  std::size_t forget_host(std::byte* at, Ram how);
  bool overlaps_registered(const std::byte* at, std::size_t bytes) const;

  enum class Where : std::uint8_t { nowhere, device, host, freed, across };
  struct Found {
    Where where = Where::nowhere;
    std::byte* bytes = nullptr;  ///< for cores
    int device = -1;
    bool managed = false;
  };
  Found find(const void* at, std::size_t bytes) const;

  std::size_t most_bytes(int device) const;
  std::size_t bytes(int device) const;
  /// Of devices that are not lost.
  std::vector<std::string> left() const;

 private:
  struct Block {
    std::size_t bytes;
    std::byte* real;
    int device;
    bool freed, lost;
  };
  struct Host {
    std::size_t bytes;
    Ram how;
  };
  struct Count {
    std::size_t now = 0, most = 0;
  };
  std::map<std::uintptr_t, Block> blocks_;  // by where they begin for devices
  std::map<std::uintptr_t, Host> hosts_;
  std::map<int, Count> counts_;
  bool lost_any_ = false;
};

}  // namespace fake_cuda
