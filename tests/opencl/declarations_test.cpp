// Our declarations of OpenCL are those of its header, where there is one.
#include <gtest/gtest.h>

#include "backend/opencl/driver.hpp"
#include "backend/opencl/types.hpp"

#ifdef FAIRLEAD_OPENCL_HEADER
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <type_traits>

namespace fairlead::backend::cl {

namespace {

static_assert(std::is_same_v<Status, cl_int> && std::is_same_v<Number, cl_uint>);
static_assert(std::is_same_v<Bitfield, cl_bitfield> && std::is_same_v<Property, cl_context_properties>);
static_assert(std::is_same_v<Number, cl_bool> && std::is_same_v<Bitfield, cl_command_queue_properties>);
static_assert(std::is_same_v<Buffer, cl_mem> && std::is_same_v<Context, cl_context>);
static_assert(std::is_same_v<Device, cl_device_id> && std::is_same_v<Event, cl_event>);
static_assert(std::is_same_v<Kernel, cl_kernel> && std::is_same_v<Platform, cl_platform_id>);
static_assert(std::is_same_v<Program, cl_program> && std::is_same_v<Queue, cl_command_queue>);

// To the last parameter.
#define FAIRLEAD_OPENCL_COMPARE(name, result, ...) \
  static_assert(std::is_same_v<result(__VA_ARGS__), std::remove_pointer_t<decltype(&::name)>>, #name);
FAIRLEAD_OPENCL_FUNCTIONS(FAIRLEAD_OPENCL_COMPARE)

static_assert(success == CL_SUCCESS && device_not_found == CL_DEVICE_NOT_FOUND && yes == CL_TRUE);
static_assert(all_devices == CL_DEVICE_TYPE_ALL && read_write == CL_MEM_READ_WRITE);
static_assert(platform_name == CL_PLATFORM_NAME && device_name == CL_DEVICE_NAME);
static_assert(device_version == CL_DEVICE_VERSION && device_available == CL_DEVICE_AVAILABLE);
static_assert(device_max_allocation == CL_DEVICE_MAX_MEM_ALLOC_SIZE);
static_assert(device_global_memory == CL_DEVICE_GLOBAL_MEM_SIZE);
static_assert(device_double_config == CL_DEVICE_DOUBLE_FP_CONFIG);
static_assert(build_log == CL_PROGRAM_BUILD_LOG && execution_status == CL_EVENT_COMMAND_EXECUTION_STATUS);

}  // namespace

TEST(OpenclDeclarations, NameErrorsAsTheHeaderDoes) {
#define FAIRLEAD_OPENCL_NAME(error) \
  EXPECT_EQ(name_of_status(error), #error " (" + std::to_string(error) + ")")
  FAIRLEAD_OPENCL_NAME(CL_DEVICE_NOT_FOUND);
  FAIRLEAD_OPENCL_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
  FAIRLEAD_OPENCL_NAME(CL_OUT_OF_RESOURCES);
  FAIRLEAD_OPENCL_NAME(CL_OUT_OF_HOST_MEMORY);
  FAIRLEAD_OPENCL_NAME(CL_BUILD_PROGRAM_FAILURE);
  FAIRLEAD_OPENCL_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  FAIRLEAD_OPENCL_NAME(CL_INVALID_VALUE);
  FAIRLEAD_OPENCL_NAME(CL_INVALID_MEM_OBJECT);
  FAIRLEAD_OPENCL_NAME(CL_INVALID_KERNEL_NAME);
  FAIRLEAD_OPENCL_NAME(CL_INVALID_ARG_SIZE);
  FAIRLEAD_OPENCL_NAME(CL_INVALID_WORK_GROUP_SIZE);
  FAIRLEAD_OPENCL_NAME(CL_INVALID_DEVICE_PARTITION_COUNT);
  EXPECT_EQ(name_of_status(-4711), "the error -4711");
}

}  // namespace fairlead::backend::cl

#else
TEST(OpenclDeclarations, NameErrorsAsTheHeaderDoes) { GTEST_SKIP() << "there is no CL/cl.h"; }
#endif
