// When is played, and for how long.
//
// Played is when no more tasks come for now (the flow waits, or the window is full), once for what has been submitted
// by then; again when all of that is over and something else has come.
#include "schedule/rehearsed/rehearsed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/suggest.hpp"
#include "policy/forwarding_policy.hpp"
#include "policy/least_estimate.hpp"
#include "policy/rehearsal.hpp"
#include "schedule/policies.hpp"
#include "schedule/rehearsed/answers.hpp"
#include "schedule/rehearsed/dispensable.hpp"
#include "schedule/rehearsed/judge.hpp"
#include "schedule/rehearsed/progress.hpp"
#include "schedule/rehearsed/replaceable.hpp"

namespace fairlead::schedule {
namespace {

namespace idea = rehearsed::idea;
using rehearsed::can_be_judged;
using rehearsed::Question;
using rehearsed::Replaceable;

struct Limits {
  double share = 0, within = 0;
  std::size_t fewest_tasks = 0;
  bool finds_first = false;
  rehearsed::LeftOut left_out;
};

/// One follows the other, if it has to.
enum class Step : std::uint8_t {
  none,
  glance,          // tasks are running already: is the first policy quite wrong?
  confirm_glance,  // also from where things are now?
  judge,           // which one is the best?
  confirm,         // the same of that
  narrow,          // is it better off with fewer workers?
};

class Rehearsed final : public ForwardingPolicy<Rehearsed> {
 public:
  Rehearsed(std::unique_ptr<Replaceable> deputy, Limits limits)
      : ForwardingPolicy(std::move(deputy)),
        deputy_(static_cast<Replaceable&>(inner())),
        limits_(std::move(limits)) {}

  std::size_t horizon() const override { return 65'536; }

  void submitted(Task& task) override {
    if (deputy_.unfinished().count() == 0) begin_anew();
    ++submitted_;
    if (holding_back_) held_.work += least_estimate(view(), task, of_each_kind_);
    deputy_.submitted(task);
  }
  void horizon_closed() override {
    deputy_.horizon_closed();
    closed_ = true;
    consider();
  }
  /// For what the judge was asked last: if that is over, it is of no use.
  void rehearsed(std::uint64_t told) override {
    const auto [finding, played] = rehearsed::unpacked(told);
    const Step over = std::exchange(step_, Step::none);
    if (over == Step::none || deputy_.stays() || given_up_) return consider();
    if (finding == rehearsed::too_long) return begin_beside();
    progress_.told(played);
    std::string better = rehearsed::policy_of(question_, finding);
    const bool waited = std::exchange(holding_back_, false);
    const bool glanced = over == Step::glance || over == Step::confirm_glance;
    const bool confirmed = over == Step::confirm || over == Step::confirm_glance;
    const bool confirms = !confirmed && !waited && !better.empty() && has(idea::confirming);
    if (confirms && begin(glanced ? Step::confirm_glance : Step::confirm, finding)) return;
    if (!better.empty() && !confirms) deputy_.hand_over(std::move(better));
    if (glanced && begin(Step::judge)) return;
    question_.dispensable = std::exchange(later_, {});
    question_.if_soon_over = 0;
    if (!question_.dispensable.empty() && begin(Step::narrow)) return;
    answers_.remember(std::string(deputy_.deputy()));
    // For good, unless it takes longer than was played.
    decide(!has(idea::again) || !progress_.watch());
  }
  void cancelled(Task& task) override {
    deputy_.cancelled(task);
    give_up_if_over();
  }
  void finished(Task& task, WorkerId worker, Duration took) override {
    deputy_.finished(task, worker, took);
    give_up_if_over();
    if (progress_.watched() && step_ == Step::none) look_at_progress(task);
    if (until_known_ != 0 && --until_known_ == 0) consider_again();
  }
  Task* pick(WorkerId worker, bool must) override {
    if (waits()) return nullptr;
    if (holding_back_ && holds_back() && !(must && does_most_of_the_work(worker))) return nullptr;
    return deputy_.pick(worker, must);
  }
  bool waits() const override { return holding_back_ && step_ != Step::none; }

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
    for (const NodeInfo& node : view().nodes())
      if (!devices_ || std::ranges::any_of(accelerators(view()), [&](NodeId id) { return id == node.id; }))
        capacity_ += node.capacity;
    // Cores that share one memory have nothing to place: order and eviction are all, and data do not fit.
    if (limits_.finds_first && !devices_) deputy_.begin_as("blocks");
    deputy_.attach(view());
  }

