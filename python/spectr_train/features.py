"""Reads the files that `spectr draft features` writes; docs/drafters.md has their format."""
import json
import struct
import typing

import numpy as np
import torch

MAGIC = b"SPECTRF1"


class Batch(typing.NamedTuple):
    """Sequences of a file, padded to the longest one. A sequence of n tokens has n - 1 rows: row i belongs to token i
    and predicts token i + 1."""

    tokens: torch.Tensor  # [batch, tokens]
    lengths: torch.Tensor  # [batch], in tokens
    features: torch.Tensor  # [batch, tokens - 1, width]
    top: torch.Tensor  # [batch, tokens - 1, top], the target's likeliest tokens
    log_q: torch.Tensor  # [batch, tokens - 1, top], their log-probabilities at temperature 1


class FeatureFile:
    """A file of features. Records are read when they are asked for."""

    def __init__(self, path):
        self.bytes = np.memmap(path, np.uint8, "r")
        if bytes(self.bytes[:8]) != MAGIC:
            raise ValueError(f"{path}: is no file of features")
        (size,) = struct.unpack("<I", self.bytes[8:12])
        self.header = json.loads(bytes(self.bytes[12 : 12 + size]))
        self.width, self.top = self.header["width"], self.header["top"]
        self.starts = []
        position = 12 + size
        while position < len(self.bytes):
            (tokens,) = struct.unpack("<I", self.bytes[position : position + 4])
            self.starts.append(position)
            position += 8 + 4 * tokens + (tokens - 1) * (8 * self.top + self.header["bytes"] * self.width)

    def __len__(self):
        return len(self.starts)

    def record(self, index):
        """Tokens, features, top tokens and their log-probabilities of a sequence."""
        position = self.starts[index]
        (tokens,) = struct.unpack("<I", self.bytes[position : position + 4])
        position += 8

        def part(dtype, *shape):
            nonlocal position
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            values = np.frombuffer(self.bytes[position : position + size].tobytes(), dtype).reshape(shape)
            position += size
            return torch.from_numpy(values.copy())

        ids = part(np.int32, tokens).long()
        top, log_q = part(np.int32, tokens - 1, self.top).long(), part(np.float32, tokens - 1, self.top)
        if self.header["bytes"] == 4:
            features = part(np.float32, tokens - 1, self.width)
        else:
            features = part(np.int16, tokens - 1, self.width).view(torch.bfloat16).float()
        return ids, features, top, log_q

    def opening(self, index, most):
        """The first tokens of a sequence, those that were given, at most `most` of them."""
        _, given = struct.unpack("<II", self.bytes[self.starts[index] : self.starts[index] + 8])
        return self.record(index)[0][: min(given, most)].tolist()

    def batch(self, indices, device="cpu"):
        records = [self.record(int(index)) for index in indices]
        pad = lambda part: torch.nn.utils.rnn.pad_sequence([r[part] for r in records], batch_first=True).to(device)
        lengths = torch.tensor([len(r[0]) for r in records], device=device)
        return Batch(pad(0), lengths, pad(1), pad(2), pad(3))
