#!/usr/bin/env python3
"""Distils a draft model of another size from a llama-family target, such as the bundled one, and says what it reaches.

    tools/train_draft.py --out models/spectr-stories-draft-1.2m-f16.gguf

1. The target writes texts: `spectr generate` after the openings of the first half of --prompts, temperature 1 without
   filters, a seed for each text; they are kept in --texts and not written again.
2. The draft learns the target's distribution after every token of these texts: cross entropy with all of its
   probabilities, which is the Kullback-Leibler divergence up to a constant, by AdamW with a cosine schedule. Its
   embedding, which is its output too, begins as the principal components of the target's.
3. It is written as GGUF with F16 matrices and the target's vocabulary, and `spectr bench methods` tells its block
   efficiency for K = 1 and 8 and L = 4 and 8 on the other half of the openings.

Before it learns anything the target's distribution is compared with the one of `spectr logits`. Needs the packages
torch, numpy and gguf. One core of a current server learns some 5,000 tokens a second."""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy as np
import torch
from torch import nn
from torch.nn import functional

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Layer(nn.Module):
    """A block of the llama architecture: RMS norms, rotary attention on interleaved pairs, SwiGLU."""

    def __init__(self, width, heads, ffn, epsilon):
        super().__init__()
        self.heads = heads
        self.attn_norm, self.ffn_norm = nn.RMSNorm(width, epsilon), nn.RMSNorm(width, epsilon)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            setattr(self, name, nn.Linear(width, width, bias=False))
        self.ffn_gate, self.ffn_up = nn.Linear(width, ffn, bias=False), nn.Linear(width, ffn, bias=False)
        self.ffn_down = nn.Linear(ffn, width, bias=False)

    def forward(self, x, turns):
        normed = self.attn_norm(x)
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(-2, -3)  # [batch, head, token, size]
        q, k = (rotated(split(part(normed)), turns) for part in (self.attn_q, self.attn_k))
        mixed = functional.scaled_dot_product_attention(q, k, split(self.attn_v(normed)), is_causal=True)
        x = x + self.attn_output(mixed.transpose(-2, -3).flatten(-2))
        normed = self.ffn_norm(x)
        return x + self.ffn_down(functional.silu(self.ffn_gate(normed)) * self.ffn_up(normed))


def rotated(x, turns):
    """Pairs (2i, 2i+1) of the last dimension turned by their angles."""
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turns[: x.shape[-2]]).flatten(-2).type_as(x)


class Llama(nn.Module):
    """Embedding and output share their weights."""

    def __init__(self, vocabulary, context, width, layers, heads, ffn, epsilon, base):
        super().__init__()
        self.token_embd = nn.Embedding(vocabulary, width)
        self.blk = nn.ModuleList(Layer(width, heads, ffn, epsilon) for _ in range(layers))
        self.output_norm = nn.RMSNorm(width, epsilon)
        size = width // heads
        angles = torch.outer(torch.arange(context), base ** (-torch.arange(0, size, 2) / size))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles), persistent=False)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def states(self, tokens):
        """What the output's matrix is applied to, [batch, token, width]."""
        x = self.token_embd(tokens)
        for layer in self.blk:
            x = layer(x, self.turns)
        return self.output_norm(x)

    def logits(self, states):
        return states @ self.token_embd.weight.T


def read_target(path):
    """The model of a GGUF file, and the reader of the file."""
    reader = gguf.GGUFReader(path)
    value = lambda key: reader.get_field(f"llama.{key}").contents()
    names = [tensor.name for tensor in reader.tensors]
    if reader.get_field("general.architecture").contents() != "llama" or "output.weight" in names:
        sys.exit(f"{path} is not of the llama family with a tied output")
    if value("attention.head_count") != value("attention.head_count_kv"):
        sys.exit(f"{path} shares keys and values among heads, which this tool does not know")
    embedding = next(tensor for tensor in reader.tensors if tensor.name == "token_embd.weight")
    model = Llama(int(embedding.shape[1]), value("context_length"), value("embedding_length"), value("block_count"),
                  value("attention.head_count"), value("feed_forward_length"),
                  value("attention.layer_norm_rms_epsilon"), value("rope.freq_base"))
    weights = {tensor.name: torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
               for tensor in reader.tensors}
    model.load_state_dict(weights)
    return model.eval(), reader


