# Code in which runs spend no time, or little: it reads and writes texts, or is gone through once in a run. It is compiled
# with less optimization, in which most of the time to compile goes. Under a sanitizer that is more of the library, not what
# the tests repeat a million times, the engine on simulated machines, nor what recurses, whose frames would be large.
set(fairlead_cold_folders config experiment machine report front/jdf_c front/parsec)
add_library(fairlead_cold_options INTERFACE)
if(FAIRLEAD_SANITIZE)
  list(APPEND fairlead_cold_folders algorithms backend/cuda backend/disk backend/opencl data/npy net
    front/flow front/ptg front/ranks front/recording front/rehearsal front/runtime front/unrolled)
  target_compile_options(fairlead_cold_options INTERFACE -O0)
else()
  target_compile_options(fairlead_cold_options INTERFACE $<$<CONFIG:Release>:-O1>)
endif()

# fairlead_divide(SOURCES COLD): takes the sources that are cold out of the first list, into the second.
function(fairlead_divide sources cold)
  list(JOIN fairlead_cold_folders "|" folders)
  set(rest ${${sources}})
  set(found ${${sources}})
  list(FILTER rest EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/(${folders})/")
  list(FILTER found INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/(${folders})/")
  set(${sources} ${rest} PARENT_SCOPE)
  set(${cold} ${found} PARENT_SCOPE)
endfunction()
