// Bar charts of the report page, without scripts: one bar per item, composed of parts, and marks across all bars.
#pragma once
#include <string>
#include <vector>

namespace fairlead::report::html {

struct BarSegment {
  double amount = 0;
  std::string colour, what;  ///< the colour by its name in the style sheet
};
struct Mark {
  enum class Look { line, dotted };
  double at = 0;
  Look look = Look::line;
  std::string what;
};

class Bars {
 public:
  Bars(std::string title, std::vector<Mark> marks);
  void bar(const std::string& name, std::vector<BarSegment> parts, std::string total);
  std::string html() const;

 private:
  struct Row {
    std::string name;
    std::vector<BarSegment> parts;
    std::string total;
  };
  std::string title_;
  std::vector<Mark> marks_;
  std::vector<Row> rows_;
  double most_ = 0;
};

}  // namespace fairlead::report::html
