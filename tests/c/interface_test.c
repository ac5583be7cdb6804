/* The C interface: each way to give a matrix, all functions, and the status of each kind of mistake. Solutions are compared
 * with those of Gaussian elimination, which is written out here. */
#define _POSIX_C_SOURCE 200809L
#include <fairlead.h>
#include <fairlead_simulation.h>
#include <fairlead_tasks.h>

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"

enum { n = 61, sides = 3 };

/* Numbers in [-1, 1), the same each time. */
static double drawn(int i, int j) {
  unsigned bits = (unsigned)(i * 7919 + j * 104729 + 12345);
  bits ^= bits >> 7;
  bits *= 2654435761u;
  bits ^= bits >> 13;
  return (bits % 65536) / 32768.0 - 1;
}
static double general(int i, int j) { return drawn(i, j); }
static double same(int i, int j) { return i >= 0 && j >= 0; }
static double definite(int i, int j) { return (i == j ? n : 0) + drawn(i < j ? i : j, i < j ? j : i); }

static double complex complex_general(int i, int j) { return drawn(i, j) + drawn(j + 3, i) * I; }
static double complex complex_definite(int i, int j) {
  if (i == j) return 2 * n;
  return i < j ? complex_general(i, j) : conj(complex_general(j, i));
}

typedef double complex (*complex_element)(int, int);

/* Solves by Gaussian elimination with partial pivoting; also the determinant of A. */
static void eliminate_complex(complex_element element, fairlead_form form, const double complex* b,
                              int columns, double complex* x, double complex* phase, double* log_absolute) {
  static double complex a[n][n], c[n][sides];
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      a[i][j] = form == FAIRLEAD_PLAIN ? element(i, j) : element(j, i);
      if (form == FAIRLEAD_ADJOINT) a[i][j] = conj(a[i][j]);
    }
    for (int k = 0; k < columns; ++k) c[i][k] = b[i + k * n];
  }
  *phase = 1;
  *log_absolute = 0;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (cabs(a[i][k]) > cabs(a[pivot][k])) pivot = i;
    if (pivot != k) *phase = -*phase;
    for (int j = 0; j < n; ++j) {
      const double complex kept = a[k][j];
      a[k][j] = a[pivot][j];
      a[pivot][j] = kept;
    }
    for (int j = 0; j < columns; ++j) {
      const double complex kept = c[k][j];
      c[k][j] = c[pivot][j];
      c[pivot][j] = kept;
    }
    *phase *= a[k][k] / cabs(a[k][k]);
    *log_absolute += log(cabs(a[k][k]));
    for (int i = k + 1; i < n; ++i) {
      const double complex factor = a[i][k] / a[k][k];
      for (int j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      for (int j = 0; j < columns; ++j) c[i][j] -= factor * c[k][j];
    }
  }
  for (int j = 0; j < columns; ++j)
    for (int i = n - 1; i >= 0; --i) {
      double complex sum = c[i][j];
      for (int k = i + 1; k < n; ++k) sum -= a[i][k] * x[k + j * n];
      x[i + j * n] = sum / a[i][i];
    }
}

static double (*real_element)(int, int);
static double complex as_complex(int i, int j) { return real_element(i, j); }

static void eliminate(double (*element)(int, int), int transposed, const double* b, int columns, double* x,
                      int* sign, double* log_absolute) {
  double complex complex_b[n * sides], complex_x[n * sides], phase;
  real_element = element;
  for (int i = 0; i < n * columns; ++i) complex_b[i] = b[i];
  eliminate_complex(as_complex, transposed ? FAIRLEAD_TRANSPOSED : FAIRLEAD_PLAIN, complex_b, columns,
                    complex_x, &phase, log_absolute);
  for (int i = 0; i < n * columns; ++i) x[i] = creal(complex_x[i]);
  *sign = creal(phase) > 0 ? 1 : -1;
}

static double difference(const double* x, const double* y, int count) {
  double most = 0;
  for (int i = 0; i < count; ++i) most = fmax(most, fabs(x[i] - y[i]) / (1 + fabs(y[i])));
  return most;
}

static void fill_sides(double* b) {
  for (int i = 0; i < n * sides; ++i) b[i] = drawn(i, 5000);
}

static fairlead_solver* solver_with(fairlead_method method) {
  fairlead_options options;
  fairlead_solver* solver = NULL;
  EXPECT_OK(fairlead_options_init(&options, sizeof options));
  options.memory_bytes = 64 << 20;
  options.workers = 2;
  options.method = method;
  EXPECT_OK(fairlead_solver_create(&options, &solver));
  return solver;
}

static double elements[(n + 3) * n];
static float short_elements[(n + 3) * n];

static fairlead_matrix* in_memory(double (*element)(int, int), fairlead_element type, fairlead_order order) {
  fairlead_matrix* a = NULL;
  const int gap = n + 3;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int at = order == FAIRLEAD_ROW_MAJOR ? i * gap + j : i + j * gap;
      elements[at] = element(i, j);
      short_elements[at] = (float)element(i, j);
    }
  const void* memory = type == FAIRLEAD_FLOAT64 ? (const void*)elements : (const void*)short_elements;
  EXPECT_OK(fairlead_matrix_from_memory(memory, type, order, n, n, gap, &a));
  return a;
}

