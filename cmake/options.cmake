# Flags that every target of Fairlead is compiled with; users of the installed library do not get them.
add_library(fairlead_options INTERFACE)
target_compile_options(fairlead_options INTERFACE
  # Cheap checks of what must hold inside stay on in every build.
  -UNDEBUG
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual $<$<BOOL:${FAIRLEAD_WARNINGS_AS_ERRORS}>:-Werror>
  # False alarms inside the library's strings and fmt, at -O3 (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-stringop-overflow>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds>
  # Decisions must come out the same in every build: no fused operations that change the last bit.
  -ffp-contract=off)
# g++ looks for what it can forget each time its memory has grown by a little: a fifth of the time it takes to compile a
# large file, for a quarter less memory. It may have half a gibibyte first.
target_compile_options(fairlead_options INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288;--param=ggc-min-expand=100>)
if(FAIRLEAD_SANITIZE)
  target_compile_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(fairlead_options INTERFACE -fsanitize=${FAIRLEAD_SANITIZE})
  # The manual of GCC: sanitizers raise the rate of false alarms of this warning. Builds without them keep it.
  target_compile_options(fairlead_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(FAIRLEAD_SANITIZE MATCHES "undefined")
    target_compile_options(fairlead_options INTERFACE -fno-sanitize-recover=undefined
      # An eighth of the time to compile, for what AddressSanitizer reports as well: an access through a null pointer, outside
      # of an object, or by the table of functions of an object that is gone.
      -fno-sanitize=null,object-size,vptr
      # The functions of a BLAS are called as Fortran's callers do: by pointers to integers of whichever width.
      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  endif()
  if(FAIRLEAD_SANITIZE MATCHES "thread")
    # gcc warns of fences that ThreadSanitizer cannot see; a fence must therefore be an error.
    target_compile_options(fairlead_options INTERFACE -Wtsan)
  endif()
endif()
