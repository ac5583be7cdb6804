// Runs that get a signal, before or after a file operation or at any moment: afterwards the solution is absent,
// or the old one, or complete and right; no other file is left.
#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <csignal>

#include "torture/command_solve.hpp"

namespace fairlead::torture {
namespace {

constexpr std::array signals = {SIGKILL, SIGTERM, SIGINT, SIGHUP};

class Kills final : public Campaign {
 public:
  void run(Run& run) override {
    CommandSolve solve(run, kept_, Devices::none, true);
    const int signal = signals[run.index % signals.size()];
    const bool by_shim = run.random.once_in(2), replaces = run.random.once_in(3);
    const bool unnamed = !by_shim || run.random.once_in(2);
    ShimPlan& plan = shim_.plan();
    plan.no_unnamed_files = !unnamed;
    if (replaces) solve.begin_with_output();
    const Ended undisturbed = solve.find_memory(&shim_);
    const std::uint64_t calls = shim_.calls(FileOperation::any);
    shim_.reset();
    std::optional<Kill> kill;
    if (by_shim) {
      plan.operation = FileOperation::any;
      plan.effect = run.random.once_in(2) ? Effect::signal_before : Effect::signal_after;
      plan.number = static_cast<std::uint64_t>(signal);
      plan.times = 1;
      // The last calls rename the solution.
      plan.after =
          run.random.once_in(3) && calls > 8 ? calls - 1 - run.random.below(8) : run.random.below(calls);
      run.describe(fmt::format("signal {} {} {} of {} file operations{}{}", signal,
                               plan.effect == Effect::signal_after ? "after" : "before", plan.after + 1,
                               calls, unnamed ? "" : ", without unnamed files",
                               replaces ? ", over an old solution" : ""));
    } else {
      kill = Kill{signal, undisturbed.seconds * 1.1 * run.random.unit()};
      run.describe(fmt::format("signal {} after {:.4f} s{}", signal, kill->after_seconds,
                               replaces ? ", over an old solution" : ""));
    }
    const Ended ended = solve.start(shim_.environment(), kill);
    run.describe(ended.text());
    judge(solve, ended, signal);
  }

  std::string summary(std::uint64_t runs) override {
    if (runs >= 50 && in_time_ < runs / 3)
      throw Wrong(fmt::format("only {} of {} were killed in time", in_time_, runs));
    return fmt::format(
        "{} runs were sent signals, {} of them in time; {} have left a solution, right and whole", runs,
        in_time_, whole_);
  }

 private:
  void judge(const CommandSolve& solve, const Ended& ended, int signal) {
    in_time_ += ended.exit_code() != 0;
    const bool by_signal = !ended.exited() && WTERMSIG(ended.status) == signal;
    if (ended.exit_code() != 0 && !by_signal && ended.exit_code() != 128 + signal)
      throw Wrong("it ended otherwise");
    kept_.remove_half_written();
    if (by_signal && signal == SIGKILL && solve.left_a_partial_output()) return judge_the_next(solve);
    solve.expect_nothing_left();
    if (ended.exit_code() != 0 && solve.output_is_as_before()) return;
    solve.expect_right();
    ++whole_;
  }

  /// If files need names, or during a replacement, SIGKILL leaves a file, which the next output removes.
  void judge_the_next(const CommandSolve& solve) {
    if (const Ended again = solve.start({}); again.exit_code() != 0)
      throw Wrong("it has left a partial output, and the next run failed");
    kept_.remove_half_written();
    solve.expect_nothing_left();
    solve.expect_right();
    ++whole_;
  }

  const Kept kept_;
  Shim shim_;
  std::uint64_t in_time_ = 0, whole_ = 0;
};

}  // namespace

std::unique_ptr<Campaign> kills() { return std::make_unique<Kills>(); }

}  // namespace fairlead::torture
