// A rehearsal whose findings are written down: for a replay they are a part of what the engine was told.
#pragma once
#include <memory>
#include <utility>

#include "engine/journal.hpp"
#include "policy/rehearsal.hpp"

namespace fairlead::engine {

class NotedRehearsal final : public Rehearsal {
 public:
  NotedRehearsal(std::unique_ptr<Rehearsal> real, Journal& journal)
      : real_(std::move(real)), journal_(journal) {}

  Duration play(std::string_view policy, std::span<Task* const> tasks, Duration enough,
                Duration patience) override {
    const Duration found = real_->play(policy, tasks, enough, patience);
    journal_.rehearsed(found);
    return found;
  }

 private:
  const std::unique_ptr<Rehearsal> real_;
  Journal& journal_;
};

}  // namespace fairlead::engine
