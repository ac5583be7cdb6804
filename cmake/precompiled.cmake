# Builds with sanitizers, which ./test makes from nothing each time, parse the largest headers once. Other builds parse
# them in each file: there a file that lacks an include does not compile.
set(FAIRLEAD_PRECOMPILE ${FAIRLEAD_SANITIZE})
if(FAIRLEAD_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(fairlead_options INTERFACE -fpch-preprocess)  # for ccache, which keeps nothing else with them
endif()
set(precompiled_headers <algorithm> <array> <chrono> <cmath> <deque> <filesystem> <functional> <map> <memory> <mutex>
  <optional> <random> <span> <string> <string_view> <thread> <unordered_map> <variant> <vector> <fmt/format.h>)
