// Data first, then flows, tasks, and the values of a sequential run.
#include "random/program.hpp"

#include <algorithm>
#include <array>

namespace fairlead::random_runs {

namespace {
Bytes rounded(Bytes bytes) { return (bytes + 4095) / 4096 * 4096; }
}  // namespace

RandomProgram::RandomProgram(Random& random, std::size_t task_count, bool several_kinds, bool cancels,
                             bool holds) {
  make_data(random);
  make_flows(random, task_count, cancels);
  let_some_be_generated();
  make_tasks(random, several_kinds);
  if (holds) make_holds(random);
  if (holds) make_order(random);
  give_scratch();
  give_workers();
  run_in_order();
  for (const PlannedTask& task : tasks) {
    Bytes footprint = rounded(task.scratch);
    for (const PlannedUse& use : task.uses) footprint += rounded(data[use.datum].bytes);
    Bytes& largest = task.hold ? largest_hold : largest_footprint;
    largest = std::max(largest, footprint);
  }
  for (const PlannedDatum& datum : data) all_bytes += rounded(datum.bytes);
}

void RandomProgram::make_data(Random& random) {
  // Equal tiles; sizes that leave holes; sizes that are no multiple of a page; a few giants among dwarfs.
  enum class Sizes { equal, mixed, odd, giants };
  const auto sizes = static_cast<Sizes>(random.below(4));
  const auto count =
      static_cast<std::size_t>(random.once_in(6) ? random.between(40, 80) : random.between(3, 24));
  for (std::size_t i = 0; i < count; ++i) {
    PlannedDatum datum;
    switch (sizes) {
      case Sizes::equal:
        datum.bytes = 16384;
        break;
      case Sizes::mixed:
        datum.bytes = 4096 * static_cast<Bytes>(random.between(1, 12));
        break;
      case Sizes::odd:
        datum.bytes = static_cast<Bytes>(random.between(1, 40000));
        break;
      case Sizes::giants:
        datum.bytes = random.once_in(6) ? 4096 * static_cast<Bytes>(random.between(20, 60)) : 4096;
        break;
    }
    datum.in_user_memory = random.once_in(8);
    datum.initial = Random::mix(i + 5);
    data.push_back(datum);
  }
}

void RandomProgram::make_flows(Random& random, std::size_t task_count, bool cancels) {
  const auto count = static_cast<std::size_t>(random.once_in(2) ? 1 : random.between(2, 8));
  std::vector<bool> removed(data.size());
  for (std::size_t i = 0; i < count; ++i) {
    PlannedFlow flow;
    flow.first_task = flows.empty() ? 0 : flows.back().end_task;
    flow.end_task = i + 1 == count ? task_count : flow.first_task + task_count / count;
    const std::size_t before = flows.empty() ? 0 : flows.back().data;
    // At least three data at first; the last flow knows all.
    flow.data =
        i + 1 == count ? data.size() : std::max({before, std::size_t{3}, data.size() * (i + 1) / count});
    for (std::size_t d = before; i > 0 && d < flow.data; ++d)
      data[d].temporary = !data[d].in_user_memory && random.once_in(2);
    const auto some_task = [&] {
      return static_cast<std::size_t>(random.between(static_cast<std::int64_t>(flow.first_task),
                                                     static_cast<std::int64_t>(flow.end_task) - 1));
    };
    if (cancels && random.once_in(count == 1 ? 1 : 2)) flow.cancelled_before = some_task();
    for (auto flushes = random.once_in(3) ? random.between(1, 8) : 0; flushes > 0; --flushes)
      flow.flushed_before.push_back(some_task());
    if (i + 1 < count)
      for (std::size_t d = 0; d < flow.data; ++d)
        if (!removed[d] && random.once_in(3)) {
          // Three stay, so that tasks have something to use.
          if (flow.data - static_cast<std::size_t>(std::ranges::count(removed, true)) <= 3) break;
          removed[d] = data[d].removed = true;
          flow.removed_after.push_back(d);
        }
    flows.push_back(flow);
  }
}

void RandomProgram::make_tasks(Random& random, bool several_kinds) {
  // Few inputs; many; mostly one but sometimes all that there is, so that much has to make room for it.
  enum class Width { narrow, wide, uneven };
  const auto width = random.once_in(6) ? Width::wide : random.once_in(2) ? Width::uneven : Width::narrow;
  const auto most = static_cast<std::size_t>(random.between(1, 5));
  static constexpr std::array modes{AccessMode::read,        AccessMode::read,     AccessMode::read,
                                    AccessMode::read_write,  AccessMode::write,    AccessMode::read_write,
                                    AccessMode::commutative, AccessMode::reduction};
  // Mostly readers: many tasks are ready at once, and much can be fetched ahead.
  const bool mostly_reductions = random.once_in(6);
  const bool mostly_readers = random.once_in(width == Width::uneven ? 2 : 3);
  std::vector<bool> written(data.size()), gone(data.size());
  for (std::size_t d = 0; d < data.size(); ++d) written[d] = !data[d].temporary;
  for (const PlannedFlow& flow : flows) {
    std::vector<std::size_t> known;
    for (std::size_t d = 0; d < flow.data; ++d)
      if (!gone[d]) known.push_back(d);
    for (std::size_t t = flow.first_task; t < flow.end_task; ++t) {
      PlannedTask task;
      task.priority = static_cast<int>(random.between(-3, 3));
      task.kinds = !several_kinds ? 1 : static_cast<std::uint32_t>(std::array{1, 4, 5, 5}[random.below(4)]);
      std::size_t uses = 1 + random.below(most);
      if (width == Width::wide) uses = 1 + random.below(random.once_in(8) ? 50 : 8);
      if (width == Width::uneven) uses = random.once_in(40) ? 12 : 1;
      for (std::size_t u = 0; u < std::min(uses, known.size()); ++u) {
        std::swap(known[u], known[u + random.below(known.size() - u)]);
        AccessMode mode = modes[random.below(modes.size())];
        if (mostly_readers && !random.once_in(6)) mode = AccessMode::read;
        if (mostly_reductions && random.once_in(2)) mode = AccessMode::reduction;
        if (uses > 8 && !random.once_in(4)) mode = AccessMode::read;
        if (!written[known[u]]) mode = AccessMode::write;
        written[known[u]] = true;
        task.uses.push_back({known[u], mode});
      }
      tasks.push_back(task);
    }
    for (const std::size_t d : flow.removed_after) gone[d] = true;
  }
}

/// In some programs some tasks need memory of their own.
void RandomProgram::give_scratch() {
  if (Random::mix(tasks.size() + data.size()) % 3 != 0) return;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    if (const auto drawn = Random::mix(t + data.size()); drawn % 4 == 0 && !tasks[t].hold)
      tasks[t].scratch = 1 + (drawn >> 8) % 30000;
}

/// In two programs of three.
void RandomProgram::let_some_be_generated() {
  const auto one_in = std::array{0u, 2u, 4u}[Random::mix(data.size() + 11 * flows.size()) % 3];
  for (std::size_t d = 0; d < data.size() && one_in != 0; ++d)
    data[d].generated =
        !data[d].in_user_memory && !data[d].temporary && Random::mix(d + 31 * data.size()) % one_in == 0;
}

/// In some programs some tasks are parallel inside; in a few, most.
void RandomProgram::give_workers() {
  const auto drawn = Random::mix(tasks.size() * 31 + data.size());
  if (drawn % 2 != 0) return;
  const std::uint64_t once_in = drawn % 8 == 0 ? 1 : 6;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    if (const auto task = Random::mix(t * 7 + data.size()); task % once_in == 0 && !tasks[t].hold)
      tasks[t].workers = 1 + static_cast<int>((task >> 8) % 4);
}

/// Some tasks become holds of the application, for a while.
void RandomProgram::make_holds(Random& random) {
  for (const PlannedFlow& flow : flows)
    for (std::size_t t = flow.first_task; t < flow.end_task; ++t) {
      PlannedTask& task = tasks[t];
      const bool shared =
          std::ranges::any_of(task.uses, [](const PlannedUse& u) { return in_any_order(u.mode); });
      if (shared || task.uses.size() > 4 || !random.once_in(8)) continue;
      task.hold = true;
      task.with_callback = random.once_in(2);
      task.released_before = t + 1 + random.below(12);
    }
}

/// Some tasks come after others that they share no data with.
void RandomProgram::make_order(Random& random) {
  for (const PlannedFlow& flow : flows)
    for (std::size_t t = flow.first_task + 1; t < flow.end_task; ++t) {
      if (tasks[t].hold || !random.once_in(4)) continue;
      for (auto wanted = random.between(1, 4); wanted > 0; --wanted) {
        const std::size_t before = flow.first_task + random.below(t - flow.first_task);
        if (!tasks[before].hold) tasks[t].after.push_back(before);
      }
    }
}

std::size_t RandomProgram::task_count() const {
  return static_cast<std::size_t>(std::ranges::count(tasks, false, &PlannedTask::hold));
}

void RandomProgram::run_in_order() {
  std::vector<std::uint64_t> values;
  for (const PlannedDatum& datum : data) values.push_back(datum.initial);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    PlannedTask& task = tasks[t];
    std::uint64_t hash = 0;
    for (const PlannedUse& use : task.uses) {
      const bool any = in_any_order(use.mode);
      if (reads(use.mode) && !any) hash = Random::mix(hash ^ values[use.datum]);
      task.expected_inputs.push_back(reads(use.mode) && !any ? values[use.datum] : 0);
    }
    for (const PlannedUse& use : task.uses)
      if (in_any_order(use.mode)) {
        values[use.datum] += contribution(t, use.datum);
      } else if (writes(use.mode)) {
        values[use.datum] = output_of(t, use.datum, hash);
      }
  }
  for (std::size_t d = 0; d < data.size(); ++d) data[d].final = values[d];
}

}  // namespace fairlead::random_runs
