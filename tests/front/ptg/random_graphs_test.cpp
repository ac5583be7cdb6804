// Random parameterized graphs in little memory under every policy, compared with loops over the same indices:
// the same tasks run, each with the expected values.
#include <gtest/gtest.h>
#include <fairlead/fairlead.hpp>
#include <fairlead/ptg.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "at_length.hpp"
#include "base/random.hpp"
#include "sanitized.hpp"
#include "schedule/policies.hpp"
#include "whole/every_policy.hpp"

namespace fairlead {
namespace {

using Number = std::uint64_t;
using Point = std::vector<std::int64_t>;
constexpr std::int64_t vector_length = 2048;  // four pages

Number mixed(Number own, const std::vector<std::optional<Number>>& reads) {
  Number value = own * 0x9e37'79b9'7f4a'7c15u + 1;
  for (const auto& read : reads)
    value = (value ^ (value >> 29)) * 0xbf58'476d'1ce4'e5b9u + (read ? *read : 77);
  return value;
}

/// A sum over indices, for both.
struct Sum {
  std::int64_t constant = 0;
  Point factors{};

  std::int64_t at(const Point& point) const {
    std::int64_t value = constant;
    for (std::size_t i = 0; i < factors.size(); ++i) value += factors[i] * point[i];
    return value;
  }
  ptg::Expression of(const std::vector<ptg::Index>& indices) const {
    ptg::Expression value = constant;
    for (std::size_t i = 0; i < factors.size(); ++i)
      if (factors[i] != 0) value = value + factors[i] * indices[i];
    return value;
  }
};

struct DrawnRange {
  Sum first, last;
  std::int64_t step = 1;
};

struct DrawnRead {
  enum class Kind { task, memory };
  Kind kind = Kind::task;
  std::size_t of = 0;
  std::vector<Sum> indices{};
  std::optional<Sum> even{};  ///< only where this is even
};

struct DrawnControl {
  std::size_t of = 0;
  std::vector<Sum> indices{};
  bool all = false;  ///< of its only index
};

/// A task changes its own value. It receives the value from the task with the previous first index, or starts
/// with a datum of its own or a fresh one.
struct DrawnClass {
  std::vector<DrawnRange> ranges{};
  bool chained = false, fresh = false;
  bool or_copy = false;            ///< who goes on does not wait for those who read: they read copies
  std::vector<DrawnRead> reads{};  // two
  std::vector<DrawnControl> controls{};
  std::vector<Point> points{};
  std::map<Point, std::size_t> ranks{};  ///< where each is in `points`

  void add(const Point& point) {
    ranks.emplace(point, points.size());
    points.push_back(point);
  }
  bool has(const Point& point) const { return ranks.contains(point); }
  std::size_t rank(const Point& point) const { return ranks.at(point); }
  std::optional<Point> before(Point point) const {
    if (!chained) return std::nullopt;
    point[0] -= ranges[0].step;
    return has(point) ? std::optional(point) : std::nullopt;
  }
};

class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : random_(seed) {
    const auto count = static_cast<std::size_t>(random_.between(1, 4));
    for (std::size_t i = 0; i < count; ++i) draw_class();
  }
  std::vector<DrawnClass> classes;

  /// Each value of the class is copied: one class reads the values while others change them.
  bool copies(std::size_t c) const {
    const auto reads_them = [&](const DrawnRead& read) {
      return read.kind == DrawnRead::Kind::task && read.of == c;
    };
    return classes[c].or_copy && std::ranges::any_of(classes, [&](const DrawnClass& of) {
             return std::ranges::any_of(of.reads, reads_them);
           });
  }
  std::optional<Point> named(const std::vector<Sum>& indices, std::size_t of, const Point& by) const {
    Point point;
    for (const Sum& index : indices) point.push_back(index.at(by));
    return classes[of].has(point) ? std::optional(point) : std::nullopt;
  }
  std::optional<Point> named(const DrawnRead& read, const Point& by) const {
    if (read.even && read.even->at(by) % 2 != 0) return std::nullopt;
    return named(read.indices, read.of, by);
  }

