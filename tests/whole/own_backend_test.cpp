// A user-defined backend: a made-up accelerator with memory, a link and workers, known only in this file. The ordinary
// runtime drives it as soon as it is in the list of backends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fairlead/error.hpp>
#include <fairlead/fairlead.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "data/task.hpp"

namespace fairlead::tests {

namespace {

using backend::Transfer;
using testing::HasSubstr;

/// Events of all abacuses of a test. Read when the runtime is idle.
struct AbacusLog {
  std::atomic<Bytes> came{0}, went{0};     // over links
  std::atomic<int> loads{0};               // begun
  std::atomic<int> bodies{0}, strayed{0};  // run; of these, with data outside of its memory
  std::atomic<bool> began{false}, ended{false};
  std::function<bool(const Transfer&)> loses = [](const Transfer&) { return false; };  // set before
};

/// The first address of its memory, in the accelerator's own address space: no process has memory there.
constexpr std::uintptr_t first_bead = std::uintptr_t{1} << 60;
/// The offset from that address.
Bytes beads(const void* address) { return reinterpret_cast<std::uintptr_t>(address) - first_bead; }

/// Copies one load after the other, on its own thread.
class AbacusWire final : public backend::TransferEngine {
 public:
  AbacusWire(std::byte* memory, AbacusLog& log) : memory_(memory), log_(log), thread_([this] { run(); }) {}
  ~AbacusWire() override { stop(); }

  void start(const Transfer& load) override {
    ++log_.loads;
    {
      const std::lock_guard guard(mutex_);
      if (ending_) return;
      queue_.push_back(load);
    }
    changed_.notify_one();
  }
  void stop() noexcept override {
    {
      const std::lock_guard guard(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
    log_.ended.store(true);
  }
  std::size_t threads() const noexcept override { return thread_.joinable() ? 1 : 0; }

 private:
  void run() {
    for (;;) {
      Transfer load;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
        if (ending_) return;
        load = queue_.front();
        queue_.pop_front();
      }
      if (log_.loses(load)) {
        load.receiver->completed(load.token,
                                 {.error_number = EIO, .description = "a bead fell off", .failure = {}});
        continue;
      }
      move(load);
      load.receiver->completed(load.token, {});
    }
  }
  /// One end is the host's, the other one the accelerator's, whose memory the host cannot find.
  void move(const Transfer& load) {
    if (load.away_from_home) {
      EXPECT_EQ(load.to.host, nullptr);
      std::byte* const here = memory_ + beads(load.to.address);
      load.layout == nullptr ? static_cast<void>(std::memcpy(here, load.from.host, load.bytes))
                             : load.layout->pack(load.from.host, here);
      log_.came += load.bytes;
    } else {
      EXPECT_EQ(load.from.host, nullptr);
      const std::byte* const here = memory_ + beads(load.from.address);
      load.layout == nullptr ? static_cast<void>(std::memcpy(load.to.host, here, load.bytes))
                             : load.layout->unpack(here, load.to.host);
      log_.went += load.bytes;
    }
  }

  std::byte* const memory_;
  AbacusLog& log_;
  std::mutex mutex_;  // guards the members below, except the thread
  std::condition_variable changed_;
  std::deque<Transfer> queue_;
  bool ending_ = false;
  std::thread thread_;
};

/// Runs bodies, and checks their arguments. Only the accelerator knows which memory its addresses mean.
class AbacusFrame final : public backend::DeviceProcessor {
 public:
  AbacusFrame(std::byte* memory, Bytes bytes, AbacusLog& log) : memory_(memory), bytes_(bytes), log_(log) {}
  bool run(const Implementation& implementation, TaskContext& context) override {
    ++log_.bodies;
    for (Access& access : context.task->accesses()) {
      const Bytes at = beads(access.address);
      log_.strayed += at >= bytes_;
      access.address = memory_ + at;
    }
    implementation.run(implementation.body.get(), context);
    return true;
  }

