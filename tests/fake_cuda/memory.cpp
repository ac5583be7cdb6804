// See memory.hpp.
#include "fake_cuda/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fake_cuda {

namespace {

constexpr int unwritten_bytes = 0xa5, lost_bytes = 0x5e;

std::byte* map(std::size_t bytes, int protection) {
  void* const at = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

std::uintptr_t number_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

}  // namespace

Memory::~Memory() {
  for (const auto& [at, block] : blocks_) {
    ::munmap(reinterpret_cast<void*>(at), block.bytes);
    ::munmap(block.real, block.bytes);
  }
  for (const auto& [at, host] : hosts_)  // of lost devices, where it cannot be freed
    if (host.how != Ram::registered) std::free(reinterpret_cast<void*>(at));
}

std::byte* Memory::take(int device, std::size_t bytes, std::size_t of_device) {
  Count& count = counts_[device];
  if (bytes == 0 || bytes > of_device - count.now) return nullptr;
  std::byte* const at = map(bytes, PROT_NONE);
  std::byte* const real = map(bytes, PROT_READ | PROT_WRITE);
  if (at == nullptr || real == nullptr) return nullptr;
  std::memset(real, unwritten_bytes, bytes);
  count.now += bytes;
  count.most = std::max(count.most, count.now);
  blocks_[number_of(at)] = {bytes, real, device, false, false};
  return at;
}

/// Its addresses stay reserved, so that later uses are detected.
std::size_t Memory::give_back(std::byte* at) {
  const auto found = blocks_.find(number_of(at));
  if (found == blocks_.end() || found->second.freed) return 0;
  found->second.freed = true;
  counts_[found->second.device].now -= found->second.bytes;
  return found->second.bytes;
}

void Memory::lose(int device) {
  lost_any_ = true;
  for (auto& [at, block] : blocks_)
    if (block.device == device) {
      block.lost = true;
      std::memset(block.real, lost_bytes, block.bytes);
    }
}

void Memory::register_host(std::byte* at, std::size_t bytes, Ram how) {
  hosts_[number_of(at)] = {bytes, how};
}

std::size_t Memory::forget_host(std::byte* at, Ram how) {
  const auto found = hosts_.find(number_of(at));
  if (found == hosts_.end() || found->second.how != how) return 0;
  const std::size_t bytes = found->second.bytes;
  hosts_.erase(found);
  return bytes;
}

bool Memory::overlaps_registered(const std::byte* at, std::size_t bytes) const {
  return std::ranges::any_of(hosts_, [&](const auto& one) {
    return one.first < number_of(at) + bytes && number_of(at) < one.first + one.second.bytes;
  });
}

Memory::Found Memory::find(const void* at, std::size_t bytes) const {
  const std::uintptr_t begin = number_of(at);
  if (auto after = blocks_.upper_bound(begin); after != blocks_.begin()) {
    const auto& [first, block] = *--after;
    if (begin + bytes <= first + block.bytes)
      return {block.freed ? Where::freed : Where::device, block.real + (begin - first), block.device};
  }
  if (auto after = hosts_.upper_bound(begin); after != hosts_.begin()) {
    const auto& [first, host] = *--after;
    if (begin + bytes <= first + host.bytes)
      return {Where::host, static_cast<std::byte*>(const_cast<void*>(at)), -1, host.how == Ram::managed};
    if (begin < first + host.bytes) return {Where::across, nullptr, -1};
  }
  return {overlaps_registered(static_cast<const std::byte*>(at), bytes) ? Where::across : Where::nowhere,
          static_cast<std::byte*>(const_cast<void*>(at)), -1};
}

std::size_t Memory::most_bytes(int device) const {
  const auto found = counts_.find(device);
  return found == counts_.end() ? 0 : found->second.most;
}
std::size_t Memory::bytes(int device) const {
  const auto found = counts_.find(device);
  return found == counts_.end() ? 0 : found->second.now;
}

std::vector<std::string> Memory::left() const {
  std::vector<std::string> left;
  for (const auto& [at, block] : blocks_)
    if (!block.freed && !block.lost)
      left.push_back("memory of device " + std::to_string(block.device) + " was not given back");
  if (!lost_any_)  // otherwise its owner may not call the driver
    for (const auto& [at, host] : hosts_)
      left.push_back(host.how == Ram::registered ? "RAM is registered at the end" : "RAM was not given back");
  return left;
}

}  // namespace fake_cuda
