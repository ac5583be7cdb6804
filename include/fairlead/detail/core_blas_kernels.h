/* The kernels for one element type, FAIRLEAD_T. FAIRLEAD_NAME, FAIRLEAD_BLAS and FAIRLEAD_SYMBOL contain its letter.
 * <fairlead/core_blas_compat.h> includes this file once for each type. */
void FAIRLEAD_BLAS(potrf_)(const char *uplo, const int *n, FAIRLEAD_T *a, const int *lda, int *info) FAIRLEAD_SYMBOL(potrf_);
void FAIRLEAD_BLAS(getf2_)(const int *m, const int *n, FAIRLEAD_T *a, const int *lda, int *pivots, int *info) FAIRLEAD_SYMBOL(getf2_);
void FAIRLEAD_BLAS(laswp_)(const int *n, FAIRLEAD_T *a, const int *lda, const int *first, const int *last,
                           const int *pivots, const int *step) FAIRLEAD_SYMBOL(laswp_);
void FAIRLEAD_BLAS(lauum_)(const char *uplo, const int *n, FAIRLEAD_T *a, const int *lda, int *info) FAIRLEAD_SYMBOL(lauum_);
void FAIRLEAD_BLAS(trtri_)(const char *uplo, const char *diag, const int *n, FAIRLEAD_T *a, const int *lda,
                           int *info) FAIRLEAD_SYMBOL(trtri_);
void FAIRLEAD_BLAS(trsm_)(const char *side, const char *uplo, const char *trans, const char *diag,
                          const int *m, const int *n, const FAIRLEAD_T *alpha, const FAIRLEAD_T *a,
                          const int *lda, FAIRLEAD_T *b, const int *ldb) FAIRLEAD_SYMBOL(trsm_);
void FAIRLEAD_BLAS(trmm_)(const char *side, const char *uplo, const char *trans, const char *diag,
                          const int *m, const int *n, const FAIRLEAD_T *alpha, const FAIRLEAD_T *a,
                          const int *lda, FAIRLEAD_T *b, const int *ldb) FAIRLEAD_SYMBOL(trmm_);
void FAIRLEAD_BLAS(syrk_)(const char *uplo, const char *trans, const int *n, const int *k,
                          const FAIRLEAD_T *alpha, const FAIRLEAD_T *a, const int *lda,
                          const FAIRLEAD_T *beta, FAIRLEAD_T *c, const int *ldc) FAIRLEAD_SYMBOL(syrk_);
void FAIRLEAD_BLAS(syr2k_)(const char *uplo, const char *trans, const int *n, const int *k,
                           const FAIRLEAD_T *alpha, const FAIRLEAD_T *a, const int *lda, const FAIRLEAD_T *b,
                           const int *ldb, const FAIRLEAD_T *beta, FAIRLEAD_T *c, const int *ldc) FAIRLEAD_SYMBOL(syr2k_);
void FAIRLEAD_BLAS(symm_)(const char *side, const char *uplo, const int *m, const int *n,
                          const FAIRLEAD_T *alpha, const FAIRLEAD_T *a, const int *lda, const FAIRLEAD_T *b,
                          const int *ldb, const FAIRLEAD_T *beta, FAIRLEAD_T *c, const int *ldc) FAIRLEAD_SYMBOL(symm_);
void FAIRLEAD_BLAS(gemm_)(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                          const FAIRLEAD_T *alpha, const FAIRLEAD_T *a, const int *lda, const FAIRLEAD_T *b,
                          const int *ldb, const FAIRLEAD_T *beta, FAIRLEAD_T *c, const int *ldc) FAIRLEAD_SYMBOL(gemm_);
void FAIRLEAD_BLAS(lacpy_)(const char *uplo, const int *m, const int *n, const FAIRLEAD_T *a, const int *lda,
                           FAIRLEAD_T *b, const int *ldb) FAIRLEAD_SYMBOL(lacpy_);
void FAIRLEAD_BLAS(laset_)(const char *uplo, const int *m, const int *n, const FAIRLEAD_T *alpha,
                           const FAIRLEAD_T *beta, FAIRLEAD_T *a, const int *lda) FAIRLEAD_SYMBOL(laset_);
void FAIRLEAD_BLAS(geqrt_)(const int *m, const int *n, const int *nb, FAIRLEAD_T *a, const int *lda,
                           FAIRLEAD_T *t, const int *ldt, FAIRLEAD_T *work, int *info) FAIRLEAD_SYMBOL(geqrt_);
