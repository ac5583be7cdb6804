// The indices of a JDF task class as those of a parameterized graph's class: its parameters and the locals derived from
// them.
#pragma once
#include <fairlead/ptg/definition.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "front/jdf_graph/expressions.hpp"

namespace fairlead::jdf {

struct ClassIndices {
  std::vector<ptg::Range> ranges;
  Environment slots;
  /// For each index of the graph's class that is a parameter, the parameter's number in the file; `nowhere` for an
  /// extra index that is 0 for existing tasks and has no value otherwise.
  std::vector<std::uint32_t> parameters;
};

class IndexBuilder {
 public:
  /// `look`: as in GraphBuilder.
  IndexBuilder(std::shared_ptr<const RunnableJdf> program, Expressions& expressions,
               std::function<void()> look = {})
      : program_(std::move(program)), expressions_(expressions), look_(std::move(look)) {}

  ClassIndices of(const TaskClass& of);
  /// Whether a task with these parameters, in the file's order, exists.
  ptg::Expression exists(const TaskClass& of, std::span<const ptg::Expression> parameters);

 private:
  ptg::Expression member(const TaskClass& of, std::size_t definition, const Environment& slots,
                         const ptg::Expression& value) const;
  void bound(const TaskClass& of, std::vector<ptg::Range>& ranges);
  void derive(const Definition& it, Environment& slots);

  std::shared_ptr<const RunnableJdf> program_;
  Expressions& expressions_;
  const std::function<void()> look_;
};

}  // namespace fairlead::jdf
