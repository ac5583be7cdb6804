// Where the two ends of an edge say different parts of a tile, the elements of the one become those of the other, in order: a class
// of tasks comes between, which runs where the giver does and makes a tile of its own in which there is nothing else. So
// who takes the value never changes the giver's tile.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace fairlead::ptg {

/// For the two ends of an edge along which the taker gets a copy of a part, in a tile in which there is nothing else: the elements are
/// those of `part`, and the two are not equal, so that a class comes between.
Part given_as_copy(const Part& part);
Part taken_as_copy(const Part& part);

class RecutValues {
 public:
  using Definitions = std::vector<std::shared_ptr<const ClassDefinition>>;
  using Flow = std::pair<const ClassDefinition*, std::size_t>;
  static constexpr std::size_t from = 0, to = 1;  ///< the flows of such a class

  explicit RecutValues(const Definitions& definitions);

  /// Those that were given, and the classes between.
  const Definitions& definitions() const noexcept { return definitions_; }
  /// Some value is in another datum than the one that it was given in.
  bool any() const noexcept { return !between_.empty() || copies_; }
  /// The class from which the taking flow gets its value, in place of the giving one; null: it gets it from that.
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
  bool copies_ = false;                     // a given class makes a datum like another of its task
  std::map<Flow, std::vector<Made>> made_;  // by giver
  std::map<std::pair<Flow, Flow>, const ClassDefinition*> between_;  // by giver and taker
};

}  // namespace fairlead::ptg
