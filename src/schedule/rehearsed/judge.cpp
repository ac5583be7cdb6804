// How much is played follows from the tasks' own durations, not from a clock: the same run decides the same.
#include "schedule/rehearsed/judge.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "schedule/rehearsed/dispensable.hpp"

namespace fairlead::schedule::rehearsed {

namespace {

/// What is tried, and why it may be the best: nearly each case of scripts/compare-default and of 700 drawn ones (seed 2) has
/// one of these within some per cent of its best.
constexpr std::array<std::string_view, 7> names = {
    "near",            // data mostly fit: where tasks are over first, and near what they use
    "blocks",          // data exceed the memories, and updates of a tile can run back to back
    "darts",           // they exceed them, and cannot
    "nearer",          // links are what limits
    "dmdas",           // links are, and those who wait for them delay others
    "heft-tmdp-init",  // each datum is updated again and again with its neighbours
    "owner-load",      // what exchanges data should live where it is used
};

/// One of these; counted from 1.
std::uint64_t number_of(std::string_view policy) noexcept {
  return static_cast<std::uint64_t>(std::ranges::find(names, policy) - names.begin()) + 1;
}

/// Only if it is soon over, with all others: best in few cases.
constexpr std::string_view spare = "owner-load";

/// Where data exceed the memories: of those that are equally fast, this one moves the fewest bytes.
constexpr std::string_view thriftiest = "blocks";

constexpr double error_of_a_play = 0.02;
constexpr double doubt = 0.25;

struct Found {
  std::string policy;
  Played played;
};
Duration time_of(const Found& found) noexcept { return found.played.time; }

std::string without(const std::string& workers, std::string_view policy) {
  return "without:workers=" + workers + ":policy=" + std::string(policy);
}

/// No play is quite like the run; and what only a part was played of may turn out otherwise in the rest: there has to be
/// more in it.
bool clearly_better(Duration a, Duration b, double part) noexcept {
  const double least_gain = error_of_a_play + doubt * (1 - part);
  return static_cast<double>(a.count()) < static_cast<double>(b.count()) * (1 - least_gain);
}

/// How long all of it takes if that part of it goes so, and then on like that; 0: not known.
Played of_all(Played part_of_it, double part) noexcept {
  if (!part_of_it.over()) return {Duration{}};
  const auto longer = [&](Duration time) {
    return Duration(static_cast<std::int64_t>(static_cast<double>(time.count()) / part));
  };
  part_of_it.time = longer(part_of_it.time);
  for (Duration& quarter : part_of_it.quarters) quarter = longer(quarter);
  return part_of_it;
}

/// Nearly all of it is all of it: then the results are home, too.
double part_for(double plays, std::size_t policies, double tasks) noexcept {
  const double part = plays / (static_cast<double>(policies) * tasks);
  return part > 0.5 ? 1 : part;
}

/// So many tasks may be played, all of them together, if the run takes that long.
double allowed(const Question& question, Duration time) noexcept {
  return question.within * static_cast<double>(time.count()) / static_cast<double>(question.cost.count());
}

/// What has been played so far, and what may be. Nothing is played twice.
class Plays {
 public:
  Plays(Stage& stage, const Question& question) : stage_(stage), question_(question) {}

  /// So many tasks, all of them together.
  double allowed() const noexcept { return rehearsed::allowed(question_, time_); }
  bool soon_over(std::size_t more = 0) const noexcept {
    return question_.may_wait_for(most_plays(question_) + more, time_);
  }
  double least_part() const noexcept { return static_cast<double>(question_.fewest) / question_.tasks; }
  /// If that policy goes on, that is how long it takes: what may be spent on finding a better one follows.
  void takes(const Played& played, double part) noexcept {
    time_ = std::max(time_, of_all(played, part).time);
  }
  Played play(const std::string& policy, double part, Duration patience = Duration::max()) {
    std::vector<Found> one = {{policy, {}}};
    play(one, part, patience);
    return one.front().played;
  }
  /// Sorts them by the time that each takes.
  void play(std::vector<Found>&& found, double part, Duration patience) { play(found, part, patience); }
  void play(std::vector<Found>& found, double part, Duration patience = Duration::max()) {
    if (part != part_of_known_) known_.clear();
    part_of_known_ = part;
    const auto known = [&](const Found& one) {
      return std::ranges::find(known_, one.policy, &Found::policy);
    };
    std::vector<std::string> policies;
    for (const Found& one : found)
      if (known(one) == known_.end()) policies.push_back(one.policy);
    for (const Found& one : known_)
      if (one.played.over()) patience = std::min(patience, one.played.time * 3 / 2);
    const std::vector<Played> played =
        policies.empty() ? std::vector<Played>{} : stage_.play(policies, work_of(part), patience);
    for (std::size_t i = 0; i < policies.size(); ++i) known_.push_back({policies[i], played[i]});
    for (Found& one : found) one.played = known(one)->played;
    std::ranges::stable_sort(found, {}, time_of);
  }

