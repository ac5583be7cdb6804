// See programs.hpp.
#include "allocation/programs.hpp"

#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/report.hpp>

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fairlead::allocation {

namespace {

using Numbers = Tile<double>;

Config settings(const char* memory, const char* scheduler, const char* devices = "") {
  Config config;
  config.set("workers", "2");
  config.set("bind-threads", false);
  config.set("huge-pages", false);
  config.set("memory", memory);
  if (*scheduler != '\0') config.set("scheduler", scheduler);
  if (*devices != '\0') config.set("devices", devices);
  return config;
}

void add_to_tile(const TileView<double>& tile, double more) {
  for (int j = 0; j < tile.columns(); ++j)
    for (int i = 0; i < tile.rows(); ++i) tile(i, j) += more;
}

/// Twelve tiles in the space of five, through the disk and back.
bool out_of_core(const std::function<void()>& started) {
  Runtime runtime(settings("160KiB", "darts"));
  started();
  double sum = 0;
  {
    const auto a = runtime.tiled<double>("A", 64 * 12, 64, 64);
    const auto total = runtime.value("sum", sum);
    const auto set = codelet("set").cpu([](Out<Numbers> t, double value) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) = value;
    });
    const auto add = codelet("add").cpu([](InOut<Numbers> t, In<Numbers> from) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) += from(i, j);
    });
    const auto take = codelet("take").cpu([](In<Numbers> t, InOut<double> into) { *into += t(3, 4); });
    Flow flow(runtime);
    for (int i = 0; i < 12; ++i) flow.submit(set(a(i, 0), i));
    for (int i = 1; i < 12; ++i) flow.submit(add(a(i, 0), a(i - 1, 0)));
    for (int i = 0; i < 12; ++i) flow.submit(take(a(i, 0), total));
    flow.wait();
    runtime.flush();
  }
  return sum == 286 && runtime.statistics().tasks == 35;
}

/// All in memory: tasks on the fast path, more than one window of them, and recorded ones.
bool in_core(const std::function<void()>& started) {
  Config config = settings("16MiB", "");
  config.set("window", 16);
  Runtime runtime(config);
  started();
  long values[8] = {};
  std::vector<Handle<long>> data;
  for (long& value : values) data.push_back(runtime.value("x", value));
  const auto add = codelet("add").cpu([](InOut<long> to, long what) { *to += what; });
  const auto add_to = codelet("add to").cpu([](In<long> from, InOut<long> to) { *to += *from; });
  {
    Flow flow(runtime);
    for (int i = 0; i < 40; ++i) flow.submit(add(data[static_cast<std::size_t>(i) % 8], 1));
    flow.wait();
  }
  Recording step(runtime);
  for (std::size_t i = 1; i < 8; ++i) step.submit(add_to(data[0], data[i]));
  step.submit(add(data[0], 1));
  for (int i = 0; i < 3; ++i) step.run();
  runtime.remove(data[7]);
  return values[0] == 8 && values[1] == 5 + 5 + 6 + 7 && values[7] == values[1];
}

/// Reductions and commutative tasks of matrices and values, in little memory.
bool reductions(const std::function<void()>& started) {
  Runtime runtime(settings("512KiB", "lws"));
  started();
  long sum = 0, product = 1;
  double seen = 0;
  const auto s = runtime.value("sum", sum);
  const auto p = runtime.value("product", product);
  const auto d = runtime.value("seen", seen);
  const auto m = runtime.matrix<double>("m", 64, 64);
  const auto add = codelet("add").cpu([](Reduce<long> into, long amount) { *into += amount; });
  const auto multiply = codelet("multiply").cpu([](Commute<long> into, long by) { *into *= by; });
  const auto clear = codelet("clear").cpu([](Out<Numbers> t) {
    for (int j = 0; j < t.columns(); ++j)
      for (int i = 0; i < t.rows(); ++i) t(i, j) = 0;
  });
  const auto spread = codelet("spread").cpu([](Reduce<Numbers> t, double more) { add_to_tile(t, more); });
  const auto look = codelet("look").cpu(
      [](In<Numbers> t, In<long> from, Out<double> into) { *into = t(5, 6) + static_cast<double>(*from); });
  Flow flow(runtime);
  flow.submit(clear(m));
  for (int i = 1; i <= 6; ++i) {
    flow.submit(add(s, i));
    flow.submit(multiply(p, 2));
    flow.submit(spread(m, i));
  }
  flow.submit(look(m, s, d));
  flow.wait();
  return sum == 21 && product == 64 && seen == 42;
}

/// The program acquires data between tasks, is notified of completions, and completes tasks itself.
bool holds_and_callbacks(const std::function<void()>& started) {
  Runtime runtime(settings("1MiB", "eager"));
  started();
  long x = 0, y = 0;
  int calls = 0, held = 0;
  const auto hx = runtime.value("x", x), hy = runtime.value("y", y);
  std::jthread later_thread;
  const auto add = codelet("add").cpu([](InOut<long> v, long more) { *v += more; });
  const auto later = codelet("later").cpu([&later_thread](Completion completion, InOut<long> v) {
    later_thread = std::jthread([completion, &v = v.get()] {
      v += 100;
      completion.done();
    });
  });
  Flow flow(runtime);
  flow.submit(add(hx, 1));
  {
    auto hold = flow.acquire(update(hx));
    flow.submit(add(hx, 10));
    *hold += 1000;
  }
  const Future first = flow.future(add(hx, 20));
  flow.submit(
      add(hy, 3).after(first).on_done([&](std::exception_ptr failure) { calls += failure == nullptr; }));
  flow.acquire_then(
      [&](Hold<InOut<long>> hold) {
        *hold += 5;  // throws if it is empty
        ++held;
      },
      update(hy));
  flow.submit(later(hy));
  flow.submit(add(hy, 7).priority(2));
  first.wait();
  flow.wait();
  return x == 1031 && y == 115 && calls == 1 && held == 1;
}

