// How much is played follows from the tasks' own durations, not from a clock: the same run decides the same.
#include "schedule/rehearsed/judge.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace fairlead::schedule::rehearsed {

namespace {

/// What is tried, and why it may be the best: found from the cases of `overview/`, of which each has one of these within
/// some per cent of its best.
constexpr std::array<std::string_view, 6> names = {
    "blocks",        // data exceed the memories, and updates of a tile can run back to back
    "darts",         // they exceed them, and cannot
    "dmdas",         // they fit: the critical path first, where tasks are over first
    "heft-tmdp-pr",  // the same, first come, first served: many equal chains
    "static",        // each datum is updated again and again with its neighbours: stencils
    "ap",            // few tasks: whoever is free takes the most urgent one
};

constexpr double error_of_a_play = 0.02;
constexpr double doubt = 0.25;

struct Found {
  std::string policy;
  Duration time{};
};

std::string without(const std::string& workers, std::string_view policy) {
  return "without:workers=" + workers + ":policy=" + std::string(policy);
}

/// Sorts them by the time that each takes. Nobody is listened to for longer than it takes to know that another one is
/// better by far.
void play(Stage& stage, std::vector<Found>& found, Duration enough) {
  Duration patience = Duration::max();
  for (Found& each : found) {
    each.time = stage.play(each.policy, enough, patience);
    if (each.time < Duration::max() / 4) patience = std::min(patience, each.time * 3 / 2);
  }
  std::ranges::stable_sort(found, {}, &Found::time);
}

/// No play is quite like the run; and what only a part was played of may turn out otherwise in the rest: there has to be
/// more in it.
bool clearly_better(Duration a, Duration b, double part) noexcept {
  const double least_gain = error_of_a_play + doubt * (1 - part);
  return static_cast<double>(a.count()) < static_cast<double>(b.count()) * (1 - least_gain);
}

/// Nearly all of it is all of it: then the results are home, too.
double part_for(double plays, std::size_t policies, double tasks) noexcept {
  const double part = plays / (static_cast<double>(policies) * tasks);
  return part > 0.5 ? 1 : part;
}
Duration part_of(Duration work, double part) noexcept {
  return part >= 1 ? work : Duration(static_cast<std::int64_t>(static_cast<double>(work.count()) * part));
}
/// Of all candidates, with half of what may be played.
double first_part(const Question& question) noexcept {
  return part_for(question.plays / 2, names.size(), question.tasks);
}

}  // namespace

std::size_t most_plays(const Question& question) noexcept {
  return names.size() + question.dispensable.size();
}

// The policy, and then without whom: two digits to the base of all policies and one more.
std::string policy_of(const Question& question, std::uint64_t finding) {
  constexpr std::uint64_t base = names.size() + 1;
  const std::uint64_t policy = finding % base, left_out = finding / base;
  if (policy == 0 || left_out > question.dispensable.size()) return {};
  const std::string name(names[policy - 1]);
  return left_out == 0 ? name : without(question.dispensable[left_out - 1], name);
}

bool can_be_judged(const Question& question) noexcept {
  return first_part(question) * question.tasks >= static_cast<double>(question.fewest);
}

std::uint64_t judge(Stage& stage, const Question& question) {
  std::vector<Found> found;
  for (const std::string_view name : names) found.push_back({std::string(name)});
  double part = first_part(question);
  play(stage, found, part_of(question.work, part));
  const std::size_t left = 2 + question.dispensable.size();
  if (const double larger = part_for(question.plays / 2, left, question.tasks); larger > part) {
    // The best one, and the second or the one that there is: it is the measure.
    part = larger;
    const auto behind = std::ranges::find(found.begin() + 2, found.end(), question.present, &Found::policy);
    if (behind != found.end()) std::iter_swap(found.begin() + 1, behind);
    found.resize(2);
    play(stage, found, part_of(question.work, part));
  }
  Found best = found.front();
  if (best.time == Duration::max()) return 0;
  const auto policy = static_cast<std::uint64_t>(std::ranges::find(names, best.policy) - names.begin()) + 1;
  std::uint64_t finding = policy;
  for (std::size_t i = 0; i < question.dispensable.size(); ++i) {
    Found narrower{without(question.dispensable[i], names[policy - 1])};
    narrower.time = stage.play(narrower.policy, part_of(question.work, part), best.time);
    if (!clearly_better(narrower.time, best.time, part)) continue;
    finding = policy + (i + 1) * (names.size() + 1);
    best = narrower;
  }
  const auto present = std::ranges::find(found, question.present, &Found::policy);
  if (best.policy == question.present) return 0;
  if (present != found.end() && !clearly_better(best.time, present->time, part)) return 0;
  return finding;
}

}  // namespace fairlead::schedule::rehearsed
