"""Lossless multi-draft speculative decoding by optimal transport.

    import spectr

    plan = spectr.plan("optimal", p, q, k=4)          # plan.acceptance, plan.law(), plan.select(drafts, seed)
    tokens, emitted = spectr.verify(draft_tokens, draft_probs, target_probs, method="block", seed=1)
    spectr.law("traversal", draft, target, drafts=2).tv(target)
    spectr.test_lossless(my_verifier, vocab=3, length=2)
    spectr.Engine("target.gguf", ["draft.gguf"]).generate("Once upon a time", seed=1).text

See docs/python.md.
"""

from . import hf
from ._core import __version__
from ._engine import Engine, Generation, Piece, Stream
from ._law import Law, law
from ._lossless import Choices, Counterexample, LosslessReport, SampledChoices, test_lossless
from ._selection import Plan, plan, verify, verify_tree

__all__ = [
    "Choices",
    "Counterexample",
    "Engine",
    "Generation",
    "Law",
    "LosslessReport",
    "Piece",
    "Plan",
    "SampledChoices",
    "Stream",
    "__version__",
    "hf",
    "law",
    "plan",
    "test_lossless",
    "verify",
    "verify_tree",
]
