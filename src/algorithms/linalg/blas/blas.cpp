// Loads a BLAS, checks that its integers have 32 bits, and sets it to one thread.
#include "algorithms/linalg/blas/blas.hpp"

#include <fmt/format.h>

#include <fairlead/error.hpp>
#include <string_view>

#include "algorithms/linalg/blas/find_libraries.hpp"
#include "base/shared_library.hpp"

namespace fairlead::linalg {
namespace {

/// True if the integers of the library are 64 bits wide (ILP64). Detected with a dot product whose length is 2 if read
/// as 32 bits and negative (an empty sum) if read as 64 bits.
bool has_wide_integers(const SharedLibrary& library) {
  const auto ddot = library.require<double(const std::int64_t*, const double*, const std::int64_t*,
                                           const double*, const std::int64_t*)>("ddot_");
  const std::int64_t length = static_cast<std::int64_t>(0xffff'ffff'0000'0002u), stride = 1;
  const double x[2] = {3, 5}, y[2] = {7, 11};
  return ddot(&length, x, &stride, y, &stride) != 3 * 7 + 5 * 11;
}

/// The runtime library of MKL (mkl_rt) fixes its interface at the first call. Selects 32-bit integers and no threads.
void set_interface(const SharedLibrary& library) {
  constexpr int lp64 = 0, sequential = 1;
  if (const auto set = library.find<int(int)>("MKL_Set_Interface_Layer")) set(lp64);
  if (const auto set = library.find<int(int)>("MKL_Set_Threading_Layer")) set(sequential);
}

std::string text_from(const SharedLibrary& library, const char* function) {
  const auto tell = library.find<const char*()>(function);
  const char* text = tell != nullptr ? tell() : nullptr;
  return text != nullptr ? text : "";
}

/// Opens a library with the routines `probe`, such as dgemm_, whose names may have the prefix of the OpenBLAS in
/// packages of Python, which lets it be loaded next to another one.
SharedLibrary open_routines(const std::string& name, const std::string& probe) {
  constexpr const char* prefix = "scipy_";
  const auto library = SharedLibrary::open(name);
  const auto prefixed = library.with_prefix(prefix);
  const bool has_prefix = library.find<void()>(probe.c_str()) == nullptr &&
                          (prefixed.find<void()>(probe.c_str()) != nullptr ||
                           prefixed.find<void()>((probe + "64_").c_str()) != nullptr);
  return has_prefix ? prefixed : library;
}

/// The name of the library to load by default.
std::string default_library() {
  for (const char* name : {"libscipy_openblas.so", "libopenblas.so.0"})
    if (SharedLibrary::can_open(name)) return name;
  const auto found = find_blas_libraries({.first = SharedLibrary::first_directories()});
  return found.empty() ? "libopenblas.so.0" : found.front().name;
}

SharedLibrary lapack_of(const SharedLibrary& blas, const std::string& wanted) {
  if (!wanted.empty()) return open_routines(wanted, "dpotrf_");
  if (blas.find<void()>("dpotrf_") != nullptr) return blas;
  return SharedLibrary::open("liblapack.so.3");
}

}  // namespace

std::shared_ptr<const Blas> Blas::load(const BlasLibrary& library) {
  const std::string name = library.blas.empty() ? default_library() : library.blas;
  const auto blas = open_routines(name, "dgemm_");
  set_interface(blas);
  if (blas.find<void()>("dgemm_") == nullptr && blas.find<void()>("dgemm_64_") != nullptr)
    throw SystemError(
        fmt::format("the BLAS \"{}\" has 64-bit integers only (ILP64: its routines end in _64_); give one "
                    "with 32-bit integers (LP64), such as libopenblas.so.0",
                    name));
  if (has_wide_integers(blas))
    throw SystemError(
        fmt::format("the BLAS \"{}\" has 64-bit integers (ILP64); give one with 32-bit integers (LP64), such "
                    "as libopenblas.so.0",
                    name));
  const auto lapack = lapack_of(blas, library.lapack);
  std::shared_ptr<Blas> loaded(new Blas);
  loaded->threads_.add(blas);
  loaded->threads_.add(lapack);  // it may use another BLAS, with threads of its own
  loaded->threads_.set(1);
  loaded->double_ = Routines<double>::from(blas, lapack);
  loaded->float_ = Routines<float>::from(blas, lapack);
  loaded->complex_double_ = Routines<std::complex<double>>::from(blas, lapack);
  loaded->complex_float_ = Routines<std::complex<float>>::from(blas, lapack);
  loaded->path_ = blas.file_of("dgemm_");
  loaded->lapack_path_ = lapack.file_of("dpotrf_");
  loaded->version_ = text_from(blas, "openblas_get_config");
  if (loaded->version_.empty()) loaded->version_ = text_from(blas, "bli_info_get_version_str");
  loaded->buffers_ = std::make_unique<Buffers>(blas, loaded->version_, loaded->path_);
  if (library.own_products && OwnProducts::is_supported()) loaded->own_ = std::make_unique<OwnProducts>();
  loaded->core_type_ = text_from(blas, "openblas_get_corename");
  if (!loaded->core_type_.empty())
    loaded->core_type_variable_ = "OPENBLAS_CORETYPE";
  else
    loaded->read_blis_core_types(blas);
  return loaded;
}

/// Reads the core types of BLIS and their numbers. The list ends at "generic".
void Blas::read_blis_core_types(const SharedLibrary& library) {
  const auto current = library.find<int()>("bli_arch_query_id");
  const auto name = library.find<const char*(int)>("bli_arch_string");
  if (current == nullptr || name == nullptr) return;
  core_type_variable_ = "BLIS_ARCH_TYPE";
  const char* const text = name(current());
  core_type_ = text != nullptr ? text : "";
  constexpr int most = 40;
  for (int number = 0; number < most; ++number) {
    const char* const type = name(number);
    if (type == nullptr || std::string_view(type) == "generic") break;
    core_type_numbers_ += fmt::format("{}{}:{}", number == 0 ? "" : ",", type, number);
  }
}

void Blas::throw_bad_argument(const char* routine, int argument) const {
  throw UsageError(fmt::format("{} of {} refuses its argument {}", routine, lapack_path_, argument));
}

void Blas::throw_missing(const char* routine) const {
  throw SystemError(fmt::format(
      "{} has no {} for this type of numbers, a routine of BLAS or of LAPACK (3.4 and later): give another "
      "BLAS, such as libopenblas.so.0",
      lapack_path_, routine));
}

}  // namespace fairlead::linalg
