// The order of tasks, small enough for a page: places once for all runs, each run as differences from task to
// task. The reader is script_order.cpp.
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

/// Differences to the last task of the same device: these visit neighbours one after the other.
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

const std::string_view order_section = R"html(<section id="order" aria-label="The order of the tasks">
<h2>The order in which tasks began</h2>
<div class="bar">
<div class="legend" id="order-legend"></div>
<div class="buttons">
<label id="order-runs-label">policy <select id="order-run"></select></label>
<label id="order-devices-label">device <select id="order-device"></select></label>
<label>colour changes after <select id="order-span"></select> tasks</label>
<label>iterations <select id="order-shown"></select></label>
<label>from iteration <button id="order-back" title="Earlier iterations">&minus;</button> <input id="order-first" type="range" min="1" value="1" aria-label="First iteration that is shown"> <button id="order-on" title="Later iterations">+</button></label>
</div>
</div>
<div id="order-pictures"></div>
<div id="order-tip" class="tip" role="tooltip" hidden></div>
<p class="keys">Each square is a task, at the tile that it writes, one picture for each iteration of the algorithm's outer loop. The colour tells its place among all tasks of the run in the order of their beginnings; within a colour, from light to dark. <span id="order-notes"></span></p>
</section>
)html";

}  // namespace fairlead::report::html
