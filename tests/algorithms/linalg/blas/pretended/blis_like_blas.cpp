// A BLAS whose core type is set as that of BLIS: the routines are those of the library it is linked with.
#include <cstdlib>
#include <cstring>

extern "C" {

// Hides the library that it is linked with.
const char* openblas_get_corename() { return nullptr; }

int bli_arch_query_id() {
  const char* type = std::getenv("BLIS_ARCH_TYPE");
  return type != nullptr && std::strcmp(type, "1") == 0 ? 1 : 0;
}

const char* bli_arch_string(int id) {
  constexpr const char* names[] = {"pretended", "haswell", "zen3", "generic"};
  return id >= 0 && id < 4 ? names[id] : nullptr;
}
}