  static constexpr double share_of_cores = 0.05;  // that work: what plays may take of their time
  static constexpr int times_that_data_come = 4;  // where they exceed the memory; in good orders 2 to 4
  static constexpr std::size_t looks_at_durations = 64;
  static constexpr std::size_t most_at_once = 4;  // on average: plays are six, and then two

  bool has(std::string_view idea) const noexcept { return !limits_.left_out.has(idea); }
  bool does_most_of_the_work(WorkerId worker) const {
    return !devices_ || view().workers()[index(worker)].kind != WorkerKind::cpu;
  }
  /// All that was submitted before is over.
  void begin_anew() {
    closed_ = false;
    until_known_ = 0;
    progress_.forget();
    decide(false);
    holding_back_ = view().rehearsal() != nullptr && limits_.share > 0;
    held_.work = {};
    held_.began = view().now();
    next_try_ = submitted_;
  }
  /// For what has been submitted.
  void decide(bool decided) { deputy_.stay(decided); }
  /// A task that is over. If so much takes longer than it did in the play, a device is slower than was thought, or chance has
  /// put all out of step: what is left is played.
  void look_at_progress(const Task& task) {
    using Is = rehearsed::Progress::Is;
    const Is is = progress_.after(least_estimate(view(), task, of_each_kind_), view().now());
    if (is == Is::late) answers_.is_of_the_rest();
    if (is == Is::nearly_over || (is == Is::late && !begin(Step::judge))) decide(true);
  }
  void give_up_if_over() {
    if (deputy_.unfinished().count() == 0 && step_ != Step::none && !std::exchange(given_up_, true))
      view().rehearsal()->give_up();
  }
  /// Until something has been played nobody begins, as long as that costs little: data would be where another
  /// policy does not want them. If nothing runs at all, one of those who will do most of the work gets a task all
  /// the same, or whoever can run one: take_any().
  bool holds_back() {
    holding_back_ = view().now() - held_.began <= share_of(limits_.share, held_.work);
    return holding_back_;
  }
  /// Of the time that so much work takes all of them.
  Duration share_of(double share, Duration work) const {
    return Duration(std::llround(share * static_cast<double>(work.count()) / processors_));
  }

  /// If each of the data comes to one of the nodes, once. Adds up what they are.
  Duration way_of_data(const std::vector<Task*>& tasks, Bytes& bytes) const {
    std::vector<bool> counted;
    Duration sum{};
    const NodeId there = view().workers()[index(of_each_kind_.back())].node;
    for (const Task* task : tasks)
      for (const Access& access : task->accesses()) {
        const std::size_t datum = index(access.datum);
        if (datum >= counted.size()) counted.resize(2 * datum + 1);
        if (counted[datum]) continue;
        counted[datum] = true;
        sum += view().transfer_time(access.datum, there);
        bytes += view().bytes(access.datum);
      }
    return sum / static_cast<std::int64_t>(std::max<std::size_t>(1, accelerators(view()).size()));
  }

  void consider() {
    if (!closed_ || deputy_.stays() || progress_.watched() || step_ != Step::none || submitted_ < next_try_)
      return;
    next_try_ =
        submitted_ + deputy_.unfinished().count();  // not at every task of a program that goes on for ever
    if (!begin_to_play()) holding_back_ = false;
  }

