// The fake devices' memory: addresses that fault when a core accesses them, the bytes behind them, and the RAM that the
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

  /// Null if the device has too little memory left. Filled with a pattern.
  std::byte* take(int device, std::size_t bytes, std::size_t of_device);
  /// Frees the block at this address. Returns its size; 0: no block starts there. Later uses are errors.
  std::size_t give_back(std::byte* at);
  /// Its content becomes inaccessible.
  void lose(int device);

  /// RAM that devices can access: registered by its owner, allocated by the driver, or managed (pages migrate on access).
  enum class Ram : std::uint8_t { registered, taken, managed };
  void register_host(std::byte* at, std::size_t bytes, Ram how);
  /// As give_back(), for such RAM only.
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
  std::map<std::uintptr_t, Block> blocks_;  // by device address
  std::map<std::uintptr_t, Host> hosts_;
  std::map<int, Count> counts_;
  bool lost_any_ = false;
};

}  // namespace fake_cuda
