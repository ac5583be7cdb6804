// fairlead help [SUBCOMMAND]: the help of all subcommands or of one. With --markdown: the page
// docs/configuration.md. With --man: the manual page.
#include <fmt/format.h>
#include <fairlead/config.hpp>
#include <fairlead/version.hpp>

#include "config/help.hpp"
#include "fairlead/subcommand.hpp"

namespace fairlead::app {

namespace {

constexpr Positional positionals[] = {
    {.name = "SUBCOMMAND", .help = "the subcommand to explain", .required = false, .repeated = true}};
constexpr Setting options[] = {flag("markdown", "print docs/configuration.md"),
                               flag("man", "print the manual page, in roff"),
                               flag("all", "all options of the subcommand, as with --help-all")};

struct Examples {
  std::string_view subcommand, first, second;
};
constexpr Examples examples[] = {
    {"solve", "fairlead solve A.npy b.npy -o x.npy --memory 2GiB --method qr",
     "fairlead solve --kernel rbf --points points.npy b.npy -o x.npy --memory 50%"},
    {"factor", "fairlead factor A.npy -o A.factor --memory 2GiB",
     "fairlead factor A.npy -o A.factor --lower && fairlead solve --factor A.factor b.npy -o x.npy"},
    {"logdet", "fairlead logdet A.factor", "fairlead logdet A.npy --memory 2GiB --json determinant.json"},
    {"plan", "fairlead plan A.npy b.npy --memory 2GiB",
     "fairlead plan --rows 100000 --type f4 --method cholesky --memory 2GiB --json plan.json"},
    {"bench", "fairlead bench cholesky --n 16384 --memory-fraction 0.25 --report run.html",
     "fairlead bench qr --n 8192 --precision single --scheduler darts --json out.json"},
    {"info", "fairlead info", "fairlead info --config --disk-directory /scratch"},
    {"calibrate", "fairlead calibrate", "fairlead calibrate --disk-directory /scratch --amount 4GiB --again"},
    {"schedulers", "fairlead schedulers", "fairlead schedulers | grep -A3 darts"},
    {"machines", "fairlead machines", "fairlead machines summit > mine.toml"},
    {"simulate", "fairlead simulate cholesky --machine summit --scheduler all",
     "fairlead simulate lu --n 38400 --gpus 1 --memory 2GB --scheduler darts,dmda --csv runs.csv --runs 5 "
     "--noise 10"},
    {"simulate jdf",
     "fairlead simulate jdf cholesky.jdf --set 'descA->mt=57' --machine v100-pcie --gpus 1 --scheduler all",
     "fairlead simulate jdf lu.jdf --matrix descA=38400,38400,960,960 --machine summit --memory 2GB"},
    {"compare", "fairlead compare cholesky --scheduler eager,darts,./mine.so",
     "fairlead compare lu --machine h200 --scheduler dmda,heft-tm --noise 5 --csv compared.csv"},
    {"experiment", "fairlead experiment list darts", "fairlead experiment run darts/table-1 --quick"},
    {"jdf", "fairlead jdf check cholesky.jdf --set NT=6",
     "fairlead jdf draw potrf.jdf --matrix descA=4000,4000,1000,1000 -o potrf.svg"},
    {"jdf run", "fairlead jdf run cholesky.jdf --matrix A=A.npy --tile 512 --memory 256MiB -o A=L.npy",
     "fairlead jdf run gemm.jdf --matrix A=A.npy --matrix B=B.npy --matrix C=C.npy --set alpha=1 --set "
     "beta=0 "
     "-o C=AB.npy"},
    {"replay-log", "fairlead replay-log run.log",
     "fairlead replay-log run.log && echo the same commands as in the run"},
    {"status", "fairlead status 4711", "fairlead status $(pgrep -n fairlead)"},
    {"completion", "source <(fairlead completion bash)",
     "fairlead completion fish > ~/.config/fish/completions/fairlead.fish"},
    {"help", "fairlead help solve", "fairlead help --markdown > configuration.md"}};

/// Examples and, with all options, exit statuses: after the options of a subcommand.
std::string ending(std::string_view name, HelpDetail detail) {
  std::string out;
  for (const Examples& of : examples)
    if (of.subcommand == name) out += fmt::format("\nExamples:\n  {}\n  {}\n", of.first, of.second);
  if (detail == HelpDetail::common) return out;
  out += "\nExit status:\n";
  for (const config::ExitStatus& status : exit_statuses)
    out += fmt::format("  {:<7}{}\n", status.number, status.meaning);
  return out;
}

int run(const ParsedCommandLine& given) {
  if (given.config.flag("markdown"))
    fmt::print("{}", config::configuration_page());
  else if (given.config.flag("man"))
    fmt::print("{}", config::manual_page(ListedCommandLines().get(), exit_statuses, version()));
  else
    fmt::print("{}", help_of(fmt::format("{}", fmt::join(given.positionals, " ")),
                             given.config.flag("all") ? HelpDetail::all : HelpDetail::common));
  return success;
}

}  // namespace

const Subcommand help{.name = "help",
                      .summary = "Explains a subcommand.",
                      .positionals = positionals,
                      .options = options,
                      .run = run,
                      .settings = takes_no_settings};

std::string help_of(std::string_view name, HelpDetail detail) {
  if (!name.empty()) {
    const Subcommand& subcommand = find_subcommand(name);
    const std::string program = fmt::format("fairlead {}", subcommand.name);
    return help_text(command_line_of(subcommand, program), detail) + ending(subcommand.name, detail);
  }
  std::string out =
      "usage: fairlead SUBCOMMAND [arguments] [options]\n\nRuns task graphs on data larger than memory.\n\n";
  for (const Subcommand* subcommand : subcommands())
    if (!subcommand->hidden) out += fmt::format("  {:<14}{}\n", subcommand->name, subcommand->summary);
  out +=
      "\nfairlead SUBCOMMAND --help shows its common options, --help-all all; fairlead --version the "
      "version.\n";
  return out;
}

}  // namespace fairlead::app