  /// False: it is not worth it, or not possible.
  bool begin_to_play() {
    if (view().rehearsal() == nullptr || deputy_.unfinished().count() < limits_.fewest_tasks) return false;
    const std::vector<Task*> tasks = deputy_.unfinished().list();
    if (!durations_known(tasks)) {
      begin_unknown(tasks);
      return false;
    }
    question_ = {};
    // Where no core is idle, a play takes its part of the time of those that work.
    const std::size_t idle = view().rehearsal()->idle_cores();
    question_.within = idle != 0 || cores_ == 0
                           ? limits_.within
                           : std::min(limits_.within, share_of_cores * static_cast<double>(cores_));
    const std::size_t at_once = std::clamp<std::size_t>(idle, 1, most_at_once);
    question_.cost = cost_of_playing_a_task(view().nodes().size(), view().workers().size()) /
                     static_cast<std::int64_t>(at_once);
    question_.at_once = static_cast<double>(at_once);
    question_.fewest = limits_.fewest_tasks;
    question_.left_out = limits_.left_out;
    leave_out_twins();
    describe(tasks);
    if (!can_be_judged(question_)) return false;
    if (const std::string* known = answers_.about(described_)) {
      if (*known != deputy_.deputy()) deputy_.hand_over(*known);
      decide(true);
      return false;
    }
    later_.clear();
    if (has(idea::narrowing)) {
      auto dispensable = rehearsed::dispensable(view(), tasks);
      question_.dispensable = std::move(dispensable.worse);
      later_ = std::move(dispensable.surplus);
    }
    // In long programs near costs a multiple there, before anything is known.
    if (limits_.finds_first && question_.exceeds_memories && question_.present == "near") {
      deputy_.hand_over(question_.ways_limit ? "darts" : "blocks");
      question_.present = deputy_.deputy();
    }
    // What takes longer than they may wait is not worth waiting for: it is confirmed instead.
    question_.may_wait = limits_.share;
    const auto soon_over = [&] {
      return question_.may_wait_for(rehearsed::most_plays(question_), question_.expected);
    };
    // One accelerator gets all data in any case. What the first policy does meanwhile costs little, unless data come so
    // often that the way limits it.
    if (question_.ways_are_ample) holding_back_ = false;
    if (holding_back_ && !soon_over()) {
      std::vector<std::string> worse = std::exchange(question_.dispensable, {});
      // It may well take longer than is expected: a look at a part tells.
      const auto cost_of_look = question_.tasks * rehearsed::part_to_look_at * question_.at_once *
                                static_cast<double>(question_.cost.count());
      holding_back_ =
          soon_over() || cost_of_look <= limits_.share / 2 * static_cast<double>(question_.expected.count());
      std::vector<std::string>& when = holding_back_ ? later_ : question_.dispensable;
      when.insert(when.begin(), worse.begin(), worse.end());
    }
    if (holding_back_) {
      question_.dispensable.insert(question_.dispensable.end(), later_.begin(), later_.end());
      question_.if_soon_over = later_.size();
      play(Step::judge, tasks);
    } else {
      begin_beside();
    }
    return true;
  }
  /// The first policy tries them, and learns how long they take; then what is left is played.
  void begin_unknown(const std::vector<Task*>& tasks) {
    until_known_ = 1 + tasks.size() / looks_at_durations;
  }
  void consider_again() {
    if (!closed_ || deputy_.stays() || progress_.watched() || step_ != Step::none) return;
    begin_to_play();
  }
  /// These differ from near in whom they give a task to, and there they do not: it would be the same play twice.
  void leave_out_twins() {
    if (view().nodes().size() == 1) question_.left_out.add("nearer");
    if (view().workers().size() == 1) question_.left_out.add("dmdas");
  }
  /// Nobody waits for what is played.
  void begin_beside() {
    holding_back_ = false;
    question_.dispensable.resize(question_.dispensable.size() - std::exchange(question_.if_soon_over, 0));
    question_.may_wait = 0;
    // The first policy may be quite wrong; but where data do not fit, a part says little of how often they come.
    const bool glances = has(idea::glancing) && (!question_.exceeds_memories || glance_sees_all(question_));
    play(glances ? Step::glance : Step::judge, deputy_.unfinished().list());
  }
  void describe(const std::vector<Task*>& tasks) {
    question_.present = deputy_.deputy();
    question_.tasks = static_cast<double>(tasks.size());
    question_.work = {};
    for (const Task* task : tasks) question_.work += least_estimate(view(), *task, of_each_kind_);
    Bytes bytes = 0;
    const Duration computing = share_of(1, question_.work), way = way_of_data(tasks, bytes);
    described_ = {question_.tasks, static_cast<double>(bytes), static_cast<double>(question_.work.count())};
    question_.expected = std::max({computing, way, view().transfer_time_to_all(bytes, accelerators(view()))});
    question_.exceeds_memories = bytes > capacity_;
    question_.ways_limit = way > computing;
    question_.ways_are_ample = accelerators(view()).size() == 1 && times_that_data_come * way <= computing;
  }
  /// About what is left. `finding`: to be confirmed. False: too little.
  bool begin(Step step, std::uint64_t finding = 0) {
    const std::vector<Task*> tasks = deputy_.unfinished().list();
    if (tasks.size() < limits_.fewest_tasks) return false;
    describe(tasks);
    play(step, tasks, finding);
    return true;
  }
  /// They are what question_ describes.
  void play(Step step, const std::vector<Task*>& tasks, std::uint64_t finding = 0) {
    step_ = step;
    given_up_ = false;
    progress_.asked(view().now(), question_.work);
    view().rehearsal()->begin(tasks, [step, finding, question = question_](Stage& stage) {
      return packed(step == Step::glance   ? rehearsed::glance(stage, question)
                    : step == Step::judge  ? rehearsed::judge(stage, question)
                    : step == Step::narrow ? rehearsed::narrow(stage, question)
                                           : rehearsed::confirm(stage, question, finding));
    });
  }

