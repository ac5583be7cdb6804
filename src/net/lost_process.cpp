// See lost_process.hpp.
#include "net/lost_process.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "base/file_descriptor.hpp"

namespace fairlead::net {

std::optional<std::uint64_t> process_start_time(pid_t process) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", process));
  if (!stat) return std::nullopt;
  // The second field is the program's name in parentheses, with arbitrary characters.
  std::size_t at = stat->rfind(')');
  constexpr int started_field = 22;
  for (int field = 2; field < started_field && at != std::string::npos; ++field) at = stat->find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  std::uint64_t started = 0;
  const auto read = std::from_chars(stat->data() + at + 1, stat->data() + stat->size(), started);
  if (read.ec != std::errc{}) return std::nullopt;
  return started;
}

bool kill_process(pid_t process, std::uint64_t started) noexcept try {
  // The descriptor refers to that process even if its number is reused.
  const FileDescriptor opened = open_process(process);
  if (!opened || process == ::getpid() || process_start_time(process) != started) return false;
  return ::syscall(SYS_pidfd_send_signal, opened.get(), SIGKILL, nullptr, 0) == 0;
} catch (...) {
  return false;
}

bool kill_self_after(Duration time) noexcept {
  struct sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;  // cannot be handled or blocked
  timer_t timer{};
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return false;
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  struct itimerspec at = {};
  at.it_value.tv_sec = whole.count();
  at.it_value.tv_nsec = (time - whole).count();
  return ::timer_settime(timer, 0, &at, nullptr) == 0;
}

}  // namespace fairlead::net
