/* Fairlead in C: solves systems of linear equations and least squares problems whose matrix may be larger than memory,
 * and reports how far the solution can be trusted. For C programs, and for other languages (docs/c-interface.md).
 *
 *   fairlead_solver* solver;
 *   fairlead_matrix* a;
 *   fairlead_matrix_from_memory(elements, FAIRLEAD_FLOAT64, FAIRLEAD_ROW_MAJOR, n, n, 0, &a);
 *   fairlead_solver_create(NULL, &solver);
 *   if (fairlead_solver_solve(solver, a, FAIRLEAD_FLOAT64, b, 1, x) != FAIRLEAD_OK) puts(fairlead_error_text());
 *
 * A function that can fail returns a status, and then fairlead_error_text() has one sentence that states what is wrong. A
 * null pointer where an object is needed is FAIRLEAD_ERROR_USAGE. Any thread may use an object; calls with one object run
 * one after the other. Output arguments are written only on success. */
#ifndef FAIRLEAD_H
#define FAIRLEAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fairlead_status {
  FAIRLEAD_OK = 0,
  FAIRLEAD_ERROR_USAGE = 1,     /* an argument or option is invalid, or options exclude each other */
  FAIRLEAD_ERROR_CONFIG = 2,    /* a setting is unknown, of the wrong type or out of range */
  FAIRLEAD_ERROR_INPUT = 3,     /* the matrix cannot be read, or has an unsuitable shape */
  FAIRLEAD_ERROR_NUMERICAL = 4, /* the matrix is numerically unsuitable, or the solution cannot be trusted */
  FAIRLEAD_ERROR_MEMORY = 5,    /* the memory limit or the memory of the system is too small */
  FAIRLEAD_ERROR_SYSTEM = 6,    /* the operating system or a device reports an error */
  FAIRLEAD_ERROR_CALLBACK = 7,  /* a function of the program that computes blocks reported an error */
  FAIRLEAD_ERROR_CANCELLED = 8, /* the function `cancelled` of the options returned nonzero */
  FAIRLEAD_ERROR_UNSUPPORTED = 9, /* this version of the library cannot do that */
  FAIRLEAD_ERROR_OTHER = 10,      /* any other failure */
  FAIRLEAD_ERROR_SINGULAR = 11,   /* the matrix is singular: a pivot is exactly zero */
  FAIRLEAD_ERROR_TASK = 12,       /* a task did not run, since another has failed or its flow was cancelled */
  FAIRLEAD_ERROR_STOPPED = 13     /* stopped after a checkpoint: the same program resumes */
} fairlead_status;

typedef enum fairlead_element {
  FAIRLEAD_FLOAT32 = 0,
  FAIRLEAD_FLOAT64 = 1,
  FAIRLEAD_COMPLEX64 = 2, /* two float32, the real part first: float complex of C */
  FAIRLEAD_COMPLEX128 = 3 /* two float64: double complex */
} fairlead_element;

typedef enum fairlead_order {
  FAIRLEAD_ROW_MAJOR = 0,   /* the elements of a row are adjacent */
  FAIRLEAD_COLUMN_MAJOR = 1 /* the elements of a column are adjacent */
} fairlead_order;

typedef enum fairlead_method {
  FAIRLEAD_AUTOMATIC = 0, /* chosen by shape, symmetry and definiteness */
  FAIRLEAD_CHOLESKY = 1,  /* for symmetric, or complex Hermitian, positive definite matrices */
  FAIRLEAD_LDLT = 2,      /* for symmetric matrices */
  FAIRLEAD_LU = 3,        /* with partial pivoting, for square matrices */
  FAIRLEAD_LU_INCREMENTAL = 4,
  FAIRLEAD_LU_NOPIVOT = 5,
  FAIRLEAD_QR = 6,        /* for matrices of any shape: least squares, or the solution of smallest norm */
  FAIRLEAD_TRIANGULAR = 7 /* substitution; reads one triangle only if FAIRLEAD_LOWER or _UPPER states it */
} fairlead_method;

/* The parts of a symmetric matrix that are stored. */
typedef enum fairlead_stored {
  FAIRLEAD_BOTH = 0,  /* both triangles, equal except for some roundings */
  FAIRLEAD_MEAN = 1,  /* both triangles, with larger differences: their mean is used */
  FAIRLEAD_LOWER = 2, /* elements above the diagonal are ignored */
  FAIRLEAD_UPPER = 3  /* elements below the diagonal are ignored */
} fairlead_stored;

