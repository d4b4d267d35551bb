"""Small random models of every architecture and stored format, and their logits in double precision from the
definition: a second implementation, that shares no line with the one it tests.

    make.py FOLDER              writes NAME.gguf and NAME.json for all of them
    make.py --check GGUF JSON   relative distance of this implementation's logits from another engine's

Needs Python's numpy and gguf. Weights come from a fixed seed: the files are the same every time."""

import json
import math
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

VOCABULARY, CONTEXT = 320, 256
TOKENS = [1] + [int(3 + (37 * i * i + 11 * i) % (VOCABULARY - 3)) for i in range(23)]


# The definition, for a file as it stands.


class File:
    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.fields = reader.fields
        self.arch = self.fields["general.architecture"].contents()
        self.tensors = {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float64)
                        .reshape(list(reversed(t.shape.tolist()))) for t in reader.tensors}

    def key(self, name, default=None):
        field = self.fields.get(f"{self.arch}.{name}")
        return default if field is None else field.contents()

    def __contains__(self, name):
        return name in self.tensors

    def __getitem__(self, name):
        return self.tensors[name]


def norm(file, name, x, epsilon):
    if f"{name}.bias" in file:  # centred
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * file[f"{name}.weight"] + file[f"{name}.bias"]
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * file[f"{name}.weight"]


def linear(file, name, x):
    y = x @ file[f"{name}.weight"].T
    return y + file[f"{name}.bias"] if f"{name}.bias" in file else y


def rotate(x, dims, base, scale, factors, interleaved):
    """x: [tokens, heads, head size]."""
    half = dims // 2
    frequencies = base ** (-2.0 * np.arange(half) / dims) / factors / scale
    angles = np.arange(x.shape[0])[:, None] * frequencies
    cos, sin = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
    out = x.copy()
    first = slice(0, dims, 2) if interleaved else slice(0, half)
    second = slice(1, dims, 2) if interleaved else slice(half, dims)
    a, b = x[..., first], x[..., second]
    out[..., first], out[..., second] = a * cos - b * sin, a * sin + b * cos
    return out


def silu(z):
    return z / (1 + np.exp(-z))


def gelu(z):
    return z / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


def dense(file, block, x):
    up = linear(file, block + "ffn_up", x)
    if block + "ffn_gate.weight" in file:
        act = gelu if file.arch.startswith("gemma") else silu
        return linear(file, block + "ffn_down", act(linear(file, block + "ffn_gate", x)) * up)
    return linear(file, block + "ffn_down", gelu(up))


def capped(x, cap):
    return cap * np.tanh(x / cap) if cap else x


def window_of(file, layer):
    """Positions that a token sees, itself included, and the base of its rotations; 0: all, the main one."""
    period = {"gemma2": 2, "gemma3": 6}.get(file.arch, 1)
    period = file.key("attention.sliding_window_pattern", period)
    if layer % period == period - 1:
        return 0, None
    base = file.key("rope.freq_base_swa", 10000.0) if file.arch == "gemma3" else None
    return file.key("attention.sliding_window", 0), base


def experts(file, block, x):
    """Those of the largest router outputs, weighted by the softmax of these."""
    gate, up, down = (file[f"{block}ffn_{part}_exps.weight"] for part in ("gate", "up", "down"))
    out = np.zeros_like(x)
    for t, z in enumerate(linear(file, block + "ffn_gate_inp", x)):
        chosen = np.argsort(-z, kind="stable")[: file.key("expert_used_count")]
        weights = np.exp(z[chosen] - z.max())
        for e, weight in zip(chosen, weights / weights.sum()):
            out[t] += weight * (down[e] @ (silu(gate[e] @ x[t]) * (up[e] @ x[t])))
    return out