  /// As far as a few of them tell: of each how long it takes somewhere, of most on each kind of worker.
  bool durations_known(const std::vector<Task*>& tasks) const {
    const std::size_t step = std::max<std::size_t>(1, tasks.size() / looks_at_durations);
    std::size_t looked_at = 0, known_by_all = 0;
    for (std::size_t i = 0; i < tasks.size(); i += step) {
      bool somewhere = false, everywhere = true;
      for (const WorkerId worker : of_each_kind_) {
        if (!view().can_run(*tasks[i], worker)) continue;
        const bool known = view().known(*tasks[i], worker);
        somewhere = somewhere || known;
        everywhere = everywhere && known;
      }
      if (!somewhere && !everywhere) return false;
      ++looked_at;
      known_by_all += everywhere ? 1 : 0;
    }
    return 4 * known_by_all >= 3 * looked_at;
  }

  Replaceable& deputy_;
  const Limits limits_;
  bool closed_ = false;     // no more is submitted for now
  Step step_ = Step::none;  // of a rehearsal that has begun and was not told over
  bool given_up_ = false;   // and all that it is about is over
  std::vector<std::string>
      later_;                  // what is dispensable perhaps, and played when it has been decided who goes on
  bool holding_back_ = false;  // see holds_back()
  struct {
    Duration work{};  // of what has been submitted, while that goes on
    Time began{};     // when the first of it came
  } held_;
  std::uint64_t submitted_ = 0, next_try_ = 0;
  rehearsed::Extent described_;  // by describe() last
  rehearsed::Answers answers_;
  std::size_t until_known_ =
      0;  // tasks to be over until it is asked again whether durations are known; 0: they are
  std::vector<WorkerId> of_each_kind_;
  bool devices_ = false;
  Bytes capacity_ = 0;  // of the nodes of those who do most of the work
  std::size_t cores_ = 0;
  double processors_ = 1;  // accelerators, which do most of the work if there are any; else cores
  rehearsed::Progress progress_;
  Question question_;  // what the judge was asked last
};

/// "glancing+darts"
rehearsed::LeftOut left_out_of(const PolicyOptions& options) {
  std::vector<std::string_view> known(rehearsed::ideas.begin(), rehearsed::ideas.end());
  known.insert(known.end(), rehearsed::members().begin(), rehearsed::members().end());
  std::vector<std::string> names;
  for (std::string_view left = options.text("off"); left != "none" && !left.empty();) {
    const std::size_t end = std::min(left.find('+'), left.size());
    const std::string_view name = left.substr(0, end);
    if (std::ranges::find(known, name) == known.end())
      options.refuse("off", fmt::format("has \"{}\"{}; it can have {}", name, did_you_mean(name, known),
                                        fmt::join(known, ", ")));
    names.emplace_back(name);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return rehearsed::LeftOut(std::move(names));
}

}  // namespace

std::unique_ptr<Policy> make_rehearsed(const PolicyOptions& options) {
  const std::string& first = options.text("first");
  if (name_in(first) == "rehearsed") options.refuse("first", "cannot be itself");
  rehearsed::LeftOut left_out = left_out_of(options);
  const bool waits = !left_out.has(idea::waiting);
  return std::make_unique<Rehearsed>(
      std::make_unique<Replaceable>(first == "found" ? "near" : first),
      Limits{.share = waits ? options.number("share", 0, 1) : 0,
             .within = options.number("within", 0, 1),
             .fewest_tasks = static_cast<std::size_t>(options.integer("fewest", 1, 1'000'000)),
             .finds_first = first == "found",
             .left_out = std::move(left_out)});
}

}  // namespace fairlead::schedule