typedef enum fairlead_form {
  FAIRLEAD_PLAIN = 0,
  FAIRLEAD_TRANSPOSED = 1, /* also of a complex matrix: without conjugation */
  FAIRLEAD_ADJOINT = 2     /* the conjugate transpose */
} fairlead_form;

/* How a task uses a datum: of fairlead_tasks.h and fairlead_simulation.h. */
typedef enum fairlead_access {
  FAIRLEAD_IN = 0,     /* reads the datum */
  FAIRLEAD_OUT = 1,    /* replaces it without reading it; the memory has any content before */
  FAIRLEAD_INOUT = 2,  /* reads and changes it */
  FAIRLEAD_COMMUTE = 3 /* the same; neighbouring tasks of this mode run one at a time, in any order */
} fairlead_access;

typedef struct fairlead_solver fairlead_solver;
typedef struct fairlead_matrix fairlead_matrix;
typedef struct fairlead_factors fairlead_factors;

/* One of the settings in docs/configuration.md, as on the command line: {"memory", "512MiB"}. */
typedef struct fairlead_setting {
  const char* key;
  const char* value;
} fairlead_setting;

/* Later versions of the library add members at the end. struct_bytes states which ones the program has. */
typedef struct fairlead_options {
  size_t struct_bytes;
  uint64_t memory_bytes; /* limit of the memory for matrices and vectors; 0: what is free */
  uint64_t workers;      /* threads that compute; 0: one for each core */
  fairlead_method method;
  fairlead_stored stored;
  int32_t tile;            /* side of a tile in elements; 0: chosen */
  int32_t refine;          /* nonzero: factor in single precision and refine the solution to double */
  int32_t condition;       /* nonzero: estimate the condition number and the forward error */
  int32_t required_digits; /* fewer certain digits are an error; 0: no requirement */
  double
      rank_tolerance; /* for QR: singular values up to this fraction of the largest count as zero; negative: default */
  const fairlead_setting* settings; /* they override the configuration file and the environment */
  size_t setting_count;
  /* Called on the thread of each call, every 50 ms. Nonzero: the call ends with FAIRLEAD_ERROR_CANCELLED, usually within
   * tenths of a second. It must return. May be null. */
  int (*cancelled)(void* context);
  void* cancelled_context;
  /* Nonzero: fairlead_solver_solve() runs over the processes that mpirun or srun has started. All of them call it with the
   * same system and options, each with its own solver, and all get the solution. A function that fills blocks is asked only
   * for those that its process needs. Factors are for one process. */
  int32_t over_ranks;
} fairlead_options;

/* The time of one part of a solve. */
typedef struct fairlead_phase {
  const char* name;
  double seconds;
  int32_t counts; /* nonzero: in fairlead_report::seconds; checks and estimates do not count */
} fairlead_phase;

/* How good a solution is, and what it cost. A value that is not known is NaN or -1. The texts and arrays belong to the
 * solver, and are valid until its next solve or factorization. */
typedef struct fairlead_report {
  size_t struct_bytes;
  fairlead_method method;     /* that has solved the system */
  fairlead_element precision; /* of the solution */
  const char* method_reason;  /* why, if the method was chosen; otherwise empty */
  int64_t rows, columns, right_hand_sides;
  double backward_error, backward_error_limit; /* above the limit the solution is wrong */
  double condition;                            /* an estimate, in the infinity norm; infinite on overflow */
  double forward_error;                        /* bound of || x - true x || / || x ||; infinite: unknown */
  double growth;                               /* of LU: the largest element of U divided by that of A */
  double asymmetry; /* largest difference of the triangles, relative to the elements */
  double residual;  /* of least squares: || b - A x || / || b || in the two norm */
  int64_t rank;     /* of least squares: independent columns of the matrix */
  int32_t digits;   /* of the solution that can be trusted */
  int32_t refinement_steps;
  int32_t tile;
  double seconds;                     /* of the phases that count */
  uint64_t bytes_read, bytes_written; /* from and to the spill file */
  const fairlead_phase* phases;
  size_t phase_count;
  const char* const* warnings; /* one sentence each, without a full stop */
  size_t warning_count;
} fairlead_report;

typedef struct fairlead_factors_properties {
  size_t struct_bytes;
  fairlead_method method;
  fairlead_element precision;
  int64_t rows, columns;                    /* of A */
  double condition, growth, backward_error; /* NaN: not known */
} fairlead_factors_properties;

