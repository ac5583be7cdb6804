// Edges with different parts of a tile at the two ends: the elements of one part become those of the other, in order.
// A class of repacking tasks is inserted. It runs where the producer runs and writes a tile of its own, so the
// receiver never changes the producer's tile.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace fairlead::ptg {

/// Parts for the ends of an edge along which the receiver gets a separate tile with just the elements of `part`: both
/// have these elements, but compare as different, so that a repacking class is inserted.
Part given_as_copy(const Part& part);
Part taken_as_copy(const Part& part);

/// Decides which edges repack, and defines the classes that do it.
class RepackedParts {
 public:
  using Definitions = std::vector<std::shared_ptr<const ClassDefinition>>;
  using Flow = std::pair<const ClassDefinition*, std::size_t>;
  static constexpr std::size_t from = 0, to = 1;  ///< the flows of a repacking class

  /// Adds the repacking classes for these definitions.
  explicit RepackedParts(const Definitions& definitions);

  /// The given definitions, followed by the repacking classes.
  const Definitions& definitions() const noexcept { return definitions_; }
  /// True if some value is not in the datum that its producer wrote.
  bool any() const noexcept { return !between_.empty() || copies_; }
  /// The repacking class that replaces the producer for the receiving flow; null if there is none.
  const ClassDefinition* between(const Flow& giver, const Flow& taker) const;

 private:
  struct Parts {
    Part given, taken;
    friend bool operator==(const Parts&, const Parts&) = default;
  };
  static std::optional<Parts> parts_of(const ClassDefinition& giver, const FlowDefinition& flow,
                                       const ClassDefinition& taker, const FlowDefinition& into);
  const ClassDefinition* add(const std::shared_ptr<const ClassDefinition>& giver, std::size_t flow,
                             const Recut& how, const FlowDefinition& taker);

  struct Made {
    Parts parts;
    const ClassDefinition* between;
  };
  Definitions definitions_;
  bool copies_ = false;                     // a given class has a fresh datum shaped like another of its task
  std::map<Flow, std::vector<Made>> made_;  // by producer
  std::map<std::pair<Flow, Flow>, const ClassDefinition*> between_;  // by producer and receiver
};

}  // namespace fairlead::ptg