 private:
  void draw_class() {
    DrawnClass it;
    const std::size_t parameters = random_.once_in(6) ? 4 : static_cast<std::size_t>(random_.between(1, 3));
    for (std::size_t i = 0; i < parameters; ++i) {
      DrawnRange range;
      range.first.constant = random_.between(-2, 2);
      range.last.constant = range.first.constant + random_.between(-1, i == 0 ? 6 : parameters == 4 ? 1 : 3);
      if (i > 0 && random_.once_in(2)) range.first = sum_of(i, range.first.constant);
      if (i > 0 && random_.once_in(2)) range.last = sum_of(i, range.last.constant);
      range.step = random_.once_in(4) ? 2 : 1;
      it.ranges.push_back(range);
    }
    Point point;
    list(it, point);
    it.chained = random_.once_in(2);
    it.fresh = random_.once_in(4);
    it.or_copy = it.chained && random_.once_in(3);
    for (int i = 0; i < 2; ++i) {
      DrawnRead read;
      read.kind = classes.empty() || random_.once_in(3) ? DrawnRead::Kind::memory : DrawnRead::Kind::task;
      read.of =
          static_cast<std::size_t>(random_.below(classes.size() + (read.kind == DrawnRead::Kind::memory)));
      read.indices = indices_into(read.of == classes.size() ? it : classes[read.of], parameters);
      if (random_.once_in(4)) read.even = sum_of(parameters, random_.between(0, 1));
      it.reads.push_back(read);
    }
    if (!classes.empty() && random_.once_in(3)) {
      DrawnControl control;
      control.of = static_cast<std::size_t>(random_.below(classes.size()));
      control.all = classes[control.of].ranges.size() == 1;
      control.indices = indices_into(classes[control.of], parameters);
      it.controls.push_back(control);
    }
    classes.push_back(it);
  }
  Sum sum_of(std::size_t indices, std::int64_t constant) {
    Sum sum{constant, Point(indices)};
    sum.factors[random_.below(indices)] = random_.once_in(5) ? 2 : random_.once_in(5) ? -1 : 1;
    return sum;
  }
  std::vector<Sum> indices_into(const DrawnClass& of, std::size_t own) {
    std::vector<Sum> indices;
    for (std::size_t i = 0; i < of.ranges.size(); ++i)
      indices.push_back(random_.once_in(4) ? Sum{random_.between(-1, 3)}
                                           : sum_of(own, random_.between(-1, 1)));
    return indices;
  }
  void list(DrawnClass& it, Point& so_far) {
    if (so_far.size() == it.ranges.size()) return it.add(so_far);
    const DrawnRange& range = it.ranges[so_far.size()];
    Point padded = so_far;
    padded.resize(it.ranges.size());
    const std::int64_t first = range.first.at(padded), last = range.last.at(padded);
    for (std::int64_t value = first; value <= last; value += range.step) {
      so_far.push_back(value);
      list(it, so_far);
      so_far.pop_back();
    }
  }
  Random random_;
};

Number initial(std::size_t of, std::size_t rank) { return 1000 * (of + 1) + rank; }

struct Expected {
  std::vector<std::vector<Number>> left;  ///< what each task makes of its value, by class and rank
  std::vector<std::vector<Number>> data;  ///< at the end, likewise
};

/// By loops; nothing if the tasks form a cycle.
std::optional<Expected> unrolled(const Drawn& drawn) {
  using Task = std::pair<std::size_t, std::size_t>;  // class, rank
  std::map<Task, std::vector<Task>> before;
  const auto& classes = drawn.classes;
  const auto successor = [&](const Task& task) -> std::optional<Task> {
    const DrawnClass& of = classes[task.first];
    for (std::size_t i = 0; i < of.points.size(); ++i)
      if (of.before(of.points[i]) == of.points[task.second]) return Task(task.first, i);
    return std::nullopt;
  };
  for (std::size_t c = 0; c < classes.size(); ++c)
    for (std::size_t r = 0; r < classes[c].points.size(); ++r) {
      const DrawnClass& of = classes[c];
      const Point& point = of.points[r];
      const Task task(c, r);
      before[task];
      if (const auto earlier = of.before(point)) before[task].emplace_back(c, of.rank(*earlier));
      for (const DrawnRead& read : of.reads) {
        const auto named = drawn.named(read, point);
        if (!named) continue;
        const Task other(read.of, classes[read.of].rank(*named));
        if (read.kind == DrawnRead::Kind::task) {
          before[task].push_back(other);
          if (const auto changes = successor(other); changes && !classes[read.of].or_copy)
            before[*changes].push_back(task);
        } else if (!classes[read.of].fresh && !classes[read.of].before(*named)) {
          before[other].push_back(task);  // it changes what is read here
        }
      }
      for (const DrawnControl& control : of.controls) {
        if (control.all)
          for (std::size_t i = 0; i < classes[control.of].points.size(); ++i)
            before[task].emplace_back(control.of, i);
        else if (const auto named = drawn.named(control.indices, control.of, point))
          before[task].emplace_back(control.of, classes[control.of].rank(*named));
      }
    }
  Expected expected;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    expected.left.emplace_back(classes[c].points.size());
    expected.data.emplace_back();
    for (std::size_t r = 0; r < classes[c].points.size(); ++r) expected.data[c].push_back(initial(c, r));
  }
  const auto data_before = expected.data;
  std::map<Task, bool> over;
  for (bool moved = true; std::exchange(moved, false);)
    for (const auto& [task, others] : before) {
      if (over[task] || !std::ranges::all_of(others, [&](const Task& other) { return over[other]; }))
        continue;
      const auto [c, r] = task;
      const DrawnClass& of = classes[c];
      const auto earlier = of.before(of.points[r]);
      const Number own = earlier ? expected.left[c][of.rank(*earlier)] : of.fresh ? 0 : data_before[c][r];
      std::vector<std::optional<Number>> reads;
      for (const DrawnRead& read : of.reads) {
        const auto named = drawn.named(read, of.points[r]);
        reads.emplace_back();
        if (!named) continue;
        const std::size_t rank = classes[read.of].rank(*named);
        reads.back() =
            read.kind == DrawnRead::Kind::task ? expected.left[read.of][rank] : data_before[read.of][rank];
      }
      expected.left[c][r] = mixed(own, reads);
      over[task] = moved = true;
      // The datum of the value: that of the first task in its chain.
      Point first = of.points[r];
      while (const auto point = of.before(first)) first = *point;
      if (!of.fresh) expected.data[c][of.rank(first)] = expected.left[c][r];
    }
  if (!std::ranges::all_of(before, [&](const auto& entry) { return over[entry.first]; })) return std::nullopt;
  return expected;
}