static void solves_matrices_in_memory(void) {
  double b[n * sides], x[n * sides], expected[n * sides], log_absolute;
  int sign;
  fill_sides(b);
  eliminate(general, 0, b, sides, expected, &sign, &log_absolute);
  fairlead_solver* solver = solver_with(FAIRLEAD_AUTOMATIC);
  for (int order = 0; order < 2; ++order) {
    fairlead_matrix* a = in_memory(general, FAIRLEAD_FLOAT64, (fairlead_order)order);
    memset(x, 0, sizeof x);
    EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, sides, x));
    EXPECT(difference(x, expected, n * sides) < 1e-9);
    fairlead_matrix_free(a);

    float short_b[n * sides], short_x[n * sides];
    for (int i = 0; i < n * sides; ++i) short_b[i] = (float)b[i];
    a = in_memory(definite, FAIRLEAD_FLOAT32, (fairlead_order)order);
    EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT32, short_b, sides, short_x));
    double of_definite[n * sides];
    eliminate(definite, 0, b, sides, of_definite, &sign, &log_absolute);
    for (int i = 0; i < n * sides; ++i) x[i] = short_x[i];
    EXPECT(difference(x, of_definite, n * sides) < 1e-5);
    fairlead_matrix_free(a);
  }
  fairlead_solver_free(solver);
}

static void reports_how_it_solved(void) {
  double b[n * sides], x[n * sides];
  fill_sides(b);
  fairlead_solver* solver = solver_with(FAIRLEAD_AUTOMATIC);
  fairlead_matrix* a = in_memory(definite, FAIRLEAD_FLOAT64, FAIRLEAD_COLUMN_MAJOR);
  EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, sides, x));
  fairlead_report report;
  EXPECT_OK(fairlead_solver_report(solver, &report, sizeof report));
  EXPECT(report.struct_bytes == sizeof report);
  EXPECT(report.method == FAIRLEAD_CHOLESKY && report.precision == FAIRLEAD_FLOAT64);
  EXPECT(strstr(report.method_reason, "positive definite") != NULL);
  EXPECT(report.rows == n && report.columns == n && report.right_hand_sides == sides);
  EXPECT(report.backward_error > 0 && report.backward_error < report.backward_error_limit);
  EXPECT(report.condition >= 1 && report.condition < 100 && report.forward_error < 1e-12 &&
         report.digits >= 12);
  EXPECT(isnan(report.growth) && isnan(report.residual) && report.rank == -1);
  EXPECT(report.phase_count >= 3 && report.phases[0].name != NULL && report.seconds > 0);
  EXPECT(report.warning_count == 0);
  /* A program of an older header, which ends after the first members. */
  memset(&report, 7, sizeof report);
  EXPECT_OK(fairlead_solver_report(solver, &report, offsetof(fairlead_report, backward_error)));
  EXPECT(report.rows == n && report.struct_bytes == offsetof(fairlead_report, backward_error));
  EXPECT(memchr(&report.backward_error, 7, sizeof report.backward_error) != NULL);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_report(solver, &report, 2), "pass sizeof");
  fairlead_matrix_free(a);
  fairlead_solver_free(solver);
}

static void write_npy(const char* path, int rows, int columns) {
  FILE* file = fopen(path, "wb");
  char header[128];
  memset(header, ' ', sizeof header);
  memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
  char text[100];
  const int length = snprintf(text, sizeof text,
                              "{'descr': '<f8', 'fortran_order': True, 'shape': (%d, %d), }", rows, columns);
  memcpy(header + 10, text, (size_t)length);
  header[127] = '\n';
  fwrite(header, 1, sizeof header, file);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const double element = general(i, j);
      fwrite(&element, sizeof element, 1, file);
    }
  fclose(file);
}

static void solves_matrices_in_files(void) {
  double b[n * sides], x[n * sides], expected[n * sides], log_absolute;
  int sign;
  fill_sides(b);
  eliminate(general, 0, b, sides, expected, &sign, &log_absolute);
  write_npy("A.npy", n, n);
  fairlead_matrix* a = NULL;
  EXPECT_OK(fairlead_matrix_open("A.npy", &a));
  int64_t rows = 0, columns = 0;
  fairlead_element element = FAIRLEAD_FLOAT32;
  EXPECT_OK(fairlead_matrix_shape(a, &rows, &columns, &element));
  EXPECT(rows == n && columns == n && element == FAIRLEAD_FLOAT64);
  EXPECT_OK(fairlead_matrix_shape(a, NULL, NULL, NULL));
  fairlead_solver* solver = solver_with(FAIRLEAD_LU);
  EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, sides, x));
  EXPECT(difference(x, expected, n * sides) < 1e-9);
  fairlead_matrix_free(a);
  EXPECT_STATUS(FAIRLEAD_ERROR_INPUT, fairlead_matrix_open("missing.npy", &a), "missing.npy");
  fairlead_solver_free(solver);
  remove("A.npy");
}

