/* What the bodies of qr.jdf call: Householder's reflectors one by one, in plain loops. `t`: the factor of each. */
#ifndef QR_TILES_H
#define QR_TILES_H
#include <fairlead/parsec_compat.h>

#include <math.h>

static inline int rows_of(const parsec_tiled_matrix_t *a, int m) { return m == a->mt - 1 ? a->m - m * a->mb : a->mb; }
static inline int columns_of(const parsec_tiled_matrix_t *a, int n) { return n == a->nt - 1 ? a->n - n * a->nb : a->nb; }

/* v = x with v[0] = 1, and t, so that x - t v v^T x is x[0] alone: `head` is x[0], then that; `tail` the others, then v's. */
static inline double reflector(double *head, double *tail, int count) {
  double squares = 0;
  for (int i = 0; i < count; ++i) squares += tail[i] * tail[i];
  if (squares == 0) return 0;
  const double norm = sqrt(*head * *head + squares), beta = *head > 0 ? -norm : norm, t = (beta - *head) / beta;
  for (int i = 0; i < count; ++i) tail[i] /= *head - beta;
  *head = beta;
  return t;
}
/* What it makes of another column. */
static inline void rotate(double t, const double *v, int count, double *head, double *tail) {
  double sum = *head;
  for (int i = 0; i < count; ++i) sum += v[i] * tail[i];
  sum *= t;
  *head -= sum;
  for (int i = 0; i < count; ++i) tail[i] -= sum * v[i];
}

static inline void reflect(int m, int n, int columns, const double *v, int ld, const double *t, double *c) {
  for (int k = 0; k < n && k < m; ++k)
    for (int j = 0; j < columns; ++j)
      rotate(t[k], v + k + 1 + k * ld, m - k - 1, c + k + j * ld, c + k + 1 + j * ld);
}
static inline void qr_of_tile(int m, int n, double *a, int ld, double *t) {
  for (int k = 0; k < n && k < m; ++k) {
    t[k] = reflector(a + k + k * ld, a + k + 1 + k * ld, m - k - 1);
    for (int j = k + 1; j < n; ++j)
      rotate(t[k], a + k + 1 + k * ld, m - k - 1, a + k + j * ld, a + k + 1 + j * ld);
  }
}
/* A triangle on top of a tile of m rows. */
static inline void reflect_pair(int m, int n, int columns, const double *v, int ld, const double *t, double *b, double *c) {
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < columns; ++j) rotate(t[k], v + k * ld, m, b + k + j * ld, c + j * ld);
}
static inline void qr_of_pair(int m, int n, double *r, double *a, int ld, double *t) {
  for (int k = 0; k < n; ++k) {
    t[k] = reflector(r + k + k * ld, a + k * ld, m);
    for (int j = k + 1; j < n; ++j) rotate(t[k], a + k * ld, m, r + k + j * ld, a + j * ld);
  }
}
#endif
