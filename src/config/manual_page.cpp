// The manual page, from the declarations of the command lines. See help.hpp.
#include <fmt/format.h>

#include <cctype>
#include <string>

#include "config/help.hpp"

namespace fairlead::config {

namespace {

/// Text in which roff interprets nothing: hyphens stay hyphens, and no line begins a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char character : text) {
    if (character == '-')
      out += "\\-";
    else if (character == '\\')
      out += "\\e";
    else
      out += character == '\t' ? ' ' : character;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string sentence(std::string_view text) {
  std::string out = roff(text);
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out + (out.ends_with('.') ? "\n" : ".\n");
}

std::string option_paragraph(const DescribedOption& option) {
  const Setting& setting = option.setting;
  std::string out = ".TP\n";
  if (setting.letter) out += fmt::format("\\fB\\-{}\\fR, ", setting.letter);
  out += fmt::format("\\fB\\-\\-{}{}\\fR", option.negatable ? "[no\\-]" : "", roff(setting.key));
  if (!option.value_name.empty()) out += fmt::format(" \\fI{}\\fR", roff(option.value_name));
  return out + "\n" + sentence(option.help);
}

std::string subcommand_section(const CommandLine& line) {
  std::string out = fmt::format(".SS {}\n.B {}\n", roff(line.program), roff(line.program));
  for (const Positional& positional : line.positionals)
    out += fmt::format("{}\\fI{}\\fR{}{}\n", positional.required ? "" : "[", roff(positional.name),
                       positional.required ? "" : "]", positional.repeated ? "..." : "");
  out += "[\\fIoptions\\fR]\n.PP\n" + sentence(line.summary);
  for (const Positional& positional : line.positionals)
    out += fmt::format(".TP\n\\fI{}\\fR\n{}", roff(positional.name), sentence(positional.help));
  for (const DescribedOption& option : options_of(line))
    if (option.own) out += option_paragraph(option);
  return out;
}

constexpr std::string_view settings_opening = R"(.SH SETTINGS
A subcommand accepts those that have an effect on it, which
.B \-\-help\-all
lists. Later places override earlier ones: the default; the configuration file, as in
.BR "disk\-threads = 4" ;
the environment, as in
.BR FAIRLEAD_DISK_THREADS=4 ;
the command line, as in
.BR "\-\-disk\-threads 4" .
Sizes: 4096 (bytes), 512MiB, 1.5GiB, 2G (= 2GiB), 2GB, 1e9. Bandwidths: 250MB/s.
.TP
\fB\-\-config\fR \fIFILE\fR
Read settings from this file; none: from no file.
)";

constexpr std::string_view files = R"(.SH FILES
.TP
.I ~/.config/fairlead/config.toml
The configuration file.
.TP
.I ~/.cache/fairlead
Measurements of this machine, which later runs use.
)";

}  // namespace

std::string manual_page(std::span<const CommandLine> commands, std::span<const ExitStatus> statuses,
                        std::string_view version) {
  std::string out = fmt::format(
      ".TH FAIRLEAD 1 \"\" \"Fairlead {}\" \"User Commands\"\n.SH NAME\n"
      "fairlead \\- solve linear systems and run task graphs on data larger than memory\n"
      ".SH SYNOPSIS\n.B fairlead\n.I subcommand\n[\\fIarguments\\fR] [\\fIoptions\\fR]\n.SH SUBCOMMANDS\n",
      roff(version));
  for (const CommandLine& line : commands) out += subcommand_section(line);
  out += settings_opening;
  std::string_view group;
  for (const DescribedOption& option : options_of({})) {
    if (option.setting.group != group) out += fmt::format(".SS {}\n", roff(option.setting.group));
    group = option.setting.group;
    out += option_paragraph(option);
  }
  out += ".SH EXIT STATUS\n";
  for (const ExitStatus& status : statuses)
    out += fmt::format(".TP\n.B {}\n{}", roff(status.number), sentence(status.meaning));
  return out + std::string(files);
}

}  // namespace fairlead::config
