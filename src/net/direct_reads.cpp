// See direct_reads.hpp.
#include "net/direct_reads.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>
#include <utility>

#include "net/mpi/plugin.hpp"
#include "net/process_address.hpp"

namespace fairlead::net {

namespace {

// Missing in old headers.
#ifdef PR_SET_PTRACER
constexpr int set_reader = PR_SET_PTRACER;
#else
constexpr int set_reader = 0x59616d61;
#endif

std::uint64_t random_number() {
  const Token token = random_token();
  std::uint64_t number = 0;
  std::memcpy(&number, token.data(), sizeof number);
  return number;
}

/// The machine's text, without spaces.
std::string own_machine() {
  std::string machine;
  for (const char c : own_address().machine)
    if (c != ' ') machine += c;
  return machine;
}

/// Reads the bytes, then the mark. Returns errno; 0: none.
int read_of(pid_t process, std::uint64_t address, void* place, Bytes bytes, std::uint64_t mark_at,
            std::uint64_t& mark) noexcept {
  for (;;) {
    std::array<iovec, 2> here{{{place, bytes}, {&mark, sizeof mark}}};
    std::array<iovec, 2> there{
        {{reinterpret_cast<void*>(address), bytes}, {reinterpret_cast<void*>(mark_at), sizeof mark}}};
    const ssize_t count =
        ::process_vm_readv(process, here.data(), here.size(), there.data(), there.size(), 0);
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (static_cast<Bytes>(count) == bytes + sizeof mark) return 0;
    // A partial read: read the rest again with the mark, which must be read last.
    if (count == 0 || static_cast<Bytes>(count) >= bytes) return EFAULT;
    address += static_cast<Bytes>(count);
    place = static_cast<std::byte*>(place) + count;
    bytes -= static_cast<Bytes>(count);
  }
}

}  // namespace

DirectReads::DirectReads(RankId own) : own_(own), first_mark_(random_number() | 1), probe_(random_number()) {
  // With the Yama security module, only ancestors may read a process. This call extends the permission to the
  // descendants of the launcher. Without Yama the call fails.
  static_cast<void>(::prctl(set_reader, ::getppid(), 0, 0, 0));
}

std::string DirectReads::introduction() const {
  return fmt::format("{} {} {} {}", own_machine(), ::getpid(), reinterpret_cast<std::uintptr_t>(&probe_),
                     probe_);
}

std::string DirectReads::probe(const std::vector<std::string>& introductions) {
  const std::string machine = own_machine();
  processes_.assign(introductions.size(), 0);
  std::string readable;
  std::size_t near = 0;
  int error = 0;
  for (std::size_t rank = 0; rank < introductions.size(); ++rank) {
    std::istringstream fields(introductions[rank]);
    std::string its_machine;
    pid_t process = 0;
    std::uint64_t address = 0, expected = 0;
    fields >> its_machine >> process >> address >> expected;
    if (!fields || rank == index(own_) || its_machine != machine) continue;
    ++near;
    std::uint64_t found = 0, again = 0;
    const int failed = read_of(process, address, &found, sizeof found, address, again);
    if (failed == 0 && found == expected && again == expected) {
      processes_[rank] = process;
      readable += fmt::format(" {}", rank);
    } else {
      error = failed == 0 ? ESRCH : failed;  // an unrelated process has that number
    }
  }
  return fmt::format("{} {}{}", near, error, readable);
}

void DirectReads::set_results(const std::vector<std::string>& tried) {
  read_by_.assign(tried.size(), false);
  for (std::size_t rank = 0; rank < tried.size(); ++rank) {
    std::istringstream fields(tried[rank]);
    std::size_t near = 0;
    int error = 0;
    fields >> near >> error;
    pairs_ += near;
    if (error != 0) why_not_ = std::generic_category().message(error);
    for (std::size_t other = 0; fields >> other;) {
      ++reading_pairs_;
      if (other == index(own_)) read_by_[rank] = true;
    }
  }
}

std::string DirectReads::why_not_read() const {
  if (reading_pairs_ == pairs_) return {};
  const bool all = reading_pairs_ == 0;
  return fmt::format("ranks of one machine may not read each other's memory{} ({})",
                     all ? "" : fmt::format(", {} of {} pairs of them", pairs_ - reading_pairs_, pairs_),
                     why_not_);
}

bool DirectReads::read(const Part& part) const noexcept {
  const pid_t process = index(part.from) < processes_.size() ? processes_[index(part.from)] : 0;
  if (process == 0) return false;
  std::uint64_t mark = 0;
  return read_of(process, part.address, part.place, part.bytes, part.mark_at, mark) == 0 && mark == part.mark;
}

std::shared_ptr<const DirectReads> exchange_direct_reads(const MpiPlugin& plugin, std::uint32_t own) {
  auto direct_reads = std::make_shared<DirectReads>(RankId{own});
  // The object must not move: other ranks read its member probe_.
  const std::string tried = direct_reads->probe(plugin.share(direct_reads->introduction()));
  direct_reads->set_results(plugin.share(tried));
  return direct_reads;
}

}  // namespace fairlead::net
