"""Reads what drafters use of a target's GGUF file, and writes drafters as GGUF files of llama.cpp's names."""
import os
import pathlib

import gguf
import numpy as np
import torch

from drafters import Target

TYPES = {"f32": gguf.GGMLQuantizationType.F32, "f16": gguf.GGMLQuantizationType.F16,
         "q8_0": gguf.GGMLQuantizationType.Q8_0}
FILE_TYPES = {"f32": gguf.LlamaFileType.ALL_F32, "f16": gguf.LlamaFileType.MOSTLY_F16,
              "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}


class TargetFile:
    def __init__(self, path):
        self.path = path
        self.reader = gguf.GGUFReader(path)
        self.architecture = self.value("general.architecture", None)
        self.tensors = {tensor.name: tensor for tensor in self.reader.tensors}
        if self.own("block_count") is None or "token_embd.weight" not in self.tensors:
            raise ValueError(f"{path}: is no language model")

    def value(self, key, default):
        field = self.reader.get_field(key)
        return default if field is None else field.contents()

    def own(self, key, default=None):
        return self.value(f"{self.architecture}.{key}", default)

    def numbers(self, name):
        tensor = self.tensors[name]
        return torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))

    def layer(self, index):
        """The weights of a layer by their names, or none if it has others than drafters do."""
        names = ("attn_norm", "ffn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
        full = {name: f"blk.{index}.{name}.weight" for name in names}
        known = all(tensor in self.tensors for tensor in full.values())
        return {name: self.numbers(tensor).float() for name, tensor in full.items()} if known else {}

    @property
    def embedding_scale(self):
        """Gemma models multiply their embedding, and a drafter's is the same."""
        return self.own("embedding_length") ** 0.5 if self.architecture.startswith("gemma") else 1.0

    def mask_token(self, chosen):
        """The token that marks the places of a block: the file's own, else one that texts do not have."""
        names = ("mask_token_id", "unknown_token_id", "padding_token_id", "eos_token_id")
        found = [self.value(f"tokenizer.ggml.{name}", None) for name in names]
        known = [token for token in [chosen, *found] if token is not None]
        if not known:
            raise ValueError(f"{self.path}: has no token for the places of a block: give --mask-token")
        return known[0]

    def target(self, heads, mask, blocks):
        embedding = self.numbers("token_embd.weight").float()
        head = self.numbers("output.weight").float() if "output.weight" in self.tensors else embedding
        norm = self.numbers("output_norm.weight").float()
        width, count = embedding.shape[1], self.own("block_count")
        heads = heads or self.own("attention.head_count")
        if width % heads != 0 or width // heads % 2 != 0:
            raise ValueError(f"--heads: {heads} heads do not divide a width of {width} into even sizes")
        if not 0 <= mask < len(embedding):
            raise ValueError(f"--mask-token: {mask} is outside the target's vocabulary of {len(embedding)}")
        return Target(embedding * self.embedding_scale, head, norm,
                      self.own("attention.layer_norm_rms_epsilon", 1e-5), self.own("rope.freq_base", 10000.0),
                      heads, mask, [self.layer(i) for i in range(max(0, count - blocks), count)],
                      self.architecture == "llama")


def write(path, kind, drafter, source, target, layers, type_name):
    """Writes a drafter. `layers` are those of the target whose inputs it reads."""
    temporary = f"{path}.{os.getpid()}"
    writer = gguf.GGUFWriter(temporary, kind)
    writer.add_name(pathlib.Path(path).stem)
    writer.add_file_type(FILE_TYPES[type_name])
    layer, blocks = drafter.blk[0], len(drafter.blk)
    writer.add_block_count(blocks)
    writer.add_context_length(source.own("context_length"))
    writer.add_vocab_size(len(target.embedding))
    writer.add_embedding_length(target.width)
    writer.add_feed_forward_length(layer.ffn_gate.out_features)
    writer.add_head_count(target.heads)
    writer.add_head_count_kv(target.heads)
    writer.add_key_length(target.width // target.heads)
    writer.add_value_length(target.width // target.heads)
    writer.add_layer_norm_rms_eps(target.epsilon)
    writer.add_rope_freq_base(target.base)
    writer.add_rope_dimension_count(target.width // target.heads)
    writer.add_array(f"{kind}.target_layers", layers)
    if kind == "eagle3":
        writer.add_uint32("eagle3.target_hidden_size", target.width)
    else:
        writer.add_uint32("dflash.block_size", drafter.rows)
        writer.add_bool("dflash.attention.causal", False)
        if source.embedding_scale != 1.0:
            writer.add_float32("dflash.embedding_scale", source.embedding_scale)
        writer.add_uint32("tokenizer.ggml.mask_token_id", target.mask)
    for key, field in source.reader.fields.items():
        if not key.startswith("tokenizer.") or (kind == "dflash" and key == "tokenizer.ggml.mask_token_id"):
            continue
        of = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, field.contents(), field.types[0], sub_type=of)
    for name, weight in drafter.state_dict().items():
        numbers = weight.detach().float().cpu().numpy()
        kind_of = TYPES[type_name] if numbers.ndim == 2 else TYPES["f32"]
        if kind_of == TYPES["q8_0"] and numbers.shape[1] % 32 != 0:
            kind_of = TYPES["f16"]
        writer.add_tensor(name, gguf.quants.quantize(np.ascontiguousarray(numbers), kind_of), raw_dtype=kind_of)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(temporary, path)


def read_weights(path, drafter):
    """Replaces a drafter's weights by those of a file that write() wrote."""
    weights = {tensor.name: torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
               for tensor in gguf.GGUFReader(path).tensors}
    shapes = lambda state: {name: tuple(weight.shape) for name, weight in state.items()}
    if shapes(weights) != shapes(drafter.state_dict()):
        raise ValueError(f"{path}: has other tensors than the drafter that is to be trained")
    drafter.load_state_dict(weights)
