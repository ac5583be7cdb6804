// Encodes the order of tasks compactly for the page: positions once for all runs, each run as differences between
// consecutive tasks. order/tasks.js decodes them.
#include <cstdint>
#include <vector>

#include "report/html/numbers.hpp"
#include "report/html/parts.hpp"

namespace fairlead::report::html {

namespace {

void add_places(Numbers& numbers, const std::vector<TaskOrder::Place>& tasks) {
  TaskOrder::Place last{0, 0, 0, 0};
  for (const TaskOrder::Place& place : tasks) {
    numbers.add(place.drawn() ? place.kernel + 1u : 0u);
    if (!place.drawn()) continue;
    numbers.add_signed(place.iteration - last.iteration);
    numbers.add_signed(place.row - last.row);
    numbers.add_signed(place.column - last.column);
    last = place;
  }
}

/// Differences to the previous task of the same device: it is usually an adjacent one.
void add_run(Numbers& numbers, const TaskOrder::Run& run, std::size_t devices) {
  std::vector<std::int64_t> last(devices, 0);
  numbers.add(run.order.size());
  for (const TaskOrder::Started& started : run.order) {
    if (devices > 1) numbers.add(started.device);
    numbers.add_signed(started.task - last[started.device]);
    last[started.device] = started.task;
  }
}

Json list(const std::vector<std::string>& texts) {
  Json all = Json::array();
  for (const std::string& text : texts) all.add(Json(text));
  return all;
}

}  // namespace

PictureData order_data(const TaskOrder& order) {
  Numbers numbers;
  add_places(numbers, order.tasks);
  Json runs = Json::array();
  for (const TaskOrder::Run& run : order.runs) {
    add_run(numbers, run, order.devices.size());
    runs.add(Json(run.scheduler));
  }
  return {embedded(Json::object({{"matrix", order.matrix},
                                 {"rows", order.rows},
                                 {"columns", order.columns},
                                 {"lower_triangle", order.lower_triangle},
                                 {"memory_tiles", order.memory_tiles},
                                 {"tasks", order.tasks.size()},
                                 {"kernels", list(order.kernels)},
                                 {"devices", list(order.devices)},
                                 {"runs", std::move(runs)}})),
          numbers.base64()};
}

}  // namespace fairlead::report::html