struct Computed {
  int fails_from_row;
  int nanoseconds;
};
static int compute(void* context, int64_t first_row, int64_t rows, int64_t first_column, int64_t columns,
                   void* out, int64_t leading_dimension) {
  const struct Computed* given = context;
  double* to = out;
  if (first_row + rows > given->fails_from_row) return 1;
  if (given->nanoseconds != 0) {
    const struct timespec pause = {0, given->nanoseconds};
    nanosleep(&pause, NULL);
  }
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      to[i + j * leading_dimension] = (first_row + i == first_column + j ? 10.0 : 0.0) +
                                      drawn((int)((first_row + i) % n), (int)((first_column + j) % n)) / 1000;
  return 0;
}

static double as_computed(int i, int j) { return (i == j ? 10.0 : 0.0) + drawn(i, j) / 1000; }

static void solves_matrices_of_functions(void) {
  double b[n * sides], x[n * sides], expected[n * sides], log_absolute;
  int sign;
  fill_sides(b);
  eliminate(as_computed, 0, b, sides, expected, &sign, &log_absolute);
  struct Computed given = {n, 0};
  fairlead_matrix* a = NULL;
  fairlead_solver* solver = solver_with(FAIRLEAD_AUTOMATIC);
  EXPECT_OK(fairlead_matrix_from_function(compute, &given, FAIRLEAD_FLOAT64, n, n, &a));
  EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, sides, x));
  EXPECT(difference(x, expected, n * sides) < 1e-12);

  given.fails_from_row = n / 2;
  EXPECT_STATUS(FAIRLEAD_ERROR_CALLBACK, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, sides, x),
                "function that computes the matrix has failed");
  given.fails_from_row = n;
  EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, sides, x));
  fairlead_matrix_free(a);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_matrix_from_function(compute, &given, FAIRLEAD_FLOAT64, 0, 5, &a), "no elements");
  fairlead_solver_free(solver);
}

static void solves_least_squares(void) {
  /* A line through four points, and a plane that only depends on its first column. */
  const double line[8] = {1, 0, 1, 1, 1, 2, 1, 3}, b[4] = {1, 3, 5, 8};
  double x[2];
  fairlead_matrix* a = NULL;
  fairlead_solver* solver = NULL;
  EXPECT_OK(fairlead_matrix_from_memory(line, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, 4, 2, 0, &a));
  EXPECT_OK(fairlead_solver_create(NULL, &solver));
  EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, 1, x));
  /* By the normal equations: 4 x0 + 6 x1 = 17, 6 x0 + 14 x1 = 37. */
  EXPECT(fabs(x[0] - 0.8) < 1e-12 && fabs(x[1] - 2.3) < 1e-12);
  fairlead_report report;
  EXPECT_OK(fairlead_solver_report(solver, &report, sizeof report));
  EXPECT(report.method == FAIRLEAD_QR && report.rank == 2);
  EXPECT(fabs(report.residual - sqrt(0.3 / 99)) < 1e-12);
  fairlead_matrix_free(a);
  fairlead_solver_free(solver);
}

struct Use {
  fairlead_factors* factors;
  const double* b;
  double* x;
  fairlead_status status;
};
static void* use_factors(void* argument) {
  struct Use* use = argument;
  use->status = fairlead_factors_solve(use->factors, FAIRLEAD_PLAIN, FAIRLEAD_FLOAT64, use->b, sides, use->x);
  return NULL;
}

static double indefinite(int i, int j) { return definite(i, j) * (i == j && i % 3 == 0 ? -1 : 1); }

static void counts_eigenvalues_by_sign(void) {
  fairlead_solver* solver = solver_with(FAIRLEAD_LDLT);
  fairlead_matrix* a = in_memory(indefinite, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR);
  fairlead_factors* factors = NULL;
  int64_t positive = -1, negative = -1, zero = -1;
  EXPECT_OK(fairlead_solver_factor(solver, a, &factors));
  EXPECT_OK(fairlead_factors_inertia(factors, &positive, &negative, &zero));
  /* The circles of Gershgorin around n - 1 to n + 1 and their negatives have radii below n - 1. */
  EXPECT(positive == n - (n + 2) / 3 && negative == (n + 2) / 3 && zero == 0);
  fairlead_factors_free(factors);
  fairlead_matrix_free(a);
  fairlead_solver_free(solver);
}