/// The same as a parameterized graph, run twice.
class DrawnRun {
 public:
  DrawnRun(const Drawn& drawn, const Config& config) : drawn_(drawn), runtime_(config), graph_(runtime_) {
    for (std::size_t c = 0; c < drawn.classes.size(); ++c) {
      left_.emplace_back(drawn.classes[c].points.size());
      times_.emplace_back(drawn.classes[c].points.size());
      for (std::size_t r = 0; r < left_[c].size(); ++r)
        data_of_[c].push_back(runtime_.vector<Number>(
            "datum " + std::to_string(r) + " of class " + std::to_string(c), vector_length));
    }
    for (std::size_t c = 0; c < drawn.classes.size(); ++c) add_class(c);
  }
  std::uint64_t tasks() { return graph_.tasks(); }
  void run(bool as_flow = false) {
    const auto set = codelet("set").cpu(
        [](Out<Vector<Number>> to, Number value) { std::fill_n(to.data(), to.size(), value); });
    Flow flow(runtime_);
    for (const auto& [c, data] : data_of_)
      for (std::size_t r = 0; r < data.size(); ++r) flow.submit(set(data[r], initial(c, r)));
    for (auto& times : times_)
      for (auto& time : times) time = 0;
    if (as_flow) {
      graph_.submit(flow);
      flow.wait();
    } else {
      graph_.run();
    }
    for (const auto& [c, data] : data_of_)
      for (std::size_t r = 0; r < data.size(); ++r) {
        const auto hold = flow.acquire(read(data[r]));
        const auto& view = hold.get<0>();
        at_end_[c].resize(data.size());
        at_end_[c][r] = view.data()[0] == view.data()[view.size() - 1] ? view.data()[0] : 0;
      }
  }
  void compare(const Expected& expected) const {
    for (std::size_t c = 0; c < left_.size(); ++c)
      for (std::size_t r = 0; r < left_[c].size(); ++r) {
        ASSERT_EQ(times_[c][r], 1) << "class " << c << ", task " << r;
        ASSERT_EQ(left_[c][r], expected.left[c][r]) << "class " << c << ", task " << r;
        ASSERT_EQ(at_end_.at(c)[r], expected.data[c][r]) << "class " << c << ", datum " << r;
      }
  }

 private:
  using Parts = std::vector<ptg::Index>;

