// C library streams whose last step is implemented here.
#include "fairlead/run/standard_streams.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>
#include <span>

#include "base/file_descriptor.hpp"
#include "base/full_transfer.hpp"
#include "base/printable.hpp"

namespace fairlead::app {

namespace {

constexpr std::size_t buffer_bytes = 65536;

bool is_closed(int number) { return ::fcntl(number, F_GETFD) < 0 && errno == EBADF; }

/// Blocks SIGPIPE on this thread: writing to a pipe without a reader is then only an error.
class WithoutSignal {
 public:
  WithoutSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSignal() {
    constexpr timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSignal(const WithoutSignal&) = delete;
  WithoutSignal& operator=(const WithoutSignal&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

}  // namespace

StandardStreams::StandardStreams() : output_(of_process(STDOUT_FILENO)) {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (!is_closed(number)) continue;
    const FileDescriptor nothing = open_file("/dev/null", O_RDWR);
    if (nothing) ::dup2(nothing.get(), number);
  }
  replace(output_, stdout, ::isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF);
  replace(of_process(STDERR_FILENO), stderr, _IONBF);
}

StandardStreams::Stream& StandardStreams::of_process(int number) {
  // Lifetime as of stdout and stderr: from the first line of main() to the last exit handler of any library.
  static std::array<Stream, 3> streams;
  Stream& stream = streams.at(static_cast<std::size_t>(number));
  stream = {number};
  return stream;
}

StandardStreams::~StandardStreams() { std::fflush(stdout); }

void StandardStreams::replace(Stream& stream, std::FILE*& standard, int buffering) {
  std::FILE* const ours =
      ::fopencookie(&stream, "w", {.read = nullptr, .write = write, .seek = nullptr, .close = nullptr});
  if (ours == nullptr) return;  // no memory: the usual one has to do
  std::setvbuf(ours, nullptr, buffering, buffer_bytes);
  std::fflush(standard);
  standard = ours;
}

ssize_t StandardStreams::write(void* to, const char* text, size_t bytes) {
  Stream& stream = *static_cast<Stream*>(to);
  // A closed standard output, as by `head`, ends the program; a closed standard error does not.
  std::optional<WithoutSignal> quiet;
  if (stream.number == STDERR_FILENO) quiet.emplace();
  std::array<char, 4096> shown;  // no memory is needed, as for "out of memory"
  std::size_t used = 0;
  const auto flush = [&] {
    if (stream.error == 0)
      stream.error = write_fully(stream.number, std::as_bytes(std::span(shown).first(used))).error;
    used = 0;
  };
  for (const char byte : std::span(text, bytes)) {
    if (shown.size() - used < Printable::longest) flush();
    used += stream.characters.put(byte, std::span(shown).subspan(used).first<Printable::longest>());
  }
  flush();
  return static_cast<ssize_t>(bytes);
}

int StandardStreams::output_error() {
  std::fflush(stdout);
  std::array<char, Printable::longest> rest;
  const std::size_t bytes = output_.characters.finish(rest);
  if (bytes != 0 && output_.error == 0)
    output_.error = write_fully(output_.number, std::as_bytes(std::span(rest).first(bytes))).error;
  return output_.error;
}

}  // namespace fairlead::app
