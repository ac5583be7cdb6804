// Reserves buffers with OpenBLAS's own allocation functions.
#include "algorithms/linalg/blas/buffers.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::linalg {
namespace {

/// How many of `wanted` mappings the system grants at the same time, mapped as OpenBLAS maps them.
std::size_t available_mappings(std::size_t wanted, std::size_t bytes) {
  std::vector<void*> pieces;
  pieces.reserve(wanted);
  while (pieces.size() < wanted) {
    void* const piece = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) break;
    pieces.push_back(piece);
  }
  for (void* piece : pieces) munmap(piece, bytes);
  return pieces.size();
}

}  // namespace

Buffers::Buffers(const SharedLibrary& library, const std::string& version, std::string path)
    : path_(std::move(path)),
      most_(max_buffers(version)),
      allocate_(most_ ? library.find<void*(int)>("blas_memory_alloc") : nullptr),
      free_(most_ ? library.find<void(void*)>("blas_memory_free") : nullptr) {}

void Buffers::reserve(std::size_t threads) {
  const std::lock_guard guard(mutex_);
  if (threads <= taken_) return;
  if (most_ && threads > *most_)
    throw ConfigError(fmt::format(
        "{} workers are more than the BLAS has buffers for ({}): {} at most.\n  Use --workers {}.", threads,
        path_, *most_, *most_));
  if (allocate_ == nullptr || free_ == nullptr) return;
  // The number of buffers that earlier calls have allocated is unknown, so the test assumes that all are new.
  const std::size_t available = taken_ + available_mappings(threads - taken_, bytes_of_each);
  if (available < threads)
    throw SystemError(fmt::format(
        "the BLAS {} needs {} MiB of address space for each of {} workers; there is room for {} (ulimit "
        "-v).\n  {}",
        path_, bytes_of_each >> 20, threads, available,
        available == 0 ? "Allow more addresses."
                       : fmt::format("Use --workers {}, or allow more addresses.", available)));
  std::vector<void*> buffers;
  buffers.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) buffers.push_back(allocate_(0));
  for (void* buffer : buffers) free_(buffer);
  taken_ = threads;
}

std::optional<std::size_t> Buffers::max_buffers(const std::string& version) {
  if (!version.starts_with("OpenBLAS")) return std::nullopt;
  constexpr std::string_view name = "MAX_THREADS=";
  constexpr std::size_t least = 50;
  const auto at = version.find(name);
  const auto threads =
      at == std::string::npos ? 0ul : std::strtoul(version.c_str() + at + name.size(), nullptr, 10);
  return std::max<std::size_t>(2 * threads, least);
}

}  // namespace fairlead::linalg
