// Rundown protection: the destructor of an object waits for the running tasks that use the object's address; tasks that start
// later do nothing. For objects that an exception may destroy before Flow::wait().
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>

namespace fairlead {

/// A member of the object, declared last so that it is destroyed first.
class RundownProtection {
 public:
  /// Shared by the object and the bodies of its tasks, which may outlive it.
  class Gate {
   public:
    bool enter() {
      const std::lock_guard guard(mutex_);
      if (closed_) return false;
      ++users_;
      return true;
    }
    void leave() noexcept {
      const std::lock_guard guard(mutex_);
      if (--users_ == 0 && closed_) unused_.notify_one();  // under the lock, so that close() returns after it
    }
    /// Refuses new uses, and returns when those in progress have finished.
    void close() noexcept {
      std::unique_lock lock(mutex_);
      closed_ = true;
      unused_.wait(lock, [this] { return users_ == 0; });
    }

   private:
    std::mutex mutex_;
    std::condition_variable unused_;
    unsigned users_ = 0;
    bool closed_ = false;
  };

  /// Keeps the object alive for its own lifetime; false if the object is being destroyed or gone.
  class Use {
   public:
    explicit Use(Gate& gate) : gate_(gate), granted_(gate.enter()) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
      if (granted_) gate_.leave();
    }
    explicit operator bool() const noexcept { return granted_; }

   private:
    Gate& gate_;
    const bool granted_;
  };

  RundownProtection() : gate_(std::make_shared<Gate>()) {}
  RundownProtection(const RundownProtection&) = delete;
  RundownProtection& operator=(const RundownProtection&) = delete;
  ~RundownProtection() { gate_->close(); }

  /// For the body of a task: `if (const Use use(*gate); use) ...`.
  std::shared_ptr<Gate> gate() const noexcept { return gate_; }

 private:
  std::shared_ptr<Gate> gate_;
};

}  // namespace fairlead
