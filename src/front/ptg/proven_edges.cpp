// Proves stated edges from the ranges and conditions of both ends.
#include "front/ptg/proven_edges.hpp"

#include <algorithm>
#include <utility>

#include "front/ptg/facts.hpp"

namespace fairlead::ptg {

namespace {

/// The proof for one stated edge, for all tasks of its producer and all values of its ranges.
class Proof {
 public:
  Proof(const ClassTable& table, std::size_t giver_class, std::size_t giver_flow, const ClassEdge& edge)
      : giver_(table.classes[giver_class]),
        giver_class_(giver_class),
        giver_flow_(giver_flow),
        edge_(edge),
        to_(table.classes[edge.to_class]),
        ranges_(giver_.definition->indices),
        places_(giver_.places) {
    for (const Range& range : edge.definition->ranges) {
      places_.add(range.index);
      ranges_.push_back(range);
    }
  }

  bool holds() {
    Facts facts(ranges_, places_);
    if (edge_.definition->condition) facts.add(*edge_.definition->condition, true);
    find_meanings();
    return is_in_space(facts) && is_named(facts);
  }

  /// The receiver's key as a formula over the places of the producer and the edge. Nothing if it is not affine.
  std::optional<Formula> name() const {
    Affine name{.constant = static_cast<std::int64_t>(to_.first_key)};
    for (std::size_t i = 0; i < to_.axes.size(); ++i) {
      const std::optional<Affine> value = Affine::of(edge_.definition->place.indices[i], places_);
      if (!value) return std::nullopt;
      const auto stride = static_cast<std::int64_t>(to_.axes[i].stride);
      name.add(*value, stride);
      name.constant -= to_.axes[i].first * stride;
    }
    return Formula(name);
  }

 private:
  /// Expresses the receiver's indices in those of the producer and the edge.
  void find_meanings() {
    std::size_t parameter = 0;
    for (const Range& range : to_.definition->indices) {
      const Expression value =
          range.derived ? with(range.first, meanings_) : edge_.definition->place.indices[parameter++];
      meanings_.insert_or_assign(range.index.node().get(), value);
    }
  }
  Expression of_giver(const Expression& of_receiver) const { return with(of_receiver, meanings_); }

  bool is_in_space(const Facts& facts) const {
    bool is = std::ranges::all_of(to_.loops, [](const Loop& loop) { return loop.derived || loop.by_one; });
    for (const Range& range : to_.definition->indices) {
      if (range.derived) continue;
      const Expression index = of_giver(range.index);
      for_each_of(range.first, Operation::maximum,
                  [&](const Expression& first) { is = is && facts.at_least(index, of_giver(first)); });
      for_each_of(range.last, Operation::minimum,
                  [&](const Expression& last) { is = is && facts.at_least(of_giver(last), index); });
    }
    return is;
  }

  bool names_giver(const Facts& facts, const Input& input) const {
    if (input.kind != Place::Kind::task || input.from_class != giver_class_ ||
        input.from_flow != giver_flow_ || !input.ranges.empty())
      return false;
    for (std::size_t i = 0; i < giver_.parameters.size(); ++i)
      if (!facts.equal(of_giver(input.definition->place.indices[i]),
                       giver_.places.index_at(giver_.parameters[i])))
        return false;
    return true;
  }
  /// True if the first input with a true condition names the producer; for a control, if any input does.
  bool is_named(const Facts& facts) const {
    const TableFlow& flow = to_.flows[edge_.to_flow];
    for (const Input& input : flow.inputs) {
      const auto& condition = input.definition->condition;
      if (condition && !input.ranges.empty()) continue;
      if (!condition || facts.proves(of_giver(*condition), true)) {
        if (names_giver(facts, input)) return true;
        if (!flow.control) return false;
      } else if (!flow.control && !facts.proves(of_giver(*condition), false)) {
        return false;
      }
    }
    return false;
  }

  const TableClass& giver_;
  const std::size_t giver_class_, giver_flow_;
  const ClassEdge& edge_;
  const TableClass& to_;
  std::vector<Range> ranges_;  // of the producer, then of the edge
  Places places_;
  Meanings meanings_;
};

}  // namespace

void prove_edges(ClassTable& table) {
  for (std::size_t i = 0; i < table.classes.size(); ++i)
    for (std::size_t k = 0; k < table.classes[i].flows.size(); ++k) {
      TableFlow& flow = table.classes[i].flows[k];
      if (flow.may_repeat) continue;
      for (ClassEdge& edge : flow.edges) {
        if (edge.definition == nullptr) continue;
        Proof proof(table, i, k, edge);
        if (proof.holds()) edge.key = proof.name();
        if (edge.key) edge.may_be_missing = false;
      }
    }
}

}  // namespace fairlead::ptg
