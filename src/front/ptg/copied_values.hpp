// Where a task changes a value and is not to wait for those who read it (FlowSpecification::or_copy), these read a
// copy: a class of tasks that copy comes between who gives the value and who reads it. So the datum that the value is
// in stays that of who changes it, and who copies is the only one for whom he waits.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace fairlead::ptg {

class CopiedValues {
 public:
  using Definitions = std::vector<std::shared_ptr<const ClassDefinition>>;
  using Flow = std::pair<const ClassDefinition*, std::size_t>;
  static constexpr std::size_t from = 0, to = 1;  ///< the flows of a class that copies

  explicit CopiedValues(const Definitions& definitions);

  /// Those that were given, and the classes that copy.
  const Definitions& definitions() const noexcept { return definitions_; }
  /// The class whose copies the reading flow gets, in place of the giving one's value; null: it gets that itself.
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
  std::map<Flow, std::vector<Taker>> takers_;  // by giver
  std::map<Flow, const ClassDefinition*> copying_;
};

}  // namespace fairlead::ptg