/* What a solve is expected to need. The texts and arrays belong to the solver, and are valid until its next plan. */
typedef struct fairlead_plan {
  size_t struct_bytes;
  fairlead_method method;
  fairlead_element precision; /* of the solution */
  const char* method_reason;  /* why, if the method was chosen; otherwise empty */
  int64_t rows, columns, right_hand_sides;
  int32_t tile;
  uint64_t workers;
  uint64_t memory_bytes;                /* the limit */
  uint64_t least_memory_bytes;          /* smallest possible limit, with a tile that suits it */
  uint64_t in_core_memory_bytes;        /* smallest limit without a spill file */
  uint64_t disk_bytes, free_disk_bytes; /* of the spill file; in its directory */
  uint64_t input_bytes, output_bytes;   /* read from A and b in all passes; of x */
  uint64_t spill_bytes_read;            /* until x is known */
  uint64_t spill_bytes_written;         /* likewise */
  uint64_t check_bytes_read;            /* from the spill file, to check x and estimate its error */
  uint64_t check_bytes_written;         /* likewise */
  double seconds;                       /* until x is checked and its error is estimated */
  double least_seconds, most_seconds;   /* between which that is expected */
  const fairlead_phase* phases;
  size_t phase_count;
  const char* const* assumptions; /* what was not measured: one sentence each, without a full stop */
  size_t assumption_count;
  const char* text; /* all that as a table, of several lines */
} fairlead_plan;

/* The version of the linked library, as in "0.1.0". */
const char* fairlead_version(void);

/* The error of the last call on this thread that returned another status than FAIRLEAD_OK. Valid until the next one. */
const char* fairlead_error_text(void);

/* "cholesky", "lu-incremental", "automatic"; null for a value that is no method. */
const char* fairlead_method_name(fairlead_method method);

/* Writes the name of the BLAS library that these options select into `text`, as in "OpenBLAS 0.3.21 SkylakeX", and as much
 * as fits. `options` may be null. */
fairlead_status fairlead_kernels_name(const fairlead_options* options, char* text, size_t text_bytes);

/* Sets all options to their defaults. options_bytes: sizeof(fairlead_options). */
fairlead_status fairlead_options_init(fairlead_options* options, size_t options_bytes);

/* Computes a block of a matrix: element (first_row + i, first_column + j) goes to out[i + j * leading_dimension], for i below
 * `rows` and j below `columns`. Any number of threads call it at the same time, and again each time that elements are
 * needed, so it must be deterministic and thread-safe. Nonzero: the block cannot be computed; the solve ends with
 * FAIRLEAD_ERROR_CALLBACK. It must return. */
typedef int (*fairlead_block_function)(void* context, int64_t first_row, int64_t rows, int64_t first_column,
                                       int64_t columns, void* out, int64_t leading_dimension);

/* A matrix in memory, which is read in place and must stay valid and unchanged. leading_dimension: elements between the
 * starts of rows, in column-major order of columns; 0: they are adjacent. */
fairlead_status fairlead_matrix_from_memory(const void* elements, fairlead_element element,
                                            fairlead_order order, int64_t rows, int64_t columns,
                                            int64_t leading_dimension, fairlead_matrix** matrix);
/* A file of the formats .npy, Zarr or HDF5; PATH::NAME for one of several matrices in a file. */
fairlead_status fairlead_matrix_open(const char* path, fairlead_matrix** matrix);
/* A matrix that a function computes. */
fairlead_status fairlead_matrix_from_function(fairlead_block_function function, void* context,
                                              fairlead_element element, int64_t rows, int64_t columns,
                                              fairlead_matrix** matrix);
/* Each output argument may be null. `element`: the precision in which the elements are stored. */
fairlead_status fairlead_matrix_shape(const fairlead_matrix* matrix, int64_t* rows, int64_t* columns,
                                      fairlead_element* element);
/* Null is allowed, here and in all functions that free. */
void fairlead_matrix_free(fairlead_matrix* matrix);

/* C = A B, in the memory `c` of elements of the type `element`, which is complex if A or B is; the product is computed in
 * this type. C must not overlap A or B. Order and leading_dimension are those of C, as for fairlead_matrix_from_memory(). Of
 * the options, memory, workers, tile, settings and `cancelled` apply; `options` may be null. A and B are read several times
 * if C does not fit in the memory limit. Their elements need not be finite. */
fairlead_status fairlead_multiply(const fairlead_matrix* a, const fairlead_matrix* b,
                                  const fairlead_options* options, fairlead_element element,
                                  fairlead_order order, int64_t leading_dimension, void* c);
/* The same to a .npy file, which is written completely or not at all. */
fairlead_status fairlead_multiply_to_file(const fairlead_matrix* a, const fairlead_matrix* b,
                                          const fairlead_options* options, fairlead_element element,
                                          fairlead_order order, const char* path);

