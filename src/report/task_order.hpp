// The order in which the tasks of a program ran, over the tiles that they write, as in figures 6, 7 and 10 of Gonthier,
// Marchal, Thibault 2023. The simulator fills it in; html/order/pictures.js draws it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::report {

struct TaskOrder {
  /// The position of a task in the chart.
  struct Place {
    std::uint16_t kernel = 0;            ///< index in `kernels`
    std::int32_t iteration = 0;          ///< of the algorithm's outer loop
    std::int32_t row = -1, column = -1;  ///< of the tile that it writes; -1: none, and it is not drawn

    bool drawn() const noexcept { return row >= 0; }
    bool operator==(const Place&) const = default;
  };
  struct Started {
    std::uint32_t task = 0;    ///< index in `tasks`
    std::uint16_t device = 0;  ///< index in `devices`
    bool operator==(const Started&) const = default;
  };
  /// The tasks of one run, in order of their start.
  struct Run {
    std::string scheduler;
    std::vector<Started> order;
  };

  std::string matrix;                  ///< "A"; of several, the one that most tasks write
  std::int32_t rows = 0, columns = 0;  ///< in tiles
  bool lower_triangle = false;         ///< there are no tiles above the diagonal
  std::uint64_t memory_tiles = 0;      ///< number of tiles that fit in the memory of one device
  std::vector<std::string> kernels, devices;
  std::vector<Place> tasks;  ///< in program order
  std::vector<Run> runs;     ///< those that finished

  bool empty() const noexcept { return rows == 0 || runs.empty(); }
};

}  // namespace fairlead::report
