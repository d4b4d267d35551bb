"""A test of verifiers: does what they emit have the target's distribution?"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from ._law import Output, distribution_of, total_variation

Verifier = Callable[..., Any]


class Choices:
    """A source of random choices that enumerates every outcome with its exact probability."""

    def __init__(self) -> None:
        self._branches: List[List[Any]] = []  # [index taken, weights, their sum]
        self._depth = 0

    def draw(self, weights: Sequence[float]) -> int:
        """Returns an index below the number of weights [n], with a probability in proportion to its weight."""
        listed = [float(weight) for weight in weights]
        total = math.fsum(listed)
        if not total > 0.0 or not math.isfinite(total) or min(listed) < 0.0:
            raise ValueError(f"weights must be finite, not negative, and have a positive sum, got {listed}")
        if self._depth == len(self._branches):
            self._branches.append([self._next(listed, 0), listed, total])
        branch = self._branches[self._depth]
        if branch[1] != listed:
            raise ValueError("the verifier is not a function of its arguments and its choices")
        self._depth += 1
        return branch[0]

    def accept(self, probability: float) -> bool:
        """Returns True with this probability, clamped to [0, 1]."""
        if not probability > 0.0:
            return False
        return probability >= 1.0 or self.draw([1.0 - probability, probability]) == 1

    @staticmethod
    def _next(weights: Sequence[float], first: int) -> int:
        return next((i for i in range(first, len(weights)) if weights[i] > 0.0), len(weights))

    def _probability(self) -> float:
        return math.prod(weights[index] / total for index, weights, total in self._branches[: self._depth])

    def _advance(self) -> bool:
        """Moves on to the next outcome; False if all have been gone through."""
        del self._branches[self._depth :]
        self._depth = 0
        while self._branches:
            branch = self._branches[-1]
            branch[0] = self._next(branch[1], branch[0] + 1)
            if branch[0] < len(branch[1]):
                return True
            self._branches.pop()
        return False


class SampledChoices:
    """A source of choices that are drawn from `random`, a numpy.random.Generator."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random

    def draw(self, weights: Sequence[float]) -> int:
        """Returns an index below the number of weights [n], with a probability in proportion to its weight."""
        listed = np.asarray(weights, dtype=np.float64)
        return int(self.random.choice(len(listed), p=listed / listed.sum()))

    def accept(self, probability: float) -> bool:
        """Returns True with this probability, clamped to [0, 1]."""
        return bool(self.random.random() < probability)


@dataclass(frozen=True)
class Counterexample:
    """The smallest pair of models found for which the output is biased."""

    vocab: int
    length: int
    drafts: int
    draft: Dict[Output, np.ndarray]  #: the draft's rows by prefix
    target: Dict[Output, np.ndarray]  #: the target's rows by prefix
    output: Output  #: the sequence with the largest deviation
    probability: float  #: probability of emitting it; in sampling mode its frequency
    expected: float  #: its probability under the target


@dataclass(frozen=True)
class LosslessReport:
    """The result of :func:`test_lossless`."""

    lossless: bool
    tv: float  #: the largest total variation to the target; in sampling mode that of the frequencies
    outcomes: int  #: number of enumerated outcomes, or of samples
    p_value: Optional[float]  #: in sampling mode, of the hypothesis that the verifier is lossless
    counterexample: Optional[Counterexample]

    def __bool__(self) -> bool:
        return self.lossless


class _Pair:
    """Random rows of a draft and a target for every prefix. Every other pair has zeros."""

    def __init__(self, vocab: int, length: int, seed: int) -> None:
        random = np.random.default_rng([seed, vocab, length])
        self.draft: Dict[Output, np.ndarray] = {}
        self.target: Dict[Output, np.ndarray] = {}
        for size in range(length + 1):
            for prefix in itertools.product(range(vocab), repeat=size):
                for rows in (self.draft, self.target):
                    weights = random.random(vocab) + 1e-3
                    if seed % 2 == 1:
                        weights[random.random(vocab) < 0.3] = 0.0
                    if weights.sum() == 0.0:
                        weights[random.integers(vocab)] = 1.0
                    rows[prefix] = weights / weights.sum()

    def arguments(self, sequences: Sequence[Output]) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arrays of K sequences; without the first dimension if K = 1."""
        length = len(sequences[0])
        draft = np.stack([[self.draft[s[:i]] for i in range(length)] for s in sequences])
        target = np.stack([[self.target[s[:i]] for i in range(length + 1)] for s in sequences])
        tokens = np.asarray(sequences, dtype=np.int64)
        return (tokens[0], draft[0], target[0]) if len(sequences) == 1 else (tokens, draft, target)


def _emitted(answer: Any, vocab: int, length: int) -> Output:
    """The tokens that a verifier emits: a list, an array padded with -1, or (tokens, emitted)."""
    if isinstance(answer, tuple) and len(answer) == 2 and np.ndim(answer[0]) >= 1 and np.size(answer[1]) == 1:
        answer = np.ravel(answer[0])[: int(np.ravel(answer[1])[0])]
    tokens = tuple(int(token) for token in np.ravel(np.asarray(answer)) if token != -1)
    if not 1 <= len(tokens) <= length + 1 or not all(0 <= token < vocab for token in tokens):
        raise ValueError(f"the verifier must emit 1 to {length + 1} tokens below {vocab}, got {list(tokens)}")
    return tokens


def _complete(pair: _Pair, tokens: Output, mass: float, length: int, out: Dict[Output, float]) -> None:
    """Adds the target's continuations of `tokens` to length + 1 tokens."""
    if len(tokens) == length + 1:
        out[tokens] = out.get(tokens, 0.0) + mass
        return
    for token, q in enumerate(pair.target[tokens]):
        if q > 0.0:
            _complete(pair, tokens + (token,), mass * float(q), length, out)


