// A thread that only drives a network, for ranks with a spare core: messages are received during long tasks.
#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "net/network.hpp"

namespace fairlead::net {

class NetworkThread {
 public:
  /// For a network that must be driven and allows it from any thread; before its begin(). `failed` gets the
  /// exceptions of poll(), after which the thread stops driving. Throws SystemError if the system cannot start a
  /// thread.
  NetworkThread(std::shared_ptr<Network> network, std::function<void(std::exception_ptr)> failed);
  ~NetworkThread();
  NetworkThread(const NetworkThread&) = delete;
  NetworkThread& operator=(const NetworkThread&) = delete;

 private:
  void run();
  bool drive_while_it_listens();

  const std::shared_ptr<Network> network_;
  const std::function<void(std::exception_ptr)> failed_;
  std::mutex mutex_;  // guards waiting for a change of ending_ or of the network's is_active()
  std::condition_variable listens_or_ends_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace fairlead::net
