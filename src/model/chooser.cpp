// See chooser.hpp.
#include "model/chooser.hpp"

#include <algorithm>

namespace fairlead::model {

namespace {

constexpr std::int64_t longest_ns = std::int64_t{1} << 46;  // nineteen hours; sums of shares stay below 2^63
constexpr std::int64_t most_saved_ns = std::int64_t{1} << 60;

/// A formula is the codelet's and says the same of all its implementations: that is no ground to choose one.
bool measured(const Estimate& estimate) noexcept { return estimate.basis >= Basis::regression; }

std::int64_t shares(std::size_t implementations) noexcept {
  return Chooser::trial_share * static_cast<std::int64_t>(implementations - 1);
}

}  // namespace

std::int64_t Chooser::Known::ns(std::size_t i) const noexcept {
  return std::clamp<std::int64_t>(estimates[i].duration.count(), 1, longest_ns);
}

std::int64_t Chooser::Known::cost(std::int64_t duration_ns) const noexcept {
  return std::max(std::min(duration_ns, longest_ns) - ns(fastest), ns(fastest));
}

Chooser::Known Chooser::look(const CodeletInfo& codelet, const Processor& processor,
                             const Footprint& footprint) const {
  Known known;
  known.count = known.fastest = codelet.count(processor.kind());
  for (std::size_t i = 0; i < known.count; ++i) {
    known.estimates[i] = durations_.estimate(codelet, processor, footprint, static_cast<unsigned>(i));
    if (measured(known.estimates[i]) && (!known.any() || known.ns(i) < known.ns(known.fastest)))
      known.fastest = i;
  }
  return known;
}

Chooser::Choice& Chooser::choice_of(const CodeletInfo& codelet, const Processor& processor,
                                    const Footprint& footprint) {
  // By the names of the implementations, too: another codelet of the same name may have others.
  std::uint64_t key = codelet.name_hash() + (processor.key() << 4) + static_cast<std::uint64_t>(codelet.unit);
  const std::size_t count = codelet.count(processor.kind());
  for (std::size_t i = 0; i < count; ++i)
    key = key * 0x100'0000'01b3u + codelet.for_kind(processor.kind(), i).hash_of_name;
  // Beyond as many as the model tells apart, those with as many implementations share one.
  if (families_.size() >= DurationModel::most_families && !families_.contains(key)) key = count;
  auto& choices = families_[key].choices;
  // As many footprints as the model tells apart, then tasks of about one size have one choice.
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

std::size_t Chooser::trial_or_fastest(Choice& choice, const Known& known) noexcept {
  for (std::size_t i = 0; i < choice.size(); ++i) {
    Tried& other = choice[i];
    if (i == known.fastest || other.trial || !measured(known.estimates[i])) continue;
    if (!other.at_once && other.saved_ns < shares(choice.size()) * known.cost(known.ns(i))) continue;
    other.trial = true;
    other.at_once = false;
    return i;
  }
  return known.fastest;
}

unsigned Chooser::choose(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint) {
  const Known known = look(codelet, processor, footprint);
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

void Chooser::over(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint,
                   unsigned implementation, Duration duration, bool succeeded) {
  Tried& tried = choice_of(codelet, processor, footprint)[implementation];
  --tried.running;
  if (!tried.trial) return;
  tried.trial = false;
  const Known known = look(codelet, processor, footprint);
  if (!known.any() || known.fastest == implementation) return;
  if (succeeded && duration.count() <= known.ns(known.fastest)) {
    tried.at_once = true;
    return;
  }
  tried.saved_ns =
      std::max(tried.saved_ns - shares(codelet.count(processor.kind())) * known.cost(duration.count()),
               -most_saved_ns);
}

void Chooser::returned(const CodeletInfo& codelet, const Processor& processor, const Footprint& footprint,
                       unsigned implementation) {
  Tried& tried = choice_of(codelet, processor, footprint)[implementation];
  --tried.running;
  tried.trial = false;
}

Estimate Chooser::estimate(const CodeletInfo& codelet, const Processor& processor,
                           const Footprint& footprint) const {
  const Known known = look(codelet, processor, footprint);
  if (known.any()) return known.estimates[known.fastest];
  Estimate best = known.estimates[0];
  for (const Estimate& one : std::span(known.estimates).first(known.count))
    if (one.basis > best.basis || (one.basis == best.basis && one.duration < best.duration)) best = one;
  return best;
}

}  // namespace fairlead::model