def _drafted(pair: _Pair, length: int, drafts: int) -> Iterator[Tuple[Tuple[Output, ...], float]]:
    """Every way in which K independent sequences can be drafted, with its probability."""
    one = distribution_of(lambda prefix: pair.draft[prefix], length)
    for sequences in itertools.product(one, repeat=drafts):
        yield sequences, math.prod(one[s] for s in sequences)


def _enumerate(
    verifier: Verifier, pair: _Pair, vocab: int, length: int, drafts: int, outcomes: int, max_outcomes: int
) -> Tuple[Dict[Output, float], int]:
    """Returns the distribution of length + 1 tokens, and the outcomes so far, `outcomes` of earlier pairs included."""
    found: Dict[Output, float] = {}
    for sequences, mass in _drafted(pair, length, drafts):
        choices = Choices()
        arguments = pair.arguments(sequences)
        while True:
            outcomes += 1
            if outcomes > max_outcomes:
                raise ValueError(
                    f"more than {max_outcomes} outcomes; take a smaller vocab, length or drafts, or samples"
                )
            tokens = _emitted(verifier(*arguments, choices), vocab, length)
            _complete(pair, tokens, mass * choices._probability(), length, found)
            if not choices._advance():
                break
    return found, outcomes


def _worst(found: Dict[Output, float], expected: Dict[Output, float]) -> Output:
    return max(sorted(set(found) | set(expected)), key=lambda s: abs(found.get(s, 0.0) - expected.get(s, 0.0)))


def _upper_tail(statistic: float, degrees: int) -> float:
    """P(χ² ≥ statistic): the regularised incomplete gamma function Q(degrees / 2, statistic / 2)."""
    a, x = degrees / 2.0, statistic / 2.0
    if x <= 0.0:
        return 1.0
    scale = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1.0:  # the series of P
        term = total = 1.0 / a
        n = a
        while term > total * 1e-16:
            n += 1.0
            term *= x / n
            total += term
        return max(0.0, 1.0 - total * scale)
    tiny = 1e-300  # Lentz's continued fraction of Q
    b = x + 1.0 - a
    c, d = 1.0 / tiny, 1.0 / b
    h = d
    for i in range(1, 10000):
        an = -i * (i - a)
        b += 2.0
        d = 1.0 / (an * d + b or tiny)
        c = b + an / c or tiny
        h *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return min(1.0, h * scale)


def _sample(
    verifier: Verifier, pair: _Pair, vocab: int, length: int, drafts: int, samples: int, seed: int
) -> Dict[Output, int]:
    """Returns counts of length + 1 tokens: what the verifier emits, and what the target adds."""
    random = np.random.default_rng([seed, 1])
    counts: Dict[Output, int] = {}
    choices = SampledChoices(random)
    for _ in range(samples):
        sequences = []
        for _ in range(drafts):
            sequence: Output = ()
            while len(sequence) < length:
                sequence += (int(random.choice(vocab, p=pair.draft[sequence])),)
            sequences.append(sequence)
        tokens = _emitted(verifier(*pair.arguments(sequences), choices), vocab, length)
        while len(tokens) <= length:
            tokens += (int(random.choice(vocab, p=pair.target[tokens])),)
        counts[tokens] = counts.get(tokens, 0) + 1
    return counts


