// The options that state which elements of a symmetric matrix count.
#pragma once
#include <fairlead/config.hpp>
#include <fairlead/error.hpp>
#include <fairlead/stored.hpp>

namespace fairlead::app {

/// By --lower, --upper and --symmetrize. Throws ConfigError if more than one is given.
inline linalg::Stored stored_triangle(const Config& config) {
  const bool lower = config.flag("lower"), upper = config.flag("upper"), mean = config.flag("symmetrize");
  if (lower + upper + mean > 1)
    throw ConfigError("--lower, --upper and --symmetrize exclude each other: give one");
  return lower   ? linalg::Stored::lower
         : upper ? linalg::Stored::upper
         : mean  ? linalg::Stored::mean
                 : linalg::Stored::both;
}

}  // namespace fairlead::app