def check_target(program, path, model):
    """Both programs must compute the same function, or what is learned is something else."""
    tokens = [1, 403, 407, 261, 378, 1000, 2000, 300]
    out = subprocess.run([program, "logits", "-m", str(path), "--tokens", ",".join(map(str, tokens)), "--json"],
                         capture_output=True, text=True, check=True)
    theirs = torch.tensor(json.loads(out.stdout)["logits"]).log_softmax(-1)
    with torch.no_grad():
        ours = model.logits(model.states(torch.tensor([tokens])))[0, -1].log_softmax(-1)
    off = (theirs.exp() - ours.exp()).abs().sum().item() / 2
    print(f"the target here and in {program}: total variation {off:.1e}", flush=True)
    if off > 0.01:
        sys.exit("they differ too much")


def write_texts(program, given, prompts):
    """One list of tokens a text, written by the target; what the file has is not written again."""
    path = pathlib.Path(given.texts)
    origin = {"target": pathlib.Path(given.target).name, "prompts": pathlib.Path(given.prompts).name,
              "context": given.context}
    if not path.exists():
        path.write_text(json.dumps(origin) + "\n")
    first, *texts = [json.loads(line) for line in path.read_text().splitlines()]
    if first != origin:
        sys.exit(f"{path}: these texts are of {first}, not of {origin}: give --texts another name")
    openings = {}  # in tokens
    for prompt in prompts:
        out = subprocess.run([program, "tokenize", "-m", given.target, "-p", prompt, "--json"], capture_output=True,
                             text=True, check=True)
        openings[prompt] = json.loads(out.stdout)["tokens"]
    with path.open("a") as file:
        for seed in range(len(texts), given.count):
            prompt = prompts[seed % len(prompts)]
            out = subprocess.run(
                [program, "generate", "-m", given.target, "--method", "plain", "-p", prompt,
                 "-n", str(given.context), "--seed", str(seed), "--temp", "1", "--top-k", "0", "--top-p", "1",
                 "--min-p", "0", "-t", "1", "--json"], capture_output=True, text=True, check=True)
            texts.append(openings[prompt] + json.loads(out.stdout)["tokens"])
            file.write(json.dumps(texts[-1]) + "\n")
            if (seed + 1) % 100 == 0:
                print(f"{seed + 1} of {given.count} texts", flush=True)
    return texts[: given.count]


def rows_of(texts, length):
    """A row for every text: it and, where it is shorter, what comes after it."""
    rows = []
    for first in range(len(texts)):
        row = []
        for text in texts[first:]:
            row += text
            if len(row) >= length:
                rows.append(row[:length])
                break
    return torch.tensor(rows)


def begin_as_target(draft, target):
    """The draft's embedding becomes what the largest principal components tell of the target's."""
    embedding = target.token_embd.weight
    directions = torch.linalg.svd(embedding, full_matrices=False).Vh[: draft.token_embd.embedding_dim]
    draft.token_embd.weight.data.copy_(embedding @ directions.T)


