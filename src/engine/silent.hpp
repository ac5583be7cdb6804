// What a replay has in place of the program: sources, generators and rehearsals that do nothing, since what they did is
// among the events.
#pragma once
#include <cstddef>
#include <span>

#include "data/generator.hpp"
#include "data/task.hpp"
#include "data/task_source.hpp"
#include "policy/rehearsal.hpp"

namespace fairlead::engine {

class SilentSource final : public TaskSource {
 public:
  void release(Task&, ReadyTasks&) override {}
};

/// The value of data that are computed: nobody looks at it.
class SilentGenerator final : public data::Generator {
 public:
  void make(std::byte*, Bytes, Bytes) const override {}
};

/// What the rehearsals of the run found is among its events.
class LoggedRehearsal final : public Rehearsal {
 public:
  explicit LoggedRehearsal(std::size_t idle_cores) : idle_cores_(idle_cores) {}
  std::size_t idle_cores() const noexcept override { return idle_cores_; }

 private:
  void note(std::span<Task* const>, Judge) override {}

  std::size_t idle_cores_;
};

}  // namespace fairlead::engine
