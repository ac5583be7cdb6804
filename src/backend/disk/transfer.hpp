// One complete read or write of a file range on the calling thread, without leaving pages in the page cache.
#pragma once
#include <fairlead/ids.hpp>

#include <sys/uio.h>

#include <cstdint>
#include <span>

namespace fairlead::backend {

enum class IoDirection : std::uint8_t {
  read,   // file to memory; a premature end of file is an error (ENODATA)
  write,  // memory to file
};

struct TransferOutcome {
  Bytes bytes = 0;       ///< transferred
  int error_number = 0;  ///< the errno that ended it early, or 0
  Bytes wrong_at = 0;    ///< for EBADMSG: see IoResult
};

/// Reads or writes all `parts` (at most 1,024), contiguously from `offset` on. Continues partial system calls, for
/// which it changes `parts`. `direct`: the descriptor bypasses the page cache; otherwise the pages are written out
/// and dropped.
TransferOutcome transfer_in_full(int descriptor, Bytes offset, std::span<iovec> parts, IoDirection direction,
                                 bool direct);

/// Advises the system to drop clean pages from the page cache.
void drop_clean_pages(int descriptor, Bytes offset, Bytes bytes) noexcept;

}  // namespace fairlead::backend
