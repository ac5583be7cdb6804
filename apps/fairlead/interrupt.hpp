// Ctrl-C ends a run cleanly: the first one asks for the end, a second one does not wait for it. As long as an
// object of this class lives, SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE are handled so. Writing to a pipe that
// nobody reads is an error (EPIPE) instead of the end of the process: a SIGPIPE that nobody sent is ignored.
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
  /// The first signal makes `cancel` be called, once, on a thread that watches for it: it may lock and
  /// allocate, and must be safe beside the run, and not throw. A second signal writes `on_exit_text` to the
  /// standard error stream and ends the process at once with exit code 128 + the signal's number: 130 for
  /// Ctrl-C. The default text ends the line that a progress bar may have left on a terminal; the bar changes
  /// nothing else there. A SIGINT that the process was started to ignore (in the background of a script) is
  /// ignored when it comes from the terminal's keyboard, which meant another program; one that somebody sends
  /// to this process counts. SIGHUP (as by nohup), SIGQUIT and SIGPIPE stay ignored if they were. One object
  /// at a time; a second throws UsageError. SystemError if the system refuses. SIGUSR1 makes `tell_status` be
  /// called, on the same thread, as often as it comes; without, it is left as it was.
  explicit Interrupt(std::function<void()> cancel, std::optional<std::string> on_exit_text = {},
                     std::function<void()> tell_status = {});
  /// Puts back the handlers that were there; a `cancel` under way is waited for.
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Calls `make`, which makes what a second signal must remove as long as this object lives, and returns the paths: files, and
  /// folders behind what is in them. Instead of what was said before; what is too long for the handler is left out.
  /// A second signal that comes meanwhile is heeded after it: else a file that has no name here yet would be left. Passes on
  /// what `make` throws.
  static void removes_at_exit(const std::function<std::vector<std::filesystem::path>()>& make);

  /// Calls `last`, with which what was asked for is there: a signal that comes from then on, also when this object is gone, changes
  /// nothing, and a second one ends the process as always. Without calling it throws Interrupted if a signal has come;
  /// passes on what it throws.
  static void finish(const std::function<void()>& last);

  /// Says on the standard error stream that there is no memory, and whether what was asked for is complete all the same.
  /// Allocates nothing.
  static void say_out_of_memory() noexcept;
  /// Says so, removes what a second signal would, and ends the process at once.
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