def learn(target, draft, rows, given):
    """The target reads each row once; its states take less room than its distributions."""
    with torch.no_grad():
        states = torch.cat([target.states(part).half() for part in rows.split(32)])
    print(f"{sum(p.numel() for p in draft.parameters())} parameters, {len(rows)} rows of {given.context} tokens",
          flush=True)
    held_out = min(64, len(rows) // 10)
    optimizer = torch.optim.AdamW(draft.parameters(), given.rate, betas=(0.9, 0.95), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / 50) * 0.5 * (1.0 + math.cos(math.pi * step / given.steps)))
    generator = torch.Generator().manual_seed(given.seed)
    for step in range(given.steps):
        batch = torch.randint(held_out, len(rows), (given.batch,), generator=generator)
        with torch.no_grad():
            wanted = target.logits(states[batch].float()).softmax(-1)
        found = draft.logits(draft.states(rows[batch]))
        loss = functional.cross_entropy(found.flatten(0, 1), wanted.flatten(0, 1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(draft.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if (step + 1) % 50 == 0 or step + 1 == given.steps:
            print(f"step {step + 1}: cross entropy {loss.item():.4f}, overlap on texts held out "
                  f"{overlap(target, draft, rows[:held_out], states[:held_out]):.4f}", flush=True)


def overlap(target, draft, rows, states):
    """Mean sum of min(p, q), the probability that a token of the draft is accepted."""
    with torch.no_grad():
        parts = [torch.minimum(draft.logits(draft.states(some)).softmax(-1), target.logits(of.float()).softmax(-1))
                 .sum(-1).mean(-1) for some, of in zip(rows.split(16), states.split(16))]
    return torch.cat(parts).mean().item()


def write_draft(draft, reader, given):
    """The target's file with the draft's sizes and weights."""
    writer = gguf.GGUFWriter(given.out, "llama")
    sizes = {"llama.embedding_length": given.width, "llama.block_count": given.layers,
             "llama.feed_forward_length": given.ffn, "llama.attention.head_count": given.heads,
             "llama.attention.head_count_kv": given.heads,
             "llama.rope.dimension_count": given.width // given.heads, "general.name": pathlib.Path(given.out).stem}
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key in ("general.architecture", "general.file_type"):
            continue
        kind = field.types[0]
        of = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, sizes.get(key, field.contents()), kind, sub_type=of)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    for name, weight in draft.state_dict().items():
        writer.add_tensor(name, weight.numpy().astype(np.float16 if weight.dim() == 2 else np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def tell_efficiency(program, given, prompts):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps({"prompt": prompt}) + "\n" for prompt in prompts)
        file.flush()
        out = subprocess.run(
            [program, "bench", "methods", "-m", given.target, "-md", given.out, "--method", "spectr", "-K", "1,8", "-L",
             "4,8", "--temp", "1", "--top-k", "0", "--top-p", "1", "--min-p", "0", "--prompts", file.name, "--count",
             "30", "-n", "64", "-t", "1", "--json"], capture_output=True, text=True, check=True)
    for row in json.loads(out.stdout)["rows"]:
        efficiency = row["block_efficiency"]
        print(f"K = {row['drafts']}, L = {row['length']}: {efficiency['mean']:.2f} ± {efficiency['se']:.2f} "
              "tokens per call")


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--program", default=str(ROOT / "build/release/bin/spectr"))
    flags.add_argument("--target", default=str(ROOT / "models/spectr-stories-7m-f16.gguf"))
    flags.add_argument("--prompts", default=str(ROOT / "data/stories.jsonl"))
    flags.add_argument("--texts", default="draft-texts.jsonl", help="where the target's texts are kept")
    flags.add_argument("--out", required=True)
    for name, value in (("width", 128), ("layers", 3), ("heads", 4), ("ffn", 448), ("count", 3600),
                        ("context", 256), ("batch", 8), ("steps", 1000), ("seed", 0), ("threads", 1)):
        flags.add_argument(f"--{name}", type=int, default=value)
    flags.add_argument("--rate", type=float, default=5e-3)
    given = flags.parse_args()
    if given.width % given.heads != 0 or given.width // given.heads % 2 != 0:
        sys.exit("the width must be a multiple of the heads, and a head's size even")
    torch.manual_seed(given.seed)
    torch.set_num_threads(given.threads)
    target, reader = read_target(given.target)
    check_target(given.program, given.target, target)
    openings = [json.loads(line)["prompt"] for line in open(given.prompts, encoding="utf-8")]
    half = len(openings) // 2
    texts = write_texts(given.program, given, openings[:half])
    value = lambda key: reader.get_field(f"llama.{key}").contents()
    draft = Llama(target.token_embd.num_embeddings, value("context_length"), given.width, given.layers, given.heads,
                  given.ffn, value("attention.layer_norm_rms_epsilon"), value("rope.freq_base"))
    begin_as_target(draft, target)
    learn(target, draft, rows_of(texts, given.context), given)
    write_draft(draft, reader, given)
    tell_efficiency(given.program, given, openings[half:])


if __name__ == "__main__":
    main()
