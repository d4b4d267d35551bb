"""Writes quantized.gguf: numbers, and what the quantizer of the package gguf makes of them in every format."""
import sys

import gguf
import numpy as np

random = np.random.default_rng(7)
numbers = random.standard_normal((24, 64)).astype(np.float32)
numbers[3] = 0  # a block without a scale
numbers[4, :32] = 1.5  # a block of one number
numbers[5] *= 1e-6  # scales below F16's normal numbers
numbers[6] *= 1e4
numbers[7, 5], numbers[7, 9] = 9, -9  # two numbers of the largest size, of different signs
numbers[8] = np.abs(numbers[8])
numbers[9] = np.round(numbers[9] * 4) / 4  # ties
kinds = gguf.GGMLQuantizationType
writer = gguf.GGUFWriter(sys.argv[1], "none")
writer.add_tensor("numbers", numbers)
for kind in (kinds.F16, kinds.BF16, kinds.Q8_0, kinds.Q5_1, kinds.Q5_0, kinds.Q4_1, kinds.Q4_0):
    writer.add_tensor(kind.name, gguf.quants.quantize(numbers, kind), raw_dtype=kind)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
