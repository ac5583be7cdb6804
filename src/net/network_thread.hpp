// A thread that does nothing but drive a network, for ranks that have a core for it: what comes is heard however long tasks
// are.
#pragma once
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
  /// Of a network that has to be driven, and by any thread, before it begins. `failed` hears of what drive() throws, and nobody
  /// drives any more then. Throws SystemError if the system gives no thread.
  NetworkThread(std::shared_ptr<Network> network, std::function<void(std::exception_ptr)> failed);
  ~NetworkThread();
  NetworkThread(const NetworkThread&) = delete;
  NetworkThread& operator=(const NetworkThread&) = delete;

 private:
  void run();
  bool drive_while_it_listens();

  const std::shared_ptr<Network> network_;
  const std::function<void(std::exception_ptr)> failed_;
  std::mutex mutex_;  // guards ending_
  std::condition_variable listens_or_ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace fairlead::net