static void keeps_factors(void) {
  double b[n * sides], x[n * sides], expected[n * sides], log_absolute, found;
  int sign;
  double phase[2];
  fill_sides(b);
  fairlead_solver* solver = solver_with(FAIRLEAD_LU);
  fairlead_matrix* a = in_memory(general, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR);
  fairlead_factors* factors = NULL;
  EXPECT_OK(fairlead_solver_factor(solver, a, &factors));
  fairlead_matrix_free(a);
  fairlead_solver_free(solver);

  struct Use use = {factors, b, x, FAIRLEAD_ERROR_OTHER};
  pthread_t thread;
  pthread_create(&thread, NULL, use_factors, &use);
  pthread_join(thread, NULL);
  eliminate(general, 0, b, sides, expected, &sign, &log_absolute);
  EXPECT(use.status == FAIRLEAD_OK && difference(x, expected, n * sides) < 1e-9);
  EXPECT_OK(fairlead_factors_log_determinant(factors, phase, &found));
  EXPECT(phase[0] == sign && phase[1] == 0 && fabs(found - log_absolute) < 1e-9);

  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_factors_inertia(factors, NULL, NULL, NULL), "LDL^T");

  EXPECT_OK(fairlead_factors_save(factors, "A.factor"));
  EXPECT_STATUS(FAIRLEAD_ERROR_SYSTEM, fairlead_factors_save(factors, "no/such/folder/A.factor"),
                "no/such/folder");
  fairlead_factors_free(factors);
  EXPECT_OK(fairlead_factors_load("A.factor", NULL, &factors));
  fairlead_factors_properties properties;
  EXPECT_OK(fairlead_factors_describe(factors, &properties, sizeof properties));
  EXPECT(properties.method == FAIRLEAD_LU && properties.precision == FAIRLEAD_FLOAT64);
  EXPECT(properties.rows == n && properties.columns == n && properties.condition > 1);
  EXPECT(properties.growth > 0 && properties.backward_error < 1e-13);
  EXPECT_OK(fairlead_factors_solve(factors, FAIRLEAD_TRANSPOSED, FAIRLEAD_FLOAT64, b, sides, x));
  eliminate(general, 1, b, sides, expected, &sign, &log_absolute);
  EXPECT(difference(x, expected, n * sides) < 1e-9);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_factors_solve(factors, (fairlead_form)9, FAIRLEAD_FLOAT64, b, 1, x),
                "the form is 9");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_factors_solve(factors, FAIRLEAD_PLAIN, FAIRLEAD_FLOAT64, b, -1, x),
                "-1 right-hand sides");
  fairlead_factors_free(factors);
  remove("A.factor");
  EXPECT_STATUS(FAIRLEAD_ERROR_INPUT, fairlead_factors_load("A.factor", NULL, &factors), "A.factor");
}

/* L L^T is A, and L is a triangle. */
static void multiplies_by_the_triangle(void) {
  static double identity[n * n], l[n * n];
  fairlead_solver* solver = solver_with(FAIRLEAD_CHOLESKY);
  fairlead_matrix* a = in_memory(definite, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR);
  fairlead_factors* factors = NULL;
  for (int i = 0; i < n; ++i) identity[i + i * n] = 1;
  EXPECT_OK(fairlead_solver_factor(solver, a, &factors));
  EXPECT_OK(fairlead_factors_multiply_lower(factors, FAIRLEAD_FLOAT64, identity, n, l));
  double worst = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += l[i + k * n] * l[j + k * n];
      worst = fmax(worst, fabs(sum - definite(i, j)));
      if (i < j) EXPECT(l[i + j * n] == 0);
    }
  EXPECT(worst < 1e-11);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_factors_multiply_lower(factors, FAIRLEAD_FLOAT64, identity, 0, l),
                "0 right-hand sides");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_factors_multiply_lower(factors, FAIRLEAD_FLOAT64, NULL, 1, l),
                "z is a null pointer");
  fairlead_factors_free(factors);
  fairlead_solver_free(solver);
  solver = solver_with(FAIRLEAD_LU);
  EXPECT_OK(fairlead_solver_factor(solver, a, &factors));
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_factors_multiply_lower(factors, FAIRLEAD_FLOAT64, identity, 1, l), "Cholesky");
  fairlead_factors_free(factors);
  fairlead_solver_free(solver);
  fairlead_matrix_free(a);
}