void FAIRLEAD_BLAS(gemqrt_)(const char *side, const char *trans, const int *m, const int *n, const int *k,
                            const int *nb, const FAIRLEAD_T *v, const int *ldv, const FAIRLEAD_T *t,
                            const int *ldt, FAIRLEAD_T *c, const int *ldc, FAIRLEAD_T *work, int *info) FAIRLEAD_SYMBOL(gemqrt_);
void FAIRLEAD_BLAS(tpqrt_)(const int *m, const int *n, const int *l, const int *nb, FAIRLEAD_T *a,
                           const int *lda, FAIRLEAD_T *b, const int *ldb, FAIRLEAD_T *t, const int *ldt,
                           FAIRLEAD_T *work, int *info) FAIRLEAD_SYMBOL(tpqrt_);
void FAIRLEAD_BLAS(tpmqrt_)(const char *side, const char *trans, const int *m, const int *n, const int *k,
                            const int *l, const int *nb, const FAIRLEAD_T *v, const int *ldv,
                            const FAIRLEAD_T *t, const int *ldt, FAIRLEAD_T *a, const int *lda, FAIRLEAD_T *b,
                            const int *ldb, FAIRLEAD_T *work, int *info) FAIRLEAD_SYMBOL(tpmqrt_);
void FAIRLEAD_BLAS(gelqt_)(const int *m, const int *n, const int *mb, FAIRLEAD_T *a, const int *lda,
                           FAIRLEAD_T *t, const int *ldt, FAIRLEAD_T *work, int *info) FAIRLEAD_SYMBOL(gelqt_);
void FAIRLEAD_BLAS(gemlqt_)(const char *side, const char *trans, const int *m, const int *n, const int *k,
                            const int *mb, const FAIRLEAD_T *v, const int *ldv, const FAIRLEAD_T *t,
                            const int *ldt, FAIRLEAD_T *c, const int *ldc, FAIRLEAD_T *work, int *info) FAIRLEAD_SYMBOL(gemlqt_);
void FAIRLEAD_BLAS(tplqt_)(const int *m, const int *n, const int *l, const int *mb, FAIRLEAD_T *a,
                           const int *lda, FAIRLEAD_T *b, const int *ldb, FAIRLEAD_T *t, const int *ldt,
                           FAIRLEAD_T *work, int *info) FAIRLEAD_SYMBOL(tplqt_);
void FAIRLEAD_BLAS(tpmlqt_)(const char *side, const char *trans, const int *m, const int *n, const int *k,
                            const int *l, const int *mb, const FAIRLEAD_T *v, const int *ldv,
                            const FAIRLEAD_T *t, const int *ldt, FAIRLEAD_T *a, const int *lda, FAIRLEAD_T *b,
                            const int *ldb, FAIRLEAD_T *work, int *info) FAIRLEAD_SYMBOL(tpmlqt_);

