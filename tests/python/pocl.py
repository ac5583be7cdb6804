"""Settings of PoCL, an OpenCL driver whose devices are the cores: the kernels that it compiles are kept from one test to the next."""

import pathlib
import tempfile


def pocl_settings(devices=2):
    cache = pathlib.Path(tempfile.gettempdir()) / "fairlead-tests-pocl"
    cache.mkdir(exist_ok=True)
    return {"POCL_CACHE_DIR": str(cache), "POCL_DEVICES": " ".join(["pthread"] * devices)}
