"""Losses of a drafter's logits against a target's likeliest tokens and their log-probabilities.

The tokens that are not among the target's likeliest ones count as one token, "the rest", so the losses need no more of
the target's distribution. Merging tokens never lowers an acceptance, and never raises a cross-entropy."""
import torch

TINY = 1e-9


def merged(logits, top, log_q):
    """Returns p and q [rows, top + 1] of the likeliest tokens and the rest."""
    q = log_q.exp()
    p = (logits.gather(-1, top) - logits.logsumexp(-1, keepdim=True)).exp() * (q > 0)
    with_rest = lambda x: torch.cat([x, (1 - x.sum(-1, keepdim=True)).clamp_min(TINY)], -1)
    return with_rest(p), with_rest(q)


def cross_entropy(p, q):
    return -(q * p.clamp_min(TINY).log()).sum(-1)


def acceptance(p, q, k):
    """The largest probability with which one of k independent drafts from p equals a token of distribution q:
    min over sets S of 1 + q(S) - p(S)^k. The best S holds the tokens of the smallest q / p, so sorting finds it. With
    S fixed, the derivative by a logit z of p = softmax(z) is -k p(S)^(k-1) p (1[in S] - p(S)). k may be a fraction."""
    order = (q / p.clamp_min(TINY)).argsort(-1)
    below = lambda x: x.gather(-1, order).cumsum(-1)
    values = 1 + below(q) - below(p).clamp(TINY, 1) ** k.unsqueeze(-1)
    return values.amin(-1).clamp(TINY, 1)


def draft_loss(kind, drafts, p_of_text, p, q, survivors, reached):
    """The loss at one position of a draft, per row, and the values for the next position.

    `survivors` is the number of drafts that agree with the text so far, and `reached` the probability that verification
    comes this far: the loss is weighted with it. The acceptance replaces cross-entropy as it grows."""
    k = survivors if kind == "transport" else torch.ones_like(survivors)
    alpha = acceptance(p, q, k)
    own = torch.exp(-3 * alpha.detach()) if kind != "ce" else torch.ones_like(alpha)
    loss = own * cross_entropy(p, q) - (1 - own) * alpha.log()
    more = 1 + (survivors - 1) * p_of_text.detach()
    return loss * reached, alpha.detach(), more, reached * alpha.detach()
