// Kinds of failing file operations: the run ends with status 0 and a right solution, or with an error message,
// another status, and no solution. It never hangs or crashes, and leaves no files. Failures for which there is a
// retry or an alternative must not be errors.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "torture/command_solve.hpp"

namespace fairlead::torture {
namespace {

constexpr std::uint64_t always = ~std::uint64_t{0} >> 1;

struct Kind {
  std::string_view name;
  FileOperation operation;
  Effect effect;
  int error = 0;
  std::uint64_t times = 1;  ///< or, for some, drawn
  bool must_succeed = false;
};

constexpr std::array kinds = {
    Kind{"reads fail", FileOperation::read, Effect::fail, EIO},
    Kind{"reads fail from some moment on", FileOperation::read, Effect::fail, EIO, always},
    Kind{"reads are interrupted", FileOperation::read, Effect::fail, EINTR, 3, true},
    Kind{"reads find nothing ready", FileOperation::read, Effect::fail, EAGAIN},
    Kind{"reads are short", FileOperation::read, Effect::part, 0, always, true},
    Kind{"reads are of one byte", FileOperation::read, Effect::byte, 0, 100, true},
    Kind{"reads are interrupted for ever", FileOperation::read, Effect::fail, EINTR, always},
    Kind{"reads meet the end", FileOperation::read, Effect::end},
    Kind{"writes fail", FileOperation::write, Effect::fail, EIO},
    Kind{"writes find the disk full from some moment on", FileOperation::write, Effect::fail, ENOSPC, always},
    Kind{"writes are interrupted", FileOperation::write, Effect::fail, EINTR, 3, true},
    Kind{"writes are short", FileOperation::write, Effect::part, 0, always, true},
    Kind{"writes are of one byte", FileOperation::write, Effect::byte, 0, 100, true},
    Kind{"writes are interrupted for ever", FileOperation::write, Effect::fail, EINTR, always},
    Kind{"opening is interrupted for ever", FileOperation::open, Effect::fail, EINTR, always},
    Kind{"space is refused", FileOperation::allocate, Effect::fail, ENOSPC},
    Kind{"setting space aside is interrupted", FileOperation::allocate, Effect::fail, EINTR, 2, true},
    Kind{"setting space aside is unknown", FileOperation::allocate, Effect::fail, EOPNOTSUPP, always, true},
    Kind{"files cannot be opened", FileOperation::open, Effect::fail, EMFILE},
    Kind{"files may not be opened", FileOperation::open, Effect::fail, EACCES, always},
    Kind{"flushes fail", FileOperation::sync, Effect::fail, EIO},
    Kind{"names are refused", FileOperation::link, Effect::fail, EIO},
    Kind{"renaming is refused", FileOperation::rename, Effect::fail, EIO},
    Kind{"truncating is refused", FileOperation::truncate, Effect::fail, EIO},
    Kind{"memory is refused", FileOperation::map, Effect::fail, ENOMEM},
    Kind{"closing fails", FileOperation::close, Effect::fail, EIO},
};

class Faults final : public Campaign {
 public:
  void run(Run& run) override {
    const std::size_t number = run.index % kinds.size();
    const Kind& kind = kinds[number];
    CommandSolve solve(run, kept_, Devices::none, true);
    // Some file systems have no unnamed files; only renaming replaces a file.
    ShimPlan& plan = shim_.plan();
    const bool unnamed = kind.operation == FileOperation::link || !run.random.once_in(3),
               replaces = kind.operation == FileOperation::rename || run.random.once_in(3);
    plan.no_unnamed_files = !unnamed;
    if (replaces) solve.begin_with_output();
    solve.find_memory(&shim_);
    // One of the calls of the successful run. Other runs have another order, but few more calls.
    const std::uint64_t calls = shim_.calls(kind.operation);
    shim_.reset();
    plan.operation = kind.operation;
    plan.effect = kind.effect;
    plan.number = static_cast<std::uint64_t>(kind.error);
    plan.times = kind.times;
    plan.after = calls == 0 ? 0 : run.random.below(calls);
    run.describe(fmt::format("{}: after {} of {} calls{}{}", kind.name, plan.after, calls,
                             unnamed ? "" : ", without unnamed files",
                             replaces ? ", over an old solution" : ""));
    const Ended ended = solve.start(shim_.environment());
    run.describe(ended.text());
    hit_[number] += plan.done > 0;
    judge(kind, solve, ended);
  }

  std::string summary(std::uint64_t runs) override {
    std::string text = fmt::format("{} runs of {} kinds of faults: {} ended well, {} in an error", runs,
                                   kinds.size(), well_, failed_);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (runs >= 3 * kinds.size() && hit_[i] == 0)
        throw Wrong(fmt::format("\"{}\" has never happened", kinds[i].name));
      text += fmt::format("\n  {:3} {}", hit_[i], kinds[i].name);
    }
    return text;
  }

 private:
  void judge(const Kind& kind, const CommandSolve& solve, const Ended& ended) {
    solve.expect_nothing_left();
    if (ended.exit_code() == 0) {
      ++well_;
      return solve.expect_right();
    }
    ++failed_;
    if (!ended.exited()) throw Wrong("it crashed");
    if (ended.exit_code() != 1) throw Wrong("the exit status is that of another kind of error");
    if (ended.errors.find("fairlead: ") == std::string::npos) throw Wrong("it does not say what is wrong");
    if (!solve.output_is_as_before()) throw Wrong("it has failed, and left an output");
    if (kind.must_succeed) throw Wrong("this is no reason to fail");
  }

  const Kept kept_;
  Shim shim_;
  std::array<std::uint64_t, kinds.size()> hit_{};
  std::uint64_t well_ = 0, failed_ = 0;
};

}  // namespace

std::unique_ptr<Campaign> faults() { return std::make_unique<Faults>(); }

}  // namespace fairlead::torture
