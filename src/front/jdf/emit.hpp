// From a JDF file to C++ on the interface of parameterized graphs alone (<fairlead/ptg.hpp>), and C beside it: bodies and
// inline C are C, which does not compile as C++.
#pragma once
#include <string>

#include "front/jdf/diagnostics.hpp"
#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

/// What it is called where it is written: the function, and the three files that mention each other.
struct EmitNames {
  std::string function;  ///< "cholesky"
  std::string jdf;       ///< "cholesky.jdf", for people; #line has all of its path
  std::string source;    ///< "cholesky.cpp", as other files and #line say it
  std::string header;    ///< "cholesky.hpp"
  std::string bodies;    ///< "cholesky_bodies.c"
};

struct Emitted {
  std::string source, header, bodies;
};

/// `file` has been read without an error. What cannot be said in C++ is told in `diagnostics`; what is returned then means
/// nothing.
Emitted emit(const File& file, const EmitNames& names, Diagnostics& diagnostics);

/// A name of the language C++ for this text: "zpotrf_L" of "zpotrf_L", "a_b" of "a-b", "new_" of "new".
std::string cpp_name(std::string_view text);

}  // namespace fairlead::jdf
