// Finds edges where the consumer gets a copy with only the elements of a type (PaRSEC's reshaping). The edge, or the
// input from memory, has a `type` that the value does not have already, and the consumer may modify the value: the
// original stays unchanged. Without modification the original is used. `type_remote` makes no copy.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "front/jdf/types.hpp"

namespace fairlead::jdf {

class Reshapes {
 public:
  using FlowNumber = std::pair<std::uint32_t, std::uint32_t>;  ///< the class, and its flow
  using IsWhole = std::function<bool(const std::string& type)>;

  /// `is_whole`: whether a type covers a whole tile. Requires that the file was read without errors; it must outlive
  /// this object.
  Reshapes(const JdfFile& file, IsWhole is_whole);

  /// The type of the copy that the consuming flow gets; nothing if it gets the value itself.
  std::optional<TypeReference> copy_type_of_edge(FlowNumber giver, FlowNumber consumer) const;
  /// The same for an input of that flow from memory.
  std::optional<TypeReference> copy_type_of_input(FlowNumber consumer, const Dependency& dependency) const;
  /// The type of a flow's initial value; empty if it is a whole tile, or if there are several types.
  std::string type_of_value(FlowNumber flow) const;
  bool any() const noexcept { return any_; }

 private:
  struct Edge {
    std::vector<TypeReference> types;  // the types named at its two ends, without duplicates
  };
  const Flow& flow(FlowNumber of) const { return file_.classes[of.first].flows[of.second]; }
  std::optional<TypeReference> stated_type(const Dependency& dependency, bool in_data) const;
  bool may_change(FlowNumber of, std::set<FlowNumber>& seen) const;
  std::optional<std::string> value(FlowNumber of, std::set<FlowNumber>& under_way) const;
  bool find_any() const;

  const JdfFile& file_;
  IsWhole is_whole_;
  std::vector<bool> idle_;  // by class: its bodies do nothing
  std::map<std::pair<FlowNumber, FlowNumber>, Edge> edges_;
  bool any_ = false;
};

}  // namespace fairlead::jdf
