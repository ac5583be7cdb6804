// Where the value of a flow becomes another datum, with the elements of a type alone: a `type` of an edge, or of an input from
// memory, that is not the type that the value has already, where the task at the other end may change the value. As in PaRSEC
// whoever changes such a copy leaves the original as it is. Where nobody changes it, the original serves as well.
// `type_remote` makes no copy.
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
  using FlowNumber = std::pair<std::uint32_t, std::uint32_t>;  ///< of the class, and of its flow
  using IsWhole = std::function<bool(const std::string& type)>;

  /// `is_whole`: types that are all of a tile. The file must outlive it, and has been read without errors.
  Reshapes(const File& file, IsWhole is_whole);

  /// The type of which the taking flow gets a copy; nothing: it gets the value itself.
  std::optional<TypeName> between(FlowNumber giver, FlowNumber taker) const;
  /// The same of an input from memory of that flow.
  std::optional<TypeName> from_memory(FlowNumber taker, const Dependency& dependency) const;
  /// The type of the value that a flow begins with; empty: all of a tile, or several.
  std::string type_of_value(FlowNumber flow) const;
  bool any() const noexcept { return any_; }

 private:
  struct Edge {
    std::vector<TypeName> types;  // that its ends say, each once
  };
  const Flow& flow(FlowNumber of) const { return file_.classes[of.first].flows[of.second]; }
  std::optional<TypeName> said(const Dependency& dependency, bool in_data) const;
  bool may_change(FlowNumber of, std::set<FlowNumber>& seen) const;
  std::optional<std::string> value(FlowNumber of, std::set<FlowNumber>& under_way) const;
  bool find_any() const;

  const File& file_;
  IsWhole is_whole_;
  std::vector<bool> idle_;  // by class
  std::map<std::pair<FlowNumber, FlowNumber>, Edge> edges_;
  bool any_ = false;
};

}  // namespace fairlead::jdf