/// Cores and two accelerators with little memory share a matrix in the program's memory, whole and in parts.
bool devices(const std::function<void()>& started) {
  Runtime runtime(settings("1MiB", "dmda", "emulated:memory=64KiB,count=2"));
  // Freed before the runtime ends, which must not write to them after a wait has failed.
  std::vector<double> memory(48 * 32, 0), other(60, 0);
  started();
  {
    const auto a = runtime.tiled_in_place<double>("A", memory.data(), 40, 32, 48, 16);
    const auto whole = runtime.vector("v", other.data(), 60);
    const auto parts = runtime.split(whole, 20);
    const auto b = runtime.tiled<double>("B", 64, 128, 64);
    const auto add = codelet("add")
                         .cpu([](InOut<Numbers> t, double more) { add_to_tile(t, more); })
                         .emulated([](InOut<Numbers> t, double more) { add_to_tile(t, more); });
    const auto there = codelet("there").emulated([](InOut<Numbers> t, double more) { add_to_tile(t, more); });
    const auto set = codelet("set").emulated([](Out<Numbers> t) {
      for (int j = 0; j < t.columns(); ++j)
        for (int i = 0; i < t.rows(); ++i) t(i, j) = 1;
    });
    const auto part = codelet("part").emulated([](InOut<Vector<double>> v) {
      for (int i = 0; i < v.size(); ++i) v(i) += 1;
    });
    const auto check = codelet("check").cpu([](In<Vector<double>> v, InOut<Numbers> t) {
      for (int i = 0; i < v.size(); ++i) t(0, 0) += v(i);
    });
    Flow flow(runtime);
    for (int j = 0; j < 2; ++j) flow.submit(set(b(0, j)));
    for (int round = 0; round < 2; ++round)
      for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 3; ++i) flow.submit(add(a(i, j), 1.0));
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 3; ++i) flow.submit(there(a(i, j), 1.0));
    flow.submit(part(whole));
    for (int i = 0; i < 3; ++i) flow.submit(part(parts(i)));
    flow.submit(check(whole, b(0, 1)));
    for (int j = 0; j < 2; ++j) flow.submit(add(b(0, j), 1.0));
    flow.submit(check(whole, b(0, 0)));
    flow.wait();
    runtime.flush();
  }
  for (std::size_t j = 0; j < 32; ++j)
    for (std::size_t i = 0; i < 48; ++i)
      if (memory[48 * j + i] != (i < 40 ? 3 : 0)) return false;
  return true;
}

struct Removed {
  std::string path;
  ~Removed() { unlink(path.c_str()); }
};

/// Generated data, tasks of several workers, a failing task, a cancelled flow, and all records of a run.
bool the_rest(const std::function<void()>& started) {
  Config config = settings("128KiB", "blocks");
  const std::string path = testing::TempDir() + "fairlead-allocation-" + std::to_string(getpid());
  const Removed log{path + ".log"}, trace{path + ".pftrace"};
  config.set("event-log", log.path);
  config.set("trace", trace.path);
  config.set("trace-memory", "1MiB");
  Runtime runtime(config);
  started();
  double sum = 0;
  int ran = 0;
  const auto total = runtime.value("sum", sum);
  const auto a = runtime.tiled<double>(
      "A", 64 * 6, 64, 64, generated_by([](TileView<double> piece, std::int64_t row, std::int64_t) {
        add_to_tile(piece, row < 0);
      }));
  const auto add = codelet("add").cpu([](Team, InOut<Numbers> t) { add_to_tile(t, 1); }).workers(2);
  const auto take = codelet("take").cpu([](In<Numbers> t, InOut<double> into, Scratch<double> room) {
    room[0] = t(0, 0);
    *into += room[0] == t(0, 0) ? 1 : 0;
  });
  const auto bad = codelet("bad").cpu([](InOut<Numbers>) { throw NumericalError("as intended"); });
  {
    Flow flow(runtime);
    for (int i = 0; i < 6; i += 2) flow.submit(add(a(i, 0)));
    for (int i = 0; i < 6; ++i) flow.submit(take(a(i, 0), total, ScratchSize{8}));
    flow.wait();
  }
  {
    Flow flow(runtime);
    flow.submit(bad(a(1, 0)));
    flow.submit(take(a(1, 0), total, ScratchSize{8}));
    try {
      flow.wait();
    } catch (const TaskError&) {
      ++ran;
    }
  }
  Flow flow(runtime);
  flow.cancel();
  flow.submit(take(a(2, 0), total, ScratchSize{8}));
  try {
    flow.wait();
  } catch (const TaskError&) {
    ++ran;
  }
  static_cast<void>(runtime.status());
  write_recorded(runtime, config);
  return sum == 6 && ran == 2;
}

}  // namespace

std::span<const SmallProgram> small_programs() {
  static constexpr SmallProgram all[] = {
      {"OutOfCore", out_of_core}, {"InCore", in_core},
      {"Reductions", reductions}, {"HoldsAndCallbacks", holds_and_callbacks},
      {"Devices", devices},       {"TheRest", the_rest}};
  return all;
}

}  // namespace fairlead::allocation
