// See chooser.hpp.
#include "model/chooser.hpp"

#include <algorithm>

namespace fairlead::model {

namespace {

// about 19 hours; keeps sums of shares below 2^63
constexpr std::int64_t longest_ns = std::int64_t{1} << 46;
constexpr std::int64_t most_saved_ns = std::int64_t{1} << 60;

/// A formula gives the same value for all implementations of a codelet, so it cannot rank them.
bool measured(const Estimate& estimate) noexcept { return estimate.basis >= Basis::regression; }

std::int64_t shares(std::size_t implementations) noexcept {
  return ImplementationChooser::trial_share * static_cast<std::int64_t>(implementations - 1);
}

}  // namespace

std::int64_t ImplementationChooser::Candidates::ns(std::size_t i) const noexcept {
  return std::clamp<std::int64_t>(estimates[i].duration.count(), 1, longest_ns);
}

std::int64_t ImplementationChooser::Candidates::cost(std::int64_t duration_ns) const noexcept {
  return std::max(std::min(duration_ns, longest_ns) - ns(fastest), ns(fastest));
}

ImplementationChooser::Candidates ImplementationChooser::lookup(const CodeletInfo& codelet,
                                                                const Processor& processor,
                                                                const Footprint& footprint) const {
  Candidates known;
  known.count = known.fastest = codelet.count(processor.kind());
  for (std::size_t i = 0; i < known.count; ++i) {
    known.estimates[i] = durations_.estimate(codelet, processor, footprint, static_cast<unsigned>(i));
    if (measured(known.estimates[i]) && (!known.any() || known.ns(i) < known.ns(known.fastest)))
      known.fastest = i;
  }
  return known;
}

ImplementationChooser::Choice& ImplementationChooser::choice_of(const CodeletInfo& codelet,
                                                                const Processor& processor,
                                                                const Footprint& footprint) {
  // Includes the names of the implementations: another codelet of the same name may have others.
  std::uint64_t key = codelet.name_hash() + (processor.key() << 4) + static_cast<std::uint64_t>(codelet.unit);
  const std::size_t count = codelet.count(processor.kind());
  for (std::size_t i = 0; i < count; ++i)
    key = key * 0x100'0000'01b3u + codelet.for_kind(processor.kind(), i).hash_of_name;
  // Beyond the model's limit, codelets with the same number of implementations share a family.
  if (families_.size() >= DurationModel::most_families && !families_.contains(key)) key = count;
  auto& choices = families_[key].choices;
  // Beyond the model's limit of footprints, tasks of similar size share one choice.
  auto found = choices.find(footprint.hash());
  if (found == choices.end()) {
    const bool room = choices.size() < DurationModel::most_footprints;
    found =
        choices
            .try_emplace(room ? footprint.hash() : DurationModel::shared_footprint(footprint.size()), count)
            .first;
  }
  return found->second;
}

std::size_t ImplementationChooser::trial_or_fastest(Choice& choice, const Candidates& known) noexcept {
  for (std::size_t i = 0; i < choice.size(); ++i) {
    TrialState& other = choice[i];
    if (i == known.fastest || other.trial || !measured(known.estimates[i])) continue;
    if (!other.at_once && other.saved_ns < shares(choice.size()) * known.cost(known.ns(i))) continue;
    other.trial = true;
    other.at_once = false;
    return i;
  }
  return known.fastest;
}

unsigned ImplementationChooser::choose(const CodeletInfo& codelet, const Processor& processor,
                                       const Footprint& footprint) {
  const Candidates known = lookup(codelet, processor, footprint);
  Choice& choice = choice_of(codelet, processor, footprint);
  std::size_t chosen = choice.size(), fewest = 0;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (choice[i].running < choice[fewest].running) fewest = i;
    if (measured(known.estimates[i]) || choice[i].running >= tries_at_once) continue;
    if (chosen == choice.size() || choice[i].running < choice[chosen].running) chosen = i;
  }
  if (chosen == choice.size()) chosen = known.any() ? trial_or_fastest(choice, known) : fewest;
  if (chosen == known.fastest)
    for (std::size_t i = 0; i < choice.size(); ++i)
      if (i != chosen) choice[i].saved_ns = std::min(choice[i].saved_ns + known.ns(chosen), most_saved_ns);
  ++choice[chosen].running;
  return static_cast<unsigned>(chosen);
}

void ImplementationChooser::over(const CodeletInfo& codelet, const Processor& processor,
                                 const Footprint& footprint, unsigned implementation, Duration duration,
                                 bool succeeded) {
  TrialState& tried = choice_of(codelet, processor, footprint)[implementation];
  --tried.running;
  if (!tried.trial) return;
  tried.trial = false;
  const Candidates known = lookup(codelet, processor, footprint);
  if (!known.any() || known.fastest == implementation) return;
  if (succeeded && duration.count() <= known.ns(known.fastest)) {
    tried.at_once = true;
    return;
  }
  tried.saved_ns =
      std::max(tried.saved_ns - shares(codelet.count(processor.kind())) * known.cost(duration.count()),
               -most_saved_ns);
}

void ImplementationChooser::returned(const CodeletInfo& codelet, const Processor& processor,
                                     const Footprint& footprint, unsigned implementation) {
  TrialState& tried = choice_of(codelet, processor, footprint)[implementation];
  --tried.running;
  tried.trial = false;
}

Estimate ImplementationChooser::estimate(const CodeletInfo& codelet, const Processor& processor,
                                         const Footprint& footprint) const {
  const Candidates known = lookup(codelet, processor, footprint);
  if (known.any()) return known.estimates[known.fastest];
  Estimate best = known.estimates[0];
  for (const Estimate& one : std::span(known.estimates).first(known.count))
    if (one.basis > best.basis || (one.basis == best.basis && one.duration < best.duration)) best = one;
  return best;
}

}  // namespace fairlead::model
