#!/usr/bin/env python3
"""Writes a GGUF file of the shape of one of Meta's OPT models with random weights.

    tools/opt_shape.py 125m|1.3b|2.7b OUT.gguf [--type f32|f16|bf16|q8_0]

It is for measuring what passes cost and nothing else: its texts are noise. Needs Python's numpy and gguf, as
tools/convert_opt.py does, which writes the file."""
import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# Width, layers, width of the feed-forward block, heads.
SHAPES = {"125m": (768, 12, 3072, 12), "1.3b": (2048, 24, 8192, 32), "2.7b": (2560, 32, 10240, 32)}
VOCABULARY, POSITIONS = 50272, 2048


def write_safetensors(path, shapes, generator):
    """Tensors of random halves, one after another: none is ever whole in memory twice."""
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "F16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for shape in shapes.values():
            file.write((0.02 * generator.standard_normal(shape, dtype=np.float32)).astype(np.float16).tobytes())


def shapes_of(width, layers, feed_forward):
    shapes = {"decoder.embed_tokens.weight": (VOCABULARY, width), "decoder.embed_positions.weight": (POSITIONS + 2, width)}
    for i in range(layers):
        layer = f"decoder.layers.{i}."
        for name in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"):
            shapes[f"{layer}{name}.weight"], shapes[f"{layer}{name}.bias"] = (width, width), (width,)
        shapes[f"{layer}fc1.weight"], shapes[f"{layer}fc1.bias"] = (feed_forward, width), (feed_forward,)
        shapes[f"{layer}fc2.weight"], shapes[f"{layer}fc2.bias"] = (width, feed_forward), (width,)
    return shapes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("out", type=Path)
    parser.add_argument("--type", default="q8_0", help="of matrices (default: q8_0)")
    given = parser.parse_args()
    width, layers, feed_forward, heads = SHAPES[given.shape]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = {"model_type": "opt", "_name_or_path": f"OPT-{given.shape}'s shape, random weights",
                  "activation_function": "relu", "do_layer_norm_before": True, "hidden_size": width,
                  "num_hidden_layers": layers, "ffn_dim": feed_forward, "num_attention_heads": heads,
                  "max_position_embeddings": POSITIONS, "vocab_size": VOCABULARY, "bos_token_id": 2, "eos_token_id": 2,
                  "pad_token_id": 1, "unk_token_id": 3}
        (folder / "config.json").write_text(json.dumps(config))
        # gpt2's byte vocabulary after the control tokens, and one merge because a GGUF file cannot have empty lists.
        # The rest is unused.
        printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [byte for byte in range(256) if byte not in printable]
        names = [chr(byte) for byte in printable] + [chr(256 + i) for i in range(len(others))]
        vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, **{name: 4 + i for i, name in enumerate([*names, "th"])}}
        (folder / "vocab.json").write_text(json.dumps(vocabulary))
        (folder / "merges.txt").write_text("#version: 0.2\nt h\n")
        write_safetensors(folder / "model.safetensors", shapes_of(width, layers, feed_forward), np.random.default_rng(0))
        convert = Path(__file__).resolve().parent / "convert_opt.py"
        sys.exit(subprocess.call([sys.executable, str(convert), str(folder), str(given.out), "--type", given.type]))


if __name__ == "__main__":
    main()
