// Newest first, or oldest first: a plug-in with an option of each type.
#include <array>
#include <deque>
#include <memory>

#include "policy/plugin.hpp"

namespace {

using namespace fairlead;

constexpr std::array<std::string_view, 2> orders{"newest", "oldest"};
constexpr PolicyOption options[] = {{"order", "newest", "newest or oldest"},
                                    {"weight", "1", "0 to 2"},
                                    {"depth", "3", "1 to 8"},
                                    {"eager", "no", "yes or no"}};

class Working final : public Policy {
 public:
  explicit Working(const PolicyOptions& given) : oldest_(given.choice("order", orders) == 1) {
    given.number("weight", 0, 2);
    given.integer("depth", 1, 8);
    if (given.flag("eager") && given.is_set("depth")) given.refuse("depth", "means nothing if eager is set");
  }

  void ready(Task& task, WorkerId) override { oldest_ ? ready_.push_back(&task) : ready_.push_front(&task); }
  Task* pick(WorkerId worker, bool) override {
    for (auto it = ready_.begin(); it != ready_.end(); ++it)
      if (Task* task = *it; view().can_run(*task, worker)) {
        ready_.erase(it);
        return task;
      }
    return nullptr;
  }

 private:
  bool oldest_;
  std::deque<Task*> ready_;
};

constexpr PolicyEntry entry{
    "working", "newest first",
    [](const PolicyOptions& given) -> std::unique_ptr<Policy> { return std::make_unique<Working>(given); },
    options};

}  // namespace

FAIRLEAD_POLICY(entry);
