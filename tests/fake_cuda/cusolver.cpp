// cuSOLVER as far as Fairlead calls it: a plain loop on cores, when the stream comes to it.
#include <cmath>
#include <cstddef>

#include "fake_cuda/library.hpp"

struct cusolverDnContext : fake_cuda::Handle {};

namespace {

using namespace fake_cuda;

/// Takes a row of workspace, so that too little is noticed.
template <class T>
int potrf(cusolverDnContext* handle, int fill, int n, T* a, int lda, T* work, int elements, int* info) {
  if (fill != fill_lower || lda < n || elements < n) return invalid_value;
  handle->workspace = work;
  handle->workspace_bytes = static_cast<std::size_t>(elements) * sizeof(T);
  return start(handle, "potrf", {matrix(a, n, n, lda, true), {info, sizeof(int), true}},
               [=](std::span<std::byte* const> at) {
                 T* l = as<T>(at[0]);
                 int& said = *as<int>(at[1]);
                 said = 0;
                 for (std::ptrdiff_t j = 0; j < n; ++j) {
                   T pivot = l[j + j * lda];
                   for (std::ptrdiff_t p = 0; p < j; ++p) pivot -= l[j + p * lda] * l[j + p * lda];
                   if (!(pivot > 0)) {
                     said = static_cast<int>(j) + 1;
                     return;
                   }
                   l[j + j * lda] = std::sqrt(pivot);
                   for (std::ptrdiff_t i = j + 1; i < n; ++i) {
                     T sum = l[i + j * lda];
                     for (std::ptrdiff_t p = 0; p < j; ++p) sum -= l[i + p * lda] * l[j + p * lda];
                     l[i + j * lda] = sum / l[j + j * lda];
                   }
                 }
               });
}

}  // namespace

extern "C" {

int cusolverDnCreate(cusolverDnContext** handle) { return create(handle); }
int cusolverDnDestroy(cusolverDnContext* handle) {
  delete handle;
  return good;
}
int cusolverDnSetStream(cusolverDnContext* handle, CUstream_st* stream) {
  handle->stream = stream;
  return good;
}
#define FAKE_CUSOLVER_OF(letter, T)                                                                          \
  int cusolverDn##letter##potrf_bufferSize(cusolverDnContext*, int, int n, T*, int, int* elements) {         \
    *elements = n;                                                                                           \
    return good;                                                                                             \
  }                                                                                                          \
  int cusolverDn##letter##potrf(cusolverDnContext* h, int fill, int n, T* a, int lda, T* work, int elements, \
                                int* info) {                                                                 \
    return potrf<T>(h, fill, n, a, lda, work, elements, info);                                               \
  }
FAKE_CUSOLVER_OF(S, float)
FAKE_CUSOLVER_OF(D, double)

}  // extern "C"
