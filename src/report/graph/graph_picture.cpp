// A layered drawing from top to bottom: each box is below its predecessors. Within a layer, boxes are ordered near
// their predecessors (the barycentre heuristic of Sugiyama, Tagawa and Toda, with a fixed number of sweeps).
#include "report/graph/graph_picture.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "front/unrolled/check.hpp"
#include "report/html/charts/colours.hpp"
#include "report/html/charts/svg.hpp"

namespace fairlead::report {

namespace {

constexpr double box_height = 24, margin = 14;
constexpr int sweeps = 6;

struct Box {
  std::string text;
  std::uint32_t of = 0;
  std::size_t layer = 0;
  double x = 0, width = 0;
};
struct Arrow {
  std::size_t from = 0, to = 0, count = 1;
};

struct Picture {
  double layer_height = 58, gap = 12;
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
};

Picture by_task(const unrolled::TaskGraph& graph) {
  Picture out;
  for (unrolled::TaskId task = 0; task < graph.tasks.size(); ++task)
    out.boxes.push_back({.text = unrolled::label(graph, task), .of = graph.tasks[task].of});
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> counted;
  for (const auto& [from, to] : unrolled::steps(graph)) ++counted[{from, to}];
  for (const auto& [ends, count] : counted) out.arrows.push_back({ends.first, ends.second, 1});
  return out;
}

Picture by_class(const unrolled::TaskGraph& graph) {
  Picture out{.layer_height = 96, .gap = 70, .boxes = {}, .arrows = {}};  // space for the numbers at edges
  std::vector<std::size_t> tasks(graph.classes.size());
  for (const unrolled::Task& task : graph.tasks) ++tasks[task.of];
  for (std::uint32_t of = 0; of < graph.classes.size(); ++of)
    out.boxes.push_back({.text = fmt::format("{}: {}", graph.classes[of].name, tasks[of]), .of = of});
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> counted;
  for (const auto& [from, to] : unrolled::steps(graph)) ++counted[{graph.tasks[from].of, graph.tasks[to].of}];
  for (const auto& [ends, count] : counted) out.arrows.push_back({ends.first, ends.second, count});
  return out;
}

/// Assigns each box its longest path; in a cycle, the first box reached starts it.
void find_layers(Picture& picture) {
  std::vector<std::size_t> missing(picture.boxes.size());
  std::vector<std::vector<std::size_t>> after(picture.boxes.size());
  for (const Arrow& arrow : picture.arrows) {
    if (arrow.from == arrow.to) continue;
    after[arrow.from].push_back(arrow.to);
    ++missing[arrow.to];
  }
  std::vector<std::size_t> ready;
  std::vector<bool> done(picture.boxes.size());
  const auto put = [&](std::size_t box) {
    done[box] = true;
    ready.push_back(box);
  };
  for (std::size_t box = 0; box < picture.boxes.size(); ++box)
    if (missing[box] == 0) put(box);
  std::size_t first_left = 0;
  for (std::size_t i = 0; ready.size() < picture.boxes.size() || i < ready.size(); ++i) {
    if (i == ready.size()) {  // a cycle: break it at the first box that is left
      while (done[first_left]) ++first_left;
      put(first_left);
    }
    for (const std::size_t next : after[ready[i]]) {
      if (done[next]) continue;
      picture.boxes[next].layer = std::max(picture.boxes[next].layer, picture.boxes[ready[i]].layer + 1);
      if (--missing[next] == 0) put(next);
    }
  }
}

std::vector<std::vector<std::size_t>> layers_of(const Picture& picture) {
  std::vector<std::vector<std::size_t>> out;
  for (std::size_t box = 0; box < picture.boxes.size(); ++box) {
    out.resize(std::max(out.size(), picture.boxes[box].layer + 1));
    out[picture.boxes[box].layer].push_back(box);
  }
  return out;
}

double place(Picture& picture, const std::vector<std::vector<std::size_t>>& layers) {
  double widest = 0;
  for (const auto& layer : layers) {
    double x = 0;
    for (const std::size_t box : layer) {
      picture.boxes[box].x = x;
      x += picture.boxes[box].width + picture.gap;
    }
    widest = std::max(widest, x - picture.gap);
  }
  for (const auto& layer : layers) {
    const Box& last = picture.boxes[layer.back()];
    const double shift = margin + (widest - last.x - last.width) / 2;
    for (const std::size_t box : layer) picture.boxes[box].x += shift;
  }
  return widest + 2 * margin;
}

/// Places the boxes. Returns the width.
double lay_out(Picture& picture) {
  for (Box& box : picture.boxes) box.width = html::svg_text_width(box.text) + 14;
  find_layers(picture);
  std::vector<std::vector<std::size_t>> layers = layers_of(picture);
  double width = place(picture, layers);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    std::vector<double> sum(picture.boxes.size());
    std::vector<std::size_t> neighbours(picture.boxes.size());
    for (const Arrow& arrow : picture.arrows) {
      // Downward sweeps order by predecessors, upward sweeps by successors.
      const std::size_t box = sweep % 2 == 0 ? arrow.to : arrow.from,
                        by = sweep % 2 == 0 ? arrow.from : arrow.to;
      if (box == by) continue;
      sum[box] += picture.boxes[by].x + picture.boxes[by].width / 2;
      ++neighbours[box];
    }
    const auto wanted = [&](std::size_t box) {
      return neighbours[box] == 0 ? picture.boxes[box].x : sum[box] / static_cast<double>(neighbours[box]);
    };
    for (auto& layer : layers) std::ranges::stable_sort(layer, {}, wanted);
    width = place(picture, layers);
  }
  return width;
}

std::string arrow_svg(const Picture& picture, const Arrow& arrow) {
  const Box &from = picture.boxes[arrow.from], &to = picture.boxes[arrow.to];
  const double x1 = from.x + from.width / 2, x2 = to.x + to.width / 2;
  const auto top = [&](const Box& box) {
    return margin + static_cast<double>(box.layer) * picture.layer_height;
  };
  const double y1 = top(from) + box_height, y2 = top(to);
  std::string out;
  double text_x = (x1 + x2) / 2 + 4, text_y = (y1 + y2) / 2;
  if (arrow.from == arrow.to) {  // a loop at its right side
    const double x = from.x + from.width, y = top(from);
    out = fmt::format(
        "<path class=\"bound\" fill=\"none\" marker-end=\"url(#tip)\" d=\"M{0:.1f} {1:.1f}c18 -14 18 26 1 "
        "14\"/>\n",
        x, y + 5);
    text_x = x + 16;
    text_y = y + 16;
  } else if (y2 < y1) {  // upward, in a cycle: shifted, since there may be a downward edge too
    const double aside = 16, from_y = top(from), to_y = y2 + box_height;
    out = fmt::format(
        "<path class=\"bound\" fill=\"none\" marker-end=\"url(#tip)\" d=\"M{0:.1f} {1:.1f}C{0:.1f} {2:.1f} "
        "{3:.1f} {4:.1f} {3:.1f} {5:.1f}\"/>\n",
        x1 + aside, from_y, from_y - 20, x2 + aside, to_y + 20, to_y);
    text_x += aside;
    text_y = to_y + 12;
  } else {
    const double bend = (y2 - y1) / 2;
    out = fmt::format(
        "<path class=\"bound\" fill=\"none\" marker-end=\"url(#tip)\" d=\"M{0:.1f} {1:.1f}C{0:.1f} {2:.1f} "
        "{3:.1f} {4:.1f} {3:.1f} {5:.1f}\"/>\n",
        x1, y1, y1 + bend, x2, y2 - bend, y2);
  }
  if (arrow.count > 1)
    out += html::svg_text(text_x, text_y, fmt::format("{}", arrow.count), " font-size=\"10\"");
  return out;
}

std::string box_svg(const Picture& picture, const Box& box) {
  const double y = margin + static_cast<double>(box.layer) * picture.layer_height;
  const std::string_view colour = html::line_colour(box.of);
  const std::string place = fmt::format("x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"", box.x,
                                        y, box.width, box_height);
  // An opaque background hides the edges behind a box.
  return fmt::format(
             "<rect class=\"back\" {0}/><rect {0} rx=\"4\" fill=\"{1}\" fill-opacity=\"0.25\" "
             "stroke=\"{1}\"/>\n",
             place, colour) +
         html::svg_text(box.x + box.width / 2, y + box_height / 2 + 4, box.text, " text-anchor=\"middle\"");
}

}  // namespace

std::string graph_picture(const unrolled::TaskGraph& graph, std::size_t most_tasks) {
  Picture picture = graph.tasks.size() <= most_tasks ? by_task(graph) : by_class(graph);
  const double width = lay_out(picture);
  std::size_t layers = 1;
  for (const Box& box : picture.boxes) layers = std::max(layers, box.layer + 1);
  std::string inside =
      "<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"7\" "
      "markerHeight=\"7\" "
      "orient=\"auto\"><path d=\"M0 0L6 3L0 6z\" fill=\"gray\"/></marker></defs>\n";
  for (const Arrow& arrow : picture.arrows) inside += arrow_svg(picture, arrow);
  for (const Box& box : picture.boxes) inside += box_svg(picture, box);
  const double height = 2 * margin + static_cast<double>(layers - 1) * picture.layer_height + box_height;
  return html::svg_picture(std::max(width, 120.0) + 40, height, inside);
}

}  // namespace fairlead::report
