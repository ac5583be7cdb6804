# Fairlead's own kernels for CUDA devices, src/algorithms/kernels/*.cu, compiled where there is an nvcc that works, and embedded in the
# library. Without it the library is the same but for them. Nothing of CUDA is linked.
option(FAIRLEAD_CUDA_KERNELS "Compile and embed the kernels for CUDA devices, if there is an nvcc" ON)
find_program(FAIRLEAD_NVCC nvcc HINTS /usr/local/cuda/bin DOC "The compiler of CUDA")
mark_as_advanced(FAIRLEAD_NVCC)

# The flags by which nvcc makes a fat binary for these, and as PTX for what is newer than the last.
function(fairlead_nvcc_flags architectures flags)
  set(all -std=c++17 -O3 -fatbin -Werror all-warnings -Xcompiler -Wall,-Wextra)
  foreach(architecture ${architectures})
    list(APPEND all -gencode "arch=compute_${architecture},code=sm_${architecture}")
  endforeach()
  list(GET architectures -1 last)
  set(${flags} ${all} -gencode "arch=compute_${last},code=compute_${last}" PARENT_SCOPE)
endfunction()

# Those that it knows: the newest are not in older ones, and it takes not every version of the C++ compiler that it is used with.
if(FAIRLEAD_CUDA_KERNELS AND FAIRLEAD_NVCC AND NOT FAIRLEAD_SANITIZE AND NOT DEFINED CACHE{FAIRLEAD_CUDA_ARCHITECTURES})
  file(WRITE "${PROJECT_BINARY_DIR}/nothing.cu" "extern \"C\" __global__ void nothing(double) {}\n")
  set(known)
  foreach(architectures "80;90;100" "80;90" "80")
    fairlead_nvcc_flags("${architectures}" flags)
    execute_process(COMMAND ${FAIRLEAD_NVCC} ${flags} "${PROJECT_BINARY_DIR}/nothing.cu" -o "${PROJECT_BINARY_DIR}/nothing.fatbin"
      RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(status EQUAL 0)
      set(known "${architectures}")
      break()
    endif()
  endforeach()
  set(FAIRLEAD_CUDA_ARCHITECTURES "${known}" CACHE STRING "Compute capabilities that the kernels for CUDA devices are compiled for")
  if(NOT known)
    string(REGEX REPLACE "\n.*" "" said "${said}")
    message(STATUS "${FAIRLEAD_NVCC} does not work, so there will be no kernels for CUDA devices: ${said}")
  endif()
endif()

set(cuda_kernels_source "${PROJECT_BINARY_DIR}/embedded_cuda_kernels.cpp")
# What runs under a sanitizer are the same sources, compiled for cores by the tests.
if(FAIRLEAD_CUDA_KERNELS AND FAIRLEAD_NVCC AND FAIRLEAD_CUDA_ARCHITECTURES AND NOT FAIRLEAD_SANITIZE)
  set(kernels "${PROJECT_SOURCE_DIR}/src/algorithms/kernels/qr.cu")
  set(image "${PROJECT_BINARY_DIR}/cuda_kernels.fatbin")
  fairlead_nvcc_flags("${FAIRLEAD_CUDA_ARCHITECTURES}" flags)
  add_custom_command(OUTPUT ${image} COMMAND ${FAIRLEAD_NVCC} ${flags} ${kernels} -o ${image} DEPENDS ${kernels} VERBATIM)
  add_custom_command(OUTPUT ${cuda_kernels_source}
    COMMAND ${CMAKE_COMMAND} -D "image=${image}" -D "source=${cuda_kernels_source}" -P
      "${PROJECT_SOURCE_DIR}/cmake/embed_image.cmake"
    DEPENDS ${image} "${PROJECT_SOURCE_DIR}/cmake/embed_image.cmake" VERBATIM)
else()
  set(cuda_kernels_source "${PROJECT_BINARY_DIR}/no_cuda_kernels.cpp")  # or the one made before would be taken for made, if there is an nvcc again
  set(source ${cuda_kernels_source})
  set(image "")
  include(cmake/embed_image.cmake)
endif()
list(APPEND embedded_sources ${cuda_kernels_source})
