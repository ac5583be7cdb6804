// The globals of a file as the two languages have them: in C as they are declared; in C++ too, where the type is one that
// C++ knows without the file's prologue.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "front/jdf/tree.hpp"

namespace fairlead::jdf {

struct EmitGlobal {
  enum class Kind : std::uint8_t {
    integer,     // C++ has the same type
    real,        // so it has, and it is no number of indices
    pointer,     // so it has, to something that is no descriptor
    descriptor,  // a pointer to one of <fairlead/parsec_compat.h>
    address,     // a pointer to what only C knows: void*
    number,      // of a type that only C knows, as an enumeration: long long
  };
  Kind kind = Kind::integer;
  std::string name;      ///< in C and JDF
  std::string cpp_name;  ///< in C++
  std::string c_type;
  std::string cpp_type;
  bool given = true;      ///< an argument of the function
  bool settable = false;  ///< hidden, and may be set otherwise
  const Global* global = nullptr;

  /// "parsec_tiled_matrix_t* descA".
  std::string cpp_parameter() const { return cpp_type + " " + cpp_name; }
  /// C++ can look at its members.
  bool cpp_sees_members() const noexcept { return kind == Kind::descriptor; }
};

std::vector<EmitGlobal> emit_globals(const File& file);

/// "int *x" of the type "int *" and the name "x".
std::string c_declared(const std::string& type, const std::string& name);

}  // namespace fairlead::jdf