 private:
  std::byte* const memory_;
  const Bytes bytes_;
  AbacusLog& log_;
};

class AbacusPart final : public backend::BackendInstance {
 public:
  explicit AbacusPart(AbacusLog& log) : log_(log) {}
  void add_device(Topology& topology, const backend::DeviceEntry& entry) override {
    One& one = abacuses_.emplace_back();
    one.bytes = std::get<std::uint64_t>(entry.values[0]);
    one.node = fairlead::add_device(topology, {.name = entry.name,
                                               .kind = WorkerKind::emulated,
                                               .capacity = one.bytes,
                                               .bytes_per_second = 1e9,
                                               .workers = 1});
  }
  void attach(backend::BackendHost& site) override {
    log_.began.store(true);
    const Topology& topology = site.topology();
    for (One& one : abacuses_) {
      one.memory.assign(one.bytes, std::byte{0xab});
      site.set_memory(one.node, reinterpret_cast<void*>(first_bead));
      one.frame = std::make_unique<AbacusFrame>(one.memory.data(), one.bytes, log_);
      one.wire = std::make_unique<AbacusWire>(one.memory.data(), log_);
      site.set_transfer_engine(topology.link_between(topology.host(), one.node), *one.wire);
      for (std::size_t i = 0; i < topology.workers.size(); ++i)
        if (topology.workers[i].node == one.node) site.set_processor(static_cast<WorkerId>(i), *one.frame);
    }
  }

 private:
  struct One {
    Bytes bytes = 0;
    NodeId node{};
    std::vector<std::byte> memory;
    std::unique_ptr<AbacusFrame> frame;
    std::unique_ptr<AbacusWire> wire;
  };
  AbacusLog& log_;
  std::deque<One> abacuses_;
};

constexpr std::array<Setting, 1> abacus_options{{{.key = "beads",
                                                  .type = SettingType::size,
                                                  .default_value = "64KiB",
                                                  .minimum = "4KiB",
                                                  .help = "its memory"}}};

class Abacus final : public backend::Backend {
 public:
  explicit Abacus(AbacusLog& log) : log_(log) {}
  std::string_view kind() const noexcept override { return "abacus"; }
  std::span<const Setting> device_options() const noexcept override { return abacus_options; }
  std::unique_ptr<backend::BackendInstance> make() const override {
    return std::make_unique<AbacusPart>(log_);
  }

