# Under a sanitizer, code in which the tests spend little time is compiled without optimization, in which most of the time to
# compile goes: not what they repeat a million times, the engine on simulated machines, nor what recurses, whose frames would
# be large, nor the innermost loops of products. Without one all is optimized alike: of an inline function that several parts
# have, any one's code may be linked.
set(fairlead_hot_folder algorithms/linalg/blas)
set(fairlead_cold_folders config experiment machine report front/jdf_c front/parsec)
add_library(fairlead_cold_options INTERFACE)
if(FAIRLEAD_SANITIZE)
  list(APPEND fairlead_cold_folders algorithms backend/cuda backend/disk backend/opencl data/npy net
    front/flow front/ptg front/ranks front/recording front/what_if front/runtime front/unrolled)
  target_compile_options(fairlead_cold_options INTERFACE -O0)
endif()

# fairlead_divide(SOURCES COLD): takes the sources that are cold out of the first list, into the second.
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
