/* The kernels for one type of numbers, FAIRLEAD_T, whose letter is in FAIRLEAD_NAME and FAIRLEAD_BLAS:
 * included by <fairlead/core_blas_compat.h> once for each. */
void FAIRLEAD_BLAS(potrf_)(const char *uplo, const int *n, FAIRLEAD_T *a, const int *lda, int *info);
void FAIRLEAD_BLAS(lauum_)(const char *uplo, const int *n, FAIRLEAD_T *a, const int *lda, int *info);
void FAIRLEAD_BLAS(trtri_)(const char *uplo, const char *diag, const int *n, FAIRLEAD_T *a, const int *lda,
                           int *info);
void FAIRLEAD_BLAS(trsm_)(const char *side, const char *uplo, const char *trans, const char *diag,
                          const int *m, const int *n, const FAIRLEAD_T *alpha, const FAIRLEAD_T *a,
                          const int *lda, FAIRLEAD_T *b, const int *ldb);
void FAIRLEAD_BLAS(trmm_)(const char *side, const char *uplo, const char *trans, const char *diag,
                          const int *m, const int *n, const FAIRLEAD_T *alpha, const FAIRLEAD_T *a,
                          const int *lda, FAIRLEAD_T *b, const int *ldb);
void FAIRLEAD_BLAS(syrk_)(const char *uplo, const char *trans, const int *n, const int *k,
                          const FAIRLEAD_T *alpha, const FAIRLEAD_T *a, const int *lda,
                          const FAIRLEAD_T *beta, FAIRLEAD_T *c, const int *ldc);
void FAIRLEAD_BLAS(syr2k_)(const char *uplo, const char *trans, const int *n, const int *k,
                           const FAIRLEAD_T *alpha, const FAIRLEAD_T *a, const int *lda, const FAIRLEAD_T *b,
                           const int *ldb, const FAIRLEAD_T *beta, FAIRLEAD_T *c, const int *ldc);
void FAIRLEAD_BLAS(symm_)(const char *side, const char *uplo, const int *m, const int *n,
                          const FAIRLEAD_T *alpha, const FAIRLEAD_T *a, const int *lda, const FAIRLEAD_T *b,
                          const int *ldb, const FAIRLEAD_T *beta, FAIRLEAD_T *c, const int *ldc);
void FAIRLEAD_BLAS(gemm_)(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                          const FAIRLEAD_T *alpha, const FAIRLEAD_T *a, const int *lda, const FAIRLEAD_T *b,
                          const int *ldb, const FAIRLEAD_T *beta, FAIRLEAD_T *c, const int *ldc);
void FAIRLEAD_BLAS(lacpy_)(const char *uplo, const int *m, const int *n, const FAIRLEAD_T *a, const int *lda,
                           FAIRLEAD_T *b, const int *ldb);
void FAIRLEAD_BLAS(laset_)(const char *uplo, const int *m, const int *n, const FAIRLEAD_T *alpha,
                           const FAIRLEAD_T *beta, FAIRLEAD_T *a, const int *lda);
void FAIRLEAD_BLAS(geqrt_)(const int *m, const int *n, const int *nb, FAIRLEAD_T *a, const int *lda,
                           FAIRLEAD_T *t, const int *ldt, FAIRLEAD_T *work, int *info);
void FAIRLEAD_BLAS(gemqrt_)(const char *side, const char *trans, const int *m, const int *n, const int *k,
                            const int *nb, const FAIRLEAD_T *v, const int *ldv, const FAIRLEAD_T *t,
                            const int *ldt, FAIRLEAD_T *c, const int *ldc, FAIRLEAD_T *work, int *info);
void FAIRLEAD_BLAS(tpqrt_)(const int *m, const int *n, const int *l, const int *nb, FAIRLEAD_T *a,
                           const int *lda, FAIRLEAD_T *b, const int *ldb, FAIRLEAD_T *t, const int *ldt,
                           FAIRLEAD_T *work, int *info);
void FAIRLEAD_BLAS(tpmqrt_)(const char *side, const char *trans, const int *m, const int *n, const int *k,
                            const int *l, const int *nb, const FAIRLEAD_T *v, const int *ldv,
                            const FAIRLEAD_T *t, const int *ldt, FAIRLEAD_T *a, const int *lda, FAIRLEAD_T *b,
                            const int *ldb, FAIRLEAD_T *work, int *info);

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
/* In blocks of ib columns; the number of the column, from 1, whose pivot is zero, or 0. */
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
    if (last < m)
      FAIRLEAD_NAME(CORE_, gemm)
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
  if (k > 0)
    FAIRLEAD_BLAS(tpmqrt_)
    (letters, letters + 1, &m2, &n2, &k, &trapezoid, &nb, v, &ldv, t, &ldt, a1, &lda1, a2, &lda2, work,
     &info);
  return info;
}