  /// The indices of the tasks of the class, and what is known of the numbers, as expressions.
  ptg::Expression is_task(std::size_t c, const std::vector<ptg::Expression>& at) const {
    ptg::Expression all = 1;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const DrawnRange& range = drawn_.classes[c].ranges[i];
      const auto bound = [&](const Sum& sum) {
        ptg::Expression value = sum.constant;
        for (std::size_t k = 0; k < sum.factors.size(); ++k)
          if (sum.factors[k] != 0) value = value + sum.factors[k] * at[k];
        return value;
      };
      all = all && at[i] >= bound(range.first) && at[i] <= bound(range.last);
      if (range.step != 1) all = all && (at[i] - bound(range.first)) % range.step == 0;
    }
    return all;
  }
  static std::vector<ptg::Expression> expressions(const std::vector<Sum>& sums, const Parts& of) {
    std::vector<ptg::Expression> all;
    for (const Sum& sum : sums) all.push_back(sum.of(of));
    return all;
  }
  static ptg::Place with_indices(ptg::Place place, std::vector<ptg::Expression> indices) {
    place.indices = std::move(indices);
    return place;
  }
  ptg::Place datum(std::size_t c, const std::vector<ptg::Expression>& at) {
    std::vector<ptg::Expression> from_zero;
    for (std::size_t i = 0; i < at.size(); ++i) from_zero.push_back(at[i] - least(c, i));
    return with_indices(collection(c)(), from_zero);
  }
  std::int64_t least(std::size_t c, std::size_t i) const {
    std::int64_t value = 0;
    for (const Point& point : drawn_.classes[c].points) value = std::min(value, point[i]);
    return value;
  }
  const ptg::Collection& collection(std::size_t c) {
    const auto found = collections_.find(c);
    if (found != collections_.end()) return found->second;
    const DrawnClass& of = drawn_.classes[c];
    std::vector<std::int64_t> extents;
    Point first;
    for (std::size_t i = 0; i < of.ranges.size(); ++i) {
      std::int64_t most = 0;
      for (const Point& point : of.points) most = std::max(most, point[i]);
      first.push_back(least(c, i));
      extents.push_back(most - first[i] + 1);
    }
    return collections_
        .emplace(c, graph_.data<Vector<Number>>("data " + std::to_string(c), extents,
                                                [&](const std::int64_t* at) {
                                                  Point point;
                                                  for (std::size_t i = 0; i < extents.size(); ++i)
                                                    point.push_back(at[i] + first[i]);
                                                  if (!of.has(point)) return Handle<Vector<Number>>();
                                                  return data_of_[c][of.rank(point)];
                                                }))
        .first->second;
  }

  void add_class(std::size_t c) {
    const DrawnClass& of = drawn_.classes[c];
    Parts indices;
    for (std::size_t i = 0; i < of.ranges.size(); ++i)
      indices.emplace_back("i" + std::to_string(c) + std::to_string(i));
    std::vector<ptg::Range> ranges;
    for (std::size_t i = 0; i < of.ranges.size(); ++i)
      ranges.push_back(
          indices[i].in(of.ranges[i].first.of(indices), of.ranges[i].last.of(indices), of.ranges[i].step));
    ptg::TaskClass task = graph_.task("class" + std::to_string(c), ranges);
    classes_.push_back(task);
    // The rank of a task in the list of points, for the test only.
    const auto rank = ptg::computed("rank",
                                    [&of](std::span<const std::int64_t> at) {
                                      return static_cast<std::int64_t>(of.rank(Point(at.begin(), at.end())));
                                    },
                                    {indices.begin(), indices.end()});
    std::vector<ptg::Expression> own(indices.begin(), indices.end()), earlier = own;
    if (of.chained) earlier[0] = earlier[0] - of.ranges[0].step;
    const ptg::Expression goes_on = of.chained ? is_task(c, earlier) : ptg::Expression(0);
    auto own_flow = ptg::flow("own");
    if (of.chained) own_flow = std::move(own_flow).from(with_indices(task["own"](), earlier)).when(goes_on);
    if (of.or_copy) own_flow = std::move(own_flow).or_copy();
    own_flow = std::move(own_flow).from(of.fresh ? ptg::fresh_like(fresh_) : datum(c, own));
    std::vector<ptg::FlowSpecification> reads;
    for (std::size_t i = 0; i < of.reads.size(); ++i) {
      const DrawnRead& read = of.reads[i];
      const auto at = expressions(read.indices, indices);
      ptg::Expression condition = is_task(read.of, at);
      if (read.even) condition = condition && read.even->of(indices) % 2 == 0;
      const ptg::Place place = read.kind == DrawnRead::Kind::memory
                                   ? datum(read.of, at)
                                   : with_indices(classes_[read.of]["own"](), at);
      reads.push_back(
          ptg::flow("read " + std::to_string(i)).from(place).when(condition).from(ptg::nothing()));
    }
    const auto body =
        codelet("mix" + std::to_string(c))
            .cpu([this, c](In<Vector<Number>> a, In<Vector<Number>> b, InOut<Vector<Number>> x,
                           std::int64_t its_rank, bool begins_fresh) {
              std::vector<std::optional<Number>> values;
              for (const auto& each : {a, b})
                values.push_back(each.data() == nullptr ? std::nullopt
                                                        : std::optional(each.data()[each.size() - 1]));
              const auto r = static_cast<std::size_t>(its_rank);
              const Number value = mixed(begins_fresh ? 0 : x.data()[0], values);
              std::fill_n(x.data(), x.size(), value);
              left_[c][r] = value;
              ++times_[c][r];
            })
            .emulated();
    const ptg::Expression begins_fresh = of.fresh ? !goes_on : ptg::Expression(0);
    if (of.controls.empty()) {
      task.runs(body, reads[0], reads[1], own_flow, rank, begins_fresh);
      return;
    }
    const DrawnControl& control = of.controls[0];
    auto order = ptg::control("order");
    if (control.all) {
      const DrawnRange& range = drawn_.classes[control.of].ranges[0];
      const ptg::Index all("all");
      order = std::move(order).from(classes_[control.of](all),
                                    all.in(range.first.constant, range.last.constant, range.step));
    } else {
      const auto at = expressions(control.indices, indices);
      order = std::move(order).from(with_indices(classes_[control.of](), at)).when(is_task(control.of, at));
    }
    task.runs(body, reads[0], reads[1], own_flow, rank, begins_fresh, order);
  }

  const Drawn& drawn_;
  Runtime runtime_;
  ptg::Graph graph_;
  std::map<std::size_t, std::vector<Handle<Vector<Number>>>> data_of_;
  std::map<std::size_t, std::vector<Number>> at_end_;
  std::map<std::size_t, ptg::Collection> collections_;
  const ptg::Collection fresh_ =
      graph_.data(std::vector{runtime_.vector<Number>("like this", vector_length)}, "like this");
  std::vector<ptg::TaskClass> classes_;
  std::vector<std::vector<Number>> left_;
  std::vector<std::vector<std::atomic<int>>> times_;
};

