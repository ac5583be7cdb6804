// See elements.hpp.
#include "front/jdf_graph/elements.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>
#include <algorithm>

namespace fairlead::jdf {

namespace {

/// Propagates a fact through all flows that pass a value on, starting at the data.
template <class Fact>
class Spread {
 public:
  using Found = std::vector<std::vector<Fact>>;

  /// `meet(own, other, where)`: combines two different facts, neither of which is `nothing`.
  template <class OfData, class Meet>
  static Found over(const JdfFile& file, Fact nothing, const OfData& of_data, const Meet& meet) {
    Found found;
    for (const TaskClass& of : file.classes) found.emplace_back(of.flows.size(), nothing);
    const auto join = [&](Fact& own, Fact other, const Target& at) {
      if (other == nothing || own == other) return false;
      const Fact joined = own == nothing ? other : meet(own, other, at);
      if (joined == own) return false;
      own = joined;
      return true;
    };
    each_target(file, [&](std::uint32_t of, std::uint32_t flow, const Target& it) {
      if (it.kind == Target::Kind::memory) join(found[of][flow], of_data(it.index), it);
    });
    for (bool changed = true; changed;) {
      changed = false;
      each_target(file, [&](std::uint32_t of, std::uint32_t flow, const Target& it) {
        if (it.kind != Target::Kind::task) return;
        Fact& other = found[it.index][it.flow_index];
        changed |= join(found[of][flow], other, it) || join(other, found[of][flow], it);
      });
    }
    return found;
  }

 private:
  template <class F>
  static void each_target(const JdfFile& file, const F& f) {
    for (std::uint32_t i = 0; i < file.classes.size(); ++i)
      for (std::uint32_t k = 0; k < file.classes[i].flows.size(); ++k)
        for (const Dependency& dependency : file.classes[i].flows[k].dependencies)
          if (file.classes[i].flows[k].access != FlowAccess::control)
            for (const Branch& branch : dependency.branches) f(i, k, branch.target);
  }
};

std::vector<std::vector<TilePrecision>> elements(const RunnableJdf& program,
                                                 std::span<const BoundData> data) {
  const auto of_data = [&](std::uint32_t global) {
    return data[global].collection != nullptr ? data[global].precision : TilePrecision::any;
  };
  auto found = Spread<TilePrecision>::over(
      program.file, TilePrecision::any, of_data,
      [&](TilePrecision, TilePrecision, const Target& at) -> TilePrecision {
        throw InputError(fmt::format("{}: tiles of float and of double are used together here",
                                     program.file.source.where(at.where)));
      });
  TilePrecision otherwise = TilePrecision::double_;
  for (auto it = data.rbegin(); it != data.rend(); ++it)
    if (it->collection != nullptr) otherwise = it->precision;
  for (auto& of : found)
    for (TilePrecision& it : of)
      if (it == TilePrecision::any) it = otherwise;
  return found;
}

const char* name_of(TilePrecision element) { return element == TilePrecision::single ? "float" : "double"; }

}  // namespace

std::vector<std::vector<TilePrecision>> elements_of_flows(const RunnableJdf& program,
                                                          std::span<const BoundData> data) {
  const auto found = elements(program, data);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const BodyCall& call : program.bodies[i].calls) {
      TilePrecision wanted = call.precision;
      for (const BodyCall::Argument& argument : call.arguments) {
        if (argument.flow == unbound_index) continue;
        const TilePrecision element = found[i][argument.flow];
        if (wanted == TilePrecision::any) wanted = element;
        if (element != wanted)
          throw InputError(fmt::format(
              "{}: {} is for tiles of {}; {} has {} here", program.file.source.where(call.where),
              program.file.source.text(call.where).substr(0, program.file.source.text(call.where).find('(')),
              name_of(wanted), program.file.classes[i].flows[argument.flow].name.text, name_of(element)));
      }
    }
  return found;
}

std::vector<std::vector<TileSize>> whole_tiles_of_flows(const RunnableJdf& program,
                                                        std::span<const BoundData> data) {
  constexpr TileSize unknown = -1, several = 0;
  const auto of_data = [&](std::uint32_t global) {
    return data[global].collection != nullptr ? data[global].tile : unknown;
  };
  auto found = Spread<TileSize>::over(program.file, unknown, of_data,
                                      [&](TileSize, TileSize, const Target&) { return several; });
  // A value that is never in memory has the size of the data, if all have the same.
  TileSize otherwise = unknown;
  for (const BoundData& it : data)
    if (it.collection != nullptr)
      otherwise = otherwise == unknown || otherwise == it.tile ? it.tile : several;
  for (auto& of : found)
    for (TileSize& it : of)
      if (it == unknown) it = otherwise == unknown ? several : otherwise;
  return found;
}

}  // namespace fairlead::jdf
