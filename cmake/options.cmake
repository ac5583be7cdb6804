# Compiler flags of every target of Fairlead; users of the installed library do not get them.
add_library(fairlead_options INTERFACE)
target_compile_options(fairlead_options INTERFACE
  # Cheap internal checks stay on in every build.
  -UNDEBUG
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual $<$<BOOL:${FAIRLEAD_WARNINGS_AS_ERRORS}>:-Werror>
  # False alarms inside the library's strings and fmt, at -O3 (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-stringop-overflow>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds>
  # Decisions must be the same in every build: no fused operations, which change the last bit.
  -ffp-contract=off)
# By default g++ collects garbage after little growth of its memory: for large files this takes a fifth of the compile time
# and saves a quarter of the memory. Here it starts at half a gibibyte.
target_compile_options(fairlead_options INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288;--param=ggc-min-expand=100>)
if(FAIRLEAD_SANITIZE)
  target_compile_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE})
  # The manual of GCC: sanitizers raise the rate of false alarms of this warning. Builds without them keep it.
  target_compile_options(fairlead_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(FAIRLEAD_SANITIZE MATCHES "undefined")
    target_compile_options(fairlead_options INTERFACE -fno-sanitize-recover=undefined
      # These checks take an eighth of the compile time, and AddressSanitizer reports the same errors: an access through a null
      # pointer, outside of an object, or through the vtable of a destroyed object.
      -fno-sanitize=null,object-size,vptr
      # BLAS functions are called like from Fortran: with pointers to integers of either width.
      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  endif()
  if(FAIRLEAD_SANITIZE MATCHES "thread")
    # gcc warns of fences, which ThreadSanitizer does not support; a fence must therefore be an error.
    target_compile_options(fairlead_options INTERFACE -Wtsan)
  endif()
endif()
