// A BLAS that is told its core type as BLIS is: the routines are those of the library it is linked with.
#include <cstdlib>
#include <cstring>

extern "C" {

// It does not want to be taken for what it stands on.
const char* openblas_get_corename() { return nullptr; }

int bli_arch_query_id() {
  const char* told = std::getenv("BLIS_ARCH_TYPE");
  return told != nullptr && std::strcmp(told, "1") == 0 ? 1 : 0;
}

const char* bli_arch_string(int id) {
  constexpr const char* names[] = {"pretended", "haswell", "zen3", "generic"};
  return id >= 0 && id < 4 ? names[id] : nullptr;
}
}
