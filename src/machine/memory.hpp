// The memory of the machine, and the default memory limit of a run.
#pragma once
#include <fairlead/ids.hpp>

#include "machine/system_files.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace fairlead::machine {

struct MachineMemory {
  Bytes total_bytes = 0;      ///< of the machine
  Bytes available_bytes = 0;  ///< of the machine: memory that the kernel can provide without swapping
  /// The limit with the least free memory, of a control group or of the address space; none without a limit below the
  /// total.
  std::optional<Bytes> limit_bytes;
  Bytes limit_used_bytes = 0;  ///< memory that counts against that limit already
  std::string limit_source;    ///< the file with the limit, or a description of it
  Bytes free_bytes = 0;        ///< the minimum of available memory and of the free memory within each limit
  Bytes margin_bytes = 0;
  /// Remaining address space of this process, in bytes; none if it is unlimited.
  std::optional<Bytes> free_address_space;
  /// The default memory limit of a run.
  Bytes usable_bytes() const noexcept { return free_bytes - margin_bytes; }
};

/// Memory kept free for code, thread stacks, the BLAS library and other programs: a tenth of free memory, at least 256
/// MiB, but at most half.
Bytes memory_margin(Bytes free_bytes) noexcept;

/// Address space for a thread's stack and malloc arena.
inline constexpr Bytes address_space_per_thread = Bytes(12) << 20;
/// In addition an OpenBLAS buffer, at the largest size of any platform.
inline constexpr Bytes addresses_of_each_worker = address_space_per_thread + (Bytes(128) << 20);

/// `workers`: the number of worker threads, which increase the margin if the address space is limited.
MachineMemory detect_memory(const SystemFiles& files, unsigned workers = 1);

enum class HugePageMode : std::uint8_t {
  unavailable,  // not supported by the kernel
  never,        // disabled
  madvise,      // for memory that requests them, as Fairlead's pools do
  always,
};
std::string_view name_of(HugePageMode mode) noexcept;

struct Pages {
  Bytes page_bytes = 4096;
  HugePageMode huge_pages = HugePageMode::unavailable;  ///< transparent huge pages
  Bytes huge_page_bytes = 0;                            ///< 0: unavailable
};

Pages detect_pages(const SystemFiles& files);

}  // namespace fairlead::machine
