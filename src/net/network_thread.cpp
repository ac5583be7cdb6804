// See network_thread.hpp.
#include "net/network_thread.hpp"

#include <fairlead/error.hpp>

#include <string>
#include <system_error>
#include <utility>

#include "base/guarded_thread.hpp"

namespace fairlead::net {

namespace {
constexpr unsigned looks_before_yielding = 256;  // empty polls: some tens of microseconds
}

NetworkThread::NetworkThread(std::shared_ptr<Network> network, std::function<void(std::exception_ptr)> failed)
    : network_(std::move(network)), failed_(std::move(failed)) {
  network_->on_listening([this] {
    { const std::lock_guard guard(mutex_); }  // the thread either waits already or sees the change
    listens_or_ends_.notify_one();
  });
  try {
    thread_ = guarded_thread([this] { run(); }, failed_);
  } catch (const std::system_error& error) {
    network_->on_listening({});
    throw SystemError(std::string("cannot start the network thread: ") + error.what() +
                      ".\n  Use --network-thread off, or raise the limit (ulimit -u, ulimit -v, pids of the "
                      "cgroup, threads-max).");
  }
}

NetworkThread::~NetworkThread() {
  {
    const std::lock_guard guard(mutex_);
    ending_ = true;
  }
  listens_or_ends_.notify_one();
  thread_.join();
  network_->on_listening({});
}

void NetworkThread::run() {
  do {
    std::unique_lock lock(mutex_);
    listens_or_ends_.wait(lock, [this] { return ending_ || network_->is_active(); });
    if (ending_) return;
  } while (drive_while_it_listens());
}

/// Until the network no longer listens or the destructor runs. False if the network cannot be driven any more.
bool NetworkThread::drive_while_it_listens() {
  try {
    for (unsigned in_vain = 0; network_->is_active() && !ending_;) {
      in_vain = network_->poll() ? 0 : in_vain + 1;
      if (in_vain > looks_before_yielding) std::this_thread::yield();  // other ranks may need the core
    }
    return true;
  } catch (...) {
    failed_(std::current_exception());
    return false;
  }
}

}  // namespace fairlead::net
