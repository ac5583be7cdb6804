// The cost of a policy per task, in ns, when many tasks are ready at once or a whole graph runs. The machine
// is a fake; its own cost is measured with the same decisions replayed from a list, printed separately and
// subtracted. Run: decision_cost [policy ...]
//
// grid: independent tasks that read a row and a column each, an eighth of the data in memory; durations
//   equal, or all different, or with a tile of its own that each task updates.
// random: independent tasks that read three data each, a tenth as many data as tasks, a quarter in memory.
// cholesky: the whole graph, a quarter of the tiles in memory.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "schedule/graph_world.hpp"
#include "schedule/policies.hpp"

namespace {

using namespace fairlead;
using schedule::GraphWorld;

/// The decisions of a policy in a run.
struct Decisions {
  std::vector<TaskId> picks;  // no_id: it declined
  std::vector<DatumId> victims;
};

class Recorded final : public Policy {
 public:
  Recorded(Policy& inner, Decisions& out) : inner_(inner), out_(out) {}

  Notifications interests() const override { return inner_.interests(); }
  void submitted(Task& t) override { inner_.submitted(t); }
  void horizon_closed() override { inner_.horizon_closed(); }
  void ready(Task& t, WorkerId by) override { inner_.ready(t, by); }
  void started(Task& t, WorkerId w) override { inner_.started(t, w); }
  void finished(Task& t, WorkerId w, Duration d) override { inner_.finished(t, w, d); }
  void reserved(DatumId d, NodeId n) override { inner_.reserved(d, n); }
  void arrived(DatumId d, NodeId n) override { inner_.arrived(d, n); }
  void dropped(DatumId d, NodeId n, DropReason why) override { inner_.dropped(d, n, why); }
  Task* pick(WorkerId w, bool must) override {
    Task* task = inner_.pick(w, must);
    out_.picks.push_back(task == nullptr ? no_id<TaskId> : task->id);
    return task;
  }
  DatumId victim(NodeId n, EvictionCandidates& candidates) override {
    out_.victims.push_back(inner_.victim(n, candidates));
    return out_.victims.back();
  }

 private:
  void attached() override { inner_.attach(view()); }
  Policy& inner_;
  Decisions& out_;
};

/// Replays recorded decisions at no cost.
class Replayed final : public Policy {
 public:
  Replayed(Notifications interests, const Decisions& decisions, std::size_t tasks)
      : interests_(interests), decisions_(decisions), tasks_(tasks) {}

  Notifications interests() const override { return interests_; }
  void ready(Task& t, WorkerId) override { tasks_[index(t.id)] = &t; }
  Task* pick(WorkerId, bool) override {
    const TaskId id = decisions_.picks[pick_++];
    return id == no_id<TaskId> ? nullptr : tasks_[index(id)];
  }
  DatumId victim(NodeId, EvictionCandidates&) override { return decisions_.victims[victim_++]; }

 private:
  Notifications interests_;
  const Decisions& decisions_;
  std::vector<Task*> tasks_;
  std::size_t pick_ = 0, victim_ = 0;
};

std::vector<DatumId> tiles(GraphWorld& world, std::size_t count) {
  std::vector<DatumId> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(world.tile(0, static_cast<std::int32_t>(i)));
  return out;
}

enum class Kind { equal, differ, updating };

std::unique_ptr<GraphWorld> grid(std::size_t ready, Kind kind) {
  const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(ready))));
  auto world = std::make_unique<GraphWorld>(std::max<std::size_t>(8, side / 4), 8);
  const auto rows = tiles(*world, side), columns = tiles(*world, side);
  Random random(7);
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j)
      world->add(
          Duration{kind == Kind::equal ? 1000 : random.between(1000, 2'000'000'000)}, {rows[i], columns[j]},
          kind == Kind::updating ? world->tile(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j))
                                 : no_id<DatumId>);
  world->prioritize();
  return world;
}

std::unique_ptr<GraphWorld> random_graph(std::size_t ready) {
  auto world = std::make_unique<GraphWorld>(std::max<std::size_t>(8, ready / 40), 8);
  const auto data = tiles(*world, ready / 10);
  Random random(7);
  for (std::size_t i = 0; i < ready; ++i) {
    std::set<DatumId> three;
    while (three.size() < 3) three.insert(data[random.below(data.size())]);
    world->add(Duration{random.between(500'000, 2'000'000)}, {three.begin(), three.end()});
  }
  world->prioritize();
  return world;
}

std::unique_ptr<GraphWorld> quarter_cholesky(std::size_t tasks) {
  const int n = static_cast<int>(std::lround(std::cbrt(6.0 * static_cast<double>(tasks)))) - 1;
  return schedule::cholesky(n, std::max<std::size_t>(8, static_cast<std::size_t>(n * (n + 1)) / 8));
}

/// CPU time of this thread, in ns: other programs share the cores.
double cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double timed_run(GraphWorld& world, Policy& policy, std::size_t& tasks) {
  const double start = cpu_time();
  tasks = world.run(policy).tasks;
  return (cpu_time() - start) / static_cast<double>(tasks);
}

constexpr double too_expensive = 20'000;  // ns

struct Cost {
  double policy, machine;  // ns per task
};

// The minimum of three runs: other load on the machine is not the policy's cost.
template <class MakeWorld>
Cost cost(const std::string& name, const MakeWorld& make_world) {
  Decisions decisions;
  const auto recorded = schedule::make_policy(name);
  Recorded recorder(*recorded, decisions);
  std::size_t tasks = 0;
  timed_run(*make_world(), recorder, tasks);
  double whole = 1e300, machine = 1e300;
  for (int run = 0; run < 3; ++run) {
    const auto policy = schedule::make_policy(name);
    whole = std::min(whole, timed_run(*make_world(), *policy, tasks));
    Replayed replayed(recorded->interests(), decisions, tasks);
    machine = std::min(machine, timed_run(*make_world(), replayed, tasks));
  }
  return {whole - machine, machine};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  if (names.empty())
    for (const auto& entry : schedule::policies()) names.emplace_back(entry.name);
  std::printf(
      "ns per task: the policy's (+ the fake machine's, not in it)\n%-14s %7s %15s %15s %15s %15s %15s\n",
      "policy", "tasks", "grid, equal", "grid, differ", "grid, updating", "random", "cholesky");
  for (const auto& name : names)
    for (const std::size_t tasks : {1'000u, 10'000u, 100'000u}) {
      double most = 0;
      std::printf("%-14s %7zu", name.c_str(), tasks);
      const auto print = [&](Cost c) {
        most = std::max(most, c.policy);
        std::printf(" %6.0f (+%5.0f)", c.policy, c.machine);
        std::fflush(stdout);
      };
      for (const Kind kind : {Kind::equal, Kind::differ, Kind::updating})
        print(cost(name, [&] { return grid(tasks, kind); }));
      print(cost(name, [&] { return random_graph(tasks); }));
      print(cost(name, [&] { return quarter_cholesky(tasks); }));
      std::printf("\n");
      if (most > too_expensive) break;  // ten times as many tasks might take an hour
    }
}
