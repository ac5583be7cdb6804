# Under a sanitizer, code in which the tests spend little time is compiled without optimization, which takes most of the
# compile time. Exceptions: the engine on simulated machines, which runs millions of times; recursive code, whose frames
# would be large; and the innermost loops of products. Without a sanitizer all code has the same optimization: the linker may
# choose any copy of an inline function.
set(fairlead_hot_folder algorithms/linalg/blas)
set(fairlead_cold_folders config experiment machine report front/jdf_c front/parsec)
add_library(fairlead_cold_options INTERFACE)
if(FAIRLEAD_SANITIZE)
  list(APPEND fairlead_cold_folders algorithms solver backend/cuda backend/disk backend/opencl data/hdf5 data/matrix data/npy data/zarr net
    front/flow front/ptg front/ranks front/recording front/what_if front/runtime front/unrolled)
  target_compile_options(fairlead_cold_options INTERFACE -O0)
endif()

# fairlead_divide(SOURCES COLD): moves the cold sources from the first list to the second.
function(fairlead_divide sources cold)
  list(JOIN fairlead_cold_folders "|" folders)
  set(rest ${${sources}})
  set(found ${${sources}})
  list(FILTER found INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/(${folders})/")
  list(FILTER found EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/${fairlead_hot_folder}/")
  list(REMOVE_ITEM rest ${found})
  set(${sources} ${rest} PARENT_SCOPE)
  set(${cold} ${found} PARENT_SCOPE)
endfunction()
