"""Checks drafters that `spectr draft train` makes: trained_drafters.py PROGRAM PROJECT CLAIM.

gradient       The acceptance of K drafts has the stated values and derivatives, and those of differences.
dflash, eagle3 Training lowers the loss, the file is read by the program, and the program's logits along a path are those
               of the trainer's modules with the file's weights."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

program, project, claim = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(project) / "python/spectr_train"))
import torch  # noqa: E402

import drafters  # noqa: E402
import features  # noqa: E402
import gguf_file  # noqa: E402
import losses  # noqa: E402

TARGET = str(pathlib.Path(project) / "tests/data/drafters/target-llama.gguf")
BLOCK, LENGTH, FFN = 5, 3, 96


def check(holds, message):
    if not holds:
        sys.exit(message)


def value(logits, q, k):
    return losses.acceptance(logits.softmax(-1), q, k)[0]


def gradient():
    p, q = (torch.tensor([row], dtype=torch.double) for row in ((.35, .25, .2, .15, .05), (.1, .15, .2, .25, .3)))
    logits = p.log().requires_grad_()
    found = value(logits, q, torch.tensor([2.0]))
    found.backward()
    expected = torch.tensor([[-.03325, -.02375, -.019, -.01425, .09025]], dtype=torch.double)
    check(abs(found.item() - .7975) < 1e-12 and (logits.grad - expected).abs().max() < 1e-12, "the worked example")
    generator = torch.Generator().manual_seed(0)
    for case in range(200):
        logits = torch.randn(1, 6, generator=generator, dtype=torch.double).requires_grad_()
        q = torch.randn(1, 6, generator=generator, dtype=torch.double).mul(2).softmax(-1)
        k = torch.tensor([1.0 + case % 9 / 2], dtype=torch.double)
        value(logits, q, k).backward()
        for i in range(6):
            step = torch.zeros_like(q)
            step[0, i] = 1e-6
            with torch.no_grad():
                difference = (value(logits + step, q, k) - value(logits - step, q, k)).item() / 2e-6
            check(abs(difference - logits.grad[0, i].item()) < 1e-6, f"case {case}: {difference} {logits.grad}")
        exact = min(1 + (q[0, s].sum() - logits.detach().softmax(-1)[0, s].sum() ** k[0]).item() for s in subsets(6))
        check(abs(exact - value(logits, q, k).item()) < 1e-12, f"case {case}: is not the least of all sets")


def subsets(n):
    return ([i for i in range(n) if chosen >> i & 1] for chosen in range(1 << n))


def spectr(*arguments):
    this_python = {**os.environ, "SPECTR_PYTHON": sys.executable}
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, text=True, env=this_python).stdout


def trained(kind, folder):
    text, out = folder / "text.txt", folder / "drafter.gguf"
    text.write_text("Once upon a time there was a little fox. " * 40)
    report = json.loads(spectr(
        "draft", "train", "-m", TARGET, "--kind", kind, "-f", str(text), "-o", str(out), "--opening", "4", "--count", "24",
        "-n", "24", "-t", "1", "--feature-type", "f32", "--type", "f32", "--blocks", "2", "--block-size", str(BLOCK), "-L",
        str(LENGTH), "--ffn", str(FFN), "--steps", "40", "--prefixes", "4", "--prompt-count", "0", "--json"))
    early, late = sum(report["losses"][:5]), sum(report["losses"][-5:])
    check(late < 0.97 * early, f"the loss fell from {early / 5} to {late / 5}")
    check(report["kind"] == kind and report["bytes"] == out.stat().st_size, "the report is not that of the file")
    return out, pathlib.Path(f"{out}.features")


def twin(kind):
    with tempfile.TemporaryDirectory() as name, torch.no_grad():
        path, data = trained(kind, pathlib.Path(name))
        file = features.FeatureFile(data)
        source = gguf_file.TargetFile(TARGET)
        target = source.target(None, source.mask_token(None), 2)
        settings = argparse.Namespace(block_rows=BLOCK, prefixes=1, layers=2, ffn=FFN, length=LENGTH)
        drafter = drafters.KINDS[kind](target, file.width, settings)
        gguf_file.read_weights(path, drafter)
        batch = next(file.batch([i]) for i in range(len(file)) if len(file.record(i)[0]) > 14)
        last, steps = 9, BLOCK - 1 if kind == "dflash" else LENGTH
        if kind == "dflash":
            states = drafter.states(batch.features, batch.tokens, torch.tensor([[last]]))[0, 0]
        else:  # the row before the last token's
            states = torch.stack([drafter.output_norm(state[0, last - 1])
                                  for state in drafter.unrolled(batch.features, batch.tokens, LENGTH)])
        ours = states @ target.head.T
        ids = batch.tokens[0].tolist()
        listed = lambda part: ",".join(map(str, part))
        theirs = json.loads(spectr("draft", "logits", "-m", TARGET, "-md", str(path), "--tokens", listed(ids[: last + 1]),
                                   "--path", listed(ids[last + 1 : last + 1 + steps]), "-ctk", "f32", "-ctv", "f32",
                                   "--json"))
        check(theirs["kind"] == kind and len(theirs["steps"]) == steps, f"{theirs['kind']}, {len(theirs['steps'])} steps")
        for i, step in enumerate(theirs["steps"]):
            off = ((torch.tensor(step["logits"]) - ours[i]).norm() / ours[i].norm()).item()
            check(off < 1e-4, f"step {i}: the logits differ by {off}")


gradient() if claim == "gradient" else twin(claim)