class RandomPtg : public testing::TestWithParam<std::string> {};

TEST_P(RandomPtg, MatchesLoops) {
  const std::uint64_t seeds = tests::at_length() ? 15 : tests::sanitized ? 4 : 8;
  // Each policy and each repetition draws other graphs: --gtest_repeat=10 tries ten times as many.
  static std::uint64_t times = 0;
  const auto names = schedule::policy_names();
  const auto place = static_cast<std::uint64_t>(std::ranges::find(names, GetParam()) - names.begin());
  const std::uint64_t first = (times++ * names.size() + place) * seeds;
  std::size_t tasks = 0, circles = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Drawn drawn(Random::mix(seed));
    const auto expected = unrolled(drawn);
    Config config;
    config.set("workers", static_cast<int>(1 + seed % 3));
    config.set("memory", seed % 4 == 0 ? "16MiB" : "64KiB");
    config.set("scheduler", GetParam());
    config.set("bind-threads", false);
    if (seed % 5 == 1) config.set("devices", "emulated:memory=64KiB");
    DrawnRun run(drawn, config);
    std::size_t all = 0;
    for (std::size_t c = 0; c < drawn.classes.size(); ++c)
      all += drawn.classes[c].points.size() * (drawn.copies(c) ? 2 : 1);
    ASSERT_EQ(run.tasks(), all);
    tasks += all;
    if (!expected) {
      ++circles;
      EXPECT_THROW(run.run(seed % 2 == 0), UsageError);
      continue;
    }
    run.run();
    run.compare(*expected);
    run.run(seed % 2 == 0);
    run.compare(*expected);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tasks, 2 * seeds);
  EXPECT_LT(circles, seeds);
}
INSTANTIATE_TEST_SUITE_P(Policies, RandomPtg, testing::ValuesIn(tests::some_policies(2)),
                         tests::name_of_test);

}  // namespace
}  // namespace fairlead
