// The functions on tiles that bodies of JDF files may call; docs/jdf.md lists them.
#pragma once
#include <fairlead/detail/tile_function.hpp>

#include <span>

namespace fairlead::linalg {

std::span<const fairlead::detail::TileFunction> tile_functions() noexcept;

}  // namespace fairlead::linalg
