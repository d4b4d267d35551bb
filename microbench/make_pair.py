#!/usr/bin/env python3
"""Writes a pair of GGUF files on which speculation can be timed without any trained model.

The target is a random Llama of the given shape, or with --experts one of Qwen3's shapes with experts, as
wide as --ffn each; the experts of a layer are parts of one matrix, each a little further than the one before. The draft is its first layers with the same embedding and
head: an early exit. `--branch` scales what every layer adds, so it sets how far the two laws are apart: 0
makes them equal, larger values let the draft be accepted less often. `--eagle3` and `--dflash` also write random trained drafters
for a target without experts: their drafts are useless, but cost what those of a trained one of this shape cost. Needs python3-numpy.

    python3 microbench/make_pair.py target.gguf draft.gguf --type q8_0 --branch 0.15 --eagle3 eagle3.gguf --dflash dflash.gguf
"""
import argparse
import struct

import numpy as np

F32, F16, Q4_0, Q8_0, Q4_K, Q6_K, BF16 = 0, 1, 2, 8, 12, 14, 30
U32, FLOAT, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5


def text(s):
    raw = s.encode()
    return struct.pack("<Q", len(raw)) + raw


def field(key, kind, value):
    pack = {U32: "<I", FLOAT: "<f", BOOL: "<B"}
    if kind == STRING:
        body = text(value)
    elif kind == ARRAY:
        element, items = value
        body = struct.pack("<IQ", element, len(items))
        body += b"".join(map(text, items)) if element == STRING else np.asarray(items, {FLOAT: "<f4", I32: "<i4"}[element]).tobytes()
    else:
        body = struct.pack(pack[kind], value)
    return text(key) + struct.pack("<I", kind) + body


def blocks(x, largest, dtype):
    x = x.reshape(-1, 32)
    scale = np.abs(x).max(axis=1) / largest
    codes = np.rint(x / np.where(scale == 0, 1, scale)[:, None]).astype(dtype)
    return scale.astype("<f2").view(np.uint8).reshape(-1, 2), codes


def encode_q4_k(x):
    """Blocks of 256 in eight parts: each has a scale and a minimum of six bits."""
    x = x.reshape(-1, 8, 32)
    least = np.minimum(x.min(axis=2), 0)
    scale = (x.max(axis=2) - least) / 15
    d, dmin = (v.max(axis=1).astype("<f2") for v in (scale / 63, -least / 63))
    whole = lambda v, unit: np.rint(v / np.where(unit == 0, 1, unit).astype(np.float32)[:, None]).clip(0, 63).astype(np.uint8)
    s, m = whole(scale, d), whole(-least, dmin)
    low, high = np.hstack([s[:, :4], m[:, :4]]), np.hstack([s[:, 4:], m[:, 4:]])
    low |= high >> 4 << 6
    packed = np.hstack([low, (s[:, 4:] & 15) | (m[:, 4:] & 15) << 4])
    step, start = (v.astype(np.float32)[:, None] for v in (d, dmin))
    step, start = (step * s)[:, :, None], (start * m)[:, :, None]
    codes = np.rint((x + start) / np.where(step == 0, 1, step)).clip(0, 15).astype(np.uint8).reshape(-1, 4, 2, 32)
    codes = (codes[:, :, 0] | codes[:, :, 1] << 4).reshape(-1, 128)
    return np.hstack([d.view(np.uint8).reshape(-1, 2), dmin.view(np.uint8).reshape(-1, 2), packed, codes]).tobytes()


def encode_q6_k(x):
    """Blocks of 256 in sixteen parts: each has a scale of eight bits."""
    x = x.reshape(-1, 16, 16)
    scale = np.abs(x).max(axis=2) / 31
    d = (scale.max(axis=1) / 127).astype("<f2")
    unit = d.astype(np.float32)[:, None]
    s = np.rint(scale / np.where(unit == 0, 1, unit)).clip(0, 127).astype(np.int8)
    step = (unit * s)[:, :, None]
    codes = (np.rint(x / np.where(step == 0, 1, step)).clip(-32, 31) + 32).astype(np.uint8).reshape(-1, 2, 4, 32)
    low = np.stack([codes[:, :, 0] & 15 | (codes[:, :, 2] & 15) << 4, codes[:, :, 1] & 15 | (codes[:, :, 3] & 15) << 4], 2)
    high = sum((codes[:, :, i] >> 4) << 2 * i for i in range(4)).astype(np.uint8)
    return np.hstack([low.reshape(-1, 128), high.reshape(-1, 64), s.view(np.uint8), d.view(np.uint8).reshape(-1, 2)]).tobytes()


