# Fairlead's own kernels for CUDA devices, src/algorithms/kernels/*.cu, compiled if there is a working nvcc, and embedded in the
# library. Without nvcc the library only lacks them. It does not link to CUDA.
option(FAIRLEAD_CUDA_KERNELS "Compile and embed the kernels for CUDA devices, if there is an nvcc" ON)
find_program(FAIRLEAD_NVCC nvcc HINTS /usr/local/cuda/bin DOC "The compiler of CUDA")
mark_as_advanced(FAIRLEAD_NVCC)

# The nvcc flags for a fat binary for these architectures, with PTX for newer ones.
function(fairlead_nvcc_flags architectures flags)
  set(all -std=c++17 -O3 -fatbin -Werror all-warnings -Xcompiler -Wall,-Wextra)
  foreach(architecture ${architectures})
    list(APPEND all -gencode "arch=compute_${architecture},code=sm_${architecture}")
  endforeach()
  list(GET architectures -1 last)
  set(${flags} ${all} -gencode "arch=compute_${last},code=compute_${last}" PARENT_SCOPE)
endfunction()

# The architectures that this nvcc supports; it may also reject the version of the C++ compiler.
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
# Under a sanitizer the tests compile the same sources for cores.
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
  set(cuda_kernels_source "${PROJECT_BINARY_DIR}/no_cuda_kernels.cpp")  # another name, so that the generated file is rebuilt once nvcc is available
  set(source ${cuda_kernels_source})
  set(image "")
  include(cmake/embed_image.cmake)
endif()
list(APPEND embedded_sources ${cuda_kernels_source})