/* `options` may be null: the defaults. The solver keeps a copy. */
fairlead_status fairlead_solver_create(const fairlead_options* options, fairlead_solver** solver);

/* Solves A x = b, or the least squares problem if A has more rows than columns. `b` has `right_hand_sides` columns with as
 * many elements as A has rows, one after the other; `x` receives as many columns with as many elements as A has columns. Both
 * have elements of the type `element`, which is complex if A is. FAIRLEAD_FLOAT32, FAIRLEAD_COMPLEX64: the computation is
 * in double precision if the elements of A are stored in it, and x is rounded. */
fairlead_status fairlead_solver_solve(fairlead_solver* solver, const fairlead_matrix* a,
                                      fairlead_element element, const void* b, int64_t right_hand_sides,
                                      void* x);

/* Factors A for any number of solves. The factors outlive the solver. */
fairlead_status fairlead_solver_factor(fairlead_solver* solver, const fairlead_matrix* a,
                                       fairlead_factors** factors);

/* Predicts what fairlead_solver_solve() needs, in seconds at most. It reads some elements of A to choose the method.
 * plan_bytes: sizeof(fairlead_plan). */
fairlead_status fairlead_solver_plan(fairlead_solver* solver, const fairlead_matrix* a,
                                     int64_t right_hand_sides, fairlead_plan* plan, size_t plan_bytes);
/* The same for a matrix that exists only as a shape, in a file. FAIRLEAD_AUTOMATIC assumes that a square one is positive
 * definite. */
fairlead_status fairlead_solver_plan_shape(fairlead_solver* solver, int64_t rows, int64_t columns,
                                           fairlead_element element, int64_t right_hand_sides,
                                           fairlead_plan* plan, size_t plan_bytes);

/* The report of the last solve or factorization, also if it has failed after the solution was judged. report_bytes:
 * sizeof(fairlead_report). */
fairlead_status fairlead_solver_report(fairlead_solver* solver, fairlead_report* report, size_t report_bytes);

void fairlead_solver_free(fairlead_solver* solver);

/* Opens a file with factors, which are read when a solve needs them, within the memory limit. Of the options, memory,
 * workers, settings and `cancelled` apply; `options` may be null. */
fairlead_status fairlead_factors_load(const char* path, const fairlead_options* options,
                                      fairlead_factors** factors);
/* Solves A x = b, with FAIRLEAD_TRANSPOSED A^T x = b, or with FAIRLEAD_ADJOINT A^H x = b. Arguments as
 * fairlead_solver_solve(). The solution is not checked. Factors in single precision need FAIRLEAD_FLOAT32 or
 * FAIRLEAD_COMPLEX64. After FAIRLEAD_ERROR_CANCELLED the factors stay usable. */
fairlead_status fairlead_factors_solve(fairlead_factors* factors, fairlead_form form,
                                       fairlead_element element, const void* b, int64_t right_hand_sides,
                                       void* x);
/* x := L z, with A = L L^T (complex: L L^H) factored by FAIRLEAD_CHOLESKY: of a z of independent standard normal variables, a
 * draw from the normal distribution whose covariance is A. `z` and `x` have `columns` columns with as many elements as A has
 * rows. Arguments otherwise as fairlead_factors_solve(). */
fairlead_status fairlead_factors_multiply_lower(fairlead_factors* factors, fairlead_element element,
                                                const void* z, int64_t columns, void* x);
/* The determinant of A is phase x exp(log_absolute). `phase` receives a complex number of absolute value 1, real part
 * first: of a real matrix 1 or -1. A phase of 0 and a log_absolute of -infinity: A is singular. */
fairlead_status fairlead_factors_log_determinant(fairlead_factors* factors, double phase[2],
                                                 double* log_absolute);
/* The numbers of positive, negative and zero eigenvalues of A, from factors by FAIRLEAD_CHOLESKY or FAIRLEAD_LDLT. Needs
 * about as many elements of memory beyond the limit as a column of tiles has, and takes much longer than a solve. Each output
 * argument may be null. */
fairlead_status fairlead_factors_inertia(fairlead_factors* factors, int64_t* positive, int64_t* negative,
                                         int64_t* zero);
/* Writes a file, completely or not at all. */
fairlead_status fairlead_factors_save(fairlead_factors* factors, const char* path);
/* properties_bytes: sizeof(fairlead_factors_properties). */
fairlead_status fairlead_factors_describe(fairlead_factors* factors, fairlead_factors_properties* properties,
                                          size_t properties_bytes);
void fairlead_factors_free(fairlead_factors* factors);

#ifdef __cplusplus
}
#endif

#endif
