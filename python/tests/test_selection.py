"""Plans and verification: exact distributions, random streams, array types, and errors."""

import itertools
import threading

import numpy as np
import pytest

import spectr

P = np.array([0.5, 1 / 3, 1 / 6])
Q = np.array([1 / 6, 1 / 3, 0.5])


def chain(batch=4, n=3, vocab=5, seed=0, dtype=np.float64):
    """Drafted tokens [B, n], the draft's rows and the target's."""
    random = np.random.default_rng(seed)
    draft = random.dirichlet(np.ones(vocab), (batch, n))
    target = random.dirichlet(np.ones(vocab), (batch, n + 1))
    tokens = np.array([[random.choice(vocab, p=row) for row in rows] for rows in draft])
    return tokens, draft.astype(dtype), target.astype(dtype)


class TestPlan:
    @pytest.mark.parametrize(
        "name", ["maximal", "k-seq", "recursive", "str++", "optimal", "otm-lp", "recursive-wor"]
    )
    def test_the_law_of_a_lossless_plan_is_q(self, name):
        plan = spectr.plan(name, P, Q, 2)
        assert plan.lossless and plan.bias == 0.0
        np.testing.assert_allclose(plan.law(), Q, atol=1e-12)

    def test_acceptance_is_the_golden_value(self):
        assert spectr.plan("optimal", P, Q, k=2).acceptance == pytest.approx(29 / 36, abs=1e-12)

    def test_conditional_adds_up_to_the_law(self):
        plan = spectr.plan("k-seq", P, Q, 2)
        pairs = itertools.product(range(3), repeat=2)
        mean = sum(P[a] * P[b] * plan.conditional([a, b]) for a, b in pairs)
        np.testing.assert_allclose(mean, Q, atol=1e-12)

    def test_selects_as_conditional_says(self):
        plan = spectr.plan("optimal", P, Q, 2)
        found = np.bincount([plan.select([0, 1], seed) for seed in range(4000)], minlength=3) / 4000
        np.testing.assert_allclose(found, plan.conditional([0, 1]), atol=5 * np.sqrt(0.25 / 4000))

    def test_draws_depend_on_seed_and_stream_alone(self):
        plan = spectr.plan("optimal", P, Q, 8)
        assert list(plan.draw(3)) == list(plan.draw(3, stream=0))
        assert any(list(plan.draw(3)) != list(plan.draw(3, stream=s)) for s in range(1, 4))

    def test_residual_is_none_if_everything_is_accepted(self):
        assert spectr.plan("maximal", P, P, 1).residual is None
        assert spectr.plan("maximal", P, Q, 1).residual.sum() == pytest.approx(1.0)

    def test_float32_probabilities_are_normalised(self):
        plan = spectr.plan("optimal", P.astype(np.float32), Q.astype(np.float32), 2)
        assert plan.acceptance == pytest.approx(29 / 36, abs=1e-6)

    @pytest.mark.parametrize(
        "arguments, error, words",
        [
            (("nonsense", P, Q, 2), ValueError, "there is no plan 'nonsense'"),
            (("k-seq", P, [0.5, 0.5], 2), ValueError, "p has a vocabulary of 3, but q has 2"),
            (("k-seq", P, [0.5, 0.6, -0.1], 2), ValueError, r"q\[2\] is -0.1"),
            (("k-seq", [np.nan, 0.0, 1.0], Q, 2), ValueError, r"p\[0\] is nan"),
            (("k-seq", P * 0.9, Q, 2), ValueError, "p sums to 0.9"),
            (("k-seq", [P], Q, 2), ValueError, "p must have 1 dimensions"),
            (("k-seq", P, Q, 0), ValueError, "k must lie in"),
            (("k-seq", P, Q, -1), ValueError, "k must lie in"),
            (("k-seq", P, Q, 1.5), TypeError, "k must be an integer"),
            (("k-seq", P.astype(complex), Q, 2), TypeError, "p must have dtype"),
        ],
    )
    def test_errors_name_the_argument(self, arguments, error, words):
        with pytest.raises(error, match=words):
            spectr.plan(*arguments)

    def test_drafts_are_checked(self):
        plan = spectr.plan("k-seq", P, Q, 2)
        with pytest.raises(ValueError, match=r"drafts\[1\] must lie in \[0, 2\], got 3"):
            plan.select([0, 3], 1)
        with pytest.raises(ValueError, match="drafts must have 2 tokens, got 1"):
            plan.conditional([0])
        with pytest.raises(TypeError, match="drafts must hold integers"):
            plan.select([0.0, 1.0], 1)