static inline void FAIRLEAD_NAME(CORE_, potrf)(int uplo, int n, FAIRLEAD_T *a, int lda, int *info) {
  const char letter = fairlead_letter(uplo);
  FAIRLEAD_BLAS(potrf_)(&letter, &n, a, &lda, info);
}
static inline void FAIRLEAD_NAME(CORE_, lauum)(int uplo, int n, FAIRLEAD_T *a, int lda) {
  const char letter = fairlead_letter(uplo);
  int info = 0;
  FAIRLEAD_BLAS(lauum_)(&letter, &n, a, &lda, &info);
}
static inline void FAIRLEAD_NAME(CORE_, trtri)(int uplo, int diag, int n, FAIRLEAD_T *a, int lda, int *info) {
  const char letters[] = {fairlead_letter(uplo), fairlead_letter(diag)};
  FAIRLEAD_BLAS(trtri_)(letters, letters + 1, &n, a, &lda, info);
}
static inline void FAIRLEAD_NAME(CORE_, trsm)(int side, int uplo, int trans, int diag, int m, int n,
                                              FAIRLEAD_T alpha, const FAIRLEAD_T *a, int lda, FAIRLEAD_T *b,
                                              int ldb) {
  const char letters[] = {fairlead_letter(side), fairlead_letter(uplo), fairlead_letter(trans),
                          fairlead_letter(diag)};
  FAIRLEAD_BLAS(trsm_)(letters, letters + 1, letters + 2, letters + 3, &m, &n, &alpha, a, &lda, b, &ldb);
}
static inline void FAIRLEAD_NAME(CORE_, trmm)(int side, int uplo, int trans, int diag, int m, int n,
                                              FAIRLEAD_T alpha, const FAIRLEAD_T *a, int lda, FAIRLEAD_T *b,
                                              int ldb) {
  const char letters[] = {fairlead_letter(side), fairlead_letter(uplo), fairlead_letter(trans),
                          fairlead_letter(diag)};
  FAIRLEAD_BLAS(trmm_)(letters, letters + 1, letters + 2, letters + 3, &m, &n, &alpha, a, &lda, b, &ldb);
}
static inline void FAIRLEAD_NAME(CORE_, syrk)(int uplo, int trans, int n, int k, FAIRLEAD_T alpha,
                                              const FAIRLEAD_T *a, int lda, FAIRLEAD_T beta, FAIRLEAD_T *c,
                                              int ldc) {
  const char letters[] = {fairlead_letter(uplo), fairlead_letter(trans)};
  FAIRLEAD_BLAS(syrk_)(letters, letters + 1, &n, &k, &alpha, a, &lda, &beta, c, &ldc);
}
static inline void FAIRLEAD_NAME(CORE_, herk)(int uplo, int trans, int n, int k, FAIRLEAD_T alpha,
                                              const FAIRLEAD_T *a, int lda, FAIRLEAD_T beta, FAIRLEAD_T *c,
                                              int ldc) {
  FAIRLEAD_NAME(CORE_, syrk)(uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}
static inline void FAIRLEAD_NAME(CORE_, syr2k)(int uplo, int trans, int n, int k, FAIRLEAD_T alpha,
                                               const FAIRLEAD_T *a, int lda, const FAIRLEAD_T *b, int ldb,
                                               FAIRLEAD_T beta, FAIRLEAD_T *c, int ldc) {
  const char letters[] = {fairlead_letter(uplo), fairlead_letter(trans)};
  FAIRLEAD_BLAS(syr2k_)(letters, letters + 1, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}
static inline void FAIRLEAD_NAME(CORE_, symm)(int side, int uplo, int m, int n, FAIRLEAD_T alpha,
                                              const FAIRLEAD_T *a, int lda, const FAIRLEAD_T *b, int ldb,
                                              FAIRLEAD_T beta, FAIRLEAD_T *c, int ldc) {
  const char letters[] = {fairlead_letter(side), fairlead_letter(uplo)};
  FAIRLEAD_BLAS(symm_)(letters, letters + 1, &m, &n, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}
static inline void FAIRLEAD_NAME(CORE_, gemm)(int transa, int transb, int m, int n, int k, FAIRLEAD_T alpha,
                                              const FAIRLEAD_T *a, int lda, const FAIRLEAD_T *b, int ldb,
                                              FAIRLEAD_T beta, FAIRLEAD_T *c, int ldc) {
  const char letters[] = {fairlead_letter(transa), fairlead_letter(transb)};
  FAIRLEAD_BLAS(gemm_)(letters, letters + 1, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}
static inline void FAIRLEAD_NAME(CORE_, lacpy)(int uplo, int m, int n, const FAIRLEAD_T *a, int lda,
                                               FAIRLEAD_T *b, int ldb) {
  const char letter = fairlead_letter(uplo);
  FAIRLEAD_BLAS(lacpy_)(&letter, &m, &n, a, &lda, b, &ldb);
}
static inline void FAIRLEAD_NAME(CORE_, laset)(int uplo, int m, int n, FAIRLEAD_T alpha, FAIRLEAD_T beta,
                                               FAIRLEAD_T *a, int lda) {
  const char letter = fairlead_letter(uplo);
  FAIRLEAD_BLAS(laset_)(&letter, &m, &n, &alpha, &beta, a, &lda);
}
/* LU without pivoting, in blocks of ib columns. Returns the number of the first column, from 1, with a zero pivot,
 * or 0. */
static inline int FAIRLEAD_NAME(CORE_, getrf_nopiv)(int m, int n, int ib, FAIRLEAD_T *a, int lda) {
  const int least = m < n ? m : n;
  for (int first = 0; first < least; first += ib) {
    const int columns = least - first < ib ? least - first : ib, last = first + columns;
    for (int k = first; k < last; ++k) {
      FAIRLEAD_T *const pivots = a + (size_t)k * (size_t)lda;
      if (pivots[k] == 0) return k + 1;
      for (int i = k + 1; i < m; ++i) pivots[i] /= pivots[k];
      for (int j = k + 1; j < last; ++j) {
        FAIRLEAD_T *const column = a + (size_t)j * (size_t)lda;
        for (int i = k + 1; i < m; ++i) column[i] -= pivots[i] * column[k];
      }
    }
    if (last == n) break;
    FAIRLEAD_T *const here = a + first + (size_t)first * (size_t)lda, *const right =
                                                                          a + first +
                                                                          (size_t)last * (size_t)lda;
    FAIRLEAD_NAME(CORE_, trsm)
    (PlasmaLeft, PlasmaLower, PlasmaNoTrans, PlasmaUnit, columns, n - last, 1, here, lda, right, lda);
    if (last < m) FAIRLEAD_NAME(CORE_, gemm)
    (PlasmaNoTrans, PlasmaNoTrans, m - last, n - last, columns, -1, here + columns, lda, right, lda, 1,
     right + columns, lda);
  }
  return 0;
}
static inline int FAIRLEAD_NAME(CORE_, geqrt)(int m, int n, int ib, FAIRLEAD_T *a, int lda, FAIRLEAD_T *t,
                                              int ldt, FAIRLEAD_T *tau, FAIRLEAD_T *work) {
  const int least = m < n ? m : n, nb = least < ib ? least : ib;
  int info = 0;
  (void)tau;
  if (least > 0) FAIRLEAD_BLAS(geqrt_)(&m, &n, &nb, a, &lda, t, &ldt, work, &info);
  return info;
}
static inline int FAIRLEAD_NAME(CORE_, ormqr)(int side, int trans, int m, int n, int k, int ib,
                                              const FAIRLEAD_T *v, int ldv, const FAIRLEAD_T *t, int ldt,
                                              FAIRLEAD_T *c, int ldc, FAIRLEAD_T *work, int ldwork) {
  const char letters[] = {fairlead_letter(side), fairlead_letter(trans)};
  const int nb = k < ib ? k : ib;
  int info = 0;
  (void)ldwork;
  if (k > 0)
    FAIRLEAD_BLAS(gemqrt_)(letters, letters + 1, &m, &n, &k, &nb, v, &ldv, t, &ldt, c, &ldc, work, &info);
  return info;
}
static inline int FAIRLEAD_NAME(CORE_, tsqrt)(int m, int n, int ib, FAIRLEAD_T *a1, int lda1, FAIRLEAD_T *a2,
                                              int lda2, FAIRLEAD_T *t, int ldt, FAIRLEAD_T *tau,
                                              FAIRLEAD_T *work) {
  const int nb = n < ib ? n : ib, trapezoid = 0;
  int info = 0;
  (void)tau;
  if (m > 0 && n > 0)
    FAIRLEAD_BLAS(tpqrt_)(&m, &n, &trapezoid, &nb, a1, &lda1, a2, &lda2, t, &ldt, work, &info);
  return info;
}
static inline int FAIRLEAD_NAME(CORE_, tsmqr)(int side, int trans, int m1, int n1, int m2, int n2, int k,
                                              int ib, FAIRLEAD_T *a1, int lda1, FAIRLEAD_T *a2, int lda2,
                                              const FAIRLEAD_T *v, int ldv, const FAIRLEAD_T *t, int ldt,
                                              FAIRLEAD_T *work, int ldwork) {
  const char letters[] = {fairlead_letter(side), fairlead_letter(trans)};
  const int nb = k < ib ? k : ib, trapezoid = 0;
  int info = 0;
  (void)m1;
  (void)n1;
  (void)ldwork;
  if (k > 0) FAIRLEAD_BLAS(tpmqrt_)
  (letters, letters + 1, &m2, &n2, &k, &trapezoid, &nb, v, &ldv, t, &ldt, a1, &lda1, a2, &lda2, work, &info);
  return info;
}
static inline int FAIRLEAD_NAME(CORE_, gelqt)(int m, int n, int ib, FAIRLEAD_T *a, int lda, FAIRLEAD_T *t,
                                              int ldt, FAIRLEAD_T *tau, FAIRLEAD_T *work) {
  const int least = m < n ? m : n, mb = least < ib ? least : ib;
  int info = 0;
  (void)tau;
  if (least > 0) FAIRLEAD_BLAS(gelqt_)(&m, &n, &mb, a, &lda, t, &ldt, work, &info);
  return info;
}
static inline int FAIRLEAD_NAME(CORE_, ormlq)(int side, int trans, int m, int n, int k, int ib,
                                              const FAIRLEAD_T *v, int ldv, const FAIRLEAD_T *t, int ldt,
                                              FAIRLEAD_T *c, int ldc, FAIRLEAD_T *work, int ldwork) {
  const char letters[] = {fairlead_letter(side), fairlead_letter(trans)};
  const int mb = k < ib ? k : ib;
  int info = 0;
  (void)ldwork;
  if (k > 0)
    FAIRLEAD_BLAS(gemlqt_)(letters, letters + 1, &m, &n, &k, &mb, v, &ldv, t, &ldt, c, &ldc, work, &info);
  return info;
}
static inline int FAIRLEAD_NAME(CORE_, tslqt)(int m, int n, int ib, FAIRLEAD_T *a1, int lda1, FAIRLEAD_T *a2,
                                              int lda2, FAIRLEAD_T *t, int ldt, FAIRLEAD_T *tau,
                                              FAIRLEAD_T *work) {
  const int mb = m < ib ? m : ib, trapezoid = 0;
  int info = 0;
  (void)tau;
  if (m > 0 && n > 0)
    FAIRLEAD_BLAS(tplqt_)(&m, &n, &trapezoid, &mb, a1, &lda1, a2, &lda2, t, &ldt, work, &info);
  return info;
}
static inline int FAIRLEAD_NAME(CORE_, tsmlq)(int side, int trans, int m1, int n1, int m2, int n2, int k,
                                              int ib, FAIRLEAD_T *a1, int lda1, FAIRLEAD_T *a2, int lda2,
                                              const FAIRLEAD_T *v, int ldv, const FAIRLEAD_T *t, int ldt,
                                              FAIRLEAD_T *work, int ldwork) {
  const char letters[] = {fairlead_letter(side), fairlead_letter(trans)};
  const int mb = k < ib ? k : ib, trapezoid = 0;
  int info = 0;
  (void)m1;
  (void)n1;
  (void)ldwork;
  if (k > 0) FAIRLEAD_BLAS(tpmlqt_)
  (letters, letters + 1, &m2, &n2, &k, &trapezoid, &mb, v, &ldv, t, &ldt, a1, &lda1, a2, &lda2, work, &info);
  return info;
}
/* A triangle over a triangle: a2 and the factor v are trapezoids, of which only the triangle of k rows (QR) or columns (LQ)
 * is used. */
static inline int FAIRLEAD_NAME(CORE_, ttqrt)(int m, int n, int ib, FAIRLEAD_T *a1, int lda1, FAIRLEAD_T *a2,
                                              int lda2, FAIRLEAD_T *t, int ldt, FAIRLEAD_T *tau,
                                              FAIRLEAD_T *work) {
  const int nb = n < ib ? n : ib, rows = m < n ? m : n;
  int info = 0;
  (void)tau;
  if (rows > 0) FAIRLEAD_BLAS(tpqrt_)(&rows, &n, &rows, &nb, a1, &lda1, a2, &lda2, t, &ldt, work, &info);
  return info;
}
static inline int FAIRLEAD_NAME(CORE_, ttmqr)(int side, int trans, int m1, int n1, int m2, int n2, int k,
                                              int ib, FAIRLEAD_T *a1, int lda1, FAIRLEAD_T *a2, int lda2,
                                              const FAIRLEAD_T *v, int ldv, const FAIRLEAD_T *t, int ldt,
                                              FAIRLEAD_T *work, int ldwork) {
  const char letters[] = {fairlead_letter(side), fairlead_letter(trans)};
  const int nb = k < ib ? k : ib, left = side == PlasmaLeft;
  const int m = left && k < m2 ? k : m2, n = !left && k < n2 ? k : n2, triangle = left ? m : n;
  int info = 0;
  (void)m1;
  (void)n1;
  (void)ldwork;
  if (triangle > 0) FAIRLEAD_BLAS(tpmqrt_)
  (letters, letters + 1, &m, &n, &k, &triangle, &nb, v, &ldv, t, &ldt, a1, &lda1, a2, &lda2, work, &info);
  return info;
}
static inline int FAIRLEAD_NAME(CORE_, ttlqt)(int m, int n, int ib, FAIRLEAD_T *a1, int lda1, FAIRLEAD_T *a2,
                                              int lda2, FAIRLEAD_T *t, int ldt, FAIRLEAD_T *tau,
                                              FAIRLEAD_T *work) {
  const int mb = m < ib ? m : ib, columns = m < n ? m : n;
  int info = 0;
  (void)tau;
  if (columns > 0)
    FAIRLEAD_BLAS(tplqt_)(&m, &columns, &columns, &mb, a1, &lda1, a2, &lda2, t, &ldt, work, &info);
  return info;
}
static inline int FAIRLEAD_NAME(CORE_, ttmlq)(int side, int trans, int m1, int n1, int m2, int n2, int k,
                                              int ib, FAIRLEAD_T *a1, int lda1, FAIRLEAD_T *a2, int lda2,
                                              const FAIRLEAD_T *v, int ldv, const FAIRLEAD_T *t, int ldt,
                                              FAIRLEAD_T *work, int ldwork) {
  const char letters[] = {fairlead_letter(side), fairlead_letter(trans)};
  const int mb = k < ib ? k : ib, left = side == PlasmaLeft;
  const int m = left && k < m2 ? k : m2, n = !left && k < n2 ? k : n2, triangle = left ? m : n;
  int info = 0;
  (void)m1;
  (void)n1;
  (void)ldwork;
  if (triangle > 0) FAIRLEAD_BLAS(tpmlqt_)
  (letters, letters + 1, &m, &n, &k, &triangle, &mb, v, &ldv, t, &ldt, a1, &lda1, a2, &lda2, work, &info);
  return info;
}
/* LU with incremental pivoting, part 1: row exchanges within a tile, in blocks of ib columns. */
static inline int FAIRLEAD_NAME(CORE_, gessm)(int m, int n, int k, int ib, const int *pivots,
                                              const FAIRLEAD_T *l, int ldl, FAIRLEAD_T *a, int lda) {
  const int step = 1;
  for (int first = 0; first < k; first += ib) {
    const int block = k - first < ib ? k - first : ib, last = first + block, from = first + 1;
    const FAIRLEAD_T *const here = l + first + (size_t)first * (size_t)ldl;
    FAIRLEAD_BLAS(laswp_)(&n, a, &lda, &from, &last, pivots, &step);
    FAIRLEAD_NAME(CORE_, trsm)
    (PlasmaLeft, PlasmaLower, PlasmaNoTrans, PlasmaUnit, block, n, 1, here, ldl, a + first, lda);
    if (last < m) FAIRLEAD_NAME(CORE_, gemm)
    (PlasmaNoTrans, PlasmaNoTrans, m - last, n, block, -1, here + block, ldl, a + first, lda, 1, a + last,
     lda);
  }
  return 0;
}
static inline int FAIRLEAD_NAME(CORE_, getrf_incpiv)(int m, int n, int ib, FAIRLEAD_T *a, int lda,
                                                     int *pivots, int *info) {
  const int least = m < n ? m : n;
  *info = 0;
  for (int first = 0; first < least; first += ib) {
    const int block = least - first < ib ? least - first : ib, last = first + block, rows = m - first;
    FAIRLEAD_T *const here = a + first + (size_t)first * (size_t)lda;
    int failed = 0;
    FAIRLEAD_BLAS(getf2_)(&rows, &block, here, &lda, pivots + first, &failed);
    if (failed > 0 && *info == 0) *info = first + failed;
    if (last < n) FAIRLEAD_NAME(CORE_, gessm)
    (rows, n - last, block, ib, pivots + first, here, lda, here + (size_t)block * (size_t)lda, lda);
    for (int i = first; i < last; ++i) pivots[i] += first;
  }
  return 0;
}
/* Part 2: row exchanges between two tiles: a triangle of m1 rows above a tile, whose rows are numbered from m1 + 1. */
static inline void FAIRLEAD_NAME(fairlead_, eliminate)(int first, int block, int m1, int m2, int n,
                                                       FAIRLEAD_T *a1, int lda1, FAIRLEAD_T *a2, int lda2,
                                                       const FAIRLEAD_T *l1, int ldl1, const FAIRLEAD_T *l2,
                                                       int ldl2, const int *pivots) {
  for (int i = first; i < first + block; ++i) {
    if (pivots[i] <= m1) continue;
    FAIRLEAD_T *upper = a1 + i, *lower = a2 + pivots[i] - m1 - 1;
    for (int j = 0; j < n; ++j, upper += lda1, lower += lda2) {
      const FAIRLEAD_T kept = *upper;
      *upper = *lower;
      *lower = kept;
    }
  }
  FAIRLEAD_NAME(CORE_, trsm)
  (PlasmaLeft, PlasmaLower, PlasmaNoTrans, PlasmaUnit, block, n, 1, l1 + (size_t)first * (size_t)ldl1, ldl1,
   a1 + first, lda1);
  FAIRLEAD_NAME(CORE_, gemm)
  (PlasmaNoTrans, PlasmaNoTrans, m2, n, block, -1, l2 + (size_t)first * (size_t)ldl2, ldl2, a1 + first, lda1,
   1, a2, lda2);
}
static inline int FAIRLEAD_NAME(CORE_, ssssm)(int m1, int n1, int m2, int n2, int k, int ib, FAIRLEAD_T *a1,
                                              int lda1, FAIRLEAD_T *a2, int lda2, const FAIRLEAD_T *l1,
                                              int ldl1, const FAIRLEAD_T *l2, int ldl2, const int *pivots) {
  (void)n2; /* equal to n1 */
  for (int first = 0; first < k; first += ib) FAIRLEAD_NAME(fairlead_, eliminate)
  (first, k - first < ib ? k - first : ib, m1, m2, n1, a1, lda1, a2, lda2, l1, ldl1, l2, ldl2, pivots);
  return 0;
}
/* `l` contains a triangle of ib rows for each block. A zero pivot is not an error yet: a tile below may have another
 * pivot. */
static inline int FAIRLEAD_NAME(CORE_, tstrf)(int m, int n, int ib, int nb, FAIRLEAD_T *u, int ldu,
                                              FAIRLEAD_T *a, int lda, FAIRLEAD_T *l, int ldl, int *pivots,
                                              FAIRLEAD_T *work, int ldwork, int *info) {
  (void)work;
  (void)ldwork;
  *info = 0;
  for (int first = 0; first < n; first += ib) {
    const int block = n - first < ib ? n - first : ib, last = first + block;
    for (int k = first; k < last; ++k) {
      FAIRLEAD_T *const column = a + (size_t)k * (size_t)lda, *const pivot = u + k + (size_t)k * (size_t)ldu;
      int largest = -1;
      FAIRLEAD_T size = *pivot < 0 ? -*pivot : *pivot;
      for (int i = 0; i < m; ++i) {
        const FAIRLEAD_T other = column[i] < 0 ? -column[i] : column[i];
        if (other > size) {
          size = other;
          largest = i;
        }
      }
      pivots[k] = largest < 0 ? k + 1 : nb + largest + 1;
      /* Left of the diagonal U's row is zero; the factors in the exchanged row of `a` move to `l`. */
      for (int j = first; j < last; ++j) {
        FAIRLEAD_T *const of_a = a + largest + (size_t)j * (size_t)lda;
        FAIRLEAD_T *const of_l = l + (k - first) + (size_t)j * (size_t)ldl;
        if (j < k) *of_l = largest < 0 ? 0 : *of_a;
        if (largest < 0) continue;
        FAIRLEAD_T *const of_u = u + k + (size_t)j * (size_t)ldu;
        const FAIRLEAD_T kept = j < k ? 0 : *of_u;
        if (j >= k) *of_u = *of_a;
        *of_a = kept;
      }
      if (*pivot == 0) {
        if (*info == 0) *info = k + 1;
        continue;
      }
      for (int i = 0; i < m; ++i) column[i] /= *pivot;
      for (int j = k + 1; j < last; ++j) {
        const FAIRLEAD_T factor = u[k + (size_t)j * (size_t)ldu];
        FAIRLEAD_T *const other = a + (size_t)j * (size_t)lda;
        for (int i = 0; i < m; ++i) other[i] -= column[i] * factor;
      }
    }
    if (last < n) FAIRLEAD_NAME(fairlead_, eliminate)
    (first, block, nb, m, n - last, u + (size_t)last * (size_t)ldu, ldu, a + (size_t)last * (size_t)lda, lda,
     l, ldl, a, lda, pivots);
  }
  return 0;
}
