// See reshapes.hpp.
#include "front/jdf/reshapes.hpp"

#include <algorithm>

#include "front/jdf/emit_bodies.hpp"

namespace fairlead::jdf {

namespace {

template <class F>
void each_branch(const Flow& flow, const F& f) {
  for (const Dependency& dependency : flow.dependencies)
    for (const Branch& branch : dependency.branches) f(dependency, branch.target);
}

}  // namespace

Reshapes::Reshapes(const JdfFile& file, IsWhole is_whole) : file_(file), is_whole_(std::move(is_whole)) {
  for (const TaskClass& it : file.classes)
    idle_.push_back(!it.bodies.empty() && !emit_bodies_of(file, it).empty() && is_idle(file, it));
  for (std::uint32_t i = 0; i < file.classes.size(); ++i)
    for (std::uint32_t k = 0; k < file.classes[i].flows.size(); ++k) {
      if (file.classes[i].flows[k].access == FlowAccess::control) continue;
      each_branch(file.classes[i].flows[k], [&](const Dependency& dependency, const Target& target) {
        if (target.kind != Target::Kind::task || target.flow_index == unbound_index) return;
        const FlowNumber own{i, k}, other{target.index, target.flow_index};
        Edge& edge = dependency.direction == Direction::in ? edges_[{other, own}] : edges_[{own, other}];
        const std::optional<TypeReference> type = stated_type(dependency, false);
        if (type && std::ranges::find(edge.types, type->name, &TypeReference::name) == edge.types.end())
          edge.types.push_back(*type);
      });
    }
  any_ = find_any();
}

bool Reshapes::find_any() const {
  for (const auto& [ends, edge] : edges_)
    if (copy_type_of_edge(ends.first, ends.second)) return true;
  for (std::uint32_t i = 0; i < file_.classes.size(); ++i)
    for (std::uint32_t k = 0; k < file_.classes[i].flows.size(); ++k)
      for (const Dependency& it : file_.classes[i].flows[k].dependencies)
        if (copy_type_of_input({i, k}, it)) return true;
  return false;
}

/// The type that makes a copy: the property `type`, unless it covers a whole tile, or is C code that names none.
std::optional<TypeReference> Reshapes::stated_type(const Dependency& dependency, bool in_data) const {
  const Property* const type = find(dependency.properties, "type");
  if (type == nullptr && !in_data) return std::nullopt;
  const std::optional<TypeReference> name =
      type != nullptr ? type_from_property(file_, *type) : type_of_dependency(file_, dependency, in_data);
  if (!name || name->name.empty() || is_whole_(name->name)) return std::nullopt;
  return name;
}

std::optional<TypeReference> Reshapes::copy_type_of_edge(FlowNumber giver, FlowNumber taker) const {
  const auto found = edges_.find({giver, taker});
  // With two different types the value is recut instead: the elements of one part become those of the other.
  if (found == edges_.end() || found->second.types.size() != 1) return std::nullopt;
  const TypeReference& type = found->second.types.front();
  std::set<FlowNumber> seen;
  if (type_of_value(giver) == type.name || !may_change(taker, seen)) return std::nullopt;
  return type;
}

std::optional<TypeReference> Reshapes::copy_type_of_input(FlowNumber taker,
                                                          const Dependency& dependency) const {
  const bool memory = std::ranges::any_of(
      dependency.branches, [](const Branch& branch) { return branch.target.kind == Target::Kind::memory; });
  if (dependency.direction != Direction::in || !memory || flow(taker).access == FlowAccess::control)
    return std::nullopt;
  const std::optional<TypeReference> type = stated_type(dependency, true);
  std::set<FlowNumber> seen;
  return type && may_change(taker, seen) ? type : std::nullopt;
}

/// Whether the flow's task, or a task that gets the value from it, may modify the value.
bool Reshapes::may_change(FlowNumber of, std::set<FlowNumber>& seen) const {
  if (!seen.insert(of).second || flow(of).access == FlowAccess::control) return false;
  if (flow(of).access != FlowAccess::read && !idle_[of.first]) return true;
  bool changes = false;
  each_branch(flow(of), [&](const Dependency& dependency, const Target& target) {
    if (dependency.direction == Direction::out && target.kind == Target::Kind::task &&
        target.flow_index != unbound_index)
      changes = changes || may_change({target.index, target.flow_index}, seen);
  });
  return changes;
}

std::string Reshapes::type_of_value(FlowNumber of) const {
  std::set<FlowNumber> under_way;
  return value(of, under_way).value_or("");
}

/// Nothing if the type depends only on flows in `under_way`: then the other inputs decide.
std::optional<std::string> Reshapes::value(FlowNumber of, std::set<FlowNumber>& under_way) const {
  if (!under_way.insert(of).second) return std::nullopt;
  std::set<std::string> types;
  each_branch(flow(of), [&](const Dependency& dependency, const Target& target) {
    if (dependency.direction != Direction::in || target.kind == Target::Kind::null) return;
    if (target.kind != Target::Kind::task) {
      const std::optional<TypeReference> type = stated_type(dependency, target.kind == Target::Kind::memory);
      types.insert(type ? type->name : std::string());
      return;
    }
    if (target.flow_index == unbound_index) return;
    const FlowNumber giver{target.index, target.flow_index};
    const auto edge = edges_.find({giver, of});
    if (edge != edges_.end() && !edge->second.types.empty())
      types.insert(edge->second.types.size() == 1 ? edge->second.types.front().name : std::string());
    else if (const std::optional<std::string> type = value(giver, under_way))
      types.insert(*type);
  });
  under_way.erase(of);
  if (types.empty()) return std::string();
  return types.size() == 1 ? *types.begin() : std::string();
}

}  // namespace fairlead::jdf
