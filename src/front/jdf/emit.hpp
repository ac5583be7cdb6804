// Translates a JDF file to C++ that uses only the interface of parameterized graphs (<fairlead/ptg.hpp>), and to C:
// bodies and inline C do not compile as C++.
#pragma once
#include <string>

#include "front/jdf/ast.hpp"
#include "front/jdf/diagnostics.hpp"

namespace fairlead::jdf {

/// The names of the generated function and of the files, which mention each other.
struct EmitNames {
  std::string function;  ///< "cholesky"
  std::string jdf;       ///< "cholesky.jdf", for comments and messages; #line has the whole path
  std::string source;    ///< "cholesky.cpp", as #line and the other files name it
  std::string header;    ///< "cholesky.hpp"
  std::string bodies;    ///< "cholesky_bodies.c"
};

struct EmittedFiles {
  std::string source, header, bodies;
};

/// Requires that `file` was read without errors. Constructs without a C++ equivalent are errors in `diagnostics`; the
/// result is then meaningless.
EmittedFiles emit(const JdfFile& file, const EmitNames& names, Diagnostics& diagnostics);

/// A valid C++ identifier for this text: "zpotrf_L" for "zpotrf_L", "a_b" for "a-b", "new_" for "new".
std::string cpp_name(std::string_view text);

}  // namespace fairlead::jdf
