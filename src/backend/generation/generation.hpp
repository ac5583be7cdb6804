// Data whose first value is computed instead of read: cores make them between two tasks. What waits for it is
// space that is reserved already, or a buffer of a wire, so that nobody who computes ever waits for anything
// (docs/memory.md, rule 4).
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

#include "backend/backend.hpp"

namespace fairlead::backend {

/// The link that computes, from the store to the host's memory.
class Generation final : public Carrier, public Chore {
 public:
  /// `wake`: somebody who does chores is to look.
  explicit Generation(std::function<void()> wake) : Chore(Kind::computes), wake_(std::move(wake)) {}

  void start(const Load& load) override;
  /// Called after workers have ended.
  void stop() noexcept override;
  void do_one() noexcept override;

 private:
  const std::function<void()> wake_;
  std::mutex mutex_;  // guards the queue
  std::deque<Load> queue_;
};

/// "generated": there always; adds the links that compute.
class GeneratedBackend final : public Backend {
 public:
  std::string_view kind() const noexcept override { return "generated"; }
  std::unique_ptr<Part> make() const override;
};

}  // namespace fairlead::backend
