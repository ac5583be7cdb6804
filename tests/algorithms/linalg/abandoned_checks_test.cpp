// Objects that check a solution, destroyed by an exception while their tasks run: the destructor waits for the tasks, which
// still read the sources.
#include <gtest/gtest.h>

#include <fairlead/error.hpp>
#include <fairlead/flow.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "algorithms/linalg/backward_error.hpp"
#include "algorithms/linalg/element_sizes.hpp"
#include "algorithms/linalg/inverse_residual.hpp"
#include "algorithms/linalg/least_squares_error.hpp"
#include "algorithms/linalg/tile_digest.hpp"
#include "algorithms/linalg/world.hpp"

namespace fairlead::linalg::testing {
namespace {

constexpr std::int64_t rows = 600, columns = 40;

/// The actions in the worker's thread and in that of the program.
struct LeavingMoments {
  std::atomic<bool> reading = false, leaving = false, destroyed = false;
  std::atomic<int> read_after_destruction = 0;

  /// In a task: returns some time after the program has started to unwind.
  void read() {
    reading.store(true);
    reading.notify_all();
    leaving.wait(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (destroyed.load()) read_after_destruction.fetch_add(1);
  }
  /// In the program: only after a task has started, so that the destructor must wait.
  [[noreturn]] void leave() {
    reading.wait(false);
    leaving.store(true);
    leaving.notify_all();
    throw InputError("the file has become shorter");
  }
};

/// A matrix of ones, of which tasks read.
class SlowOnes final : public MatrixSource<double> {
 public:
  SlowOnes(LeavingMoments& moments, std::int64_t wide) : moments_(moments), wide_(wide) {}
  std::int64_t rows() const override { return testing::rows; }
  std::int64_t columns() const override { return wide_; }
  void read(std::int64_t, std::int64_t row_count, std::int64_t, std::int64_t column_count, double* out,
            std::int64_t ld) const override {
    moments_.read();
    for (std::int64_t j = 0; j < column_count; ++j) std::fill_n(out + j * ld, row_count, 1.0);
  }

 private:
  LeavingMoments& moments_;
  std::int64_t wide_;
};

/// Right-hand sides that cannot be read: the program throws.
class Unreadable final : public MatrixSource<double> {
 public:
  explicit Unreadable(LeavingMoments& moments) : moments_(moments), program_(std::this_thread::get_id()) {}
  std::int64_t rows() const override { return testing::rows; }
  std::int64_t columns() const override { return 1; }
  void read(std::int64_t, std::int64_t row_count, std::int64_t, std::int64_t, double* out,
            std::int64_t) const override {
    if (std::this_thread::get_id() == program_) moments_.leave();
    std::fill_n(out, row_count, 1.0);
  }

 private:
  LeavingMoments& moments_;
  std::thread::id program_;
};

/// Uses a flow until an exception. The flow is not destroyed, as that of a command.
void abandon(const std::function<void(Runtime&, Flow&, LeavingMoments&)>& judge) {
  LeavingMoments moments;
  Runtime runtime(config_of({}));
  Flow flow(runtime);
  try {
    judge(runtime, flow, moments);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InputError&) {
    moments.destroyed.store(true);
  }
  flow.wait();
  EXPECT_EQ(moments.read_after_destruction.load(), 0);
}

TEST(AbandonedChecks, OfLeastSquares) {
  const std::vector<double> x(columns, 1);
  abandon([&](Runtime& runtime, Flow& flow, LeavingMoments& moments) {
    LeastSquaresError<double> error(kernels(), std::make_shared<SlowOnes>(moments, columns),
                                    std::make_shared<Unreadable>(moments), x.data(), columns, 1);
    error.check(
        runtime, flow, 32, [](Flow&, const TiledMatrix<double>&) {}, [&] { flow.wait(); });
  });
}

TEST(AbandonedChecks, OfTheBackwardError) {
  const std::vector<double> x(rows, 1);
  abandon([&](Runtime&, Flow& flow, LeavingMoments& moments) {
    BackwardError<double> error(kernels(), std::make_shared<SlowOnes>(moments, rows),
                                std::make_shared<SlowOnes>(moments, 1), x.data(), 1);
    error.submit(flow);
    moments.leave();
  });
}

TEST(AbandonedChecks, OfTheInverse) {
  const std::vector<double> y(rows, 1), shares(rows, 1);
  const std::vector<std::int64_t> of{0};
  abandon([&](Runtime&, Flow& flow, LeavingMoments& moments) {
    InverseResidual<double> residual(kernels(), std::make_shared<SlowOnes>(moments, rows), y, of, shares);
    residual.submit(flow, 0, 1);
    moments.leave();
  });
}

// These read tiles, so a slow task before them delays their start until they are abandoned.
template <class Object>
void abandon_of_tiles(Object make) {
  LeavingMoments moments;
  Runtime runtime(config_of({}));
  const auto a = runtime.tiled<double>("A", 256, 256, 64);
  Flow flow(runtime);
  const auto fill = codelet("fill").cpu([&moments](Out<Tile<double>> t) {
    moments.read();
    for (int j = 0; j < t.columns(); ++j)
      for (int i = 0; i < t.rows(); ++i) t(i, j) = 1;
  });
  for (std::int32_t i = 0; i < a.tile_rows(); ++i)
    for (std::int32_t j = 0; j < a.tile_columns(); ++j) flow.submit(fill(a(i, j)));
  try {
    auto object = make();
    object->submit(flow, a);
    moments.leave();
  } catch (const InputError&) {
  }
  EXPECT_NO_THROW(flow.wait());  // AddressSanitizer detects their writes
}

struct SizesOfAll {
  ElementSizes<double> sizes;
  void submit(Flow& flow, const TiledMatrix<double>& a) { sizes.submit(flow, a, Elements::all); }
};

TEST(AbandonedChecks, OfElementSizes) {
  abandon_of_tiles([] { return std::make_unique<SizesOfAll>(); });
}

TEST(AbandonedChecks, OfDigests) {
  abandon_of_tiles([] { return std::make_unique<TileDigest<double>>(Tiles::all); });
}

}  // namespace
}  // namespace fairlead::linalg::testing