 private:
  Duration work_of(double part) const noexcept {
    const auto work = static_cast<double>(question_.work.count());
    return part >= 1 ? question_.work : Duration(static_cast<std::int64_t>(work * part));
  }

  Stage& stage_;
  const Question& question_;
  Duration time_ = question_.expected;
  std::vector<Found> known_;  // of that part
  double part_of_known_ = 0;
};

}  // namespace

std::span<const std::string_view> members() noexcept { return names; }

std::size_t most_plays(const Question& question) noexcept {
  const auto played = [&](std::string_view name) { return name != spare && !question.left_out.has(name); };
  return static_cast<std::size_t>(std::ranges::count_if(names, played)) + question.dispensable.size() -
         question.if_soon_over;
}

// The policy, and then without whom: two digits to the base of all policies and one more.
std::string policy_of(const Question& question, std::uint64_t finding) {
  constexpr std::uint64_t base = names.size() + 1;
  const std::uint64_t policy = finding % base, left_out = finding / base;
  if (policy == 0 || left_out > question.dispensable.size()) return {};
  const std::string name(names[policy - 1]);
  return left_out == 0 ? name : without(question.dispensable[left_out - 1], name);
}

namespace {
constexpr unsigned finding_bits = 8;
static_assert((names.size() + 1) * (most_dispensable + 2) < (1u << finding_bits));
constexpr unsigned quarter_bits = 8;
constexpr double whole = (1u << quarter_bits) - 1;
constexpr std::uint64_t longest = (too_long >> (finding_bits + 3 * quarter_bits)) - 1;
constexpr Duration unit_of_time = std::chrono::microseconds(16);  // 19 hours at most
}  // namespace

// The finding, the quarters as parts of the whole time, and that.
std::uint64_t packed(const Told& told) noexcept {
  if (told.finding == too_long) return too_long;
  const std::int64_t all = std::max<std::int64_t>(told.played.time.count(), 0);
  std::uint64_t word = std::min(static_cast<std::uint64_t>(all / unit_of_time.count()), longest);
  for (const Duration quarter : told.played.quarters)
    word = word << quarter_bits |
           static_cast<std::uint64_t>(std::clamp(static_cast<double>(quarter.count()) /
                                                     static_cast<double>(std::max<std::int64_t>(1, all)),
                                                 0.0, 1.0) *
                                      whole);
  return word << finding_bits | told.finding;
}
Told unpacked(std::uint64_t word) noexcept {
  if (word == too_long) return {too_long, {}};
  Told told{word & ((1u << finding_bits) - 1), {}};
  word >>= finding_bits;
  std::array<double, 3> parts{};
  for (std::size_t i = parts.size(); i-- > 0; word >>= quarter_bits)
    parts[i] = static_cast<double>(word & ((1u << quarter_bits) - 1)) / whole;
  told.played.time = static_cast<std::int64_t>(word) * unit_of_time;
  for (std::size_t i = 0; i < parts.size(); ++i)
    told.played.quarters[i] =
        Duration(static_cast<std::int64_t>(parts[i] * static_cast<double>(told.played.time.count())));
  return told;
}

bool can_be_judged(const Question& question) noexcept {
  return allowed(question, question.expected) >= static_cast<double>(question.fewest);
}

namespace {
/// Between them is the largest difference, and mostly one of them is near the best.
constexpr std::array<std::string_view, 2> quick = {"near", "blocks"};
constexpr double share_of_a_glance = 1.0 / 8;  // of what may be played
}  // namespace

bool glance_sees_all(const Question& question) noexcept {
  return part_for(share_of_a_glance * allowed(question, question.expected), quick.size() + 1,
                  question.tasks) == 1;
}

Told glance(Stage& stage, const Question& question) {
  Plays plays(stage, question);
  const auto part_now = [&] {
    if (question.exceeds_memories) return 1.0;
    const double part =
        share_of_a_glance * plays.allowed() / (static_cast<double>(quick.size() + 1) * question.tasks);
    return std::clamp(part, std::min(1.0, plays.least_part()), 1.0);
  };
  double part = part_now();
  plays.takes(plays.play(std::string(quick[0]), part), part);
  part = part_now();
  std::vector<Found> found = {{question.present, {}}};
  for (const std::string_view name : quick)
    if (name != question.present && !question.left_out.has(name)) found.push_back({std::string(name), {}});
  plays.play(found, part);
  const auto present = std::ranges::find(found, question.present, &Found::policy);
  if (!clearly_better(time_of(found.front()), time_of(*present), part)) return {};
  return {number_of(found.front().policy), {}};
}

namespace {
/// The best one, or that with fewer workers, which `best` becomes: without one of the first `sets` of them.
std::uint64_t narrower(Plays& plays, const Question& question, std::size_t sets, Found& best, double part) {
  const std::uint64_t policy = number_of(best.policy);
  std::uint64_t finding = policy;
  std::vector<Found> all;
  for (std::size_t i = 0; i < sets; ++i)
    all.push_back({without(question.dispensable[i], names[policy - 1]), {}});
  if (question.at_once > 1) plays.play(std::vector(all), part, time_of(best));
  for (std::size_t i = 0; i < sets; ++i) {
    Found fewer = all[i];
    fewer.played = plays.play(fewer.policy, part, time_of(best));
    if (!clearly_better(time_of(fewer), time_of(best), part)) continue;
    finding = policy + (i + 1) * (names.size() + 1);
    best = fewer;
  }
  return finding;
}

}  // namespace

Told narrow(Stage& stage, const Question& question) {
  Plays plays(stage, question);
  const double part = part_for(plays.allowed(), 1 + question.dispensable.size(), question.tasks);
  if (number_of(question.present) > names.size() || part < plays.least_part()) return {};
  Found best{question.present, plays.play(question.present, part)};
  if (!best.played.over()) return {};
  const std::uint64_t finding = narrower(plays, question, question.dispensable.size(), best, part);
  return {best.policy == question.present ? 0 : finding, of_all(best.played, part)};
}

Told judge(Stage& stage, const Question& question) {
  Plays plays(stage, question);
  std::vector<Found> found;
  for (const std::string_view name : names)
    if (!question.left_out.has(name) && (name != spare || name == question.present))
      found.push_back({std::string(name), {}});
  const auto present_first = std::ranges::find(found, question.present, &Found::policy);
  double part = part_for(plays.allowed() / 2, found.size(), question.tasks);
  // How long it takes says how much may be played.
  if (present_first != found.end() && (part < 1 || question.may_wait > 0)) {
    std::iter_swap(found.begin(), present_first);
    const bool looks = question.may_wait > 0 && !plays.soon_over();
    const double first = std::max(looks ? part_to_look_at : part, std::min(1.0, plays.least_part()));
    plays.takes(plays.play(question.present, first), first);
    part = part_for(plays.allowed() / 2, found.size(), question.tasks);
  }
  if (question.may_wait > 0 && !plays.soon_over()) return {too_long};
  if (question.may_wait > 0 && plays.soon_over(1) && !question.left_out.has(spare) &&
      question.present != spare)
    found.push_back({std::string(spare), {}});
  if (found.empty() || part < plays.least_part()) return {};
  plays.play(found, part);
  const std::size_t left = 2 + question.dispensable.size() - question.if_soon_over;
  if (const double larger = part_for(plays.allowed() / 2, left, question.tasks); larger > part) {
    // The best one, and the second or the one that there is: it is the measure.
    part = larger;
    const std::size_t best = std::min<std::size_t>(2, found.size());
    const auto behind = std::ranges::find(found.begin() + static_cast<std::ptrdiff_t>(best), found.end(),
                                          question.present, &Found::policy);
    if (behind != found.end()) std::iter_swap(found.begin() + 1, behind);
    found.resize(best);
    plays.play(found, part);
  }
  Found best = found.front();
  if (!best.played.over()) return {};
  const auto frugal = std::ranges::find(found, thriftiest, &Found::policy);
  const bool saves = question.exceeds_memories && part >= 1 && !question.left_out.has(idea::saving) &&
                     frugal != found.end() && !clearly_better(time_of(best), time_of(*frugal), part);
  if (saves) best = *frugal;
  const bool time_for_all =
      question.may_wait_for(most_plays(question) + question.if_soon_over, time_of(best));
  const std::size_t sets = question.dispensable.size() - (time_for_all ? 0 : question.if_soon_over);
  const std::uint64_t finding = narrower(plays, question, sets, best, part);
  const auto present = std::ranges::find(found, question.present, &Found::policy);
  const Told goes_on{0, present != found.end() ? of_all(present->played, part) : Played{Duration{}}};
  if (best.policy == question.present) return goes_on;
  const bool begun = question.may_wait == 0;  // else nobody is hindered by a change
  if (begun && present != found.end() && !saves && !clearly_better(time_of(best), time_of(*present), part))
    return goes_on;
  return {finding, of_all(best.played, part)};
}

Told confirm(Stage& stage, const Question& question, std::uint64_t finding) {
  const std::array policies{policy_of(question, finding), question.present};
  const std::vector<Played> played = stage.play(policies, question.work, Duration::max());
  const Played &other = played[0], &present = played[1];
  if (clearly_better(other.time, present.time, 1)) return {finding, of_all(other, 1)};
  return {0, of_all(present, 1)};
}

}  // namespace fairlead::schedule::rehearsed
