// Codelets whose number of data is known when a file is read: interpreted bodies, and the copy of a tile.
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>

#include <memory>

#include "front/jdf_graph/lower.hpp"

namespace fairlead::jdf {

/// For lower(): classes of `graph`, whose bodies are interpreted with `kernels`.
GraphMaker maker_of(ptg::Graph& graph, std::shared_ptr<const Program> program,
                    const linalg::Kernels& kernels);

}  // namespace fairlead::jdf
