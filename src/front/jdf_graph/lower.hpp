// From a JDF file, for given globals and data, to the classes of a parameterized graph: the tasks are those that unroll()
// writes out, and so are the edges.
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

#include "front/jdf_graph/program.hpp"

namespace fairlead::jdf {

/// What a global is that places are named of.
struct BoundData {
  std::shared_ptr<const ptg::CollectionDefinition> collection{};  ///< null: nothing
  Precision precision = Precision::double_;
  TileSize tile = 0;  ///< a whole one's
};

/// What of the outputs is known from having written the graph out.
struct KnownOutputs {
  bool no_dead_ends = false;  ///< none goes to a task that is not there
  /// Outputs to memory, by where they are said ("file.jdf:12:8"), whose values are elsewhere: they are copied.
  std::set<std::string> copied{};
};

/// Who makes what is not said by the file.
struct GraphMaker {
  /// A class of tasks with these indices.
  std::function<std::shared_ptr<ptg::ClassDefinition>(std::string name, std::vector<ptg::Range> indices)> add;
  /// Sets codelet and maker: of tasks whose data have these elements, by flow of the class.
  std::function<void(std::uint32_t task_class, std::span<const Precision> elements, ptg::ClassDefinition&)>
      body;
  /// The same of tasks that copy a part of one tile, as the file says at that place.
  std::function<void(Precision element, const ptg::Part& part, const std::string& place,
                     ptg::ClassDefinition&)>
      copy;
  /// What makes of one part of a tile another one, of tiles of these elements: ptg::FlowDefinition::recut.
  std::function<std::function<ptg::Copier(const ptg::Recut&)>(Precision element)> recut;
  /// Called now and then during long searches; it may throw to end them.
  std::function<void()> look{};
};

struct Lowered {
  std::vector<std::shared_ptr<ptg::ClassDefinition>> classes;  ///< those of the file, in their order
  std::vector<std::string> notes;  ///< what was left out: a priority that only C knows
};

/// `data`: by global. Throws EvaluationError where a value is missing, InputError for what cannot run.
Lowered lower(std::shared_ptr<const Program> program, std::span<const BoundData> data,
              const KnownOutputs& known, const GraphMaker& make);

}  // namespace fairlead::jdf
