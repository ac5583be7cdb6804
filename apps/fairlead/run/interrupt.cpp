// The signal handler, and the thread for actions that are not async-signal-safe.
#include "fairlead/run/interrupt.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/guarded_thread.hpp"
#include "fairlead/subcommand.hpp"

namespace fairlead::app {

namespace {

// A signal handler has no argument for a pointer, so its state is static. One Interrupt at a time owns it.
struct HandlerState {
  std::atomic<bool> taken = false;
  std::atomic<int> first_signal = 0, second_signal = 0;
  std::atomic<bool> making = false;    // the list of files to remove changes: a second signal waits for that
  std::atomic<bool> finished = false;  // the result is complete
  std::atomic<int> late_signal = 0;    // the first one after that
  std::atomic<int> event_fd = -1;
  std::atomic<int> running = 0;  // handlers in progress, on any thread
  std::atomic<bool> terminal_interrupt_ignored = false;
  std::array<char, 64> on_exit_text{};  // written before the handlers are installed
  std::size_t on_exit_text_size = 0;
  std::array<char, 4 * PATH_MAX> to_remove{};  // paths, each with its end
  std::atomic<std::size_t> to_remove_size = 0;
};
HandlerState state;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler must not wait for a lock");

// Requests to the watching thread, as parts of the counter of an eventfd: a signal, the status, or the end.
constexpr std::uint64_t signal_came = 1, status_wanted = std::uint64_t(1) << 16,
                        over = std::uint64_t(1) << 32;

// Only async-signal-safe calls here and below it.
void remove_all() {
  for (const char* path = state.to_remove.data(); path < state.to_remove.data() + state.to_remove_size.load();
       path += std::strlen(path) + 1)
    if (::unlink(path) != 0) ::rmdir(path);
}

[[noreturn]] void end_at_once() {
  [[maybe_unused]] const ssize_t unread =
      ::write(STDERR_FILENO, state.on_exit_text.data(), state.on_exit_text_size);
  remove_all();
  _exit(128 + state.second_signal.load());
}

void handle_signal(int number) {
  const bool finished = state.finished.load();
  int none = 0;
  if (!(finished ? state.late_signal : state.first_signal).compare_exchange_strong(none, number)) {
    state.second_signal = number;
    if (!state.making.load()) end_at_once();  // else the thread that makes the list sees the signal
  } else if (const int fd = state.event_fd.load(); fd >= 0 && !finished) {
    [[maybe_unused]] const ssize_t written = ::write(fd, &signal_came, sizeof signal_came);
  }
}

void handle(int number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  // Before event_fd is read: ~Interrupt() clears it, then waits until no handler can have read it.
  state.running.fetch_add(1);
  const bool meant_for_others =
      number == SIGINT && info->si_code == SI_KERNEL && state.terminal_interrupt_ignored.load();
  // A pipe without a reader: write() also returns an error, so the writer handles the loss.
  const bool reported_by_error = number == SIGPIPE && info->si_pid == ::getpid();
  if (!meant_for_others && !reported_by_error) handle_signal(number);
  state.running.fetch_sub(1);
  errno = saved_errno;
}

// Handlers never wait, so spinning is short.
void wait_for_handlers() {
  while (state.running.load() != 0) std::this_thread::yield();
}

SystemError refused(const char* what) {
  return SystemError(fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

// SIGUSR1: async-signal-safe as well.
void ask_for_status(int, siginfo_t*, void*) {
  const int saved_errno = errno;
  state.running.fetch_add(1);
  if (const int fd = state.event_fd.load(); fd >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(fd, &status_wanted, sizeof status_wanted);
  }
  state.running.fetch_sub(1);
  errno = saved_errno;
}

}  // namespace

Interrupt::Interrupt(std::function<void()> cancel, std::optional<std::string> on_exit_text,
                     std::function<void()> print_status)
    : cancel_(std::move(cancel)), tell_status_(std::move(print_status)) {
  if (state.taken.exchange(true)) throw UsageError("interrupts are handled already; one Interrupt at a time");
  const std::string text = on_exit_text ? *on_exit_text : isatty(STDERR_FILENO) == 1 ? "\n" : "";
  state.on_exit_text_size = std::min(text.size(), state.on_exit_text.size());
  std::copy_n(text.begin(), state.on_exit_text_size, state.on_exit_text.begin());
  state.first_signal = state.second_signal = state.late_signal = 0;
  state.finished = false;
  state.terminal_interrupt_ignored = false;
  try {
    event_counter_ = open_event_counter();
    if (!event_counter_) throw refused("cannot make an event file descriptor");
    state.event_fd = event_counter_.get();
    watcher_ = guarded_thread([this] { watch(); }, ignore_failure);
    install(SIGINT, handle);
    install(SIGTERM, handle);
    for (const int number : {SIGHUP, SIGQUIT, SIGPIPE}) install_unless_ignored(number);
    if (tell_status_) install(SIGUSR1, ask_for_status);
  } catch (...) {
    put_back();
    throw;
  }
}

Interrupt::~Interrupt() { put_back(); }

void Interrupt::say_out_of_memory() noexcept {
  constexpr std::string_view incomplete =
      "fairlead: out of memory: the system gives no more. Use a smaller --memory, or raise the limit (ulimit "
      "-v, memory of "
      "the cgroup).\n";
  constexpr std::string_view complete =
      "fairlead: out of memory: the results are complete, the report is not.\n";
  const std::string_view text = state.finished.load() ? complete : incomplete;
  [[maybe_unused]] const ssize_t unread = ::write(STDERR_FILENO, text.data(), text.size());
}

void Interrupt::end_out_of_memory(int status) noexcept {
  say_out_of_memory();
  remove_all();
  _exit(status);
}

int Interrupt::signal() noexcept { return state.first_signal.load(); }

void Interrupt::install(int number, void (*handler)(int, siginfo_t*, void*)) {
  Installed& installed = installed_[installed_count_];
  installed.number = number;
  if (number == SIGINT) {
    // Known before the handler can run.
    if (sigaction(number, nullptr, &installed.before) != 0) throw refused("cannot handle signals");
    state.terminal_interrupt_ignored =
        (installed.before.sa_flags & SA_SIGINFO) == 0 && installed.before.sa_handler == SIG_IGN;
  }
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;  // reading and writing go on as if nothing had happened
  if (sigaction(number, &action, &installed.before) != 0) throw refused("cannot handle signals");
  ++installed_count_;
}

void Interrupt::install_unless_ignored(int number) {
  struct sigaction before = {};
  if (sigaction(number, nullptr, &before) != 0) throw refused("cannot handle signals");
  if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN) return;
  install(number, handle);
}

void Interrupt::removes_at_exit(const std::function<std::vector<std::filesystem::path>()>& make) {
  // Sequentially consistent: a handler marks itself as running and stores the signal before it reads
  // `making`. So it is either waited for here, or leaves the end to this thread.
  struct Making {
    Making() {
      state.making = true;
      wait_for_handlers();
    }
    ~Making() {
      state.making = false;
      if (state.second_signal.load() != 0) end_at_once();
    }
  } const making;
  const std::vector<std::filesystem::path> paths = make();
  state.to_remove_size = 0;
  std::size_t size = 0;
  for (const std::filesystem::path& path : paths) {
    const std::string& text = path.native();
    if (text.empty() || text.size() + 1 > state.to_remove.size() - size) continue;
    std::copy_n(text.c_str(), text.size() + 1, state.to_remove.begin() + static_cast<std::ptrdiff_t>(size));
    size += text.size() + 1;
  }
  state.to_remove_size = size;
}

void Interrupt::finish(const std::function<void()>& last) {
  // As in removes_at_exit(): a handler that did not see `finished` has stored its signal before it is read
  // here.
  state.finished = true;
  wait_for_handlers();
  try {
    if (const int before = signal(); before != 0) throw Interrupted{before};
    last();
  } catch (...) {
    state.finished = false;
    throw;
  }
}

void Interrupt::put_back() noexcept {
  while (installed_count_ > 0) {
    const Installed& installed = installed_[--installed_count_];
    if (!state.finished.load() || installed.number == SIGUSR1)
      sigaction(installed.number, &installed.before, nullptr);
  }
  // A handler on another thread may still be about to write.
  state.event_fd = -1;
  state.to_remove_size = 0;
  wait_for_handlers();
  if (watcher_.joinable()) {
    [[maybe_unused]] const ssize_t written = ::write(event_counter_.get(), &over, sizeof over);
    watcher_.join();
  }
  event_counter_.close();
  state.taken = false;
}

void Interrupt::watch() const {
  std::uint64_t added = 0;
  bool cancelled = false;
  do {
    if (::read(event_counter_.get(), &added, sizeof added) != sizeof added) {
      if (errno != EINTR) return;
      added = 0;
      continue;
    }
    // Once: a second signal ends the process and does not arrive here.
    try {
      // Not by the counter: a handler that ran during the destruction had no event_fd to write to.
      if (state.first_signal.load() != 0 && !std::exchange(cancelled, true)) cancel_();
      if (added / status_wanted % status_wanted != 0) tell_status_();
    } catch (const std::exception&) {
      // No memory for it: the next signal ends the process.
    }
  } while (added < over);
}

}  // namespace fairlead::app
