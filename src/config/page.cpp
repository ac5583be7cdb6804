// docs/configuration.md: the same schema as --help, as a page.
#include "config/environment.hpp"
#include "config/help.hpp"
#include "config/schema.hpp"
#include "config/value.hpp"

#include <fmt/format.h>

namespace fairlead::config {

namespace {

constexpr std::string_view opening =
    R"(<!-- Made from src/config/schema.cpp by `fairlead help --markdown`: change it there. -->
# How is Fairlead configured?

Nothing has to be. Every setting has a value that is right for most runs; to change one, write it in any of five places. Later
ones win:

1. the default, in the tables below;
2. the configuration file: `--config FILE`, else the one that `FAIRLEAD_CONFIG` names, else `$XDG_CONFIG_HOME/fairlead/config.toml`
   (`~/.config/fairlead/config.toml`) if there is one; `--config none` reads no file;
3. the environment: `FAIRLEAD_DISK_THREADS=8`;
4. the command line: `--disk-threads 8`; of an option given twice, the last;
5. code: `config.set("disk-threads", 8)`.

The file is TOML, one line for each setting:

```toml
memory = "512MiB"
disk-directory = "/scratch"
disk-bandwidth = "250MB/s"
disk-threads = 8
bind-threads = false
```

`fairlead info --config` lists every setting, its value, and where it came from. A key that does not exist, a value of the wrong
type or out of range ends the program at once, with the place and the nearest valid key:

```
fairlead: unknown option --memmory (did you mean --memory?)
fairlead: unknown environment variable FAIRLEAD_WORKER (did you mean FAIRLEAD_WORKERS?)
fairlead: config.toml:3: unknown key "disk_threads" (did you mean "disk-threads"?)
fairlead: config.toml:4: workers = "four": must be a whole number, not a string
fairlead: --disk-threads 0: must be between 1 and 256
```

In a program of your own, `Config::from_args(argc, argv)` reads all five; `Config::from_environment()` the first three; `Config()`
the defaults alone. Options of the program's own: [your-program.md](your-program.md).
)";

constexpr std::string_view closing = R"(
## What do the values look like?

| type | examples |
| --- | --- |
| size | `4096` (bytes), `512MiB` = 512 x 1024 x 1024, `2GB` = 2,000,000,000, `1.5GiB`, `2G` = `2GiB`, `1e9`; for `memory` also `50%` of what the machine or its container has |
| bandwidth | `250MB/s`, `1.5GiB/s` |
| count | `8`: a whole number, not negative |
| text | a name or a path |
| choice | one of the words listed |
| flag | `true` or `false`; on the command line `--bind-threads` or `--no-bind-threads` |

Where the default is a word such as `auto`, `unlimited` or `none`, that word can be written too: it undoes what a weaker place says.
So `--cache-directory none` keeps no timings.
)";

std::string kind_of(const Setting& setting) {
  if (setting.type == SettingType::choice) return join(choices_of(setting), ", ");
  if (!setting.maximum.empty())
    return fmt::format("{}, {} to {}", name_of(setting.type), setting.minimum.empty() ? "0" : setting.minimum,
                       setting.maximum);
  if (!setting.minimum.empty() && setting.minimum != "1")
    return fmt::format("{}, at least {}", name_of(setting.type), setting.minimum);
  return std::string(name_of(setting.type));
}

std::string_view shown_default(const Setting& setting) {
  if (!setting.default_shown.empty()) return setting.default_shown;
  return setting.fallback.empty() ? setting.absent : setting.fallback;
}

std::string explained(const Setting& setting) {
  std::string text(setting.help);
  if (!setting.absent_means.empty()) text += fmt::format("; `{}`: {}", setting.absent, setting.absent_means);
  return text;
}

}  // namespace

std::string configuration_page() {
  std::string page(opening);
  std::string_view group;
  for (const Setting& setting : schema()) {
    if (setting.group != group)
      page += fmt::format(
          "\n## {}\n\n| key | variable | type | default | what it does |\n| --- | --- | --- | --- | --- |\n",
          setting.group);
    group = setting.group;
    page += fmt::format("| `{}` | `{}` | {} | `{}` | {} |\n", setting.key, variable_of(setting.key),
                        kind_of(setting), shown_default(setting), explained(setting));
  }
  page += closing;
  return page;
}

}  // namespace fairlead::config