/* In memory, of all orders, and to a file. */
static void multiplies_matrices(void) {
  static double rows_first[n][n + 2], columns_first[n][n], expected[n][n];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) expected[i][j] += general(i, k) * definite(k, j);
  static double of_a[n][n], of_b[n][n];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      of_a[i][j] = general(i, j);
      of_b[j][i] = definite(i, j);
    }
  fairlead_matrix *a = NULL, *b = NULL, *c = NULL;
  EXPECT_OK(fairlead_matrix_from_memory(of_a, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, n, n, 0, &a));
  EXPECT_OK(fairlead_matrix_from_memory(of_b, FAIRLEAD_FLOAT64, FAIRLEAD_COLUMN_MAJOR, n, n, 0, &b));
  fairlead_options options;
  EXPECT_OK(fairlead_options_init(&options, sizeof options));
  options.memory_bytes = 1 << 20;
  options.workers = 2;
  options.tile = 16;
  EXPECT_OK(fairlead_multiply(a, b, &options, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, n + 2, rows_first));
  EXPECT_OK(fairlead_multiply(a, b, NULL, FAIRLEAD_FLOAT64, FAIRLEAD_COLUMN_MAJOR, 0, columns_first));
  double worst = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      worst = fmax(worst,
                   fmax(fabs(rows_first[i][j] - expected[i][j]), fabs(columns_first[j][i] - expected[i][j])));
  EXPECT(worst < 1e-11 && rows_first[0][n] == 0);

  int64_t rows = 0, columns = 0;
  fairlead_element element;
  EXPECT_OK(fairlead_multiply_to_file(a, b, &options, FAIRLEAD_COMPLEX64, FAIRLEAD_COLUMN_MAJOR, "C.npy"));
  EXPECT_OK(fairlead_matrix_open("C.npy", &c));
  EXPECT_OK(fairlead_matrix_shape(c, &rows, &columns, &element));
  EXPECT(rows == n && columns == n && element == FAIRLEAD_COMPLEX64);
  fairlead_matrix_free(c);
  remove("C.npy");

  fairlead_matrix* narrow = NULL;
  EXPECT_OK(
      fairlead_matrix_from_memory(expected, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, n - 1, n, 0, &narrow));
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_multiply(a, narrow, NULL, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, 0, rows_first),
                "as many columns as B has rows");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_multiply(a, b, NULL, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, n - 1, rows_first),
                "leading dimension");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_multiply(a, b, NULL, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, 0, NULL),
                "c is a null pointer");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_multiply(a, b, NULL, FAIRLEAD_FLOAT64, (fairlead_order)5, 0, rows_first),
                "the order is 5");
  EXPECT_STATUS(
      FAIRLEAD_ERROR_SYSTEM,
      fairlead_multiply_to_file(a, b, NULL, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, "no/such/folder/C.npy"),
      "no/such/folder");
  options.memory_bytes = 64 << 10;
  EXPECT_STATUS(FAIRLEAD_ERROR_MEMORY,
                fairlead_multiply(a, b, &options, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, 0, rows_first),
                "memory");
  fairlead_matrix_free(narrow);
  fairlead_matrix_free(b);
  fairlead_matrix_free(a);
}

static double complex_difference(const double complex* x, const double complex* y) {
  double most = 0;
  for (int i = 0; i < n * sides; ++i) most = fmax(most, cabs(x[i] - y[i]) / (1 + cabs(y[i])));
  return most;
}
static int compute_complex(void* context, int64_t first_row, int64_t rows, int64_t first_column,
                           int64_t columns, void* out, int64_t leading_dimension) {
  double complex* to = out;
  (void)context;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      to[i + j * leading_dimension] = complex_general((int)(first_row + i), (int)(first_column + j));
  return 0;
}

static void solves_complex_systems(void) {
  static double complex a_elements[n * n], b[n * sides], x[n * sides], expected[n * sides];
  static float complex short_a[n * n], short_b[n * sides], short_x[n * sides];
  double complex phase;
  double log_absolute, found_phase[2], found;
  for (int i = 0; i < n * sides; ++i) short_b[i] = (float complex)(b[i] = complex_general(i, 70));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      short_a[i * n + j] = (float complex)(a_elements[i * n + j] = complex_definite(i, j));
  fairlead_solver* solver = solver_with(FAIRLEAD_AUTOMATIC);
  fairlead_matrix* a = NULL;
  fairlead_element element = FAIRLEAD_FLOAT32;
  fairlead_report report;
  EXPECT_OK(fairlead_matrix_from_memory(a_elements, FAIRLEAD_COMPLEX128, FAIRLEAD_ROW_MAJOR, n, n, 0, &a));
  EXPECT_OK(fairlead_matrix_shape(a, NULL, NULL, &element));
  EXPECT(element == FAIRLEAD_COMPLEX128);
  EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_COMPLEX128, b, sides, x));
  eliminate_complex(complex_definite, FAIRLEAD_PLAIN, b, sides, expected, &phase, &log_absolute);
  EXPECT(complex_difference(x, expected) < 1e-12);
  EXPECT_OK(fairlead_solver_report(solver, &report, sizeof report));
  EXPECT(report.method == FAIRLEAD_CHOLESKY && report.precision == FAIRLEAD_COMPLEX128);
  /* In double precision, and rounded. */
  EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_COMPLEX64, short_b, sides, short_x));
  for (int i = 0; i < n * sides; ++i) x[i] = short_x[i];
  EXPECT(complex_difference(x, expected) < 1e-6);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, 1, x),
                "the matrix is complex, and b is real");
  fairlead_matrix_free(a);

  EXPECT_OK(fairlead_matrix_from_memory(short_a, FAIRLEAD_COMPLEX64, FAIRLEAD_ROW_MAJOR, n, n, 0, &a));
  EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_COMPLEX64, short_b, sides, short_x));
  for (int i = 0; i < n * sides; ++i) x[i] = short_x[i];
  EXPECT(complex_difference(x, expected) < 1e-5);
  EXPECT_OK(fairlead_solver_report(solver, &report, sizeof report));
  EXPECT(report.precision == FAIRLEAD_COMPLEX64);
  fairlead_matrix_free(a);

  fairlead_factors* factors = NULL;
  EXPECT_OK(fairlead_matrix_from_function(compute_complex, NULL, FAIRLEAD_COMPLEX128, n, n, &a));
  EXPECT_OK(fairlead_solver_factor(solver, a, &factors));
  fairlead_matrix_free(a);
  for (int form = FAIRLEAD_PLAIN; form <= FAIRLEAD_ADJOINT; ++form) {
    EXPECT_OK(fairlead_factors_solve(factors, (fairlead_form)form, FAIRLEAD_COMPLEX128, b, sides, x));
    eliminate_complex(complex_general, (fairlead_form)form, b, sides, expected, &phase, &log_absolute);
    EXPECT(complex_difference(x, expected) < 1e-9);
  }
  eliminate_complex(complex_general, FAIRLEAD_PLAIN, b, sides, expected, &phase, &log_absolute);
  EXPECT_OK(fairlead_factors_log_determinant(factors, found_phase, &found));
  EXPECT(fabs(found - log_absolute) < 1e-9 && cabs(found_phase[0] + found_phase[1] * I - phase) < 1e-9);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_factors_solve(factors, FAIRLEAD_PLAIN, FAIRLEAD_FLOAT64, b, 1, x), "b is real");
  fairlead_factors_free(factors);

  /* A real matrix and complex right-hand sides. */
  a = in_memory(definite, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR);
  EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_COMPLEX128, b, sides, x));
  real_element = definite;
  eliminate_complex(as_complex, FAIRLEAD_PLAIN, b, sides, expected, &phase, &log_absolute);
  EXPECT(complex_difference(x, expected) < 1e-12);
  EXPECT_OK(fairlead_solver_report(solver, &report, sizeof report));
  EXPECT(report.precision == FAIRLEAD_COMPLEX128 && report.right_hand_sides == sides);
  fairlead_matrix_free(a);
  fairlead_solver_free(solver);
}

