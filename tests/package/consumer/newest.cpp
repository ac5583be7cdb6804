// A policy built against the installed files only: the newest task first.
#include <memory>
#include <vector>

#include "policy/plugin.hpp"

namespace {

using namespace fairlead;

class Newest final : public Policy {
 public:
  explicit Newest(std::int64_t limit) : limit_(limit) {}
  void ready(Task& task, WorkerId) override { ready_.push_back(&task); }
  Task* pick(WorkerId worker, bool) override {
    auto it = ready_.rbegin();
    while (it != ready_.rend() && !view().can_run(**it, worker)) ++it;
    if (it == ready_.rend()) return nullptr;
    Task* task = *it;
    ready_.erase(std::next(it).base());
    return task;
  }
  std::size_t horizon() const override { return static_cast<std::size_t>(limit_); }

 private:
  std::int64_t limit_;
  std::vector<Task*> ready_;
};

constexpr PolicyOption options[] = {{"horizon", "0", "tasks ahead"}};
constexpr PolicyEntry entry{"newest", "the newest task first",
                            [](const PolicyOptions& given) -> std::unique_ptr<Policy> {
                              return std::make_unique<Newest>(given.integer("horizon", 0, 1000));
                            },
                            options};

}  // namespace

FAIRLEAD_POLICY(entry);
