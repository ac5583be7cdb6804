// Generates a file's C code for a program that reads the file itself, then compiles and loads the C at run time. The
// types of its functions do not depend on the file. EmitBodies::shared() writes them; bodies and inline C are the same
// as in `fairlead jdf compile`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "front/jdf/ast.hpp"

namespace fairlead::jdf {

/// Which values the C type of a global accepts.
enum class GlobalKind : int { number, descriptor, collection, int_pointer, memory_pool, other_pointer };

/// The names of the generated functions, and their types in C++.
struct DynamicSymbols {
  static constexpr const char* size = "fairlead_jdf_size";
  using Size = std::size_t();  ///< the size of the globals, in bytes
  static constexpr const char* kind = "fairlead_jdf_kind";
  using Kind = int(int global);  ///< a GlobalKind
  static constexpr const char* set = "fairlead_jdf_set";
  using Set = void(void* globals, int global, std::int64_t whole, double real, void* address);
  static std::string leaf(ExpressionId id) { return "fairlead_jdf_leaf" + std::to_string(id); }
  /// The result is in *real if it returns 1, otherwise in *whole.
  using Leaf = int(const void* globals, const std::int64_t* indices, std::int64_t* whole, double* real);
  static std::string body(std::size_t task_class) { return "fairlead_jdf_body" + std::to_string(task_class); }
  /// `tiles`: by flow. Returns the result of the last body that was tried.
  using Body = int(const void* globals, const std::int64_t* parameters, void* const* tiles);
};

/// The C code. `with_bodies`: by class, whether to include its bodies. With any bodies, the epilogues are included,
/// too.
std::string emit_dynamic_c(const JdfFile& file, const std::string& own_name,
                           const std::vector<bool>& with_bodies);

}  // namespace fairlead::jdf