static void plans_solves(void) {
  fairlead_options options;
  fairlead_solver* solver = NULL;
  fairlead_plan plan;
  EXPECT_OK(fairlead_options_init(&options, sizeof options));
  options.memory_bytes = 32 << 20;
  options.workers = 2;
  EXPECT_OK(fairlead_solver_create(&options, &solver));
  /* 3,000 x 3,000 doubles are 69 MiB; the lower triangle is half of them. */
  EXPECT_OK(fairlead_solver_plan_shape(solver, 3000, 3000, FAIRLEAD_FLOAT64, 2, &plan, sizeof plan));
  EXPECT(plan.struct_bytes == sizeof plan && plan.method == FAIRLEAD_CHOLESKY);
  EXPECT(plan.rows == 3000 && plan.columns == 3000 && plan.right_hand_sides == 2 && plan.workers == 2);
  EXPECT(plan.memory_bytes == 32 << 20 && plan.least_memory_bytes < plan.memory_bytes);
  EXPECT(plan.in_core_memory_bytes > 36 << 20 && plan.disk_bytes > 36 << 20 && plan.free_disk_bytes > 0);
  EXPECT(plan.input_bytes >= 36 << 20 && plan.output_bytes == 3000 * 2 * 8);
  EXPECT(plan.spill_bytes_read > 0 && plan.spill_bytes_written > 0);
  EXPECT(plan.least_seconds <= plan.seconds && plan.seconds <= plan.most_seconds && plan.seconds > 0);
  EXPECT(plan.phase_count > 2 && plan.assumption_count > 0);
  EXPECT(strstr(plan.assumptions[0], "positive definite") != NULL);
  EXPECT(strstr(plan.text, "3,000 x 3,000 in double precision") != NULL);
  EXPECT_OK(fairlead_solver_plan_shape(solver, 3000, 3000, FAIRLEAD_COMPLEX64, 1, &plan, sizeof plan));
  EXPECT(plan.precision == FAIRLEAD_COMPLEX64 && strstr(plan.text, "in complex single precision") != NULL);
  fairlead_matrix* a = in_memory(general, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR);
  EXPECT_OK(fairlead_solver_plan(solver, a, 1, &plan, sizeof plan));
  EXPECT(plan.method == FAIRLEAD_LU && plan.disk_bytes == 0);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_plan(solver, a, 0, &plan, sizeof plan),
                "0 right-hand sides");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_plan(solver, NULL, 1, &plan, sizeof plan),
                "a is a null");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_plan(solver, a, 1, NULL, sizeof plan), "plan");
  EXPECT_STATUS(FAIRLEAD_ERROR_INPUT,
                fairlead_solver_plan_shape(solver, 0, 5, FAIRLEAD_FLOAT64, 1, &plan, sizeof plan), "");
  fairlead_matrix_free(a);
  fairlead_solver_free(solver);
}

