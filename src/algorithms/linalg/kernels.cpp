// Loading the kernels, and telling how a flow of them went.
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>

#include "algorithms/linalg/blas/blas.hpp"

namespace fairlead::linalg {

Kernels::Kernels(std::shared_ptr<const Blas> blas)
    : blas_(std::move(blas)), flops_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}

Kernels Kernels::load(const std::string& library) {
  BlasLibrary which;
  if (!library.empty()) which.blas = library;
  return Kernels(Blas::load(which));
}

void wait_for_results(Flow& flow) {
  try {
    flow.wait();
  } catch (const TaskError& error) {
    try {
      std::rethrow_if_nested(error);
    } catch (const NumericalError&) {
      throw;
    } catch (const InputError&) {
      throw;
    } catch (const SystemError&) {
      throw;
    } catch (...) {
      // Something else: the TaskError says which task it was.
    }
    throw;
  }
}

}  // namespace fairlead::linalg
