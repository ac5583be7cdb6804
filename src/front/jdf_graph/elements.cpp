// See elements.hpp.
#include "front/jdf_graph/elements.hpp"

#include <fairlead/error.hpp>

#include <fmt/format.h>

namespace fairlead::jdf {

namespace {

class Elements {
 public:
  Elements(const Program& program, std::span<const BoundData> data) : file_(program.file), data_(data) {
    for (const TaskClass& of : file_.classes) found_.emplace_back(of.flows.size(), Precision::any);
  }

  std::vector<std::vector<Precision>> find() {
    each_target([&](std::uint32_t of, std::uint32_t flow, const Target& it) {
      if (it.kind == Target::Kind::memory && data_[it.index].collection != nullptr)
        meet(found_[of][flow], data_[it.index].precision, it);
    });
    for (bool changed = true; changed;) {
      changed = false;
      each_target([&](std::uint32_t of, std::uint32_t flow, const Target& it) {
        if (it.kind != Target::Kind::task) return;
        Precision& other = found_[it.index][it.flow_index];
        changed |= meet(found_[of][flow], other, it) || meet(other, found_[of][flow], it);
      });
    }
    Precision else_ = Precision::double_;
    for (auto it = data_.rbegin(); it != data_.rend(); ++it)
      if (it->collection != nullptr) else_ = it->precision;
    for (auto& of : found_)
      for (Precision& it : of)
        if (it == Precision::any) it = else_;
    return std::move(found_);
  }

 private:
  template <class F>
  void each_target(const F& f) const {
    for (std::uint32_t i = 0; i < file_.classes.size(); ++i)
      for (std::uint32_t k = 0; k < file_.classes[i].flows.size(); ++k)
        for (const Dependency& dependency : file_.classes[i].flows[k].dependencies)
          if (file_.classes[i].flows[k].access != Access::control)
            for (const Branch& branch : dependency.branches) f(i, k, branch.target);
  }
  bool meet(Precision& own, Precision other, const Target& at) const {
    if (other == Precision::any || own == other) return false;
    if (own != Precision::any)
      throw InputError(
          fmt::format("{}: tiles of float and of double meet here", file_.source.where(at.where)));
    own = other;
    return true;
  }

  const File& file_;
  std::span<const BoundData> data_;
  std::vector<std::vector<Precision>> found_;
};

const char* name_of(Precision element) { return element == Precision::single ? "float" : "double"; }

}  // namespace

std::vector<std::vector<Precision>> elements_of_flows(const Program& program,
                                                      std::span<const BoundData> data) {
  const auto found = Elements(program, data).find();
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const BodyCall& call : program.bodies[i].calls) {
      Precision wanted = call.precision;
      for (const BodyCall::Argument& argument : call.arguments) {
        if (argument.flow == nowhere) continue;
        const Precision element = found[i][argument.flow];
        if (wanted == Precision::any) wanted = element;
        if (element != wanted)
          throw InputError(fmt::format(
              "{}: {} is for tiles of {}; {} has {} here", program.file.source.where(call.where),
              program.file.source.text(call.where).substr(0, program.file.source.text(call.where).find('(')),
              name_of(wanted), program.file.classes[i].flows[argument.flow].name.text, name_of(element)));
      }
    }
  return found;
}

}  // namespace fairlead::jdf
