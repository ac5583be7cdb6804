// The thread that draws, and the terminal it draws on.
#include "report/progress/progress_reporter.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <span>
#include <utility>

#include "base/full_transfer.hpp"
#include "base/guarded_thread.hpp"

namespace fairlead::report {

namespace {

std::size_t terminal_columns(int fd) {
  winsize size{};
  constexpr std::size_t usual = 80;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

Time steady_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

ProgressReporter::Options completed(ProgressReporter::Options options) {
  if (!options.now) options.now = steady_now;
  if (!options.columns) options.columns = [fd = options.fd] { return terminal_columns(fd); };
  return options;
}

}  // namespace

ProgressReporter::ProgressReporter(Options options)
    : options_(completed(std::move(options))), display_(options_.style) {
  if (options_.style == ProgressStyle::none) return;
  try {
    thread_ = guarded_thread([this] { show(); }, ignore_failure);
  } catch (const std::exception&) {
    // No thread, or no memory: the run does not need it.
  }
}

ProgressReporter::~ProgressReporter() {
  try {
    stop();
  } catch (const std::exception&) {
    // No memory for the last line.
  }
}

/// False if there is none any more.
bool ProgressReporter::end_thread() {
  if (!thread_.joinable()) return false;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  return true;
}

void ProgressReporter::stop() {
  if (end_thread()) write(display_.end(options_.now(), options_.snapshot()));
}

void ProgressReporter::abandon() {
  if (end_thread()) write(display_.abandon());
}

void ProgressReporter::show() {
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    write(display_.at(options_.now(), options_.snapshot(), options_.columns()));
    lock.lock();
  } while (!wake_.wait_for(lock, options_.interval, [this] { return stopping_; }));
}

void ProgressReporter::write(const std::string& text) const {
  // One write for the whole text, so that it does not mix with others. Failure is ignored.
  write_fully(options_.fd, std::as_bytes(std::span(text)));
}

}  // namespace fairlead::report
