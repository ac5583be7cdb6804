"""The shared library exports the symbols of cmake/exported_symbols.txt: those that the public headers declare, no others."""

import importlib.machinery
import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "list-exported-symbols"


def load_script():
    loader = importlib.machinery.SourceFileLoader("list_exported_symbols", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def report(what: str, symbols: set[str]) -> int:
    for symbol in sorted(symbols):
        print(f"{what}: {symbol}")
    return len(symbols)


def main(static: str, shared: str) -> int:
    script = load_script()
    listed = set((ROOT / "cmake" / "exported_symbols.txt").read_text().splitlines())
    declared = set(script.promised(static))
    exported = {name for name, kind in script.definitions(shared, "--dynamic") if not name.startswith("FAIRLEAD_")}
    wrong = report("declared by a public header, not listed", declared - listed)
    wrong += report("listed, not declared by a public header", listed - declared)
    wrong += report("listed, not exported", listed - exported)
    wrong += report("exported, not listed", exported - listed)
    if wrong:
        print("After a change of the public interface: scripts/list-exported-symbols build/release/libfairlead.a "
              ">cmake/exported_symbols.txt")
    print(f"{len(exported)} symbols")
    return 1 if wrong or not exported else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
