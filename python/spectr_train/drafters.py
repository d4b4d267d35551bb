"""The drafters that can be trained. Parameters are named as the tensors of the GGUF file.

A drafter's `drafts(batch)` computes what it would draft after many prefixes of each sequence, with the sequence's own
tokens as the drafted ones: for each position of a draft the states [batch, prefixes, width] that the head reads, and
the rows of the target [batch, prefixes] that they predict like."""
import torch
from torch import nn
from torch.nn import functional


class Target:
    """What drafters use of a target: its embedding and its head, which are not trained, and its layers, from which
    training starts."""

    def __init__(self, embedding, head, norm, epsilon, base, heads, mask, layers, interleaved):
        self.embedding, self.head, self.norm = embedding, head, norm
        self.epsilon, self.base, self.heads, self.mask = epsilon, base, heads, mask
        self.layers, self.interleaved = layers, interleaved  # weights by name; the order of rotary pairs
        self.width = embedding.shape[1]

    def to(self, device):
        self.embedding, self.head = self.embedding.to(device), self.head.to(device)
        return self


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


def rotate(x, positions, base, interleaved):
    """Rotary positions of x [batch, heads, rows, size]; positions [batch or 1, rows]."""
    size = x.shape[-1]
    frequencies = base ** (-torch.arange(0, size, 2, device=x.device, dtype=torch.float64) / size)
    angles = positions[:, None, :, None] * frequencies
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    pair = a * cos - b * sin, a * sin + b * cos
    return torch.stack(pair, -1).flatten(-2) if interleaved else torch.cat(pair, -1)