static void recognizes_singular_matrices(void) {
  double b[n] = {1}, x[n];
  for (int method = FAIRLEAD_LU; method <= FAIRLEAD_LU_INCREMENTAL; ++method) {
    fairlead_solver* solver = solver_with((fairlead_method)method);
    fairlead_factors* factors = NULL;
    fairlead_matrix* a = in_memory(same, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR);
    EXPECT_STATUS(FAIRLEAD_ERROR_SINGULAR, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, 1, x),
                  "singular");
    EXPECT_STATUS(FAIRLEAD_ERROR_SINGULAR, fairlead_solver_factor(solver, a, &factors), "singular");
    fairlead_matrix_free(a);
    fairlead_solver_free(solver);
  }
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static int cancels_if_set(void* context) { return *(int*)context; }

static void cancels_a_call(void) {
  enum { large = 3000 };
  int cancels = 1;
  double* b = calloc(large, sizeof *b);
  double* x = calloc(large, sizeof *x);
  b[0] = 1;
  struct Computed given = {large, 20000000};
  fairlead_matrix* a = NULL;
  EXPECT_OK(fairlead_matrix_from_function(compute, &given, FAIRLEAD_FLOAT64, large, large, &a));
  fairlead_options options;
  EXPECT_OK(fairlead_options_init(&options, sizeof options));
  options.tile = 100;
  options.workers = 2;
  options.cancelled = cancels_if_set;
  options.cancelled_context = &cancels;
  fairlead_solver* solver = NULL;
  fairlead_factors* factors = NULL;
  EXPECT_OK(fairlead_solver_create(&options, &solver));
  double start = seconds_now();
  EXPECT_STATUS(FAIRLEAD_ERROR_CANCELLED, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, 1, x),
                "cancelled");
  EXPECT(seconds_now() - start < 1);
  start = seconds_now();
  EXPECT_STATUS(FAIRLEAD_ERROR_CANCELLED, fairlead_solver_factor(solver, a, &factors), "cancelled");
  EXPECT(seconds_now() - start < 1 && factors == NULL);

  cancels = 0;
  given.nanoseconds = 0;
  EXPECT_OK(fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, 1, x));
  EXPECT(fabs(10 * x[0] - 1) < 1e-3);
  EXPECT_OK(fairlead_solver_factor(solver, a, &factors));
  /* Cancelled factors stay usable. The sweeps over as many right-hand sides take longer than the first question. */
  enum { many = 400 };
  double* sides_of_many = calloc((size_t)large * many, sizeof *b);
  double* solutions = calloc((size_t)large * many, sizeof *b);
  for (int i = 0; i < large * many; ++i) sides_of_many[i] = i % 17;
  cancels = 1;
  const fairlead_status status =
      fairlead_factors_solve(factors, FAIRLEAD_PLAIN, FAIRLEAD_FLOAT64, sides_of_many, many, solutions);
  EXPECT(status == FAIRLEAD_ERROR_CANCELLED || status == FAIRLEAD_OK);
  cancels = 0;
  double* again = calloc(large, sizeof *b);
  EXPECT_OK(fairlead_factors_solve(factors, FAIRLEAD_PLAIN, FAIRLEAD_FLOAT64, b, 1, again));
  EXPECT(difference(again, x, large) < 1e-12);
  fairlead_factors_free(factors);
  fairlead_solver_free(solver);
  fairlead_matrix_free(a);
  free(b), free(x), free(sides_of_many), free(solutions), free(again);
}

