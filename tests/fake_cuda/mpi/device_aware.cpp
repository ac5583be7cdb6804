// Lets any MPI receive into memory of the fake devices: a library that is loaded before it and calls it through the profiling
// interface. A device address is replaced by the memory behind it; the checker gets the access from the call of MPI until MPI
// has reported completion.
#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "fake_cuda/fake_cuda.hpp"

namespace {

class UnderWay {
 public:
  void add(MPI_Request request, const fake_cuda::Outside& outside) {
    const std::lock_guard guard(mutex_);
    all_[request] = outside;
  }
  void over(MPI_Request request) {
    const std::lock_guard guard(mutex_);
    const auto found = all_.find(request);
    if (found == all_.end()) return;
    fake_cuda::end_outside(found->second);
    all_.erase(found);
  }
  /// What goes on may move bytes of devices.
  void check_context() {
    const std::lock_guard guard(mutex_);
    const bool some =
        std::ranges::any_of(all_, [](const auto& one) { return !fake_cuda::is_lost(one.second.device); });
    if (some && fake_cuda::current_device() < 0)
      fake_cuda::report("MPI goes on with a payload for a device without a context");
  }

 private:
  std::mutex mutex_;  // guards all_
  std::map<MPI_Request, fake_cuda::Outside> all_;
};
UnderWay& under_way() {
  static UnderWay all;
  return all;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int MPIX_Query_cuda_support() { return 1; }

__attribute__((visibility("default"))) int MPIX_GPU_query_support(int, int* answer) {
  *answer = 1;
  return MPI_SUCCESS;
}

__attribute__((visibility("default"))) int MPI_Irecv(void* at, int count, MPI_Datatype type, int from,
                                                     int tag, MPI_Comm by, MPI_Request* request) {
  int size = 0;
  PMPI_Type_size(type, &size);
  const auto bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  const fake_cuda::Outside outside = fake_cuda::begin_outside("a payload by MPI", at, bytes, true);
  const int status =
      PMPI_Irecv(outside.bytes != nullptr ? outside.bytes : at, count, type, from, tag, by, request);
  if (outside.bytes != nullptr) under_way().add(*request, outside);
  return status;
}

__attribute__((visibility("default"))) int MPI_Testsome(int count, MPI_Request* requests, int* over,
                                                        int* which, MPI_Status* statuses) {
  under_way().check_context();
  const std::vector<MPI_Request> before(requests, requests + count);
  const int status = PMPI_Testsome(count, requests, over, which, statuses);
  if (status == MPI_SUCCESS && *over != MPI_UNDEFINED)
    for (int i = 0; i < *over; ++i) under_way().over(before[static_cast<std::size_t>(which[i])]);
  return status;
}

__attribute__((visibility("default"))) int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const MPI_Request before = *request;
  const int answer = PMPI_Wait(request, status);
  under_way().over(before);
  return answer;
}

}  // extern "C"
