# fairlead_policy(NAME FILE...): builds NAME.so, a scheduling policy that `--scheduler ./NAME.so` loads. It does
# not link to Fairlead: it uses headers only, and virtual functions of its arguments.
function(fairlead_policy name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so" CXX_VISIBILITY_PRESET hidden)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE fairlead::policy_interface)
  target_compile_options(${name} PRIVATE $<$<CONFIG:>:-O2>)  # it runs between tasks; the default without a build type would be -O0
  # Undefined symbols are errors at link time, not at load time.
  target_link_options(${name} PRIVATE -Wl,-z,defs)
endfunction()