def _chi_square(counts: Dict[Output, int], expected: Dict[Output, float], samples: int) -> float:
    """The p-value of these counts. Sequences that are expected fewer than five times are taken together."""
    if any(sequence not in expected for sequence in counts):
        return 0.0  # the target cannot emit it
    statistic, cells, rare_expected, rare_found = 0.0, 0, 0.0, 0
    for sequence, p in expected.items():
        if samples * p < 5.0:
            rare_expected += samples * p
            rare_found += counts.get(sequence, 0)
            continue
        statistic += (counts.get(sequence, 0) - samples * p) ** 2 / (samples * p)
        cells += 1
    if rare_expected > 0.0:
        statistic += (rare_found - rare_expected) ** 2 / rare_expected
        cells += 1
    return _upper_tail(statistic, cells - 1) if cells > 1 else 1.0


def test_lossless(
    verifier: Verifier,
    vocab: int = 3,
    length: int = 2,
    drafts: int = 1,
    *,
    pairs: int = 4,
    samples: Optional[int] = None,
    tolerance: float = 1e-9,
    false_alarm: float = 1e-6,
    seed: int = 0,
    max_outcomes: int = 2_000_000,
) -> LosslessReport:
    """Tests whether the output of a verifier has the target's distribution.

    The verifier is called as verifier(draft_tokens, draft_probs, target_probs, choices). With one draft these
    are [L], [L, V] and [L + 1, V]; with K drafts [K, L], [K, L, V] and [K, L + 1, V], the rows along each
    sequence. It returns the tokens that it emits, 1 to L + 1 of them: a list, an array padded with -1, or
    (tokens, emitted).

    Without `samples` the test is a proof by enumeration for random pairs of models. All randomness must then
    come from `choices`, whose draw(weights) and accept(probability) enumerate every outcome. Shapes are
    tested from the smallest on, so the first counterexample is the smallest.

    With `samples` the drafts and the choices are random, and the frequencies are tested by chi-square. The
    verifier may use other randomness, such as choices.random, a numpy.random.Generator.

    Args:
        vocab, length, drafts: The largest V, L and K.
        pairs: Random pairs of models for every shape; every other pair has tokens of probability 0.
        samples: The number of samples for each pair of the largest shape.
        tolerance: The total variation that counts as rounding.
        false_alarm: The probability that a lossless verifier fails in sampling mode.
        seed: The seed of the pairs and the samples.
        max_outcomes: The maximum number of outcomes of all pairs.

    Raises:
        ValueError: A size is invalid, there are too many outcomes, or the verifier emits invalid tokens.
    """
    if vocab < 2 or length < 1 or drafts < 1 or pairs < 1:
        raise ValueError("vocab must be at least 2, and length, drafts and pairs at least 1")
    if samples is not None:
        return _test_by_samples(verifier, vocab, length, drafts, pairs, samples, false_alarm, seed)
    shapes = itertools.product(range(1, length + 1), range(2, vocab + 1), [drafts])
    worst, outcomes = 0.0, 0
    for l, v, k in sorted(shapes, key=lambda shape: shape[1] ** (shape[0] * shape[2])):
        for number in range(pairs):
            pair = _Pair(v, l, seed * pairs + number)
            found, outcomes = _enumerate(verifier, pair, v, l, k, outcomes, max_outcomes)
            expected = distribution_of(lambda prefix, pair=pair: pair.target[prefix], l + 1)
            tv = total_variation(found, expected)
            worst = max(worst, tv)
            if tv > tolerance:
                output = _worst(found, expected)
                example = Counterexample(
                    v, l, k, pair.draft, pair.target, output, found.get(output, 0.0), expected.get(output, 0.0)
                )
                return LosslessReport(False, tv, outcomes, None, example)
    return LosslessReport(True, worst, outcomes, None, None)


def _test_by_samples(
    verifier: Verifier,
    vocab: int,
    length: int,
    drafts: int,
    pairs: int,
    samples: int,
    false_alarm: float,
    seed: int,
) -> LosslessReport:
    least, worst, example = 1.0, 0.0, None
    for number in range(pairs):
        pair = _Pair(vocab, length, seed * pairs + number)
        counts = _sample(verifier, pair, vocab, length, drafts, samples, seed * pairs + number)
        expected = distribution_of(lambda prefix, pair=pair: pair.target[prefix], length + 1)
        frequencies = {sequence: count / samples for sequence, count in counts.items()}
        p_value = _chi_square(counts, expected, samples)
        worst = max(worst, total_variation(frequencies, expected))
        if p_value < least:
            least = p_value
            output = _worst(frequencies, expected)
            example = Counterexample(
                vocab,
                length,
                drafts,
                pair.draft,
                pair.target,
                output,
                frequencies.get(output, 0.0),
                expected.get(output, 0.0),
            )
    combined = min(1.0, least * pairs)  # Bonferroni
    lossless = combined >= false_alarm
    return LosslessReport(lossless, worst, samples * pairs, combined, None if lossless else example)


test_lossless.__test__ = False  # type: ignore[attr-defined]  # pytest must not collect it
