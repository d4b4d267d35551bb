"""Writes formats.gguf: blocks of every quantized format, as int8, and the numbers that the package gguf reads in
them (NAME and NAME.numbers); and of the formats with grids, blocks that name every entry once (NAME.grid)."""
import sys

import gguf
import numpy as np

Type = gguf.GGMLQuantizationType
NUMBERS = 512  # of each format
random = np.random.default_rng(11)

FACTORS = {"Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,), "Q4_1": (0, 2),
           "Q5_1": (0, 2), "TQ1_0": (52,), "TQ2_0": (64,), "MXFP4": (), "IQ1_M": ()}  # where F16 are; else at 0
NAMES = ("Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS "
         "IQ1_M TQ1_0 TQ2_0 MXFP4").split()


def halves(shape):
    return random.uniform(-2, 2, shape).astype(np.float16)


def blocks_of(name, elements, size):
    blocks = random.integers(0, 256, (NUMBERS // elements, size), dtype=np.uint8)
    for at in FACTORS.get(name, (0,)):
        blocks[:, at: at + 2] = halves((len(blocks), 1)).view(np.uint8)
    if name == "IQ1_M":  # a nibble of it on top of each 16 bits of scales
        d = halves(len(blocks)).view(np.uint16)
        for i in range(4):
            blocks[:, 49 + 2 * i] = blocks[:, 49 + 2 * i] & 15 | ((d >> 4 * i & 15) << 4).astype(np.uint8)
    if name == "MXFP4":  # the smallest scales are no normal floats
        blocks[:, 0] = [0, 1, 2, 3, 64, 252] + list(random.integers(110, 140, len(blocks) - 6))
    return blocks


# What the package has no reader for: d, then sign bits or pairs of bits from low to high.
def q1_0(blocks):
    bits = np.unpackbits(blocks[:, 2:], axis=-1, bitorder="little")
    return blocks[:, :2].copy().view(np.float16).astype(np.float32) * (2 * bits.astype(np.float32) - 1)


def q2_0(blocks):
    pairs = blocks[:, 2:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3
    return blocks[:, :2].copy().view(np.float16).astype(np.float32) * (pairs.reshape(-1, 64).astype(np.float32) - 1)


def every_entry(name, entries):
    """Blocks with d = 8 and scales of 0, whose numbers are integers."""
    groups = 64 if name.startswith("IQ3") else 32
    index = np.arange(entries).reshape(-1, groups)
    blocks = random.integers(0, 256, (len(index), gguf.GGML_QUANT_SIZES[Type[name]][1]), dtype=np.uint8)
    blocks[:, :2] = np.array([8], np.float16).view(np.uint8)
    words = random.integers(0, 1 << 28, (len(index), 8), dtype=np.uint32)  # of signs
    if name == "IQ2_XXS":
        pieces = np.concatenate([index.astype(np.uint8).reshape(-1, 8, 4), words.view(np.uint8).reshape(-1, 8, 4)], -1)
        blocks[:, 2:] = pieces.reshape(len(index), -1)
    elif name == "IQ2_XS":
        signs = random.integers(0, 128, index.shape) << 9
        blocks[:, 2:66], blocks[:, 66:] = (index | signs).astype(np.uint16).view(np.uint8), 0
    elif name == "IQ3_XXS":
        blocks[:, 2:66], blocks[:, 66:] = index, words.view(np.uint8)
    else:
        blocks[:, 2: 2 + groups] = index & 255
        high, bits = index >> 8, {"IQ1_S": 3, "IQ2_S": 2, "IQ3_S": 1}[name]
        packed = (high.reshape(len(index), 8, -1) << bits * np.arange(groups // 8)).sum(-1)
        if name == "IQ1_S":
            blocks[:, 34:] = (packed | random.integers(0, 2, packed.shape) << 15).astype(np.uint16).view(np.uint8)
        else:
            blocks[:, 66:74] = packed
            blocks[:, 74 if name == "IQ2_S" else 106:] = 0
    return blocks


writer = gguf.GGUFWriter(sys.argv[1], "none")
for name in NAMES:
    blocks = blocks_of(name, *gguf.GGML_QUANT_SIZES[Type[name]])
    writer.add_tensor(name, blocks.view(np.int8))
    writer.add_tensor(name + ".numbers", gguf.quants.dequantize(blocks, Type[name]))
for name, elements, size, read in (("Q1_0", 128, 18, q1_0), ("Q2_0", 64, 18, q2_0)):
    blocks = blocks_of(name, elements, size)
    writer.add_tensor(name, blocks.view(np.int8))
    writer.add_tensor(name + ".numbers", read(blocks))
for name, entries in (("IQ1_S", 2048), ("IQ2_XXS", 256), ("IQ2_XS", 512), ("IQ2_S", 1024), ("IQ3_XXS", 256),
                      ("IQ3_S", 512)):
    blocks = every_entry(name, entries)
    numbers = gguf.quants.dequantize(blocks, Type[name])
    assert (numbers == numbers.astype(np.int8)).all()
    writer.add_tensor(name + ".grid", blocks.view(np.int8))
    writer.add_tensor(name + ".grid.numbers", numbers.astype(np.int8))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
