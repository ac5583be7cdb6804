// Lowers a JDF file, for given globals and data, to the classes of a parameterized graph. Its tasks and edges are those
// of unroll().
#pragma once
#include <fairlead/ptg/definition.hpp>
#include <fairlead/tiled_matrix.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "front/jdf_graph/runnable_jdf.hpp"

namespace fairlead::jdf {

/// The data bound to a global that is a collection.
struct BoundData {
  std::shared_ptr<const ptg::CollectionDefinition> collection{};  ///< null: no data
  TilePrecision precision = TilePrecision::double_;
  TileSize tile = 0;  ///< the size of a full tile
};

/// Facts about outputs that are known if the graph has been unrolled (known_outputs.hpp).
struct KnownOutputs {
  bool all_receivers_exist = false;  ///< no output goes to a missing task
  /// Outputs to another datum than the value's, by position in the file ("file.jdf:12:8"): their values are copied.
  std::set<std::string> copied{};
};

/// Creates the parts of a graph that the file does not define.
struct GraphBuilder {
  /// Adds a class of tasks with these indices.
  std::function<std::shared_ptr<ptg::ClassDefinition>(std::string name, std::vector<ptg::Range> indices)> add;
  /// Sets the codelet and the maker of a class; `elements`: by flow.
  std::function<void(std::uint32_t task_class, std::span<const TilePrecision> elements,
                     ptg::ClassDefinition&)>
      body;
  /// The same for tasks that copy a part of a tile; `place` is the file's position, for messages.
  std::function<void(TilePrecision element, const ptg::Part& part, const std::string& place,
                     ptg::ClassDefinition&)>
      copy;
  /// Makes codelets that recut tiles with these elements: ptg::FlowDefinition::recut.
  std::function<std::function<ptg::Copier(const ptg::Recut&)>(TilePrecision element)> recut;
  /// Called regularly in long searches; may throw to cancel.
  std::function<void()> on_progress{};
};

struct LoweredGraph {
  std::vector<std::shared_ptr<ptg::ClassDefinition>> classes;  ///< in the order of the file
  /// Warnings about omitted information: a priority that only C code can compute.
  std::vector<std::string> notes;
};

/// `data`: by global. Throws EvaluationError if a value is missing, InputError for a file that cannot run.
LoweredGraph lower(std::shared_ptr<const RunnableJdf> program, std::span<const BoundData> data,
                   const KnownOutputs& known, const GraphBuilder& make);

}  // namespace fairlead::jdf