 private:
  AbacusLog& log_;
};

backend::Backends with_abacus(AbacusLog& log) {
  backend::Backends all = backend::default_backends();
  all.push_back(std::make_shared<Abacus>(log));
  return all;
}

Config abacus_machine(const std::string& devices, const char* memory = "16MiB") {
  Config config;
  config.set("workers", "1");
  config.set("memory", memory);
  config.set("scheduler", "eager");
  config.set("devices", devices);
  return config;
}

using Numbers = Tile<double>;

/// A Cholesky factorization for accelerators only.
void submit_cholesky(Flow& flow, TiledMatrix<double>& a, int tiles) {
  const auto potrf = codelet("potrf").emulated([](InOut<Numbers> l) {
    for (int k = 0; k < l.columns(); ++k) {
      l(k, k) = std::sqrt(l(k, k));
      for (int i = k + 1; i < l.rows(); ++i) l(i, k) /= l(k, k);
      for (int j = k + 1; j < l.columns(); ++j)
        for (int i = j; i < l.rows(); ++i) l(i, j) -= l(i, k) * l(j, k);
    }
  });
  const auto trsm = codelet("trsm").emulated([](In<Numbers> l, InOut<Numbers> b) {
    for (int k = 0; k < l.columns(); ++k)
      for (int i = 0; i < b.rows(); ++i) {
        for (int p = 0; p < k; ++p) b(i, k) -= b(i, p) * l(k, p);
        b(i, k) /= l(k, k);
      }
  });
  const auto syrk = codelet("syrk").emulated([](In<Numbers> b, InOut<Numbers> c) {
    for (int j = 0; j < c.columns(); ++j)
      for (int i = j; i < c.rows(); ++i)
        for (int p = 0; p < b.columns(); ++p) c(i, j) -= b(i, p) * b(j, p);
  });
  const auto gemm = codelet("gemm").emulated([](In<Numbers> x, In<Numbers> y, InOut<Numbers> c) {
    for (int j = 0; j < c.columns(); ++j)
      for (int i = 0; i < c.rows(); ++i)
        for (int p = 0; p < x.columns(); ++p) c(i, j) -= x(i, p) * y(j, p);
  });
  for (int k = 0; k < tiles; ++k) {
    flow.submit(potrf(a(k, k)));
    for (int i = k + 1; i < tiles; ++i) flow.submit(trsm(a(k, k), a(i, k)));
    for (int i = k + 1; i < tiles; ++i) {
      flow.submit(syrk(a(i, k), a(i, i)));
      for (int j = k + 1; j < i; ++j) flow.submit(gemm(a(i, k), a(j, k), a(i, j)));
    }
  }
}

/// A symmetric matrix whose eigenvalues are above n, column-major.
std::vector<double> heavy_diagonal(int n) {
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      a[static_cast<std::size_t>(i + j * n)] = 1. / (1 + std::abs(i - j)) + (i == j ? 2. * n : 0);
  return a;
}

/// The largest element of L L' - A, computed from the user's result only.
double distance(const std::vector<double>& l, const std::vector<double>& a, int n) {
  double worst = 0;
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      double sum = 0;
      for (int p = 0; p <= j; ++p)
        sum += l[static_cast<std::size_t>(i + p * n)] * l[static_cast<std::size_t>(j + p * n)];
      worst = std::max(worst, std::abs(sum - a[static_cast<std::size_t>(i + j * n)]));
    }
  return worst;
}

Bytes on_link(const Runtime& runtime, const std::string& name, bool from_home) {
  for (const auto& link : runtime.statistics().links)
    if (link.name == name) return from_home ? link.bytes_from_home() : link.bytes_to_home();
  ADD_FAILURE() << "no link " << name;
  return 0;
}

}  // namespace

// Tiles of 8 x 8 doubles in the user's memory, 3 x 3 of them: the six of the lower triangle are loaded once, 512
// bytes each, since all fit there, and all six were changed, so they are written back once.
TEST(OwnBackend, FactorizesInItsMemory) {
  constexpr int n = 24, tile = 8;
  AbacusLog log;
  Bytes home = 0;
  const std::vector<double> before = heavy_diagonal(n);
  std::vector<double> matrix = before;
  {
    Runtime runtime(abacus_machine("abacus:beads=64KiB"), 0, with_abacus(log));
    EXPECT_EQ(runtime.devices(), 1);
    EXPECT_EQ(runtime.memory_node("abacus 0"), NodeId{3});
    {
      auto a = runtime.tiled_in_place<double>("A", matrix.data(), n, n, n, tile);
      Flow flow(runtime);
      submit_cholesky(flow, a, n / tile);
      flow.wait();
    }
    EXPECT_EQ(on_link(runtime, "abacus 0", true), 6 * 512u);
    // A tile may be written back before the next task that changes it is submitted.
    home = on_link(runtime, "abacus 0", false);
    EXPECT_GE(home, 6 * 512u);
    EXPECT_LE(home, 10 * 512u);  // the number of tasks that write tiles
    EXPECT_FALSE(log.ended);
  }
  EXPECT_LT(distance(matrix, before, n), 1e-12);
  for (int j = 1; j < n; ++j)  // tiles above the diagonal are not written
    for (int i = 0; i < j / tile * tile; ++i)
      EXPECT_EQ(matrix[static_cast<std::size_t>(i + j * n)], before[static_cast<std::size_t>(i + j * n)]);
  EXPECT_EQ(log.came, 6 * 512u);
  EXPECT_EQ(log.went, home);
  EXPECT_EQ(log.bodies, 3 + 3 + 3 + 1);
  EXPECT_EQ(log.strayed, 0);
  EXPECT_TRUE(log.ended);
}

// Memory for two tiles, which take a page each. In the order of the program, 2 x 2 tiles:
//   potrf(A00)       A00 is loaded
//   trsm(A00, A10)   A10 is loaded
//   syrk(A10, A11)   A00 is evicted, A11 is loaded
//   wait             A10 and A11 are written back, and stay
//   read A00         is loaded again, in place of one of these
TEST(OwnBackend, EvictsWhenItsMemoryIsFull) {
  constexpr int n = 16, tile = 8;
  AbacusLog log;
  const std::vector<double> before = heavy_diagonal(n);
  std::vector<double> matrix = before;
  double corner = 0;
  {
    Runtime runtime(abacus_machine("abacus:beads=8KiB"), 0, with_abacus(log));
    auto a = runtime.tiled_in_place<double>("A", matrix.data(), n, n, n, tile);
    const auto look = codelet("look").emulated([&](In<Numbers> t) { corner = t(0, 0); });
    Flow flow(runtime);
    submit_cholesky(flow, a, n / tile);
    flow.wait();
    flow.submit(look(a(0, 0)));
    flow.wait();
    EXPECT_EQ(runtime.statistics().nodes.back().peak_bytes, 8192u);
  }
  EXPECT_LT(distance(matrix, before, n), 1e-12);
  EXPECT_EQ(corner, matrix[0]);
  // A tile may be written back before the next task that changes it is submitted.
  EXPECT_GE(log.came, 4 * 512u);
  EXPECT_LE(log.came, 5 * 512u);
  EXPECT_GE(log.went, 3 * 512u);
  EXPECT_LE(log.went, 4 * 512u);
  EXPECT_EQ(log.strayed, 0);
}

// Between two of its kind, and an emulated accelerator, through RAM and two independent links. One datum of 4,096
// bytes circulates: three times from RAM, twice back to it, and home.
TEST(OwnBackend, WorksWithAcceleratorsOfOtherKinds) {
  AbacusLog log;
  std::vector<double> numbers(512, 1);
  {
    Runtime runtime(abacus_machine("abacus + emulated:memory=64KiB + abacus:beads=8KiB"), 0,
                    with_abacus(log));
    EXPECT_EQ(runtime.devices(), 3);
    const auto x = runtime.vector<double>("x", numbers.data(), 512);
    const auto twice = codelet("twice").emulated([](InOut<Vector<double>> v) {
      for (int i = 0; i < v.size(); ++i) v(i) *= 2;
    });
    Flow flow(runtime);
    for (const char* name : {"abacus 0", "emulated 1", "abacus 2"})
      flow.submit(twice(x).on(runtime.memory_node(name)));
    flow.wait();
    for (const char* name : {"abacus 0", "emulated 1", "abacus 2"}) {
      EXPECT_EQ(on_link(runtime, name, true), 4096u) << name;
      EXPECT_EQ(on_link(runtime, name, false), 4096u) << name;
    }
  }
  EXPECT_EQ(numbers, std::vector<double>(512, 8));
  EXPECT_EQ(log.came, 2 * 4096u);
  EXPECT_EQ(log.went, 2 * 4096u);
  EXPECT_EQ(log.bodies, 2);
}

// Data on disk reach it through RAM, in the chunks of the disk and of its link.
TEST(OwnBackend, LoadsDataFromTheDisk) {
  AbacusLog log;
  std::vector<double> sums(8);
  {
    Runtime runtime(abacus_machine("abacus", "1MiB"), 0, with_abacus(log));
    const auto fill = codelet("fill").cpu([](Out<Vector<double>> v, int by) {
      for (int i = 0; i < v.size(); ++i) v(i) = by;
    });
    const auto sum = codelet("sum").emulated([](In<Vector<double>> v, InOut<double> to) {
      for (int i = 0; i < v.size(); ++i) *to += v(i);
    });
    Flow flow(runtime);
    std::vector<Handle<Vector<double>>> data;
    for (int i = 0; i < 8; ++i) data.push_back(runtime.vector<double>("d" + std::to_string(i), 4096));
    for (int i = 0; i < 8; ++i) flow.submit(fill(data[static_cast<std::size_t>(i)], i + 1));
    flow.wait();
    runtime.flush();
    runtime.drop_clean();
    for (int i = 0; i < 8; ++i) {
      const auto at = static_cast<std::size_t>(i);
      flow.submit(sum(data[at], runtime.value("sum " + std::to_string(i), sums[at])));
    }
    flow.wait();
    EXPECT_EQ(on_link(runtime, "disk", true), 8 * 32768u);
  }
  for (int i = 0; i < 8; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)], 4096. * (i + 1));
  EXPECT_EQ(log.came, 8 * (32768u + 8));
  EXPECT_EQ(log.went, 8 * 8u);
}

