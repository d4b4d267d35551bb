#!/usr/bin/env python3
"""Writes model-joined.gguf from model.gguf as converters wrote such models before 2025: each head's matrices of keys
and values in one tensor, sizes as without latent attention. The logits are those of model.gguf."""
import pathlib

import gguf
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
LEFT_OUT = {"key_length_mla", "value_length_mla", "key_length", "value_length", "head_count_kv"}

reader = gguf.GGUFReader(HERE / "model.gguf")
value_of = {name: field.contents() for name, field in reader.fields.items()}
writer = gguf.GGUFWriter(HERE / "model-joined.gguf", "deepseek2")
for name, field in reader.fields.items():
    if name.startswith("GGUF.") or name == "general.architecture" or name.rsplit(".", 1)[-1] in LEFT_OUT:
        continue
    kind = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
    writer.add_key_value(name, field.contents(), field.types[0], sub_type=kind)
attention = "deepseek2.attention."
heads = value_of[attention + "head_count"]
writer.add_uint32(attention + "head_count_kv", heads)
writer.add_uint32(attention + "key_length", value_of[attention + "key_length_mla"])
writer.add_uint32(attention + "value_length", value_of[attention + "value_length_mla"])

tensors = {tensor.name: np.array(tensor.data) for tensor in reader.tensors}
for name, data in tensors.items():
    if name.endswith("attn_v_b.weight"):
        continue
    if name.endswith("attn_k_b.weight"):  # [heads, rank, dimensions of a key]
        keys, values = data.transpose(0, 2, 1), tensors[name.replace("attn_k_b", "attn_v_b")]
        joined = np.concatenate([keys, values], axis=1)
        name, data = name.replace("attn_k_b", "attn_kv_b"), joined.reshape(-1, joined.shape[-1])
    writer.add_tensor(name, np.ascontiguousarray(data))
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
