#!/usr/bin/env python3
"""Writes a model of Meta's OPT family, as Hugging Face has it, as a GGUF file for spectr.

    tools/convert_opt.py FOLDER OUT.gguf [--type f32|f16|bf16|q8_0]

FOLDER holds config.json, the tokenizer's vocab.json and merges.txt, and the weights (model.safetensors, also in
several parts, or pytorch_model.bin, for which PyTorch is needed). Needs Python's numpy and gguf.

No other program writes OPT as GGUF. The names follow those of gpt2: token_embd, position_embd, blk.N.attn_norm,
attn_q, attn_k, attn_v, attn_output, ffn_norm, ffn_up, ffn_down, output_norm. Two things are done here so that a
reader need not know them: the first two rows of the positions, which no token has, are left out; and embeddings
of another width than the model's (opt-350m) are multiplied with the projections before and behind the layers,
which makes token_embd and output two matrices. `opt.norms_behind_sums` says that layers normalize the stream behind
each block (do_layer_norm_before is false): attn_norm and ffn_norm are then the norms behind them, and there is no
output_norm."""
import argparse
import json
import struct
import sys
from pathlib import Path

import gguf
import numpy as np

TYPES = {"f32": gguf.GGMLQuantizationType.F32, "f16": gguf.GGMLQuantizationType.F16,
         "bf16": gguf.GGMLQuantizationType.BF16, "q8_0": gguf.GGMLQuantizationType.Q8_0}
FILE_TYPES = {"f32": gguf.LlamaFileType.ALL_F32, "f16": gguf.LlamaFileType.MOSTLY_F16,
              "bf16": gguf.LlamaFileType.MOSTLY_BF16, "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}


def read_safetensors(path):
    """Name to array of one file, in float32."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    kinds = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in kinds:
            sys.exit(f"{path}: tensor {name} is {entry['dtype']}, but F32, F16 and BF16 are supported")
        begin, end = entry["data_offsets"]
        numbers = np.frombuffer(data[8 + size + begin:8 + size + end], kinds[entry["dtype"]])
        if entry["dtype"] == "BF16":
            numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = numbers.astype(np.float32).reshape(entry["shape"])
    return tensors


def read_weights(folder):
    parts = sorted(folder.glob("*.safetensors"))
    if parts:
        tensors = {}
        for part in parts:
            tensors.update(read_safetensors(part))
    elif list(folder.glob("pytorch_model*.bin")):
        try:
            import torch
        except ImportError:
            sys.exit(f"{folder}: the weights are pytorch_model.bin, which PyTorch alone can read: pip install torch")
        tensors = {}
        for part in sorted(folder.glob("pytorch_model*.bin")):
            for name, tensor in torch.load(part, map_location="cpu", weights_only=True).items():
                tensors[name] = tensor.float().numpy()
    else:
        sys.exit(f"{folder}: there are neither *.safetensors nor pytorch_model*.bin")
    # The prefix "model." is present in some files only.
    return {name.removeprefix("model."): tensor for name, tensor in tensors.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--type", choices=TYPES, default="f32", help="of matrices (default: f32)")
    given = parser.parse_args()
    try:
        config = json.loads((given.folder / "config.json").read_text())
        vocabulary = json.loads((given.folder / "vocab.json").read_text())
        merges = (given.folder / "merges.txt").read_text().splitlines()
    except (OSError, json.JSONDecodeError) as failure:
        sys.exit(f"{given.folder}: {failure}")
    if config.get("model_type") != "opt":
        sys.exit(f"{given.folder}/config.json: model_type is {config.get('model_type')!r}, not 'opt'")
    if config.get("activation_function", "relu") != "relu":
        sys.exit(f"{given.folder}/config.json: activation_function is {config['activation_function']!r}, not 'relu'")
    tensors = read_weights(given.folder)
    width, layers = config["hidden_size"], config["num_hidden_layers"]
    before = config.get("do_layer_norm_before", True)

    writer = gguf.GGUFWriter(given.out, "opt")
    writer.add_name(config.get("_name_or_path") or given.folder.resolve().name)
    writer.add_file_type(FILE_TYPES[given.type])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(config["ffn_dim"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(1e-5)
    writer.add_bool("opt.norms_behind_sums", not before)

    tokens = [f"[unused{i}]" for i in range(config["vocab_size"])]
    types = [gguf.TokenType.UNUSED] * config["vocab_size"]
    control = {config.get(f"{name}_token_id") for name in ("bos", "eos", "pad", "unk")}
    for token, number in vocabulary.items():
        tokens[number] = token
        types[number] = gguf.TokenType.CONTROL if number in control else gguf.TokenType.NORMAL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([line for line in merges if line and not line.startswith("#version")])
    writer.add_bos_token_id(config.get("bos_token_id", 2))
    writer.add_eos_token_id(config.get("eos_token_id", 2))
    writer.add_pad_token_id(config.get("pad_token_id", 1))
    writer.add_add_bos_token(True)

    def matrix(name, numbers):
        kind = TYPES[given.type]
        if kind == TYPES["q8_0"] and numbers.shape[-1] % 32 != 0:
            kind = TYPES["f16"]
        data = gguf.quants.quantize(np.ascontiguousarray(numbers, np.float32), kind)
        writer.add_tensor(name + ".weight", data, raw_dtype=kind)

    def vector(name, numbers):
        writer.add_tensor(name, np.ascontiguousarray(numbers, np.float32))

    def norm(name, source):
        vector(name + ".weight", tensors.get(source + ".weight", np.ones(width)))
        vector(name + ".bias", tensors.get(source + ".bias", np.zeros(width)))

    def linear(name, source):
        matrix(name, tensors[source + ".weight"])
        if source + ".bias" in tensors:
            vector(name + ".bias", tensors[source + ".bias"])

    try:
        embeddings = tensors["decoder.embed_tokens.weight"]
        head = tensors.get("lm_head.weight", embeddings)
        if "decoder.project_in.weight" in tensors:
            matrix("output", head @ tensors["decoder.project_out.weight"])
            embeddings = embeddings @ tensors["decoder.project_in.weight"].T
        elif not np.array_equal(head, embeddings):
            matrix("output", head)
        matrix("token_embd", embeddings)
        # Rows of position embeddings are looked up and added, so they are not quantized.
        writer.add_tensor("position_embd.weight",
                          np.ascontiguousarray(tensors["decoder.embed_positions.weight"][2:], np.float32))
        for i in range(layers):
            block, source = f"blk.{i}.", f"decoder.layers.{i}."
            norm(block + "attn_norm", source + "self_attn_layer_norm")
            for part, of in (("q", "q_proj"), ("k", "k_proj"), ("v", "v_proj"), ("output", "out_proj")):
                linear(f"{block}attn_{part}", f"{source}self_attn.{of}")
            norm(block + "ffn_norm", source + "final_layer_norm")
            for part, of in (("up", "fc1"), ("down", "fc2")):
                name = f"{source}{of}"
                matrix(f"{block}ffn_{part}", tensors[name + ".weight"])
                vector(f"{block}ffn_{part}.bias",
                       tensors.get(name + ".bias", np.zeros(tensors[name + ".weight"].shape[0])))
        if before and not config.get("_remove_final_layer_norm", False):
            norm("output_norm", "decoder.final_layer_norm")
        elif before:
            sys.exit(f"{given.folder}/config.json: _remove_final_layer_norm is not supported")
    except KeyError as missing:
        sys.exit(f"{given.folder}: the weights have no tensor {missing}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