static void refuses_mistakes(void) {
  double b[n * sides], x[n * sides];
  fill_sides(b);
  fairlead_options options;
  fairlead_solver *solver = solver_with(FAIRLEAD_CHOLESKY), *refused = NULL;
  fairlead_matrix *a = in_memory(general, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR), *none = NULL;
  EXPECT_STATUS(FAIRLEAD_ERROR_NUMERICAL, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, sides, x),
                "symmetric");
  elements[5] = NAN;
  EXPECT_STATUS(FAIRLEAD_ERROR_NUMERICAL, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, sides, x),
                "");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_solve(solver, a, (fairlead_element)77, b, sides, x),
                "77");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, 0, x),
                "0 right-hand sides");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, INT64_MAX, x),
                "right-hand");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_solve(NULL, a, FAIRLEAD_FLOAT64, b, 1, x),
                "solver is a null");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_solve(solver, NULL, FAIRLEAD_FLOAT64, b, 1, x),
                "a is a null");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, NULL, 1, x),
                "b is a null");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, 1, NULL),
                "x is a null");
  fairlead_matrix_free(a);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_matrix_from_memory(elements, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, 5, 6, 2, &none),
                "");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE,
                fairlead_matrix_from_memory(elements, FAIRLEAD_FLOAT64, (fairlead_order)4, 5, 5, 0, &none),
                "order");
  EXPECT_STATUS(
      FAIRLEAD_ERROR_USAGE,
      fairlead_matrix_from_memory(elements, (fairlead_element)4, FAIRLEAD_ROW_MAJOR, 5, 5, 0, &none),
      "element type is 4");
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_matrix_open(NULL, &none), "path");
  EXPECT(none == NULL);
  EXPECT_OK(fairlead_matrix_from_memory(elements, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, 5, 4, 0, &a));
  EXPECT_STATUS(FAIRLEAD_ERROR_INPUT, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, 1, x), "square");
  fairlead_matrix_free(a);

  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_options_init(NULL, sizeof options), "options");
  EXPECT_OK(fairlead_options_init(&options, sizeof options));
  options.method = (fairlead_method)99;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_create(&options, &refused), "method is 99");
  options.method = FAIRLEAD_LU;
  options.stored = FAIRLEAD_LOWER;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_create(&options, &refused), "");
  options.stored = FAIRLEAD_BOTH;
  options.required_digits = 99;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_create(&options, &refused), "digits");
  options.required_digits = 0;
  const fairlead_setting settings[] = {{"memory", "64MiB"}, {"memmory", "1MiB"}};
  options.settings = settings;
  options.setting_count = 2;
  EXPECT_STATUS(FAIRLEAD_ERROR_CONFIG, fairlead_solver_create(&options, &refused), "memmory");
  options.setting_count = 1;
  fairlead_solver* accepted = NULL;
  EXPECT_OK(fairlead_solver_create(&options, &accepted));
  fairlead_solver_free(accepted);
  options.setting_count = 0;
  options.memory_bytes = 1 << 17;
  EXPECT_OK(fairlead_solver_create(&options, &accepted));
  elements[5] = 0;
  EXPECT_OK(fairlead_matrix_from_memory(elements, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, n, n, n + 3, &a));
  EXPECT_STATUS(FAIRLEAD_ERROR_MEMORY, fairlead_solver_solve(accepted, a, FAIRLEAD_FLOAT64, b, 1, x),
                "by the option memory");
  fairlead_matrix_free(a);
  fairlead_solver_free(accepted);
  options.struct_bytes = 0;
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_create(&options, &refused), "fairlead_options_init");
  struct {
    fairlead_options options;
    int64_t later;
  } newer = {.later = 0};
  EXPECT_OK(fairlead_options_init(&newer.options, sizeof newer));
  EXPECT(newer.options.struct_bytes == sizeof options);
  newer.options.struct_bytes = sizeof newer;
  EXPECT_OK(fairlead_solver_create(&newer.options, &accepted));
  fairlead_solver_free(accepted);
  newer.later = 1;
  EXPECT_STATUS(FAIRLEAD_ERROR_UNSUPPORTED, fairlead_solver_create(&newer.options, &refused), "older than");
  EXPECT(refused == NULL);
  fairlead_solver_free(solver);
  fairlead_solver_free(NULL);
  fairlead_matrix_free(NULL);
  fairlead_factors_free(NULL);
}

static void refuses_objects_of_the_parent_process(void) {
  fairlead_solver* solver = solver_with(FAIRLEAD_AUTOMATIC);
  fairlead_matrix* a = in_memory(definite, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR);
  double b[n], x[n];
  memset(b, 0, sizeof b);
  const pid_t child = fork();
  if (child == 0) {
    failures = 0;
    EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, 1, x),
                  "forked");
    fairlead_solver_free(solver);
    _exit(failures);
  }
  int status = 1;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  fairlead_matrix_free(a);
  fairlead_solver_free(solver);
}

static void names_versions_and_libraries(void) {
  char text[80];
  int major, minor, patch;
  EXPECT(sscanf(fairlead_version(), "%d.%d.%d", &major, &minor, &patch) == 3);
  EXPECT(strcmp(fairlead_method_name(FAIRLEAD_LU_INCREMENTAL), "lu-incremental") == 0);
  EXPECT(strcmp(fairlead_method_name(FAIRLEAD_AUTOMATIC), "automatic") == 0);
  EXPECT(fairlead_method_name((fairlead_method)50) == NULL);
  EXPECT_OK(fairlead_kernels_name(NULL, text, sizeof text));
  EXPECT(strlen(text) > 3);
  EXPECT_OK(fairlead_kernels_name(NULL, text, 3));
  EXPECT(strlen(text) == 2);
  EXPECT_STATUS(FAIRLEAD_ERROR_USAGE, fairlead_kernels_name(NULL, text, 0), "text_bytes");
}

int main(void) {
  char folder[] = "/tmp/fairlead-c-interface-XXXXXX";
  if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
    perror(folder);
    return 2;
  }
  names_versions_and_libraries();
  solves_matrices_in_memory();
  reports_how_it_solved();
  solves_matrices_in_files();
  solves_matrices_of_functions();
  solves_least_squares();
  keeps_factors();
  multiplies_by_the_triangle();
  multiplies_matrices();
  counts_eigenvalues_by_sign();
  solves_complex_systems();
  plans_solves();
  recognizes_singular_matrices();
  cancels_a_call();
  refuses_mistakes();
  refuses_objects_of_the_parent_process();
  EXPECT(chdir("/") == 0 && rmdir(folder) == 0);
  return failures == 0 ? 0 : 1;
}
