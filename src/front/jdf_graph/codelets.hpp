// Codelets whose number of data is known when a file is read: interpreted bodies, and the copy of a tile.
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>

#include <memory>
#include <span>

#include "front/jdf_c/c_library.hpp"
#include "front/jdf_graph/lower.hpp"

namespace fairlead::jdf {

/// For lower(): classes of `graph`, whose bodies are interpreted with `kernels`; those that are C are `in_c`, or null if there
/// are none. `data`: by global.
GraphMaker maker_of(ptg::Graph& graph, std::shared_ptr<const Program> program, const linalg::Kernels& kernels,
                    std::shared_ptr<const CLibrary> in_c = nullptr, std::span<const BoundData> data = {});

}  // namespace fairlead::jdf