class TestVerify:
    @pytest.mark.parametrize(
        "method", ["block", "speculative", "k-seq", "optimal", "traversal", "conditional"]
    )
    def test_emits_accepted_drafts_and_one_more(self, method):
        tokens, draft, target = chain(batch=50)
        out, emitted = spectr.verify(tokens, draft, target, method=method, seed=1)
        assert out.shape == (50, 4) and emitted.shape == (50,)
        for row, count, drafted in zip(out, emitted, tokens):
            assert 1 <= count <= 4
            assert list(row[: count - 1]) == list(drafted[: count - 1])
            assert 0 <= row[count - 1] < 5 and all(row[count:] == -1)

    def test_a_row_does_not_depend_on_its_batch(self):
        tokens, draft, target = chain(batch=6)
        out, emitted = spectr.verify(tokens, draft, target, seed=9)
        for b in range(6):
            row = slice(b, b + 1)
            alone, count = spectr.verify(tokens[row], draft[row], target[row], seed=9, streams=[b])
            assert list(alone[0]) == list(out[b]) and count[0] == emitted[b]

    def test_blocks_seeds_and_streams_draw_other_numbers(self):
        tokens, draft, target = chain(batch=30)
        first, _ = spectr.verify(tokens, draft, target, seed=9)
        again, _ = spectr.verify(tokens, draft, target, seed=9)
        assert (first == again).all()
        for other in ({"seed": 10}, {"seed": 9, "block": 1}, {"seed": 9, "streams": range(30, 60)}):
            assert (first != spectr.verify(tokens, draft, target, **other)[0]).any()

    def test_arrays_of_any_kind_give_the_same(self):
        tokens, draft, target = chain(dtype=np.float32)
        expected, _ = spectr.verify(tokens, draft, target, seed=2)
        strided = np.repeat(draft, 2, axis=2)[:, :, ::2]
        fortran = np.asfortranarray(target)
        assert not strided.flags.c_contiguous and not fortran.flags.c_contiguous
        loose = target.astype(np.float64) / target.astype(np.float64).sum(axis=2, keepdims=True)
        for p, q in [(strided, fortran), (draft, loose)]:
            assert (spectr.verify(tokens.astype(np.int8), p, q, seed=2)[0] == expected).all()

    def test_reads_arrays_by_dlpack(self):
        class Exporter:
            def __init__(self, array, device=(1, 0)):
                self.array, self.device = array, device

            def __dlpack__(self, **arguments):
                return self.array.__dlpack__(**arguments)

            def __dlpack_device__(self):
                return self.device

        tokens, draft, target = chain()
        expected, _ = spectr.verify(tokens, draft, target, seed=2)
        found, _ = spectr.verify(tokens, Exporter(draft), Exporter(target), seed=2)
        assert (found == expected).all()
        with pytest.raises(ValueError, match="draft_probs lies on a device"):
            spectr.verify(tokens, Exporter(draft, (2, 0)), target, seed=2)

    def test_shorter_drafts_end_with_minus_one(self):
        tokens, draft, target = chain(batch=2)
        tokens[1, 1:] = -1
        out, emitted = spectr.verify(tokens, draft, target, seed=2)
        short, count = spectr.verify(tokens[1:, :1], draft[1:, :1], target[1:, :2], seed=2, streams=[1])
        assert emitted[1] == count[0] <= 2 and list(out[1, :2]) == list(short[0])

    def test_threads_give_the_same_as_one(self):
        tokens, draft, target = chain(batch=64, vocab=50)
        expected, _ = spectr.verify(tokens, draft, target, seed=4)
        found = [None] * 4

        def run(i):
            found[i] = spectr.verify(tokens, draft, target, seed=4)[0]

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all((one == expected).all() for one in found)

    @pytest.mark.parametrize(
        "change, words",
        [
            (lambda a: a["draft_tokens"].__setitem__((0, 0), 9), r"row 0: draft_tokens\[0\] must lie in \[0, 4\]"),
            (lambda a: a["draft_tokens"].__setitem__((0, 0), -1), "row 0: token .* follows -1"),
            (lambda a: a["draft_probs"].__setitem__((2, 1, 0), -0.5), r"row 2: draft_probs\[1\]\[0\] is -0.5"),
            (lambda a: a["target_probs"].__setitem__((1, 3, 0), np.nan), r"row 1: target_probs\[3\]\[0\] is nan"),
            (lambda a: a["target_probs"].__imul__(1.1), r"row 0: target_probs\[0\] sums to 1.1"),
            (lambda a: a.update(target_probs=a["target_probs"][:, :3]), r"target_probs must have shape \[4, 4, any\]"),
            (lambda a: a.update(draft_probs=a["draft_probs"][:, :, :4]), r"draft_probs must have shape \[4, 3, 5\]"),
            (lambda a: a.update(draft_tokens=a["draft_tokens"][0]), "draft_tokens must have shape"),
            (lambda a: a.update(seed=-1), "seed must lie in"),
            (lambda a: a.update(streams=[1]), "streams must have 4 entries"),
            (lambda a: a.update(method="nonsense"), "method: there is no method or plan 'nonsense'"),
        ],
    )
    def test_errors_name_the_argument(self, change, words):
        tokens, draft, target = chain()
        arguments = {"draft_tokens": tokens, "draft_probs": draft, "target_probs": target, "seed": 1}
        change(arguments)
        with pytest.raises(ValueError, match=words):
            spectr.verify(**arguments)


