// Generates docs/configuration.md from the schema.
#include "config/environment.hpp"
#include "config/help.hpp"
#include "config/schema.hpp"
#include "config/value.hpp"

#include <fmt/format.h>

namespace fairlead::config {

namespace {

constexpr std::string_view opening =
    R"(<!-- Made from src/config/schema.cpp by `fairlead help --markdown`: change it there. -->
# Configuration

Every setting has a default that suits most runs. You can set it in five places; later ones override earlier ones:

1. the default, in the tables below;
2. the configuration file: `--config FILE`, else the file that `FAIRLEAD_CONFIG` names, else
   `$XDG_CONFIG_HOME/fairlead/config.toml` (`~/.config/fairlead/config.toml`) if it exists; `--config none` reads no
   file;
3. the environment: `FAIRLEAD_DISK_THREADS=8`;
4. the command line: `--disk-threads 8`; if an option is given twice, the last one;
5. code: `config.set("disk-threads", 8)`.

The file is TOML, one line for each setting:

```toml
memory = "512MiB"
disk-directory = "/scratch"
disk-bandwidth = "250MB/s"
disk-threads = 8
bind-threads = false
```

`fairlead info --config` lists every setting, its value and its origin. An unknown key or an invalid value ends the
program, with the place and the nearest valid key:

```
fairlead: unknown option --memmory (did you mean --memory?)
fairlead: unknown environment variable FAIRLEAD_WORKER (did you mean FAIRLEAD_WORKERS?)
fairlead: config.toml:3: unknown key "disk_threads" (did you mean "disk-threads"?)
fairlead: config.toml:4: workers = "four": must be a whole number, not a string
fairlead: --disk-threads 0: must be between 1 and 256
```

In your own program, `Config::from_args(argc, argv)` reads all five, `Config::from_environment()` the first three, and
`Config()` the defaults. Your own options: [your-program.md](your-program.md).
)";

constexpr std::string_view closing = R"(
## Values

| type | examples |
| --- | --- |
| size | `4096` (bytes), `512MiB` = 512 x 1024 x 1024, `2GB` = 2,000,000,000, `1.5GiB`, `2G` = `2GiB`, `1e9`; for `memory` also `50%` of what the machine or its container has |
| bandwidth | `250MB/s`, `1.5GiB/s` |
| count | `8`: a whole number, not negative |
| text | a name or a path |
| choice | one of the words listed |
| flag | `true` or `false`; on the command line `--bind-threads` or `--no-bind-threads` |

A default that is a word, such as `auto`, `unlimited` or `none`, is also a value: it overrides an earlier place.
`--cache-directory none` keeps no measurements.
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
  return setting.default_value.empty() ? setting.unset_word : setting.default_value;
}

std::string explained(const Setting& setting) {
  std::string text(setting.help);
  if (!setting.unset_meaning.empty())
    text += fmt::format("; `{}`: {}", setting.unset_word, setting.unset_meaning);
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
