// FlowSpecification::or_copy: a task changes a value without waiting for its readers. A class of copy tasks is
// inserted between the producer and the readers, which read a copy; the value's own datum goes to the task that
// changes it, which waits for the copy task only.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace fairlead::ptg {

/// Decides which flows read a copy, and defines the classes that make the copies.
class CopiedValues {
 public:
  using Definitions = std::vector<std::shared_ptr<const ClassDefinition>>;
  using Flow = std::pair<const ClassDefinition*, std::size_t>;
  static constexpr std::size_t from = 0, to = 1;  ///< the flows of a copy class

  /// Adds the copy classes for these definitions.
  explicit CopiedValues(const Definitions& definitions);

  /// The given definitions, followed by the copy classes.
  const Definitions& definitions() const noexcept { return definitions_; }
  /// The copy class that replaces the producer for the reading flow; null if the flow reads the original value.
  const ClassDefinition* between(const Flow& giver, const Flow& reader) const;

 private:
  struct Taker {
    Flow flow;
    bool changes, or_copy;
  };
  void find_takers(const std::shared_ptr<const ClassDefinition>& of);
  bool reaches_writer(const Flow& flow, std::vector<Flow>& seen) const;
  bool can_read_a_copy(const Flow& flow) const;
  void add_copying(const Flow& giver, const Copier& copier);

  Definitions definitions_;
  std::map<Flow, std::vector<Taker>> takers_;  // by producer
  std::map<Flow, const ClassDefinition*> copying_;
};

}  // namespace fairlead::ptg