// A copy is tried twice; then its task fails with the link's error.
TEST(OwnBackend, ReportsTheDatumAndTheLinkOfAFailedCopy) {
  AbacusLog log;
  log.loses = [](const Transfer& load) { return load.away_from_home && load.bytes == 24; };
  int small = 1;
  std::array<double, 3> three{1, 2, 3};
  Runtime runtime(abacus_machine("abacus"), 0, with_abacus(log));
  const auto fine = runtime.value("fine", small);
  const auto lost = runtime.vector<double>("lost", three.data(), 3);
  const auto add = codelet("add").emulated([](InOut<int> x) { ++*x; });
  const auto read = codelet("read").emulated([](In<Vector<double>>) {});
  Flow flow(runtime);
  flow.submit(add(fine));
  flow.submit(read(lost));
  try {
    flow.wait();
    FAIL() << "nothing was said of the lost copy";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("lost"));
    EXPECT_THAT(error.what(), HasSubstr("from user memory to abacus 0 over the link \"abacus 0\""));
    EXPECT_THAT(error.what(), HasSubstr("a bead fell off"));
  }
  EXPECT_EQ(small, 2);  // the other tasks run
  EXPECT_EQ(log.bodies, 1);
  EXPECT_EQ(log.loads, 4);  // one there and back, two in vain
}