class Layer(nn.Module):
    """Weights of attention and a gated feed-forward block."""

    def __init__(self, width, inputs, heads, ffn, epsilon):
        super().__init__()
        self.heads = heads
        self.attn_norm, self.ffn_norm = nn.RMSNorm(width, epsilon), nn.RMSNorm(width, epsilon)
        self.attn_q, self.attn_k, self.attn_v = linear(inputs, width), linear(inputs, width), linear(inputs, width)
        self.attn_output = linear(width, width)
        self.ffn_gate, self.ffn_up, self.ffn_down = linear(width, ffn), linear(width, ffn), linear(ffn, width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(-2, -3)

    def output(self, mixed):
        return self.attn_output(mixed.transpose(-2, -3).flatten(-2))

    def add_ffn(self, x):
        normed = self.ffn_norm(x)
        return x + self.ffn_down(functional.silu(self.ffn_gate(normed)) * self.ffn_up(normed))


def reordered(weight, heads, interleaved):
    """Rows of a matrix of queries or keys, whose rotary pairs are (i, i + half), for pairs (2i, 2i + 1), or back."""
    rows = weight.unflatten(0, (heads, -1))
    if interleaved:
        return torch.stack(rows.chunk(2, 1), 2).flatten(1, 2).flatten(0, 1)
    return torch.cat([rows[:, 0::2], rows[:, 1::2]], 1).flatten(0, 1)


def start_layer(layer, source, target, interleaved):
    """The weights of a target's layer, if all have this layer's shapes. Columns that read the token begin small."""
    weights = {}
    for name, weight in source.items():
        own = getattr(layer, name).weight
        if name in ("attn_k", "attn_v") and weight.shape[0] < own.shape[0]:  # heads that share keys and values
            shared = weight.unflatten(0, (-1, own.shape[0] // layer.heads))
            weight = shared.repeat_interleave(layer.heads // shared.shape[0], 0).flatten(0, 1)
        if name in ("attn_q", "attn_k") and target.interleaved != interleaved:
            weight = reordered(weight, layer.heads, interleaved)
        if weight.dim() == 2 and own.shape == (weight.shape[0], 2 * weight.shape[1]):
            weight = torch.cat([0.1 * own[:, : weight.shape[1]], weight], 1)
        if weight.shape != own.shape:
            return
        weights[name] = weight
    for name, weight in weights.items():
        getattr(layer, name).weight.data.copy_(weight)


def start(drafter, target, features, interleaved):
    """Initial weights: the fused state is the target's last tap, the layers are its last ones, and the head's norm is
    its own. Layers of other shapes begin at random."""
    for module in drafter.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
    for layer in drafter.blk:
        for last in (layer.attn_output, layer.ffn_down):
            last.weight.data.mul_(0.1)
    drafter.fc.weight.data.mul_(0.1)
    drafter.fc.weight.data[:, features - target.width :].add_(torch.eye(target.width))
    drafter.output_norm.weight.data.copy_(target.norm)
    for layer, source in zip(drafter.blk, target.layers[-len(drafter.blk) :]):
        start_layer(layer, source, target, interleaved)


class DFlash(nn.Module):
    """A block drafter (arXiv 2602.06036): one pass over [last token, mask, ...], whose rows see each other and the
    target's fused states before the block, gives the distributions of all drafted tokens."""

    def __init__(self, target, features, settings):
        super().__init__()
        self.rows, self.prefixes, self.base = settings.block_rows, settings.prefixes, target.base
        self.target = [target]  # not a module
        width = target.width
        self.fc = linear(features, width)
        self.enc = nn.ModuleDict({"output_norm": nn.RMSNorm(width, target.epsilon)})
        self.blk = nn.ModuleList(Layer(width, width, target.heads, settings.ffn, target.epsilon)
                                 for _ in range(settings.layers))
        for layer in self.blk:
            for name in ("attn_q_norm", "attn_k_norm"):
                setattr(layer, name, nn.RMSNorm(width // target.heads, target.epsilon))
        self.output_norm = nn.RMSNorm(width, target.epsilon)
        start(self, target, features, False)
        self.enc["output_norm"].weight.data.copy_(self.blk[-1].attn_norm.weight)
        for layer in self.blk:  # queries and keys as long as without their norms, on average
            for norm, part in ((layer.attn_q_norm, layer.attn_q), (layer.attn_k_norm, layer.attn_k)):
                norm.weight.data.fill_((part.weight * layer.attn_norm.weight).square().sum(1).mean().sqrt())

    def states(self, features, tokens, prefixes):
        """States [batch, prefixes, rows - 1, width] of drafts after tokens[: p + 1] for each p of prefixes [batch,
        prefixes]. Row i predicts token p + i + 1."""
        (target,), rows = self.target, self.rows
        context = self.enc["output_norm"](self.fc(features))
        x = target.embedding[target.mask].expand(*prefixes.shape, rows, -1).clone()
        x[:, :, 0] = target.embedding[tokens.gather(1, prefixes)]
        steps = torch.arange(context.shape[1], device=context.device)
        positions = (prefixes[..., None] + torch.arange(rows, device=context.device)).flatten(1)
        block = torch.arange(prefixes.shape[1], device=context.device).repeat_interleave(rows)
        own = (block[:, None] == block).expand(len(tokens), -1, -1)
        before = (steps < prefixes[..., None]).repeat_interleave(rows, 1)
        mask = torch.cat([before, own], -1)[:, None]
        x = x.flatten(1, 2)
        for layer in self.blk:
            normed = layer.attn_norm(x)

            def keys(inputs, where):
                return rotate(layer.attn_k_norm(layer.split(layer.attn_k(inputs))), where, self.base, False)

            q = rotate(layer.attn_q_norm(layer.split(layer.attn_q(normed))), positions, self.base, False)
            k = torch.cat([keys(context, steps[None]), keys(normed, positions)], -2)
            v = torch.cat([layer.split(layer.attn_v(context)), layer.split(layer.attn_v(normed))], -2)
            x = x + layer.output(functional.scaled_dot_product_attention(q, k, v, mask))
            x = layer.add_ffn(x)
        return self.output_norm(x).unflatten(1, (-1, rows))[:, :, 1:]

    def drafts(self, batch, generator=None):
        """Some prefixes of each sequence, drawn at random."""
        limits = (batch.lengths - 1).clamp_min(2)  # the first token drafted has a row
        drawn = torch.rand(len(limits), self.prefixes, generator=generator).to(limits.device)
        prefixes = 1 + (drawn * (limits - 1)[:, None]).long()
        states = self.states(batch.features, batch.tokens, prefixes)
        return [(states[:, :, i], prefixes + i) for i in range(self.rows - 1)]


class Eagle3(nn.Module):
    """One layer on (token, state) (arXiv 2503.01840). Row j holds token j + 1 and the fused features of token j, or the
    state of the row before where that was drafted."""

    def __init__(self, target, features, settings):
        super().__init__()
        self.length, self.base, self.target = settings.length, target.base, [target]
        width = target.width
        self.fc = linear(features, width)
        layer = Layer(width, 2 * width, target.heads, settings.ffn, target.epsilon)
        layer.attn_norm_2 = nn.RMSNorm(width, target.epsilon)
        self.blk = nn.ModuleList([layer])
        self.output_norm = nn.RMSNorm(width, target.epsilon)
        start(self, target, features, True)
        layer.attn_norm_2.weight.data.copy_(layer.attn_norm.weight)

    def unrolled(self, features, tokens, length):
        """States [batch, rows, width] before the head's norm of each drafted token, for drafts that begin with each
        row: the first one reads the target's states alone. Tokens beyond the last one count as token 0."""
        (target,), (layer,) = self.target, self.blk
        rows = features.shape[1]
        padded = functional.pad(tokens, (0, length))
        steps = torch.arange(rows, device=features.device)[None]
        causal = (steps <= steps.mT)[None]
        state, found, keys, values = self.fc(features), [], [], []
        for i in range(length):
            token = layer.attn_norm(target.embedding[padded[:, i + 1 : i + 1 + rows]])
            pair = torch.cat([token, layer.attn_norm_2(state)], -1)
            q = rotate(layer.split(layer.attn_q(pair)), steps + i, self.base, True)
            keys.append(rotate(layer.split(layer.attn_k(pair)), steps + i, self.base, True))
            values.append(layer.split(layer.attn_v(pair)))
            scores = (q @ keys[0].mT).masked_fill(~causal, -torch.inf)  # rows with the target's states
            own = [(q * k).sum(-1, keepdim=True) for k in keys[1:]]  # the draft's own rows
            weights = (torch.cat([scores, *own], -1) * q.shape[-1] ** -0.5).softmax(-1)
            mixed = weights[..., :rows] @ values[0]
            for j, v in enumerate(values[1:]):
                mixed = mixed + weights[..., rows + j, None] * v
            state = layer.add_ffn(state + layer.output(mixed))
            found.append(state)
        return found

    def drafts(self, batch, generator=None):
        states = self.unrolled(batch.features, batch.tokens, self.length)
        rows = torch.arange(batch.features.shape[1], device=batch.tokens.device).expand(batch.features.shape[:2])
        return [(self.output_norm(state), rows + i + 1) for i, state in enumerate(states)]


KINDS = {"dflash": DFlash, "eagle3": Eagle3}
