// A backend with which a runtime runs in virtual time: its tasks take as long as a clock states, and copies to and from
// disk as long as the link is expected to need. The program submits its tasks as for a real run. No body runs, and no
// memory or disk space is used for data that the runtime stores, so the program must not access these.
#pragma once
#include <memory>
#include <utility>

#include "backend/backend.hpp"
#include "data/task.hpp"
#include "model/footprint.hpp"

namespace fairlead::front {

class TaskClock {
 public:
  virtual ~TaskClock() = default;
  /// A worker starts the task: how long it takes. Policies learn this as in a real run, when it has finished.
  virtual Duration start(const Task&, const model::Footprint&) = 0;
};

/// For `Runtime(config, reserved, {backend})`; the settings may not name devices.
class VirtualTimeBackend final : public backend::Backend {
 public:
  explicit VirtualTimeBackend(std::shared_ptr<TaskClock> clock) : clock_(std::move(clock)) {}

  /// Of the first such backend in the list; null: there is none.
  static TaskClock* clock_in(const backend::Backends& backends) noexcept;

  std::string_view kind() const noexcept override { return "simulated"; }
  std::unique_ptr<backend::BackendInstance> make() const override;

 private:
  std::shared_ptr<TaskClock> clock_;
};

}  // namespace fairlead::front
