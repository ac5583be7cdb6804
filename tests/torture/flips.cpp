// One bit changes in a read from the spill file. With checksums that is always an error. Without, a backward error
// above the bound counts as noticed; missed flips below it are counted.
#include <fmt/format.h>

#include "torture/command_solve.hpp"

namespace fairlead::torture {
namespace {

class Flips final : public Campaign {
 public:
  Flips() {
    const misuse::Answer help = misuse::Folder().run("solve --help");
    checksums_ = help.output.find("checksums") != std::string::npos;
  }

  void run(Run& run) override {
    CommandSolve solve(run, kept_, Devices::none, true);
    solve.find_memory(&shim_, with(false));
    const std::uint64_t reads = shim_.calls(FileOperation::spill_read);
    if (reads == 0) throw Wrong("nothing is read from the spill file");
    const std::uint64_t bit = run.random.next(), after = run.random.below(reads);
    run.describe(fmt::format("bit {} in spill read {} of {}", bit, after, reads));

    Ended ended = flipped(solve, bit, after, with(false));
    run.describe("without checksums: " + ended.text());
    if (done()) {
      ++flips_;
      if (ended.exit_code() == 0) {
        const double error = solve.output_error();
        if (!(error <= solve.allowed()))
          throw Wrong(
              fmt::format("a wrong solution, with exit status 0: the backward error is {:.3g}, above {:.3g}",
                          error, solve.allowed()));
        ++missed_;
        worst_ = std::max(worst_, error / solve.allowed());
      } else {
        expect_error(solve, ended);
      }
    }
    if (!checksums_) return;
    ended = flipped(solve, bit, after, with(true));
    run.describe("with checksums: " + ended.text());
    if (!done()) return;
    ++checked_;
    if (ended.exit_code() == 0) throw Wrong("with checksums, a changed bit was not noticed");
    expect_error(solve, ended);
  }

  std::string summary(std::uint64_t runs) override {
    if (runs >= 20 && flips_ < runs / 2)
      throw Wrong(fmt::format("only {} bits of {} were changed", flips_, runs));
    std::string text = fmt::format(
        "{} bits changed on their way from the disk: without checksums {} were noticed by their errors, {} "
        "were missed, "
        "with at most {:.2f} of the backward error that is allowed",
        flips_, flips_ - missed_, missed_, worst_);
    return text + (checksums_ ? fmt::format("; with checksums {} of {} were noticed", checked_, checked_)
                              : "; there are no checksums");
  }

 private:
  std::vector<std::string> with(bool checksums) const {
    if (!checksums_) return {};
    return {checksums ? "--checksums" : "--no-checksums"};
  }
  Ended flipped(const CommandSolve& solve, std::uint64_t bit, std::uint64_t after,
                const std::vector<std::string>& words) {
    solve.restore_output();
    shim_.reset();
    ShimPlan& plan = shim_.plan();
    plan.operation = FileOperation::spill_read;
    plan.effect = Effect::flip;
    plan.number = bit;
    plan.after = after;
    plan.times = 1;
    return solve.start(shim_.environment(), {}, words);
  }
  bool done() const { return shim_.plan().done > 0; }
  static void expect_error(const CommandSolve& solve, const Ended& ended) {
    if (!ended.exited()) throw Wrong("it crashed");
    if (ended.errors.find("fairlead: ") == std::string::npos) throw Wrong("it does not say what is wrong");
    if (solve.has_output()) throw Wrong("it has failed, and left an output");
    solve.expect_nothing_left();
  }

  bool checksums_ = false;
  const Kept kept_;
  Shim shim_;
  std::uint64_t flips_ = 0, missed_ = 0, checked_ = 0;
  double worst_ = 0;
};

}  // namespace

std::unique_ptr<Campaign> flips() { return std::make_unique<Flips>(); }

}  // namespace fairlead::torture
