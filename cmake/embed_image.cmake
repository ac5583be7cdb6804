# Writes `source` with the bytes of the file `image`, or none if it is not set.
set(numbers "")
if(image)
  file(READ ${image} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR rest "(16 - ${digits} % 16) % 16")
  string(REPEAT "0" ${rest} padding)
  string(REGEX REPLACE "(..)(..)(..)(..)(..)(..)(..)(..)" "0x\\8\\7\\6\\5\\4\\3\\2\\1," numbers "${bytes}${padding}")
  math(EXPR size "${digits} / 2")
else()
  set(numbers "0")
  set(size 0)
endif()
file(CONFIGURE OUTPUT ${source} CONTENT [[
// Made by cmake/embed_image.cmake.
#include "algorithms/linalg/cuda/own_kernels.hpp"

namespace fairlead::linalg {
namespace {
alignas(64) constexpr unsigned long long numbers_of_cuda_image[] = {@numbers@};
}  // namespace

std::string_view embedded_cuda_kernels() noexcept {
  return {reinterpret_cast<const char*>(numbers_of_cuda_image), @size@};
}
}  // namespace fairlead::linalg
]] @ONLY)
