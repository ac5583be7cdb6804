"""One call of the Python package on files of the current folder, for drawn_problems.py: call.json and given.npz become results.npz and
found.json, or an exception."""

import dataclasses
import json
import warnings

import fairlead as fl
import numpy as np


def of_form(a, form, spec):
    """The same elements as the package may meet them, and further arguments."""
    if form == "rows":
        return np.ascontiguousarray(a)
    if form == "columns":
        return np.asfortranarray(a)
    if form == "foreign":
        return a.astype(a.dtype.newbyteorder())
    if form == "strided":
        wide = np.full([2 * n + 1 for n in a.shape], 7, a.dtype)
        part = wide[tuple(slice(1, None, 2) for _ in a.shape)]
        part[...] = a
        return part
    if form == "padded":
        wide = np.full((a.shape[0] + 2, a.shape[1] + 3), np.nan, a.dtype)
        part = wide[1:-1, 2:-1]
        part[...] = a
        return part
    if form == "reversed":
        return np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1]
    if form == "memmap":
        mapped = np.memmap("mapped.bin", a.dtype, "w+", 0, a.shape)
        mapped[...] = a
        mapped.flags.writeable = False
        return mapped
    if form == "dataset":
        import h5py
        path, _, name = spec["path"].partition("::")
        file = h5py.File(path)
        return file[name] if name else file[_only(file)]
    return spec["path"]


def _only(file):
    import h5py
    names = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return names[0]


def call(spec, given, found):
    stored, b = given["a"], given["b"]
    options = {"memory": spec["memory"], "workers": spec["workers"], "settings": spec["settings"]}
    if spec["a"] == "function":
        a = lambda rows, columns: stored[np.ix_(rows, columns)]  # noqa: E731
        options |= {"shape": stored.shape, "dtype": stored.dtype}
    else:
        a = of_form(stored, spec["a"], spec)
    if spec["method"] and spec["call"] != "lstsq":
        options["method"] = spec["method"]
    if spec["lower"] is not None:
        options["lower"] = spec["lower"]
    sides = of_form(b, spec["b"], spec)
    unchanged = np.array(sides)
    if spec["call"] in ("solve", "lstsq"):
        out, x_type = None, np.result_type(stored.dtype, b.dtype)
        shape = (stored.shape[1], *b.shape[1:])
        if spec["out"] == "b" and shape == b.shape and x_type == b.dtype and b.shape[0] == stored.shape[0]:
            out = sides
        elif spec["out"] in ("columns", "rows", "wide"):
            out = np.full(shape, np.nan, np.complex128 if spec["out"] == "wide" else x_type, order="C" if spec["out"] == "rows" else "F")
        if spec["call"] == "solve":
            options["refine"] = spec["refine"]
        x, info = getattr(fl, spec["call"])(a, sides, out=out, return_info=True, **options)
        assert out is None or x is out
        x = x.astype(x_type) if x_type.kind == "c" else x.real.astype(x_type)
        found["info"] = dataclasses.asdict(info) | {"dtype": str(info.dtype)}
        found["info"]["trusted_digits"], found["info"]["forward_error_bound"] = info.digits, info.forward_error
        found["info"]["condition_estimate"], found["info"]["numerical_rank"] = info.condition, info.rank
        if out is not sides:
            np.testing.assert_array_equal(np.array(sides), unchanged)
        return {"x": x}
    if spec["call"] == "inv":
        return {"x": fl.inv(a, **options)}
    if spec["call"] == "slogdet":
        sign, found["logabsdet"] = fl.slogdet(a, **options)
        found["sign"] = [complex(sign).real, complex(sign).imag]
        return {}
    factors = fl.factor(a, **options)
    if spec["save"]:
        factors.save("kept.factor")
        factors.close()
        factors = fl.load("kept.factor", memory=spec["memory"], workers=spec["workers"])
    if stored.shape[0] == stored.shape[1]:
        sign, found["logabsdet"] = factors.slogdet()
        found["sign"] = [complex(sign).real, complex(sign).imag]
        x = factors.solve(sides, trans=spec["trans"])
    else:
        x = factors.solve(sides)
    factors.close()
    np.testing.assert_array_equal(np.array(sides), unchanged)
    return {"x": x}


def main():
    import os
    spec, given, found = json.load(open("call.json")), np.load("given.npz"), {}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results = call(spec, given, found)
    finally:
        for name in ("mapped.bin", "kept.factor"):
            if os.path.exists(name):
                os.unlink(name)
    found["warnings"] = [str(warning.message) for warning in caught if warning.category.__name__ == "LinAlgWarning"]
    np.savez("results.npz", **results)
    with open("found.json", "w") as file:
        json.dump(found, file, default=float)


main()
