# Builds from nothing parse the largest headers once. Where files are compiled alone, each parses them itself: there one
# that lacks an include does not compile.
set(FAIRLEAD_PRECOMPILE ${FAIRLEAD_UNITY})
if(FAIRLEAD_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(fairlead_options INTERFACE -fpch-preprocess)  # for ccache, which keeps nothing else with them
endif()
set(precompiled_headers <algorithm> <array> <chrono> <cmath> <deque> <filesystem> <functional> <map> <memory> <mutex>
  <optional> <random> <span> <string> <string_view> <thread> <unordered_map> <variant> <vector> <fmt/format.h>)
