// Loads the kernels, and rethrows the errors of flows and graphs of them.
#include <fairlead/error.hpp>
#include <fairlead/linalg.hpp>
#include <fairlead/parameterized_linalg.hpp>

#include "algorithms/linalg/blas/blas.hpp"
#include "algorithms/linalg/cuda/cuda_blas.hpp"
#include "algorithms/linalg/opencl/opencl_blas.hpp"

namespace fairlead::linalg {

Kernels::Kernels(std::shared_ptr<const Blas> blas)
    : blas_(std::move(blas)),
      opencl_(std::make_shared<const OpenclBlas>()),
      cuda_(std::make_shared<const CudaBlas>()),
      counters_(std::make_shared<std::array<Counter, kernel_count>>()) {}

Kernels Kernels::load(const std::string& library, Products products) {
  BlasLibrary which;
  which.own_products = products == Products::own;
  if (!library.empty()) which.blas = library;
  return Kernels(Blas::load(which));
}

Kernels Kernels::with_cuda_kernels(std::string_view image) const {
  Kernels others = *this;
  others.cuda_ = std::make_shared<const CudaBlas>(CudaKernels(image), cuda_->math());
  return others;
}

bool Kernels::has_cuda_kernels() const noexcept { return cuda_->own().is_available(); }

bool Kernels::has_own_products() const noexcept { return blas_->has_own_products(); }

Kernels Kernels::in_tf32() const {
  Kernels same = *this;
  same.cuda_ = std::make_shared<const CudaBlas>(cuda_->own(), CudaBlas::Math::tf32);
  return same;
}

bool Kernels::are_in_tf32() const noexcept { return cuda_->math() == CudaBlas::Math::tf32; }

std::uint64_t Kernels::calls_in_tf32() const noexcept { return cuda_->calls_in_tf32(); }

KernelCounts Kernels::counts() const noexcept {
  KernelCounts counts;
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = {(*counters_)[i].calls.load(std::memory_order_relaxed),
                 static_cast<double>((*counters_)[i].flops.load(std::memory_order_relaxed))};
  return counts;
}

double Kernels::flops_done() const noexcept {
  double flops = 0;
  for (const KernelCount& one : counts()) flops += one.flops;
  return flops;
}

std::string_view name_of(Kernel kernel) noexcept {
  constexpr std::array<std::string_view, kernel_count> names{"gemm",  "syrk",  "trsm",  "potrf", "getrf",
                                                             "geqrt", "unmqr", "tsqrt", "tsmqr", "ttqrt",
                                                             "ttmqr", "gessm", "tstrf", "ssssm"};
  return names[static_cast<std::size_t>(kernel)];
}

namespace {
template <class Wait>
void unwrap_task_error(const Wait& wait) {
  try {
    wait();
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
      // Another error: the TaskError names the task.
    }
    throw;
  }
}
}  // namespace

void wait_for_results(Flow& flow) {
  unwrap_task_error([&flow] { flow.wait(); });
}

void run_for_results(ptg::Graph& graph) {
  unwrap_task_error([&graph] { graph.run(); });
}

}  // namespace fairlead::linalg