def logits_of(file, tokens):
    """After the last token."""
    key = file.key
    width, layers, heads = key("embedding_length"), key("block_count"), key("attention.head_count")
    all_kv_heads = key("attention.head_count_kv", heads)
    size = key("attention.key_length", width // heads)
    epsilon = key("attention.layer_norm_rms_epsilon", key("attention.layer_norm_epsilon"))
    dims = 0 if file.arch == "gpt2" else key("rope.dimension_count", size)
    factors = file["rope_freqs.weight"] if "rope_freqs.weight" in file else np.ones(dims // 2)
    parallel = file.arch == "gptneox" and key("use_parallel_residual", True)
    residual = key("residual_scale", 1.0)
    score_scale = key("attention.scale", 1 / math.sqrt(size))
    if (file.arch, layers) in (("gemma2", 46), ("gemma3", 62)):  # the models of 27 billion parameters
        score_scale = 1 / math.sqrt(width / heads)
    x = file["token_embd.weight"][tokens] * key("embedding_scale", 1.0)
    if file.arch.startswith("gemma"):
        x = x * math.sqrt(width)
    if "position_embd.weight" in file:
        x = x + file["position_embd.weight"][: len(tokens)]
    distance = np.arange(len(tokens))[:, None] - np.arange(len(tokens))[None, :]
    for i in range(layers):
        block = f"blk.{i}."
        window, window_base = window_of(file, i)
        mask = np.where((distance < 0) | ((distance >= window) & (window > 0)), -np.inf, 0.0)
        kv_heads = all_kv_heads[i] if isinstance(all_kv_heads, list) else all_kv_heads
        h = norm(file, block + "attn_norm", x, epsilon) if block + "attn_norm.weight" in file else x
        if block + "attn_qkv.weight" in file:
            q, k, v = np.split(linear(file, block + "attn_qkv", h), 3, -1)
        else:
            q, k, v = (linear(file, block + part, h) for part in ("attn_q", "attn_k", "attn_v"))
        has_norms, of_all_heads = block + "attn_q_norm.weight" in file, file.arch == "olmo2"
        if has_norms and of_all_heads:
            q, k = norm(file, block + "attn_q_norm", q, epsilon), norm(file, block + "attn_k_norm", k, epsilon)
        q, k, v = (t.reshape(len(tokens), -1, size) for t in (q, k, v))
        if has_norms and not of_all_heads:
            q, k = norm(file, block + "attn_q_norm", q, epsilon), norm(file, block + "attn_k_norm", k, epsilon)
        if dims and not (file.arch == "smollm3" and i % 4 == 3) and key("rope.scaling.finetuned", True):
            base, scale = key("rope.freq_base", 10000.0), key("rope.scaling.factor", 1.0)
            turn = (dims, window_base or base, 1.0 if window_base else scale, factors,
                    file.arch in ("llama", "smollm3", "granite"))
            q, k = rotate(q, *turn), rotate(k, *turn)
        k, v = (np.repeat(t, heads // kv_heads, 1) for t in (k, v))
        scores = capped(np.einsum("qhd,khd->hqk", q, k) * score_scale, key("attn_logit_softcapping")) + mask
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        attended = np.einsum("hqk,khd->qhd", weights, v).reshape(len(tokens), -1)
        branch = linear(file, block + "attn_output", attended)
        if block + "post_attention_norm.weight" in file:
            branch = norm(file, block + "post_attention_norm", branch, epsilon)
        branch = residual * branch
        h = x if parallel else x + branch
        if block + "ffn_norm.weight" in file:
            h = norm(file, block + "ffn_norm", h, epsilon)
        down = experts(file, block, h) if block + "ffn_gate_inp.weight" in file else dense(file, block, h)
        if block + "post_ffw_norm.weight" in file:
            down = norm(file, block + "post_ffw_norm", down, epsilon)
        x = x + branch + residual * down
    x = norm(file, "output_norm", x, epsilon)
    logits = linear(file, "output" if "output.weight" in file else "token_embd", x)[-1] / key("logit_scale", 1.0)
    return capped(logits, key("final_logit_softcapping"))


# Random models.

random = np.random.default_rng(20260)


def block_of(kind, rows, cols):
    """Random weights of about N(0, 1 / cols) as bytes of a format."""
    weights = (random.standard_normal((rows, cols)) / math.sqrt(cols)).astype(np.float32)
    try:
        return gguf.quants.quantize(weights, kind)
    except NotImplementedError:
        pass
    # What cannot be quantized here: random quants with small scales, each of which is a valid block.
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    data = random.integers(0, 256, (rows, cols // elements, size), dtype=np.uint8)
    set_factors(kind, data, np.full((rows, cols // elements, 1), 1.0, np.float16))
    spread = gguf.quants.dequantize(data.reshape(rows, -1), kind).std()
    factors = (random.uniform(0.7, 1.3, (rows, cols // elements, 1)) / spread / math.sqrt(cols)).astype(np.float16)
    set_factors(kind, data, factors)
    return data.reshape(rows, -1)


def set_factors(kind, blocks, factors):
    if kind == Type.IQ1_M:  # a nibble on top of each 16 bits of scales
        for i in range(4):
            top = (factors.view(np.uint16)[..., 0] >> 4 * i & 15) << 4
            blocks[..., 49 + 2 * i] = blocks[..., 49 + 2 * i] & 15 | top.astype(np.uint8)
        return
    offsets = {Type.Q2_K: (80, 82), Type.Q3_K: (108,), Type.Q4_K: (0, 2), Type.Q5_K: (0, 2), Type.Q6_K: (208,)}
    for at in offsets.get(kind, (0,)):
        blocks[..., at: at + 2] = factors.view(np.uint8)


def vocabulary(writer):
    writer.add_tokenizer_model("llama")
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    tokens += ["▁"] + [chr(97 + i) for i in range(26)]
    tokens += [f"▁{a}{b}" for a in "abcdef" for b in "abcdef"]
    tokens = tokens[:VOCABULARY]
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * 259 + [-float(i) for i in range(VOCABULARY - 259)])
    writer.add_token_types([2, 3, 3] + [6] * 256 + [1] * (VOCABULARY - 259))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)


def write(path, arch, *, width=32, heads=4, kv_heads=2, ffn=48, layers=2, formats=None, keys=None, bias=(), norms="rms",
          tied=True, factors=False, fused=False, positions=False, gated=True, head_norms=False, vector_norms=False, post_norms=False, size=None,
          pre_norms=None, experts=None, context=CONTEXT):
    pre_norms = not post_norms if pre_norms is None else pre_norms
    writer = gguf.GGUFWriter(path, arch)
    writer.add_name(path.stem)
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(ffn)
    writer.add_head_count(heads)
    if not fused:
        writer.add_head_count_kv(kv_heads)
    (writer.add_layer_norm_rms_eps if norms == "rms" else writer.add_layer_norm_eps)(1e-5)
    for name, value in (keys or {}).items():
        {float: writer.add_float32, int: writer.add_uint32, bool: writer.add_bool, str: writer.add_string}[type(value)](
            f"{arch}.{name}", value)
    vocabulary(writer)
    kinds = iter(formats or [])

    def matrix(name, rows, cols):
        kind = Type.F32
        if formats:
            kind = next(kinds)
        data = block_of(kind, rows, cols)
        if kind == Type.F32:
            writer.add_tensor(f"{name}.weight", data)
        else:
            writer.add_tensor(f"{name}.weight", data, raw_dtype=kind)
        if name.split(".")[-1] in bias:
            vector(f"{name}.bias", rows, 0.0)

    def vector(name, size, mean):
        writer.add_tensor(name, (mean + 0.3 * random.standard_normal(size)).astype(np.float32))

    def stacked(name, count, rows, cols):
        kind = next(kinds) if formats else Type.F32
        data = np.stack([block_of(kind, rows, cols) for _ in range(count)])
        writer.add_tensor(name, data, raw_dtype=None if kind == Type.F32 else kind)

    def norm_of(name, size):
        vector(f"{name}.weight", size, 1.0)
        if norms != "rms":
            vector(f"{name}.bias", size, 0.0)

    if experts:
        writer.add_expert_count(experts[0])
        writer.add_expert_used_count(experts[1])
        if arch != "llama":
            writer.add_expert_feed_forward_length(experts[2])
    if size:
        writer.add_key_length(size)
        writer.add_value_length(size)
    size = size or width // heads
    writer.add_tensor("token_embd.weight", random.standard_normal((VOCABULARY, width)).astype(np.float32))
    if positions:
        writer.add_tensor("position_embd.weight", random.standard_normal((CONTEXT, width)).astype(np.float32))
    if factors:
        writer.add_tensor("rope_freqs.weight", np.linspace(1, 8, size // 2, dtype=np.float32))
    all_kv_heads, all_ffn = kv_heads, ffn
    for i in range(layers):
        block = f"blk.{i}."
        kv_heads, ffn = (each[i] if isinstance(each, list) else each for each in (all_kv_heads, all_ffn))
        if pre_norms:
            norm_of(block + "attn_norm", width)
        if fused:
            matrix(block + "attn_qkv", 3 * width, width)
        else:
            matrix(block + "attn_q", heads * size, width)
            matrix(block + "attn_k", kv_heads * size, width)
            matrix(block + "attn_v", kv_heads * size, width)
        if head_norms:
            norm_of(block + "attn_q_norm", size)
            norm_of(block + "attn_k_norm", size)
        if vector_norms:
            norm_of(block + "attn_q_norm", heads * size)
            norm_of(block + "attn_k_norm", kv_heads * size)
        matrix(block + "attn_output", width, heads * size)
        if post_norms:
            norm_of(block + "post_attention_norm", width)
        if pre_norms:
            norm_of(block + "ffn_norm", width)
        if experts:
            count, _, inner = experts
            writer.add_tensor(block + "ffn_gate_inp.weight", random.standard_normal((count, width)).astype(np.float32))
            for part, out, columns in (("gate", inner, width), ("up", inner, width), ("down", width, inner)):
                stacked(f"{block}ffn_{part}_exps.weight", count, out, columns)
        else:
            if gated:
                matrix(block + "ffn_gate", ffn, width)
            matrix(block + "ffn_up", ffn, width)
            matrix(block + "ffn_down", width, ffn)
        if post_norms:
            norm_of(block + "post_ffw_norm", width)
    norm_of("output_norm", width)
    if not tied:
        matrix("output", VOCABULARY, width)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    logits = logits_of(File(path), TOKENS)
    numbers = ", ".join(f"{v:.7g}" for v in logits)
    path.with_suffix(".json").write_text(
        f'{{"model": "{path.name}", "tokens": {json.dumps(TOKENS)}, "logits": [{numbers}]}}\n')


def make_all(folder):
    qkv = ("attn_q", "attn_k", "attn_v")
    everywhere = ("attn_qkv", "attn_output", "ffn_up", "ffn_down")
    write(folder / "llama-f32.gguf", "llama", tied=False, keys={"rope.freq_base": 50000.0, "rope.dimension_count": 8})
    write(folder / "llama-scaled-f32.gguf", "llama", factors=True,
          keys={"rope.scaling.type": "linear", "rope.scaling.factor": 2.0})
    write(folder / "llama-layers-f32.gguf", "llama", layers=3, kv_heads=[4, 1, 2], ffn=[48, 32, 64])
    write(folder / "qwen2-f32.gguf", "qwen2", bias=qkv, keys={"rope.freq_base": 1000000.0})
    write(folder / "qwen3-f32.gguf", "qwen3", head_norms=True, size=16, keys={"rope.freq_base": 1000000.0})
    write(folder / "gpt2-f32.gguf", "gpt2", norms="layer", fused=True, positions=True, gated=False, bias=everywhere)
    for name, parallel in (("gptneox-f32", True), ("gptneox-serial-f32", False)):
        write(folder / f"{name}.gguf", "gptneox", norms="layer", fused=True, gated=False, bias=everywhere, tied=False,
              keys={"use_parallel_residual": parallel, "rope.dimension_count": 4})
    # Every stored format in one of two models: blocks of 32 numbers, and of 256.
    write(folder / "llama-formats-32.gguf", "llama", width=64, ffn=64, layers=2,
          formats=[Type.F16, Type.BF16, Type.F16, Type.BF16, Type.Q8_0, Type.Q4_0, Type.Q4_1,
                   Type.Q5_0, Type.Q5_1, Type.IQ4_NL, Type.Q8_0, Type.Q5_1, Type.Q5_0, Type.Q4_1])
    write(folder / "llama-formats-256.gguf", "llama", width=256, heads=8, kv_heads=1, ffn=256, layers=1,
          formats=[Type.Q2_K, Type.Q3_K, Type.Q6_K, Type.Q4_K, Type.Q5_K, Type.IQ4_XS, Type.Q6_K])
    # Further ones come last: those before them stay as they are.
    write(folder / "smollm3-f32.gguf", "smollm3", layers=5, keys={"rope.freq_base": 2000000.0})
    write(folder / "granite-f32.gguf", "granite", keys={"attention.scale": 0.2, "embedding_scale": 12.0,
                                                       "residual_scale": 0.25, "logit_scale": 3.0})
    write(folder / "granite-unturned-f32.gguf", "granite", keys={"rope.scaling.finetuned": False})
    write(folder / "olmo2-f32.gguf", "olmo2", vector_norms=True, post_norms=True, tied=False,
          keys={"rope.freq_base": 500000.0})
    write(folder / "llama-experts-f32.gguf", "llama", experts=(5, 2, 48))
    write(folder / "qwen3moe-f32.gguf", "qwen3moe", head_norms=True, size=16, experts=(7, 3, 24))
    write(folder / "qwen3moe-formats.gguf", "qwen3moe", width=64, head_norms=True, size=16, layers=1, experts=(6, 2, 32),
          formats=[Type.Q8_0] * 4 + [Type.Q8_0, Type.Q5_1, Type.Q4_0])
    around = {"pre_norms": True, "post_norms": True, "size": 16, "context": 1024}
    write(folder / "gemma2-f32.gguf", "gemma2", layers=3, **around,
          keys={"attention.sliding_window": 7, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0})
    write(folder / "gemma3-f32.gguf", "gemma3", layers=4, head_norms=True, kv_heads=1, **around,
          keys={"attention.sliding_window": 7, "attention.sliding_window_pattern": 3, "rope.freq_base": 1000000.0,
                "rope.scaling.type": "linear", "rope.scaling.factor": 8.0, "final_logit_softcapping": 30.0})
    write(folder / "llama-formats-grids.gguf", "llama", width=256, heads=8, kv_heads=1, ffn=256, layers=2,
          formats=[Type.IQ2_XXS, Type.IQ2_XS, Type.IQ3_XXS, Type.IQ1_S, Type.IQ3_S, Type.IQ2_S, Type.IQ1_M,
                   Type.TQ1_0, Type.TQ2_0, Type.MXFP4, Type.MXFP4, Type.IQ2_XXS, Type.IQ1_M, Type.IQ3_S])


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--check":
        reference = json.loads(Path(sys.argv[3]).read_text())
        found = logits_of(File(sys.argv[2]), reference["tokens"])
        expected = np.array(reference["logits"])
        print(np.linalg.norm(found - expected) / np.linalg.norm(expected))
    else:
        make_all(Path(sys.argv[1]))