class TestVerifyTree:
    PARENTS = [[-1, -1, 0]]
    TOKENS = [[2, 0, 1]]
    DRAFT = np.array([[[0.25, 0.25, 0.5], [0.25, 0.25, 0.5], [0.5, 0.5, 0.0]]])
    TARGET = np.array([[[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.4, 0.3, 0.3], [0.0, 0.5, 0.5]]])

    @pytest.mark.parametrize(
        "method", ["traversal", "conditional", "optimal", "k-seq", "recursive", "specinfer"]
    )
    def test_returns_the_path_of_accepted_entries(self, method):
        for seed in range(30):
            tokens, emitted, path = spectr.verify_tree(
                self.PARENTS, self.TOKENS, self.DRAFT, self.TARGET, method, k=2, seed=seed, return_path=True
            )
            assert tokens.shape == (1, 4) and path.shape == (1, 3)
            accepted = path[0][: emitted[0] - 1]
            assert list(tokens[0][: emitted[0] - 1]) == [self.TOKENS[0][entry] for entry in accepted]
            assert all(path[0][emitted[0] - 1 :] == -1)

    def test_rows_by_node_or_by_number_are_those_by_token(self):
        unread = np.full((1, 1, 3), np.nan)  # rows after leaves, which are not read
        by_node = np.concatenate([self.DRAFT[:, :1], self.DRAFT[:, 2:], unread, unread], axis=1)
        for seed in range(20):
            expected, _ = spectr.verify_tree(self.PARENTS, self.TOKENS, self.DRAFT, self.TARGET, seed=seed)
            nodes, _ = spectr.verify_tree(self.PARENTS, self.TOKENS, by_node, self.TARGET, seed=seed)
            rows, _ = spectr.verify_tree(
                self.PARENTS, self.TOKENS, by_node[:, :2], self.TARGET, draft_rows=[[0, 0, 1]], seed=seed
            )
            assert (nodes == expected).all() and (rows == expected).all()

    def test_logits_are_those_of_the_probabilities(self):
        with np.errstate(divide="ignore"):
            logits = np.log(self.TARGET) + 3
        for seed in range(20):
            expected, _ = spectr.verify_tree(self.PARENTS, self.TOKENS, self.DRAFT, self.TARGET, seed=seed)
            found, _ = spectr.verify_tree(
                self.PARENTS, self.TOKENS, self.DRAFT, target_logits=logits, seed=seed
            )
            assert (found == expected).all()

    @pytest.mark.parametrize("method", ["k-seq", "recursive", "traversal", "conditional"])
    def test_counted_copies_keep_the_distribution(self, method):
        """Three drafts of two tokens, sorted by token: the first token emitted is distributed as the target's."""
        p, q, n = np.array([0.6, 0.4]), np.array([0.3, 0.7]), 4000
        ones = (np.random.default_rng(1).random((n, 3)) < p[1]).sum(axis=1)
        tokens, copies = np.zeros((n, 2), dtype=int), np.ones((n, 2), dtype=int)
        for b, count in enumerate(ones):
            if count in (0, 3):
                tokens[b], copies[b] = (count // 3, -1), (3, 1)
            else:
                tokens[b], copies[b] = (0, 1), (3 - count, count)
        out, _ = spectr.verify_tree(
            np.full((n, 2), -1),
            tokens,
            np.broadcast_to(p, (n, 2, 2)),
            np.broadcast_to(q, (n, 3, 2)),
            method,
            multiplicities=copies,
            k=3,
            seed=2,
        )
        assert abs((out[:, 0] == 1).mean() - q[1]) < 5 * np.sqrt(0.25 / n)

    def test_errors_name_the_argument(self):
        def call(**changed):
            arguments = {
                "parents": self.PARENTS,
                "tokens": self.TOKENS,
                "draft_probs": self.DRAFT,
                "target_probs": self.TARGET,
                "seed": 1,
            }
            return spectr.verify_tree(**{**arguments, **changed})

        for changed, words in [
            ({"parents": [[-1, -1, 2]]}, r"row 0: parents\[2\] must be -1 or an entry before 2, got 2"),
            ({"parents": [[-1, -1]]}, r"parents must have shape \[1, 3\]"),
            ({"k": 3}, "k is 3, but 2 drafted tokens"),
            ({"method": "block"}, "method block takes one chain"),
            ({"multiplicities": [[0, 1, 1]]}, r"multiplicities\[0\] must lie in \[1, 1024\], got 0"),
            ({"target_logits": self.TARGET}, "exactly one of target_probs and target_logits"),
            ({"draft_rows": [[0, 0, 3]]}, r"draft_rows\[2\] must lie in \[0, 2\], got 3"),
            ({"draft_probs": self.DRAFT[:, :1]}, r"draft_probs must have shape \[1, 3, any\]"),
        ]:
            with pytest.raises(ValueError, match=words):
                call(**changed)
