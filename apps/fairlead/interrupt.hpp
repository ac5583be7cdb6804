// Ctrl-C ends a run cleanly: the first one asks for the end, a second one does not wait for it. As long as an
// object of this class lives, SIGINT and SIGTERM are handled so, and writing beyond a file size limit is an
// error (EFBIG) instead of the end of the process (SIGXFSZ ignored).
#pragma once
#include <signal.h>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace fairlead::app {

class Interrupt {
 public:
  /// The first signal makes `cancel` be called, once, on a thread that watches for it: it may lock and
  /// allocate, and must be safe beside the run, and not throw. A second signal writes `on_exit_text` to the
  /// standard error stream and ends the process at once with exit code 128 + the signal's number: 130 for
  /// Ctrl-C. The default text ends the line that a progress bar may have left on a terminal; the bar changes
  /// nothing else there. A SIGINT that the process was started to ignore (in the background of a script) is
  /// ignored when it comes from the terminal's keyboard, which meant another program; one that somebody sends
  /// to this process counts. One object at a time; a second throws UsageError. SystemError if the system
  /// refuses.
  /// SIGUSR1 makes `tell_status` be called, on the same thread, as often as it comes; without, it is left as
  /// it was.
  explicit Interrupt(std::function<void()> cancel, std::optional<std::string> on_exit_text = {},
                     std::function<void()> tell_status = {});
  /// Puts back the handlers that were there; a `cancel` under way is waited for.
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// The first signal that came; 0 if none has.
  static int signal() noexcept;

 private:
  struct Installed {
    int number;
    struct sigaction before;
  };
  void install(int number, void (*handler)(int, siginfo_t*, void*));
  void put_back() noexcept;
  void watch() const;

  std::function<void()> cancel_, tell_status_;
  int event_fd_ = -1;
  Installed installed_[4] = {};
  int installed_count_ = 0;
  std::thread watcher_;
};

}  // namespace fairlead::app
