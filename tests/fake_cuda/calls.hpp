// Shared by the exported functions of the fake library: the driver itself, addresses, allocation and release.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "fake_cuda/fake.hpp"

namespace fake_cuda {

using Lock = std::unique_lock<std::mutex>;
using Pointer = unsigned long long;

inline Fake& fake() { return Fake::of_process(); }
inline std::byte* bytes_at(Pointer at) { return reinterpret_cast<std::byte*>(at); }
inline std::byte* bytes_at(const void* at) { return static_cast<std::byte*>(const_cast<void*>(at)); }

/// RAM that devices can access, filled with a pattern. Null if out of memory.
inline std::byte* take_ram(std::size_t bytes, Memory::Ram how) {
  void* const taken = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (taken == nullptr) return nullptr;
  std::memset(taken, 0xa5, bytes);
  fake().memory->register_host(bytes_at(taken), bytes, how);
  return bytes_at(taken);
}

template <class Objects, class Object>
Status destroy(Objects& objects, const Object* object) {
  return std::erase_if(objects, [&](const auto& one) { return one.get() == object; }) == 0 ? invalid_handle
                                                                                           : success;
}

}  // namespace fake_cuda
