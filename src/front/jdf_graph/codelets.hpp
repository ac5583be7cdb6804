// Codelets with a number of data that is known only when a file is read: interpreted bodies, bodies in C, and copies of
// tiles.
#pragma once
#include <fairlead/linalg.hpp>
#include <fairlead/ptg.hpp>

#include <memory>
#include <span>

#include "front/jdf_c/c_library.hpp"
#include "front/jdf_graph/lower.hpp"

namespace fairlead::jdf {

/// For lower(): adds classes to `graph`; bodies are interpreted with `kernels`. `in_c` runs the bodies that are C; null
/// if there are none. `data`: by global.
GraphBuilder builder_for(ptg::Graph& graph, std::shared_ptr<const RunnableJdf> program,
                         const linalg::Kernels& kernels, std::shared_ptr<const CLibrary> in_c = nullptr,
                         std::span<const BoundData> data = {});

}  // namespace fairlead::jdf
