"""Writes a matrix to a file of any format, order, byte order and compression that docs/matrix-files.md names, independently of Fairlead:
by NumPy, h5py, zarr (version 2), and version 3 of Zarr by hand."""

import itertools
import json
import struct
import zlib

import numpy as np


def npy(folder, stem, array, random):
    order, version = random.choice(["C", "F"]), [(1, 0), (2, 0), (3, 0)][random.integers(3)]
    with open(folder / f"{stem}.npy", "wb") as file:
        np.lib.format.write_array(file, np.asarray(in_byte_order(array, random), order=order), version=version)
    return f"{stem}.npy"


def in_byte_order(array, random):
    return array.astype(array.dtype.newbyteorder(str(random.choice(["<", ">"]))))


def chunks_of(shape, random):
    """From one row or column to more than all."""
    return tuple(int(random.integers(max(1, n // 8), n + 3)) for n in shape)


def hdf5(folder, stem, array, random):
    import h5py

    options, name = {}, str(random.choice(["a", "entry/data/matrix"]))
    if random.random() < 0.6:
        options["chunks"] = tuple(min(c, n) for c, n in zip(chunks_of(array.shape, random), array.shape))
        options |= [{}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True}, {"fletcher32": True}][random.integers(4)]
    only = random.random() < 0.3
    with h5py.File(folder / f"{stem}.h5", "w") as file:
        file.create_dataset(name, data=in_byte_order(array, random), **options)
        if not only:
            file["other"] = np.zeros((2, 2))
    return f"{stem}.h5" if only else f"{stem}.h5::{random.choice(['', '/'])}{name}"


def zarr_2(folder, stem, array, random):
    import numcodecs
    import zarr

    compressors = [None, numcodecs.Zlib(1), numcodecs.GZip(1), numcodecs.Zstd(1), numcodecs.LZ4(), numcodecs.Blosc("lz4"),
                   numcodecs.Blosc("zstd", shuffle=2), numcodecs.Blosc("blosclz", shuffle=0)]
    array, group = in_byte_order(array, random), random.random() < 0.3
    root = str(folder / f"{stem}.zarr")
    if group:
        zarr.open_group(root, mode="w").create_group("x")
    stored = zarr.open(root + "/x/matrix" * group, mode="w", shape=array.shape, dtype=array.dtype, chunks=chunks_of(array.shape, random),
                       order=str(random.choice(["C", "F"])), compressor=compressors[random.integers(len(compressors))],
                       dimension_separator=str(random.choice([".", "/"])), fill_value=0, write_empty_chunks=bool(random.integers(2)))
    stored[...] = array
    return f"{stem}.zarr::x/matrix" if group else f"{stem}.zarr"


CASTAGNOLI = []


def crc32c(data):
    if not CASTAGNOLI:
        for byte in range(256):
            for _ in range(8):
                byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
            CASTAGNOLI.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CASTAGNOLI[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def encoded(chunk, codecs):
    """A chunk by the codecs of Zarr 3, in their order."""
    for codec in codecs:
        name, given = codec["name"], codec.get("configuration", {})
        if name == "transpose":
            chunk = chunk.transpose(given["order"])
        elif name == "bytes":
            chunk = chunk.astype(chunk.dtype.newbyteorder("<" if given["endian"] == "little" else ">")).tobytes()
        elif name == "gzip":
            compressor = zlib.compressobj(given["level"], wbits=31)
            chunk = compressor.compress(chunk) + compressor.flush()
        elif name == "zstd":
            import numcodecs
            chunk = numcodecs.Zstd(given["level"]).encode(chunk)
        elif name == "blosc":
            import numcodecs
            chunk = numcodecs.Blosc("lz4", shuffle=0).encode(np.frombuffer(chunk, np.uint8))
        elif name == "crc32c":
            chunk = chunk + struct.pack("<I", crc32c(chunk))
        elif name == "sharding_indexed":
            chunk = shard(chunk, given)
    return chunk


def shard(chunk, given):
    """The inner chunks in reverse order, which the index permits."""
    inner, index, data = given["chunk_shape"], {}, b""
    counts = [n // s for n, s in zip(chunk.shape, inner)]
    front = given["index_location"] == "start"
    begin = 16 * counts[0] * counts[1] + 4 if front else 0
    for at in reversed(list(itertools.product(*map(range, counts)))):
        part = chunk[tuple(slice(i * s, (i + 1) * s) for i, s in zip(at, inner))]
        if not part.any():
            index[at] = (2**64 - 1, 2**64 - 1)
            continue
        content = encoded(part, given["codecs"])
        index[at] = (begin + len(data), len(content))
        data += content
    table = b"".join(struct.pack("<QQ", *index[at]) for at in itertools.product(*map(range, counts)))
    table += struct.pack("<I", crc32c(table))
    return table + data if front else data + table


def zarr_3(folder, stem, array, random):
    def of_bytes():
        codecs = [{"name": "transpose", "configuration": {"order": [1, 0]}}] if array.ndim == 2 and random.random() < 0.4 else []
        codecs.append({"name": "bytes", "configuration": {"endian": str(random.choice(["little", "big"]))}})
        blosc = {"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "typesize": array.itemsize, "blocksize": 0}
        codecs += [[], [{"name": "gzip", "configuration": {"level": 1}}],
                   [{"name": "zstd", "configuration": {"level": 1, "checksum": False}}],
                   [{"name": "blosc", "configuration": blosc}]][random.integers(4)]
        return codecs + ([{"name": "crc32c"}] if random.random() < 0.4 else [])

    chunks = chunks_of(array.shape, random)
    codecs = of_bytes()
    if array.ndim == 2 and random.random() < 0.4:
        inner = tuple(max(1, c // 2) for c in chunks)
        chunks = tuple(s * int(random.integers(1, 4)) for s in inner)
        index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
        codecs = [{"name": "sharding_indexed", "configuration": {"chunk_shape": inner, "codecs": codecs, "index_codecs": index,
                                                                  "index_location": str(random.choice(["start", "end"]))}}]
    separator, keys = str(random.choice([".", "/"])), str(random.choice(["default", "v2"]))
    path, group = folder / f"{stem}.zarr", random.random() < 0.3
    if group:
        path.mkdir()
        (path / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}}))
        path = path / "matrix"
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": array.shape, "data_type": array.dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": keys, "configuration": {"separator": separator}},
        "fill_value": [0.0, 0.0] if array.dtype.kind == "c" else 0.0, "codecs": codecs, "attributes": {}}))
    for at in itertools.product(*(range(-(-n // s)) for n, s in zip(array.shape, chunks))):
        chunk = np.zeros(chunks, array.dtype)
        part = array[tuple(slice(i * s, (i + 1) * s) for i, s in zip(at, chunks))]
        chunk[tuple(map(slice, part.shape))] = part
        if not chunk.any():
            continue  # the fill value
        file = path / ("c" + separator if keys == "default" else "")
        file = path / (("c" + separator if keys == "default" else "") + separator.join(map(str, at)))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encoded(chunk, codecs))
    return f"{stem}.zarr::matrix" if group else f"{stem}.zarr"


FORMATS = {"npy": npy, "hdf5": hdf5, "zarr_2": zarr_2, "zarr_3": zarr_3}


def available():
    """The formats that can be written here."""
    names = ["npy"]
    for name, modules in (("hdf5", ["h5py"]), ("zarr_2", ["zarr", "numcodecs"]), ("zarr_3", ["numcodecs"])):
        try:
            [__import__(module) for module in modules]
            names.append(name)
        except ImportError:
            pass
    return names


def store(folder, stem, array, random, name=None):
    """In the named format or one that is drawn; gives the name of the matrix for the command."""
    return FORMATS[name or str(random.choice(available()))](folder, stem, array, random)