// The only newest replica is lost: the run must stop.
TEST(OwnBackend, StopsTheRunIfTheWriteBackOfAResultFails) {
  AbacusLog log;
  log.loses = [](const Transfer& load) { return !load.away_from_home; };
  int x = 1;
  Runtime runtime(abacus_machine("abacus"), 0, with_abacus(log));
  const auto datum = runtime.value("the result", x);
  const auto add = codelet("add").emulated([](InOut<int> v) { ++*v; });
  Flow flow(runtime);
  flow.submit(add(datum));
  try {
    flow.wait();
    FAIL() << "nothing was said of the lost result";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the result"));
    EXPECT_THAT(error.what(), HasSubstr("over the link \"abacus 0\" failed: a bead fell off"));
  }
  EXPECT_EQ(x, 1);
}

TEST(OwnBackend, IsListedInTheErrorForAnUnknownKind) {
  AbacusLog log;
  const auto refusal = [&](const char* devices, const backend::Backends& backends) -> std::string {
    try {
      Runtime runtime(abacus_machine(devices), 0, backends);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("xyz", backend::default_backends()),
            "devices: unknown kind \"xyz\"; there are emulated, cuda, opencl");
  EXPECT_EQ(refusal("xyz", with_abacus(log)),
            "devices: unknown kind \"xyz\"; there are emulated, cuda, opencl, abacus");
  EXPECT_EQ(refusal("abacus:red=1", with_abacus(log)),
            "devices: unknown \"red\" in \"abacus:red=1\"; there are beads, count");
  EXPECT_FALSE(log.began);
  Runtime runtime(abacus_machine("abacus:count=3"), 0, with_abacus(log));
  EXPECT_EQ(runtime.devices(), 3);
}

}  // namespace fairlead::tests
