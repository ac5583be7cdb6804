// The part of cuSOLVER that Fairlead calls: plain loops on cores, executed in stream order.
#include <cmath>
#include <cstddef>

#include "fake_cuda/library.hpp"

struct cusolverDnContext : fake_cuda::Handle {};

namespace {

using namespace fake_cuda;

/// Needs a row of workspace, so that a small workspace is detected.
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

/// Without pivots, as Fairlead calls it. Needs two rows of workspace.
template <class T>
int getrf(cusolverDnContext* handle, int m, int n, T* a, int lda, T* work, const int* pivots, int* info) {
  if (m != n || lda < m || pivots != nullptr) return invalid_value;
  handle->workspace = work;
  handle->workspace_bytes = 2 * static_cast<std::size_t>(n) * sizeof(T);
  return start(handle, "getrf", {matrix(a, n, n, lda, true), {info, sizeof(int), true}},
               [=](std::span<std::byte* const> at) {
                 T* lu = as<T>(at[0]);
                 int& said = *as<int>(at[1]);
                 said = 0;
                 for (std::ptrdiff_t k = 0; k < n; ++k) {
                   const T pivot = lu[k + k * lda];
                   if (pivot == 0) {
                     said = static_cast<int>(k) + 1;
                     return;
                   }
                   for (std::ptrdiff_t i = k + 1; i < n; ++i) lu[i + k * lda] /= pivot;
                   for (std::ptrdiff_t j = k + 1; j < n; ++j)
                     for (std::ptrdiff_t i = k + 1; i < n; ++i)
                       lu[i + j * lda] -= lu[i + k * lda] * lu[k + j * lda];
                 }
               });
}

/// As LAPACK's. Needs a row of workspace.
int geqrf(cusolverDnContext* handle, int m, int n, double* a, int lda, double* taus, double* work,
          int elements, int* info) {
  if (lda < m || m < n || elements < n) return invalid_value;
  handle->workspace = work;
  handle->workspace_bytes = static_cast<std::size_t>(elements) * sizeof(double);
  return start(handle, "geqrf",
               {matrix(a, m, n, lda, true),
                {taus, static_cast<std::size_t>(n) * sizeof(double), true},
                {info, sizeof(int), true}},
               [=](std::span<std::byte* const> at) {
                 double *x = as<double>(at[0]), *tau = as<double>(at[1]);
                 *as<int>(at[2]) = 0;
                 for (std::ptrdiff_t j = 0; j < n; ++j) {
                   double* const v = x + j * lda;
                   double below = 0;
                   for (std::ptrdiff_t i = j + 1; i < m; ++i) below += v[i] * v[i];
                   const double norm = std::sqrt(below + v[j] * v[j]), beta = v[j] < 0 ? norm : -norm;
                   tau[j] = below == 0 ? 0 : (beta - v[j]) / beta;
                   if (below == 0) continue;
                   for (std::ptrdiff_t i = j + 1; i < m; ++i) v[i] /= v[j] - beta;
                   v[j] = beta;
                   for (std::ptrdiff_t c = j + 1; c < n; ++c) {
                     double sum = x[j + c * lda];
                     for (std::ptrdiff_t i = j + 1; i < m; ++i) sum += v[i] * x[i + c * lda];
                     x[j + c * lda] -= tau[j] * sum;
                     for (std::ptrdiff_t i = j + 1; i < m; ++i) x[i + c * lda] -= tau[j] * sum * v[i];
                   }
                 }
               });
}

}  // namespace

extern "C" {

int cusolverDnDgeqrf_bufferSize(cusolverDnContext*, int, int n, double*, int, int* elements) {
  *elements = n;
  return called("cusolverDnDgeqrf_bufferSize") != 0 ? failed : good;
}
int cusolverDnDgeqrf(cusolverDnContext* h, int m, int n, double* a, int lda, double* tau, double* work,
                     int elements, int* info) {
  return called("cusolverDnDgeqrf") != 0 ? failed : geqrf(h, m, n, a, lda, tau, work, elements, info);
}

int cusolverDnCreate(cusolverDnContext** handle) { return create("cusolverDnCreate", handle); }
int cusolverDnDestroy(cusolverDnContext* handle) {
  if (called("cusolverDnDestroy") != 0) return failed;
  delete handle;
  return good;
}
int cusolverDnSetStream(cusolverDnContext* handle, CUstream_st* stream) {
  if (called("cusolverDnSetStream") != 0) return failed;
  handle->stream = stream;
  return good;
}
#define FAKE_CUSOLVER_OF(letter, T)                                                                          \
  int cusolverDn##letter##potrf_bufferSize(cusolverDnContext*, int, int n, T*, int, int* elements) {         \
    if (called("cusolverDn" #letter "potrf_bufferSize") != 0) return failed;                                 \
    *elements = n;                                                                                           \
    return good;                                                                                             \
  }                                                                                                          \
  int cusolverDn##letter##potrf(cusolverDnContext* h, int fill, int n, T* a, int lda, T* work, int elements, \
                                int* info) {                                                                 \
    if (called("cusolverDn" #letter "potrf") != 0) return failed;                                            \
    return potrf<T>(h, fill, n, a, lda, work, elements, info);                                               \
  }                                                                                                          \
  int cusolverDn##letter##getrf_bufferSize(cusolverDnContext*, int, int n, T*, int, int* elements) {         \
    if (called("cusolverDn" #letter "getrf_bufferSize") != 0) return failed;                                 \
    *elements = 2 * n;                                                                                       \
    return good;                                                                                             \
  }                                                                                                          \
  int cusolverDn##letter##getrf(cusolverDnContext* h, int m, int n, T* a, int lda, T* work, int* pivots,     \
                                int* info) {                                                                 \
    if (called("cusolverDn" #letter "getrf") != 0) return failed;                                            \
    return getrf<T>(h, m, n, a, lda, work, pivots, info);                                                    \
  }
FAKE_CUSOLVER_OF(S, float)
FAKE_CUSOLVER_OF(D, double)

}  // extern "C"
