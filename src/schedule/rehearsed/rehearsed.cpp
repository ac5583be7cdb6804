// When is played, and for how long.
//
// Played is when no more tasks come for now (the flow waits, or the window is full), once for what has been submitted
// by then; again when all of that is over and something else has come.
#include "schedule/rehearsed/rehearsed.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "policy/forwarding_policy.hpp"
#include "policy/least_estimate.hpp"
#include "policy/rehearsal.hpp"
#include "schedule/policies.hpp"
#include "schedule/rehearsed/dispensable.hpp"
#include "schedule/rehearsed/judge.hpp"
#include "schedule/rehearsed/replaceable.hpp"

namespace fairlead::schedule {
namespace {

using namespace rehearsed;

struct Limits {
  double share = 0, within = 0;
  std::size_t fewest_tasks = 0;
};

class Rehearsed final : public ForwardingPolicy<Rehearsed> {
 public:
  Rehearsed(std::unique_ptr<Replaceable> deputy, Limits limits)
      : ForwardingPolicy(std::move(deputy)), deputy_(static_cast<Replaceable&>(inner())), limits_(limits) {}

  std::size_t horizon() const override { return 65'536; }

  void submitted(Task& task) override {
    if (deputy_.unfinished().count() == 0) begin_anew();
    ++submitted_;
    if (holding_back_) work_ += least_estimate(view(), task, of_each_kind_);
    deputy_.submitted(task);
  }
  void horizon_closed() override {
    deputy_.horizon_closed();
    closed_ = true;
    consider();
  }
  /// For what the judge was asked last: if that is over, it is of no use.
  void rehearsed(std::uint64_t finding) override {
    const bool useful = std::exchange(playing_, false) && !decided_ && !given_up_;
    if (!useful) return consider();
    holding_back_ = false;
    answered_ = asked_;
    if (std::string name = policy_of(question_, finding); !name.empty()) deputy_.hand_over(std::move(name));
    decide(true);
  }
  void cancelled(Task& task) override {
    deputy_.cancelled(task);
    give_up_if_over();
  }
  void finished(Task& task, WorkerId worker, Duration took) override {
    deputy_.finished(task, worker, took);
    give_up_if_over();
  }
  Task* pick(WorkerId worker, bool must) override {
    if (holding_back_ && holds_back() && !(must && does_most_of_the_work(worker))) return nullptr;
    return deputy_.pick(worker, must);
  }

 private:
  void attached() override {
    const std::size_t devices = accelerators(view()).size();
    devices_ = devices != 0;
    processors_ = static_cast<double>(devices != 0 ? devices : view().workers().size());
    for (const WorkerInfo& worker : view().workers()) {
      cores_ += worker.kind == WorkerKind::cpu ? 1 : 0;
      const auto same = [&](WorkerId other) { return view().workers()[index(other)].kind == worker.kind; };
      if (std::ranges::none_of(of_each_kind_, same)) of_each_kind_.push_back(worker.id);
    }
    deputy_.attach(view());
  }

  bool does_most_of_the_work(WorkerId worker) const {
    return !devices_ || view().workers()[index(worker)].kind != WorkerKind::cpu;
  }
  /// All that was submitted before is over.
  void begin_anew() {
    closed_ = false;
    decide(false);
    holding_back_ = view().rehearsal() != nullptr && limits_.share > 0;
    work_ = {};
    began_ = view().now();
    next_try_ = submitted_;
  }
  void decide(bool decided) {
    decided_ = decided;
    deputy_.stay(decided);
  }
  void give_up_if_over() {
    if (deputy_.unfinished().count() == 0 && playing_ && !std::exchange(given_up_, true))
      view().rehearsal()->give_up();
  }
  /// Until something has been played nobody begins, as long as that costs little: data would be where another
  /// policy does not want them. If nothing runs at all, one of those who will do most of the work gets a task all
  /// the same, or whoever can run one: take_any().
  bool holds_back() {
    holding_back_ = view().now() - began_ <= share_of(limits_.share, work_);
    return holding_back_;
  }
  /// Of the time that so much work takes all of them.
  Duration share_of(double share, Duration work) const {
    return Duration(std::llround(share * static_cast<double>(work.count()) / processors_));
  }

  void consider() {
    if (!closed_ || decided_ || playing_ || submitted_ < next_try_) return;
    next_try_ =
        submitted_ + deputy_.unfinished().count();  // not at every task of a program that goes on for ever
    if (!begin_to_play()) holding_back_ = false;
  }

  /// False: it is not worth it, or not possible.
  bool begin_to_play() {
    const Unfinished& unfinished = deputy_.unfinished();
    if (view().rehearsal() == nullptr || unfinished.count() < limits_.fewest_tasks) return false;
    const std::vector<Task*> tasks = unfinished.list();
    if (!durations_known(tasks)) return false;
    Question question;
    question.present = deputy_.deputy();
    question.tasks = static_cast<double>(tasks.size());
    question.fewest = limits_.fewest_tasks;
    for (const Task* task : tasks) question.work += least_estimate(view(), *task, of_each_kind_);
    // One thread plays, beside those of the cores that work: it takes its part of their time.
    const double of_cores = limits_.share * static_cast<double>(cores_);
    const Duration time =
        share_of(cores_ == 0 ? limits_.within : std::min(limits_.within, of_cores), question.work);
    const Duration each = cost_of_playing_a_task(view().nodes().size());
    question.plays = static_cast<double>(time.count()) / static_cast<double>(each.count());
    question.dispensable = dispensable(view(), tasks);
    if (!can_be_judged(question)) return false;
    asked_ = {question.tasks, static_cast<double>(question.work.count())};
    if (is_like_the_last()) {
      decide(true);
      return false;
    }
    // What takes longer than they may wait is not worth waiting for.
    const double all =
        question.tasks * static_cast<double>(most_plays(question)) * static_cast<double>(each.count());
    if (all > static_cast<double>(share_of(limits_.share, question.work).count())) holding_back_ = false;
    playing_ = true;
    given_up_ = false;
    question_ = question;
    view().rehearsal()->begin(tasks, [question](Stage& stage) { return judge(stage, question); });
    return true;
  }

  /// The same once more, as in each iteration of a program: it has been found out what is best.
  bool is_like_the_last() const noexcept {
    const auto near = [](double a, double b) { return std::abs(a - b) <= 0.02 * b; };
    return near(answered_.first, asked_.first) && near(answered_.second, asked_.second);
  }

  /// As far as a few of them tell.
  bool durations_known(const std::vector<Task*>& tasks) const {
    const std::size_t step = std::max<std::size_t>(1, tasks.size() / 64);
    for (std::size_t i = 0; i < tasks.size(); i += step)
      for (const WorkerId worker : of_each_kind_)
        if (view().can_run(*tasks[i], worker) && !view().known(*tasks[i], worker)) return false;
    return true;
  }

  Replaceable& deputy_;
  const Limits limits_;
  bool closed_ = false;        // no more is submitted for now
  bool playing_ = false;       // a rehearsal has begun and was not told over
  bool given_up_ = false;      // and all that it is about is over
  bool decided_ = false;       // for what has been submitted
  bool holding_back_ = false;  // see holds_back()
  Duration work_{};            // of what has been submitted, while that goes on
  Time began_{};               // when the first of it came
  std::uint64_t submitted_ = 0, next_try_ = 0;
  std::pair<double, double> asked_{},
      answered_{};  // tasks and work: of the last question, and of the last answer
  std::vector<WorkerId> of_each_kind_;
  bool devices_ = false;
  std::size_t cores_ = 0;
  double processors_ = 1;  // accelerators, which do most of the work if there are any; else cores
  Question question_;      // what the judge was asked last
};

}  // namespace

std::unique_ptr<Policy> make_rehearsed(const PolicyOptions& options) {
  const std::string& first = options.text("first");
  if (name_in(first) == "rehearsed") options.refuse("first", "cannot be itself");
  return std::make_unique<Rehearsed>(
      std::make_unique<Replaceable>(first),
      Limits{.share = options.number("share", 0, 1),
             .within = options.number("within", 0, 1),
             .fewest_tasks = static_cast<std::size_t>(options.integer("fewest", 1, 1'000'000))});
}

}  // namespace fairlead::schedule
