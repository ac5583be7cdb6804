// Ctrl-C ends a run cleanly: the first one requests the end, a second one does not wait for it. While an
// object of this class exists, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE are handled like this. Writing to
// a pipe without a reader is an error (EPIPE) and does not end the process: a SIGPIPE that was not sent by
// kill() is ignored.
#pragma once
#include <signal.h>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.hpp"

namespace fairlead::app {

class Interrupt {
 public:
  /// The first signal calls `cancel`, once, on a thread that watches for it: it may lock and
  /// allocate, and must be safe during the run, and not throw. A second signal writes `on_exit_text` to the
  /// standard error stream and ends the process at once with exit code 128 + the signal's number: 130 for
  /// Ctrl-C. The default text ends the line that a progress bar may have left on a terminal; the bar changes
  /// nothing else there. A SIGINT that the process was started to ignore (in the background of a script) is
  /// ignored when it comes from the terminal's keyboard, which meant another program; one that is sent to
  /// this process counts. SIGHUP (as by nohup), SIGQUIT and SIGPIPE stay ignored if they were. One object
  /// at a time; a second throws UsageError. SystemError if the system refuses. SIGUSR1 calls `print_status`
  /// on the same thread, each time; without `print_status`, SIGUSR1 is not handled.
  explicit Interrupt(std::function<void()> cancel, std::optional<std::string> on_exit_text = {},
                     std::function<void()> print_status = {});
  /// Restores the previous handlers; waits for a `cancel` in progress.
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Calls `make`, which creates files and folders that a second signal must remove, and returns their paths:
  /// folders after their contents. The list replaces the previous one; paths that are too long for the
  /// handler are skipped. A second signal during `make` takes effect after it, so that no file is left.
  /// Throws what `make` throws.
  static void removes_at_exit(const std::function<std::vector<std::filesystem::path>()>& make);

  /// Calls `last`, which completes the result: a later signal, also after the end of this object, has no
  /// effect, and a second one ends the process as always. If a signal came before, throws Interrupted without
  /// the call. Throws what `last` throws.
  static void finish(const std::function<void()>& last);

  /// Prints to the standard error stream that memory is exhausted, and whether the result is complete.
  /// Allocates nothing.
  static void say_out_of_memory() noexcept;
  /// Prints so, removes the files that a second signal would remove, and ends the process at once.
  [[noreturn]] static void end_out_of_memory(int status) noexcept;

  /// The first signal that came; 0 if none has.
  static int signal() noexcept;

 private:
  struct Installed {
    int number;
    struct sigaction before;
  };
  void install(int number, void (*handler)(int, siginfo_t*, void*));
  void install_unless_ignored(int number);
  void put_back() noexcept;
  void watch() const;

  std::function<void()> cancel_, tell_status_;
  FileDescriptor event_counter_;
  Installed installed_[6] = {};
  int installed_count_ = 0;
  std::thread watcher_;
};

}  // namespace fairlead::app
