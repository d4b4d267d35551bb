"""Exact distributions, and the test of other people's verifiers."""

import numpy as np
import pytest

import spectr
from spectr._lossless import _upper_tail

DRAFT = np.array([[0.5, 0.5], [0.2, 0.8]])
TARGET = np.array([[0.25, 0.75], [0.7, 0.3]])


class TestLaw:
    @pytest.mark.parametrize("method", ["plain", "speculative", "spectr", "block", "traversal", "conditional"])
    def test_of_a_lossless_method_is_the_targets(self, method):
        law = spectr.law(method, DRAFT, TARGET, horizon=4)
        assert sum(law.distribution.values()) == pytest.approx(1.0)
        assert law.tv(TARGET) < 1e-12 and law.tv_error < 1e-12
        assert law.distribution[(0, 1, 1, 0)] == pytest.approx(0.25 * 0.75 * 0.3 * 0.7)

    def test_of_a_biased_method_is_not(self):
        law = spectr.law("biased-opt", DRAFT, TARGET, horizon=3, epsilon=0.1)
        assert law.tv(TARGET) > 1e-3
        assert law.tv(TARGET) == pytest.approx(law.tv_error, abs=1e-12)

    def test_more_drafts_give_more_tokens(self):
        tokens = [spectr.law("spectr", DRAFT, TARGET, drafts=k, length=2).expected_tokens for k in (1, 2, 3)]
        assert 1.0 < tokens[0] < tokens[1] < tokens[2] < 3.0

    def test_takes_rows_by_prefix_and_by_step(self):
        prefixes = {(): [0.25, 0.75], (0,): [0.25, 0.75], (1,): [0.7, 0.3]}
        by_prefix = spectr.law("block", {(): [0.5, 0.5]}, prefixes, horizon=3)
        by_last = spectr.law("block", [0.5, 0.5], TARGET, horizon=3)
        by_step = spectr.law("block", np.full((1, 2, 2), 0.5), TARGET[np.newaxis], horizon=3)
        assert by_prefix.tv(by_last.distribution) < 1e-12 and by_step.tv(by_last.distribution) < 1e-12
        assert by_prefix.tv(prefixes) < 1e-12

    @pytest.mark.parametrize(
        "arguments, words",
        [
            (("nonsense", DRAFT, TARGET), "there is no method 'nonsense'"),
            (("block", DRAFT, np.eye(3)), "draft has a vocabulary of 2, but target has 3"),
            (("block", DRAFT * 0.9, TARGET), r"draft\[0\]\[0\] sums to 0.9"),
            (("block", np.ones((2, 3)), TARGET), "draft must have shape"),
            (("block", DRAFT, {(0,): [0.5, 0.5]}), "target has no row for the empty prefix"),
            (("block", DRAFT, TARGET, 40), "horizon: 40 tokens"),
        ],
    )
    def test_errors_name_the_argument(self, arguments, words):
        with pytest.raises(ValueError, match=words):
            spectr.law(*arguments)


def speculative(tokens, p, q, choices):
    out = []
    for i, x in enumerate(tokens):
        if not choices.accept(q[i][x] / p[i][x]):
            return out + [choices.draw(np.maximum(q[i] - p[i], 0))]
        out.append(int(x))
    return out + [choices.draw(q[-1])]


def corrects_from_the_target(tokens, p, q, choices):
    out = []
    for i, x in enumerate(tokens):
        if not choices.accept(q[i][x] / p[i][x]):
            return out + [choices.draw(q[i])]
        out.append(int(x))
    return out + [choices.draw(q[-1])]


def recursive(tokens, p, q, choices):
    """Recursive rejection of the first tokens of K drafts; one token a block."""
    left = q[0][0]
    for k in range(len(tokens)):
        x = tokens[k][0]
        if choices.accept(left[x] / p[k][0][x]):
            return [int(x)]
        left = np.maximum(left - p[k][0], 0)
        left = left / left.sum()
    return [choices.draw(left)]


class TestTestLossless:
    def test_proves_a_lossless_verifier(self):
        report = spectr.test_lossless(speculative, vocab=3, length=2)
        assert report and report.tv < 1e-12 and report.counterexample is None and report.p_value is None

    def test_proves_a_verifier_of_several_drafts(self):
        assert spectr.test_lossless(recursive, vocab=3, length=1, drafts=2)

    def test_finds_the_smallest_counterexample(self):
        report = spectr.test_lossless(corrects_from_the_target, vocab=3, length=2)
        assert not report and report.tv > 1e-3
        example = report.counterexample
        assert (example.vocab, example.length, example.drafts) == (2, 1, 1)
        assert abs(example.probability - example.expected) > 1e-3
        first, second = example.output
        assert example.expected == pytest.approx(example.target[()][first] * example.target[(first,)][second])

    def test_takes_the_verifiers_of_spectr(self):
        def block(tokens, p, q, choices):
            seed = int(choices.random.integers(2**63))
            return spectr.verify(tokens[np.newaxis], p[np.newaxis], q[np.newaxis], seed=seed)

        report = spectr.test_lossless(block, vocab=3, length=2, samples=3000, pairs=2)
        assert report.lossless and report.p_value > 1e-6 and report.outcomes == 6000

    def test_finds_a_bias_by_samples(self):
        report = spectr.test_lossless(corrects_from_the_target, vocab=2, length=1, samples=4000, pairs=2)
        assert not report and report.p_value < 1e-6 and report.counterexample is not None

    def test_knows_the_tail_of_chi_square(self):
        quantiles = [(3.841458820694124, 1, 0.05), (18.307038053275146, 10, 0.05), (2.0, 2, np.exp(-1.0))]
        for statistic, degrees, tail in quantiles:
            assert _upper_tail(statistic, degrees) == pytest.approx(tail, rel=1e-9)

    def test_refuses_randomness_of_its_own(self):
        state = np.random.default_rng(1)

        def unrepeatable(tokens, p, q, choices):
            return [choices.draw(state.random(len(q[0])))]

        with pytest.raises(ValueError, match="not a function of its arguments"):
            spectr.test_lossless(unrepeatable)

    def test_refuses_what_cannot_be_emitted(self):
        with pytest.raises(ValueError, match="must emit 1 to 2 tokens below 2"):
            spectr.test_lossless(lambda tokens, p, q, choices: [0, 0, 0], vocab=2, length=1)
        with pytest.raises(ValueError, match="more than 10 outcomes"):
            spectr.test_lossless(speculative, max_outcomes=10)