def encode(x, kind):
    if kind == Q4_K:
        return encode_q4_k(x)
    if kind == Q6_K:
        return encode_q6_k(x)
    if kind == F32:
        return x.astype("<f4").tobytes()
    if kind == F16:
        return x.astype("<f2").tobytes()
    if kind == BF16:
        return (x.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    if kind == Q8_0:
        scale, codes = blocks(x, 127, np.int8)
        return np.hstack([scale, codes.view(np.uint8)]).tobytes()
    scale, codes = blocks(x, 7, np.int8)
    codes = (codes + 8).astype(np.uint8)
    return np.hstack([scale, codes[:, :16] | codes[:, 16:] << 4]).tobytes()


def write(path, fields, tensors):
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(fields)) + b"".join(field(*f) for f in fields)
    offset, data = 0, []
    for name, x, kind in tensors:
        raw = encode(x, kind)
        raw += b"\0" * (-len(raw) % 32)
        head += text(name) + struct.pack("<I", x.ndim) + struct.pack(f"<{x.ndim}Q", *x.shape[::-1])
        head += struct.pack("<IQ", kind, offset)
        offset += len(raw)
        data.append(raw)
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % 32))
        for raw in data:
            file.write(raw)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("target")
    a.add_argument("draft")
    for name, value in {"dim": 2048, "layers": 22, "draft-layers": 1, "heads": 32, "kv-heads": 4, "ffn": 5632,
                        "vocab": 32000, "seed": 1}.items():
        a.add_argument("--" + name, type=int, default=value)
    a.add_argument("--experts", type=int, default=0, help="experts of a layer")
    a.add_argument("--used", type=int, default=8, help="experts of a token")
    a.add_argument("--head-dim", type=int, default=0, help="of a head, where it is not dim / heads")
    a.add_argument("--type", choices=("f16", "bf16", "q8_0", "q4_0", "q4_k_m"), default="q8_0")
    a.add_argument("--branch", type=float, default=0.15, help="size of what a layer adds")
    a.add_argument("--sharp", type=float, default=5.0, help="standard deviation of the logits")
    a.add_argument("--eagle3", metavar="FILE", help="also write an EAGLE-3 head, which shares the target's embedding and head")
    a.add_argument("--dflash", metavar="FILE", help="also write a DFlash drafter, which shares them, too")
    a.add_argument("--block-size", type=int, default=16, help="rows of a block of --dflash")
    a.add_argument("--block-layers", type=int, default=2, help="layers of --dflash")
    o = a.parse_args()
    if o.experts and (o.eagle3 or o.dflash):
        a.error("--eagle3 and --dflash are written for targets without --experts")
    kind = {"f16": F16, "bf16": BF16, "q8_0": Q8_0, "q4_0": Q4_0, "q4_k_m": Q4_K}[o.type]
    random = np.random.default_rng(o.seed)

    def weights(rows, cols, size=1.0):
        return random.standard_normal((rows, cols), dtype=np.float32) * np.float32(size / np.sqrt(cols))

    size = o.head_dim or o.dim // o.heads
    q, kv, ones = size * o.heads, size * o.kv_heads, np.ones(o.dim, np.float32)
    arch = "qwen3moe" if o.experts else "llama"

    def experts(rows, cols, branch=1.0):
        """[experts, rows, cols], a row of the pool further each."""
        pool = weights(rows + o.experts, cols, branch)
        return np.lib.stride_tricks.sliding_window_view(pool, (rows, cols))[: o.experts, 0]

    ends = [("token_embd.weight", weights(o.vocab, o.dim, np.sqrt(o.dim)), kind), ("output_norm.weight", ones, F32),
            ("output.weight", weights(o.vocab, o.dim, o.sharp), Q6_K if kind == Q4_K else kind)]
    def feed_forward():
        if not o.experts:
            return {"ffn_gate": weights(o.ffn, o.dim), "ffn_up": weights(o.ffn, o.dim),
                    "ffn_down": weights(o.dim, o.ffn, o.branch)}
        head = np.ones(size, np.float32)
        return {"attn_q_norm": head, "attn_k_norm": head, "ffn_gate_inp": weights(o.experts, o.dim, 4),
                "ffn_gate_exps": experts(o.ffn, o.dim), "ffn_up_exps": experts(o.ffn, o.dim),
                "ffn_down_exps": experts(o.dim, o.ffn, o.branch)}

    def kind_of(name, x, layer):
        if x.ndim == 1 or name == "ffn_gate_inp":
            return F32
        # llama.cpp's mix: values and down have Q6_K in the first and last eighth of the layers and every third between
        eighth = o.layers // 8
        has_more = layer < eighth or layer >= 7 * o.layers // 8 or (layer - eighth) % 3 == 2
        return Q6_K if kind == Q4_K and has_more and name in ("attn_v", "ffn_down") else kind

    layers = []
    for i in range(o.layers):
        layers.append([(f"blk.{i}.{name}.weight", x, kind_of(name, x, i)) for name, x in {
            "attn_norm": ones, "attn_q": weights(q, o.dim), "attn_k": weights(kv, o.dim),
            "attn_v": weights(kv, o.dim), "attn_output": weights(o.dim, q, o.branch), "ffn_norm": ones,
            **feed_forward()}.items()])

    pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
    pieces += [f"\u2581w{i}" for i in range(o.vocab - len(pieces))]
    kinds = [2, 3, 3] + [6] * 256 + [1] * (o.vocab - 259)

    def fields(name, count, arch=arch, more=()):
        own = [("context_length", U32, 2048), ("embedding_length", U32, o.dim), ("block_count", U32, count),
               ("feed_forward_length", U32, o.ffn), ("attention.head_count", U32, o.heads),
               ("attention.head_count_kv", U32, o.kv_heads), ("attention.key_length", U32, size),
               ("attention.value_length", U32, size), ("rope.dimension_count", U32, size),
               ("attention.layer_norm_rms_epsilon", FLOAT, 1e-5), ("rope.freq_base", FLOAT, 10000.0),
               ("vocab_size", U32, o.vocab), *more]
        if o.experts:
            own += [("expert_count", U32, o.experts), ("expert_used_count", U32, o.used),
                    ("expert_feed_forward_length", U32, o.ffn)]
        return [("general.architecture", STRING, arch), ("general.name", STRING, name),
                *((f"{arch}.{key}", kind, value) for key, kind, value in own),
                ("tokenizer.ggml.model", STRING, "llama"),
                ("tokenizer.ggml.tokens", ARRAY, (STRING, pieces)),
                ("tokenizer.ggml.scores", ARRAY, (FLOAT, [-float(i) for i in range(o.vocab)])),
                ("tokenizer.ggml.token_type", ARRAY, (I32, kinds)), ("tokenizer.ggml.bos_token_id", U32, 1),
                ("tokenizer.ggml.eos_token_id", U32, 2), ("tokenizer.ggml.add_bos_token", BOOL, 1),
                ("tokenizer.ggml.add_space_prefix", BOOL, 1)]

    shape = f"{o.dim}x{o.layers} {o.type} branch {o.branch} sharp {o.sharp}"
    write(o.target, fields(f"random {shape}", o.layers), ends + sum(layers, []))
    write(o.draft, fields(f"first {o.draft_layers} of random {shape}", o.draft_layers),
          ends + sum(layers[:o.draft_layers], []))

    taps = sorted({min(2, o.layers), o.layers // 2, max(o.layers - 3, 0)})
    features = len(taps) * o.dim

    def drafter_layer(i, inputs, extra):
        matrices = {"attn_q": weights(q, inputs), "attn_k": weights(kv, inputs), "attn_v": weights(kv, inputs),
                    "attn_output": weights(o.dim, q, o.branch), "ffn_gate": weights(o.ffn, o.dim),
                    "ffn_up": weights(o.ffn, o.dim), "ffn_down": weights(o.dim, o.ffn, o.branch)}
        norms = {"attn_norm": ones, "ffn_norm": ones, **extra}
        return [(f"blk.{i}.{name}.weight", x, F32 if x.ndim == 1 else kind) for name, x in (norms | matrices).items()]

    fusion = [("fc.weight", weights(o.dim, features), kind), ("output_norm.weight", ones, F32)]
    target_layers = ("target_layers", ARRAY, (I32, taps))
    if o.eagle3:
        write(o.eagle3, fields(f"EAGLE-3 head of random {shape}", 1, "eagle3",
                               [target_layers, ("target_hidden_size", U32, o.dim)]),
              fusion + drafter_layer(0, 2 * o.dim, {"attn_norm_2": ones}))
    if o.dflash:
        head = np.ones(size, np.float32)
        block = [layer for i in range(o.block_layers)
                 for layer in drafter_layer(i, o.dim, {"attn_q_norm": head, "attn_k_norm": head})]
        write(o.dflash, fields(f"DFlash drafter of random {shape}", o.block_layers, "dflash",
                               [target_layers, ("block_size", U32, o.block_size), ("attention.causal", BOOL, 0)])
              + [("tokenizer.ggml.mask_token_id", U32, 0)],
              fusion + [("enc.output_norm.weight", ones, F32)] + block)


if __name__ == "__main__":
    main()
