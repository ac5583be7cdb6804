// The globals of a file in both languages: in C as declared; in C++, if the type is available without the file's
// prologue.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "front/jdf/ast.hpp"

namespace fairlead::jdf {

struct EmitGlobal {
  enum class Kind : std::uint8_t {
    integer,     // an integer type that C++ has, too
    real,        // float or double: not usable for indices
    pointer,     // a pointer to a type that C++ has, but no descriptor
    descriptor,  // a pointer to a descriptor of <fairlead/parsec_compat.h>
    address,     // a pointer to a type that only C has: void* in C++
    number,      // another type that only C has, such as an enumeration: long long in C++
    value,       // a type of <fairlead/parsec_compat.h> that is neither a number nor a pointer to data
  };
  Kind kind = Kind::integer;
  std::string name;      ///< in C and JDF
  std::string cpp_name;  ///< in C++
  std::string c_type;
  std::string cpp_type;
  bool given = true;      ///< a parameter of the generated function
  bool settable = false;  ///< hidden, but the caller can override its value
  const Global* global = nullptr;

  /// "parsec_tiled_matrix_t* descA".
  std::string cpp_parameter() const { return cpp_type + " " + cpp_name; }
  /// Whether C++ can access its members.
  bool cpp_sees_members() const noexcept { return kind == Kind::descriptor; }
};

std::vector<EmitGlobal> emit_globals(const JdfFile& file);

/// The declaration "int *x" for the type "int *" and the name "x".
std::string c_declared(const std::string& type, const std::string& name);

}  // namespace fairlead::jdf
