// Our declarations of CUDA's driver are those of its header, where there is one.
#include <gtest/gtest.h>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/types.hpp"
#include "cuda/platform.hpp"

#if __has_include(<cuda.h>)
#include <cuda.h>

#include <type_traits>

namespace fairlead::backend::cu {

namespace {

/// Enumerations are numbers to us, as they are to the machine.
template <class T>
struct Plain {
  using type = T;
};
template <class T>
requires std::is_enum_v<T>
struct Plain<T> {
  static_assert(sizeof(T) == sizeof(int));
  using type = int;
};
template <class R, class... A>
struct Plain<R(A...)> {
  using type = typename Plain<R>::type(typename Plain<A>::type...);
};

// To the last parameter.
#define FAIRLEAD_CUDA_COMPARE(name, result, ...)                                                            \
  static_assert(std::is_same_v<result(__VA_ARGS__), Plain<std::remove_pointer_t<decltype(&::name)>>::type>, \
                #name);
FAIRLEAD_CUDA_FUNCTIONS(FAIRLEAD_CUDA_COMPARE)

static_assert(success == CUDA_SUCCESS && out_of_memory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(no_device == CUDA_ERROR_NO_DEVICE && not_ready == CUDA_ERROR_NOT_READY);
static_assert(peer_access_already_enabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(stream_non_blocking == CU_STREAM_NON_BLOCKING);
static_assert(event_sleeps == CU_EVENT_BLOCKING_SYNC && event_plain == CU_EVENT_DISABLE_TIMING);
static_assert(host_for_all == CU_MEMHOSTALLOC_PORTABLE && host_mapped == CU_MEMHOSTALLOC_DEVICEMAP);
static_assert(register_for_all == CU_MEMHOSTREGISTER_PORTABLE);
static_assert(capability_major == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(capability_minor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);

}  // namespace

TEST(CudaDeclarations, KnowWhichErrorsEndADevice) {
  for (const auto status :
       {CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE,
        CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_CONTEXT_IS_DESTROYED,
        CUDA_ERROR_ASSERT, CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_UNKNOWN})
    EXPECT_TRUE(is_fatal(status)) << status;
  for (const auto status : {CUDA_SUCCESS, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_READY,
                            CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, CUDA_ERROR_NOT_SUPPORTED})
    EXPECT_FALSE(is_fatal(status)) << status;
}

}  // namespace fairlead::backend::cu
#endif

namespace fairlead::backend::cu {

TEST(CudaDeclarations, NameErrorsInTheDriversWords) {
  const tests::FakeDevices devices;
  const auto driver = CudaDriver::load();
  EXPECT_EQ(driver->name_of_status(2), "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
  EXPECT_EQ(driver->name_of_status(-4711), "the error -4711");
}

}  // namespace fairlead::backend::cu
