// A fake machine of cores and devices, on which codelets take different times on different kinds of worker.
#pragma once
#include <fairlead/codelet_info.hpp>

#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedule/fake_world.hpp"
#include "schedule/heteroprio/heteroprio.hpp"

namespace fairlead::schedule::heteroprio {

inline constexpr unsigned core = 0;  ///< the first worker

/// Milliseconds by kind of worker; what is left out has no body for that kind.
using Times = std::map<WorkerKind, double>;

class HeteroWorld final : public FakeWorld {
 public:
  /// Node 0 has the cores, each other node a device with so many workers.
  HeteroWorld(unsigned cores, unsigned devices, unsigned per_device = 1, WorkerKind device = WorkerKind::cuda)
      : FakeWorld(1 + devices, 1) {
    workers_.clear();
    for (unsigned n = 0; n <= devices; ++n)
      for (unsigned w = 0; w < (n == 0 ? cores : per_device); ++w)
        workers_.push_back(
            {worker(static_cast<unsigned>(workers_.size())), n == 0 ? WorkerKind::cpu : device, node(n)});
  }

  void codelet(const std::string& name, const Times& times) {
    CodeletInfo& info = *codelets_.try_emplace(name, std::make_unique<CodeletInfo>()).first->second;
    info.name = name;
    info.kinds = 0;
    for (const auto& [kind, time] : times) info.kinds |= 1u << index(kind);
    times_[name] = times;
  }
  using FakeWorld::attach;
  void attach(std::unique_ptr<Policy> policy) {
    policy_ = std::move(policy);
    FakeWorld::attach(*policy_);
  }
  Policy& policy() { return *policy_; }

  /// A task of a codelet, called `name`.
  void ready(const std::string& of, const Spec& spec, WorkerId released_by = no_id<WorkerId>) {
    Task& task = submit(spec);
    task.codelet = codelets_.at(of).get();
    task.state = TaskState::ready;
    policy_->ready(task, released_by);
  }
  void ready(const std::string& of, std::initializer_list<const char*> names) {
    for (const char* name : names) ready(of, Spec{name, {}});
  }
  void exclude(const std::string& task, unsigned node) { excluded_.insert({task, node}); }
  std::set<std::pair<std::string, WorkerKind>> guesses;  // codelets whose duration there is unknown

  std::span<const WorkerInfo> workers() const override { return workers_; }
  bool can_run(const Task& task, WorkerId id) const override {
    const WorkerInfo& info = workers_[index(id)];
    return ((task.codelet->kinds >> index(info.kind)) & 1u) != 0 &&
           !excluded_.contains({name_of(task), static_cast<unsigned>(index(info.node))}) &&
           FakeWorld::can_run(task, id);
  }
  Duration estimate(const Task& task, WorkerId id) const override {
    return ms(times_.at(task.codelet->name).at(workers_[index(id)].kind));
  }
  /// What is used in place there, but has been changed elsewhere.
  std::set<std::pair<DatumId, NodeId>> old;
  bool has_newest(DatumId datum, NodeId at) const override {
    return FakeWorld::has_newest(datum, at) && !old.contains({datum, at});
  }

  bool is_estimate_reliable(const Task& task, WorkerId id) const override {
    return !guesses.contains({task.codelet->name, workers_[index(id)].kind});
  }

 private:
  static std::size_t index(WorkerKind kind) { return static_cast<std::size_t>(kind); }
  template <class Id>
  static std::size_t index(Id id) {
    return fairlead::index(id);
  }

  std::unique_ptr<Policy> policy_;
  std::vector<WorkerInfo> workers_;
  std::map<std::string, std::unique_ptr<CodeletInfo>> codelets_;
  std::map<std::string, Times> times_;
  std::set<std::pair<std::string, unsigned>> excluded_;
};

inline Times on_both(double cpu, double cuda) { return {{WorkerKind::cpu, cpu}, {WorkerKind::cuda, cuda}}; }

}  // namespace fairlead::schedule::heteroprio
