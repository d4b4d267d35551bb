"""Trains a drafter on a file of features."""
import math
import sys
import time

import torch

import losses


def held_out(count):
    """How many sequences, the last ones, measure progress instead of being learned."""
    return min(64, max(1, count // 10))


def step_loss(drafter, head, batch, settings, generator=None):
    """The mean loss of a batch, and per position of a draft the mean acceptance of `settings.drafts` drafts and of
    one, given that the tokens before were accepted."""
    total, weights, accepted = 0.0, 0.0, []
    survivors = reached = None
    last = batch.lengths[:, None] - 2  # the last row
    for states, rows in drafter.drafts(batch, generator):
        valid = rows <= last
        if survivors is None:
            survivors, reached = torch.full(rows.shape, float(settings.drafts), device=rows.device), valid.float()
        at = rows.clamp_max(batch.top.shape[1] - 1)
        pick = lambda x: x.gather(1, at[..., None].expand(-1, -1, x.shape[-1]))[valid]
        logits = states[valid] @ head.T
        p, q = losses.merged(logits, pick(batch.top), pick(batch.log_q))
        text = batch.tokens.gather(1, at + 1)[valid]
        p_of_text = (logits.gather(-1, text[:, None])[:, 0] - logits.logsumexp(-1)).exp()
        weight = reached[valid]
        loss, alpha, more, further = losses.draft_loss(settings.loss, settings.drafts, p_of_text, p, q,
                                                       survivors[valid], weight)
        total, weights = total + loss.sum(), weights + weight.sum()
        with torch.no_grad():
            one = losses.acceptance(p, q, torch.ones_like(weight))
            mean = lambda x: (x * weight).sum().item() / max(weight.sum().item(), 1e-9)
            accepted.append((mean(alpha), mean(one)))
        survivors = survivors.masked_scatter(valid, more)
        reached = torch.zeros_like(reached).masked_scatter(valid, further)
    return total / weights, accepted


@torch.no_grad()
def measure(drafter, head, file, settings, device):
    generator = torch.Generator().manual_seed(1)
    first, found, losses_found = len(file) - held_out(len(file)), [], []
    for begin in range(first, len(file), settings.batch):
        batch = file.batch(range(begin, min(len(file), begin + settings.batch)), device)
        loss, accepted = step_loss(drafter, head, batch, settings, generator)
        found.append(accepted)
        losses_found.append(loss.item())
    mean = torch.tensor(found).mean(0)
    return sum(losses_found) / len(losses_found), mean[:, 0].tolist(), mean[:, 1].tolist()


def train(drafter, target, file, settings, device):
    """Returns the losses of the steps, and the held-out loss and acceptances per position at the end."""
    drafter.to(device).train()
    head = target.head
    optimizer = torch.optim.AdamW(drafter.parameters(), settings.rate, betas=(0.9, 0.95), weight_decay=0.01)
    generator = torch.Generator().manual_seed(settings.seed)
    learned = max(1, len(file) - held_out(len(file)))
    found, order, began = [], [], time.monotonic()
    for step in range(settings.steps):
        share = max(step / settings.steps, (time.monotonic() - began) / (60 * settings.minutes))
        if share >= 1:
            break
        for group in optimizer.param_groups:  # warms up in the first twentieth, then falls as a cosine
            group["lr"] = settings.rate * min(1.0, 20 * share + 20 / settings.steps) * 0.5 * (1 + math.cos(math.pi * share))
        while len(order) < settings.batch:
            order += torch.randperm(learned, generator=generator).tolist()
        chosen, order = order[: settings.batch], order[settings.batch :]
        loss, accepted = step_loss(drafter, head, file.batch(chosen, device), settings, generator)
        if not torch.isfinite(loss):
            raise ValueError(f"step {step + 1}: the loss is {loss.item()}: give a smaller --rate")
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(drafter.parameters(), 1.0)
        optimizer.step()
        found.append(loss.item())
        if (step + 1) % settings.report == 0:
            recent = found[-settings.report :]
            shown = " ".join(f"{one:.2f}" for _, one in accepted)
            print(f"step {step + 1} of {settings.steps}: loss {sum(recent) / len(recent):.4f}, acceptance {shown}, "
                  f"{time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return found, measure(drafter.eval(), head, file, settings, device)
