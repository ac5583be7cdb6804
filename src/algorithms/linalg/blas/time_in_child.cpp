// The parent's side of timing a BLAS: starts a child process, reads its output and enforces its time limit.
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fairlead/error.hpp>
#include <string_view>
#include <utility>

#include "algorithms/linalg/blas/blas_timing.hpp"
#include "base/child_process.hpp"
#include "base/core_time.hpp"
#include "base/file_descriptor.hpp"

namespace fairlead::linalg {
namespace {

using Clock = std::chrono::steady_clock;

/// The environment of this process (no setting is read from it), with the core type set or removed, and libraries set
/// to one thread.
std::vector<std::string> environment_with(const BlasCandidate& candidate) {
  std::vector<std::string> set{"OPENBLAS_CORETYPE=", "BLIS_ARCH_TYPE=", "OPENBLAS_VERBOSE="};
  const std::size_t removed = set.size();
  for (const char* variable : one_thread_variables) set.push_back(std::string(variable) + "=");
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::ranges::none_of(set,
                             [&](const auto& name) { return std::string_view(*variable).starts_with(name); }))
      variables.emplace_back(*variable);
  for (std::size_t i = removed; i < set.size(); ++i) variables.push_back(set[i] + "1");
  if (!candidate.core_type.empty())
    variables.push_back(candidate.variable + "=" + candidate.variable_value());
  return variables;
}

/// A child process with its standard output on a pipe; the destructor kills it and waits for it.
class Child {
 public:
  Child(std::vector<std::string> arguments, const std::vector<std::string>& environment) {
    const std::string program = arguments[0];
    StartedChild started = start_child({.arguments = std::move(arguments), .environment = &environment});
    if (started.error != 0)
      throw SystemError(
          fmt::format("cannot start \"{}\", which times kernels: {}", program, std::strerror(started.error)));
    id_ = started.id;
    processes_time_.emplace(id_);
    output_ = std::move(started.output);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      wait();
    }
  }

  /// The child's output until it closes the pipe; none if that takes longer than `limit`.
  std::optional<std::string> output(Duration limit) {
    std::string text;
    const Clock::time_point deadline = Clock::now() + longest;
    for (;;) {
      count_time();
      if (spent_ >= limit || Clock::now() >= deadline) return {};
      pollfd ready{output_.get(), POLLIN, 0};
      if (::poll(&ready, 1, static_cast<int>(slice / std::chrono::milliseconds(1))) <= 0) continue;
      std::array<char, 4096> piece;
      const auto bytes = ::read(output_.get(), piece.data(), piece.size());
      if (bytes == 0) return text;
      if (bytes > 0) text.append(piece.data(), static_cast<std::size_t>(bytes));
      if ((bytes < 0 && errno != EINTR) || text.size() > 65536) return text;
    }
  }

  /// The child's counted time so far.
  Duration counted_time() const noexcept { return spent_; }

  /// The status from waitpid after the child has ended; 0 if other code in this process has already reaped it.
  int wait() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0)
      if (errno != EINTR) break;
    id_ = -1;
    return status;
  }

 private:
  static constexpr Duration slice = std::chrono::milliseconds(50), longest = std::chrono::seconds(60);

  /// Counts the elapsed time, except the time that the child waited for a core, and the time in which this process did
  /// not run itself because it was stopped or had no core either.
  void count_time() {
    const Clock::time_point now = Clock::now();
    const Duration passed = std::min<Duration>(now - counted_until_, 2 * slice);
    counted_until_ = now;
    const CoreTime before = core_time_;
    core_time_ = processes_time_->now().value_or(before);
    const CoreTime since = core_time_ - before;
    spent_ += std::max(since.on_core, passed - since.waiting);
  }

  pid_t id_ = -1;
  FileDescriptor output_;
  std::optional<CoreTimeOfProcess> processes_time_;
  CoreTime core_time_;
  Clock::time_point counted_until_ = Clock::now();
  Duration spent_{};
};

std::vector<std::string_view> fields_of_answer(std::string_view text) {
  std::vector<std::string_view> fields;
  const auto line = text.substr(0, text.find('\n'));
  for (std::size_t begin = 0; begin <= line.size();) {
    const auto end = std::min(line.find('\t', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

double positive(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? value : 0;
}

}  // namespace

TimingOutcome time_in_child(const std::vector<std::string>& helper, const BlasCandidate& candidate, int tile,
                            Duration limit) {
  if (helper.empty()) throw SystemError("no helper program to time kernels with");
  const auto limit_ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  auto arguments = helper;
  arguments.insert(arguments.end(), {candidate.library, std::to_string(tile), std::to_string(limit_ms)});
  Child child(std::move(arguments), environment_with(candidate));
  const auto text = child.output(limit);
  const Duration spent = child.counted_time();
  if (!text) return {{}, fmt::format("took longer than {:.1f} s of computing", seconds(limit)), {}, spent};
  const int status = child.wait();
  if (WIFSIGNALED(status))
    return {{},
            fmt::format("was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status))),
            {},
            spent};

  const auto fields = fields_of_answer(*text);
  if (fields.size() == 3 && fields[0] == "fairlead-blas-failure")
    return {{}, std::string(fields[2]), {}, spent};
  if (fields.size() == 14 && fields[0] == "fairlead-blas-timing" && fields[1] == "3") {
    const auto rates_at = [&](std::size_t first) {
      return KernelRates{positive(fields[first]), positive(fields[first + 1]), positive(fields[first + 2]),
                         positive(fields[first + 3])};
    };
    const BlasTiming timing{
        candidate,   std::string(fields[2]), std::string(fields[3]), std::string(fields[4]), rates_at(6),
        rates_at(10)};
    if (timing.gflops() > 0) return {timing, {}, std::string(fields[5]), spent};
  }
  return {{}, fmt::format("\"{}\" printed no timing", helper[0]), {}, spent};
}

}  // namespace fairlead::linalg
