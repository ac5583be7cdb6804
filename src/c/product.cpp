// Products in the C interface.
#include <fairlead.h>
#include <fairlead/matrix_sink.hpp>

#include <memory>

#include "algorithms/linalg/source_matrix.hpp"
#include "base/scalar.hpp"
#include "c/call_thread.hpp"
#include "c/matrix.hpp"
#include "c/options.hpp"
#include "c/status.hpp"
#include "solver/product.hpp"

namespace fairlead::c {

namespace {

/// C = A B with the sink that make_sink.operator()<T>() returns, in a thread of its own.
template <class MakeSink>
void multiply_with(const fairlead_matrix* a, const fairlead_matrix* b, const fairlead_options* options,
                   fairlead_element element, const MakeSink& make_sink) {
  const fairlead_matrix &left = *required(a, "a"), &right = *required(b, "b");
  const CallOptions read = options_of(options);
  linalg::ProductOptions given{.memory = read.solver.memory,
                               .tile = read.solver.tile,
                               .workers = read.solver.workers,
                               .config = read.solver.config};
  CallThread thread;
  thread.run(
      [&](const std::stop_token& stop) {
        given.stop = stop;
        with_element(element, [&]<class T>(T) {
          const std::unique_ptr<linalg::MatrixSink<T>> c =
              make_sink.template operator()<T>(left.rows, right.columns);
          reading(left, stop, [&](const auto& source_of_a) {
            reading(right, stop, [&](const auto& source_of_b) {
              solver::multiply_stored<T>(linalg::stored_matrix_of(linalg::not_owned(source_of_a)),
                                         linalg::stored_matrix_of(linalg::not_owned(source_of_b)), *c, given);
            });
          });
        });
      },
      read.is_cancelled);
}

}  // namespace
}  // namespace fairlead::c

using namespace fairlead;

fairlead_status fairlead_multiply(const fairlead_matrix* a, const fairlead_matrix* b,
                                  const fairlead_options* options, fairlead_element element,
                                  fairlead_order order, int64_t leading_dimension, void* elements_of_c) {
  return c::status_of([&] {
    c::required(elements_of_c, "c");
    c::multiply_with(a, b, options, element, [&]<class T>(std::int64_t rows, std::int64_t columns) {
      return linalg::sink_in_memory(static_cast<T*>(elements_of_c), rows, columns, c::order_of(order),
                                    leading_dimension);
    });
  });
}

fairlead_status fairlead_multiply_to_file(const fairlead_matrix* a, const fairlead_matrix* b,
                                          const fairlead_options* options, fairlead_element element,
                                          fairlead_order order, const char* path) {
  return c::status_of([&] {
    c::required(path, "path");
    c::multiply_with(a, b, options, element, [&]<class T>(std::int64_t rows, std::int64_t columns) {
      return linalg::npy_sink<T>(path, rows, columns, c::order_of(order));
    });
  });
}
