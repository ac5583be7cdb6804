// Random programs that open and close the fast path repeatedly: while tasks run, data that do not fit are
// registered, others are removed, results are written back, flows fail or are cancelled, data are acquired, and a
// thread queries what runs. Every task checks the values that it reads.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "engine/runtime_core.hpp"
#include "front/runtime/runtime_access.hpp"
#include "sanitized.hpp"

namespace fairlead {
namespace {

constexpr int elements = 1024;  // of a vector: two pages
constexpr std::size_t vectors = 8, large = 12;

using Read = In<Vector<double>>;
using Update = InOut<Vector<double>>;

template <class V>
double value_of(const V& v) {
  for (int i = 1; i < elements; ++i)
    if (v(i) != v(0)) return -1;
  return v(0);
}
template <class V>
void fill(V& v, double x) {
  for (int i = 0; i < elements; ++i) v(i) = x;
}
double mixed(double own, double other) {
  return static_cast<double>((static_cast<long>(own) * 31 + static_cast<long>(other)) % 1'000'003);
}

/// One runtime and the expected values of its data.
class Program {
 public:
  Program(std::uint64_t seed, Config& config) : random_(seed), runtime_(config), flow_(runtime_) {
    for (std::size_t i = 0; i < vectors; ++i) {
      data_.push_back(runtime_.vector<double>("v" + std::to_string(i), elements));
      values_.push_back(static_cast<double>(i));
      flow_.submit(set_(data_[i], values_[i]));
    }
  }

  void run(int steps) {
    const std::jthread asker([&](const std::stop_token& over) {  // ends by itself if a step throws
      while (!over.stop_requested()) {
        EXPECT_EQ(runtime_.status().find("internal"), std::string::npos);
        if (tests::sanitized)  // the thread would take a core from the workers
          std::this_thread::sleep_for(std::chrono::microseconds(100));
        else
          std::this_thread::yield();
      }
    });
    for (int step = 0; step < steps; ++step) one_step();
    for (std::size_t i = 0; i < vectors; ++i) flow_.submit(check_(data_[i], values_[i]));
    flow_.wait();
  }
  int wrong() const { return wrong_; }
  std::uint64_t passed() { return front::core_of(runtime_).engine().fast_path().tasks(); }

 private:
  void one_step() {
    for (auto n = random_.below(40); n > 0; --n) mix(random_.once_in(10) ? 1 : 0);
    switch (random_.below(9)) {
      case 0:  // much more than fits
        for (std::size_t i = 0; i < large; ++i) {
          large_.push_back(runtime_.vector<double>("large", 16 * elements));
          flow_.submit(touch_(large_.back()));
        }
        break;
      case 1:
        flow_.wait();
        for (const auto& vector : large_) runtime_.remove(vector);
        large_.clear();
        break;
      case 2:
        runtime_.flush();
        if (random_.once_in(2)) runtime_.drop_clean();
        break;
      case 3: {
        Flow failing(runtime_);
        double local = 0;
        const auto datum = runtime_.value("local", local);
        for (int i = 0; i < 5; ++i) failing.submit(count_(datum));
        failing.submit(fail_(datum));
        for (int i = 0; i < 5; ++i) failing.submit(count_(datum));
        EXPECT_THROW(failing.wait(), TaskError);
        wrong_ += local != 5;
        runtime_.remove(datum);
        break;
      }
      case 4: {
        Flow cancelled(runtime_);
        double local = 0;
        const auto datum = runtime_.value("local", local);
        for (int i = 0; i < 20; ++i) cancelled.submit(count_(datum));
        cancelled.cancel();
        try {
          cancelled.wait();
        } catch (const TaskError&) {
        }
        wrong_ += local > 20;
        runtime_.remove(datum);
        break;
      }
      case 5: {
        const std::size_t i = random_.below(vectors);
        auto hold = flow_.acquire(update(data_[i]));
        auto view = hold.get<0>();
        wrong_ += value_of(view) != values_[i];
        fill(view, values_[i] = mixed(values_[i], 3));
        const std::size_t other = (i + 1) % vectors;
        flow_.future(check_(data_[other], values_[other])).wait();  // with the hold open
        break;
      }
      case 6:
        flow_.submit(add_(data_[random_.below(vectors)], 0));  // commutative
        break;
      case 7:
        flow_.wait();
        break;
      default:
        break;
    }
  }
  void mix(int priority) {
    const std::size_t own = random_.below(vectors), other = (own + 1 + random_.below(vectors - 1)) % vectors;
    auto call = mix_(data_[other], data_[own], values_[other], values_[own]);
    if (priority != 0)
      flow_.submit(std::move(call).priority(priority));
    else
      flow_.submit(call);
    values_[own] = mixed(values_[own], values_[other]);
  }

  std::atomic<int> wrong_ = 0;
  Codelet<Out<Vector<double>>, double> set_ =
      codelet("set").cpu([](Out<Vector<double>> v, double x) { fill(v, x); });
  Codelet<Read, Update, double, double> mix_ =
      codelet("mix").cpu([this](Read a, Update v, double x, double before) {
        wrong_ += value_of(a) != x || value_of(v) != before;
        fill(v, mixed(before, x));
      });
  Codelet<Read, double> check_ =
      codelet("check").cpu([this](Read v, double expected) { wrong_ += value_of(v) != expected; });
  Codelet<Commute<Vector<double>>, double> add_ =
      codelet("add").cpu([](Commute<Vector<double>> v, double x) { fill(v, value_of(v) + x); });
  Codelet<Out<Vector<double>>> touch_ = codelet("touch").cpu([](Out<Vector<double>> v) { v(0) = 1; });
  Codelet<InOut<double>> count_ = codelet("count").cpu([](InOut<double> x) { *x += 1; });
  Codelet<InOut<double>> fail_ =
      codelet("fail").cpu([](InOut<double>) { throw std::runtime_error("as planned"); });
  Random random_;
  Runtime runtime_;
  Flow flow_;
  std::vector<Handle<Vector<double>>> data_, large_;
  std::vector<double> values_;
};

}  // namespace

TEST(RandomEvents, OpenAndCloseTheFastPathWithoutAnEffectOnTheTasks) {
  // AddressSanitizer finds errors of single threads, and needs no rare interleavings.
  const std::uint64_t seeds = tests::at_length() ? 40 : tests::address_sanitized ? 5 : 10;
  std::uint64_t passed = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    Config config;
    config.set("workers", 1 + seed % 4);
    config.set("memory", "512KiB");  // all small ones and few of the large
    config.set("scheduler", "lws");
    config.set("spin", random.once_in(2) ? 0 : 50);
    config.set("bind-threads", false);
    config.set("window", random.once_in(2) ? 2048 : random.between(8, 100));
    Program program(seed, config);
    program.run(60);
    ASSERT_EQ(program.wrong(), 0) << "seed " << seed;
    passed += program.passed();
  }
  EXPECT_GT(passed, 25 * seeds);
}

}  // namespace fairlead
