"""`spectr draft train`: trains a drafter for a target. docs/drafters.md describes it.

The program `spectr` writes the training data and measures the result; this program learns."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

MOST_PROMPT = 32  # tokens
MISSING = "{} is missing for {}: install it with `{} -m pip install torch gguf`, or name a Python with SPECTR_PYTHON"


def fail(message, status=2):
    print(f"spectr: error: {message}", file=sys.stderr)
    sys.exit(status)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        fail(message)


def at_least(least):
    def read(text):
        value = int(text)
        if value < least:
            raise ValueError
        return value

    read.__name__ = f"whole number, at least {least},"
    return read


def positive(text):
    value = float(text)
    if not value > 0:
        raise ValueError
    return value


positive.__name__ = "positive number"


def parser():
    flags = Parser(prog="spectr draft train", allow_abbrev=False,
                   description="Trains a drafter for a target and measures the tokens per call of the target.")
    flags.add_argument("--program", help=argparse.SUPPRESS)
    whole = at_least(1)
    needed = flags.add_argument_group("files")
    needed.add_argument("-m", "--model", required=True, help="the target's GGUF file")
    needed.add_argument("--kind", required=True, choices=("dflash", "eagle3"), help="the kind of the drafter")
    needed.add_argument("-f", "--file", required=True, action="append",
                        help="a file of text, or JSON Lines with a \"prompt\" or \"text\" in each; repeatable")
    needed.add_argument("-o", "--output", required=True, help="the drafter's GGUF file")
    needed.add_argument("--features", help="the file of training data, kept for further runs (default: OUTPUT.features)")
    needed.add_argument("--start", help="a drafter of the same shape, whose training continues")
    data = flags.add_argument_group("training data, see spectr draft features")
    for name, help_text in (("--opening", "tokens of each text, after which the target writes (default: all)"),
                            ("--count", "sequences (default: one for each text)"),
                            ("-n", "tokens of a sequence at most (default: 256)"),
                            ("--top", "probabilities of the target per token (default: 64)"),
                            ("-t", "threads (default: one per processor)")):
        data.add_argument(name, type=whole, help=help_text)
    data.add_argument("--layers", help="layers of the target whose inputs are read, comma-separated")
    data.add_argument("--feature-type", choices=("bf16", "f32"), help="numbers of the features (default: bf16)")
    shape = flags.add_argument_group("the drafter")
    shape.add_argument("--blocks", dest="drafter_layers", type=whole, default=2, help="layers (dflash; default: 2)")
    shape.add_argument("--heads", type=whole, help="attention heads (default: the target's)")
    shape.add_argument("--ffn", type=whole, help="width of the feed-forward blocks (default: the target's)")
    shape.add_argument("--block-size", dest="block_rows", type=at_least(2), default=8,
                       help="rows of a block (dflash; default: 8)")
    shape.add_argument("--mask-token", type=at_least(0), help="the token of the places of a block (dflash)")
    shape.add_argument("--type", choices=("f32", "f16", "q8_0"), default="q8_0", help="format of the matrices")
    learning = flags.add_argument_group("learning")
    learning.add_argument("--loss", choices=("ce", "lk", "transport"), default="transport",
                          help="ce: cross-entropy; lk: also the acceptance of one draft; transport: of K drafts")
    learning.add_argument("-K", dest="drafts", type=whole, default=4, help="drafts of --loss transport (default: 4)")
    learning.add_argument("-L", dest="length", type=whole, default=4, help="tokens per draft (eagle3; default: 4)")
    learning.add_argument("--prefixes", type=whole, default=32,
                          help="blocks of each sequence in a step (dflash; default: 32)")
    for name, value, help_text in (("--steps", 2000, "steps"), ("--batch", 4, "sequences in a step"),
                                   ("--report", 50, "steps between two reports")):
        learning.add_argument(name, type=whole, default=value, help=f"{help_text} (default: {value})")
    learning.add_argument("--minutes", type=positive, default=float("inf"),
                          help="minutes at most, to which the learning rate is adapted (default: unlimited)")
    learning.add_argument("--rate", type=positive, default=2e-3, help="learning rate (default: 0.002)")
    learning.add_argument("--seed", type=at_least(0), default=0, help="seed of data and training (default: 0)")
    learning.add_argument("--trainer-device", default=None, help="PyTorch's device (default: cuda if there is one)")
    result = flags.add_argument_group("result")
    result.add_argument("--prompts", help="JSON Lines of prompts for the measurement (default: openings that were not learned)")
    result.add_argument("--prompt-count", type=at_least(0), default=20,
                        help="prompts of the measurement, 0: none (default: 20)")
    result.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    return flags


def write_features(given):
    """Has the program complete the file of training data."""
    command = [given.program, "draft", "features", "-m", given.model, "-o", given.features, "--seed", str(given.seed)]
    for text in given.file:
        command += ["-f", text]
    for flag in ("opening", "count", "n", "top", "t", "layers", "feature_type"):
        value = getattr(given, flag)
        if value is not None:
            command += [f"-{flag}" if len(flag) == 1 else f"--{flag.replace('_', '-')}", str(value)]
    status = subprocess.run(command).returncode
    if status != 0:
        sys.exit(status)


def prompts(given, file, held_out):
    """Prompts of the measurement as flags of `spectr generate`."""
    if given.prompt_count == 0:
        return []
    if not given.prompts:
        first = max(len(file) - held_out, len(file) - given.prompt_count)
        openings = [file.opening(index, MOST_PROMPT) for index in range(first, len(file))]
        return [["--tokens", ",".join(map(str, tokens))] for tokens in openings]
    with open(given.prompts, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()][: given.prompt_count]
    texts = [isinstance(row, dict) and (row.get("prompt") or row.get("text")) for row in rows]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f'{given.prompts}: has a line without "prompt" and "text"')
    return [["-p", text] for text in texts]


def block_efficiency(given, length, asked):
    """Tokens per call of the target with 1, 4 and 8 drafts, at temperature 1: mean and standard error over prompts."""
    found = []
    for drafts in (1, 4, 8):
        each = []
        for seed, prompt in enumerate(asked):
            command = [given.program, "generate", "-m", given.model, "-md", given.output, "--method", "spectr", "--plan",
                       "optimal", "-K", str(drafts), "-L", str(length), "--temp", "1", "--top-k", "0", "--top-p", "1",
                       "--min-p", "0", "-n", "64", "--seed", str(seed), "--json", *prompt]
            out = subprocess.run(command + (["-t", str(given.t)] if given.t else []), stdout=subprocess.PIPE, text=True)
            if out.returncode != 0:
                sys.exit(out.returncode)
            each.append(json.loads(out.stdout)["stats"]["block_efficiency"])
        error = statistics.stdev(each) / len(each) ** 0.5 if len(each) > 1 else None
        found.append({"drafts": drafts, "length": length, "mean": statistics.mean(each), "se": error})
    return found


def main():
    given = parser().parse_args()
    try:
        import gguf  # noqa: F401
        import torch
    except ImportError as error:
        fail(MISSING.format({"torch": "PyTorch"}.get(error.name, f"the package {error.name}"), sys.executable,
                            sys.executable))
    import drafters
    import features
    import gguf_file
    import training

    given.features = given.features or given.output + ".features"
    device = given.trainer_device or ("cuda" if torch.cuda.is_available() else "cpu")
    if given.t:
        torch.set_num_threads(given.t)
    torch.manual_seed(given.seed)
    began = time.monotonic()
    try:
        source = gguf_file.TargetFile(given.model)
        target = source.target(given.heads, source.mask_token(given.mask_token), given.drafter_layers)
        target.to(torch.device(device))
        given.ffn = given.ffn or source.own("feed_forward_length")
        write_features(given)
        file = features.FeatureFile(given.features)
        if len(file) < 2:
            raise ValueError(f"{given.features}: has {len(file)} sequences, but training needs 2")
        asked = prompts(given, file, training.held_out(len(file)))
        settings = argparse.Namespace(**vars(given))
        settings.layers = given.drafter_layers
        drafter = drafters.KINDS[given.kind](target, file.width, settings)
        if given.start:
            gguf_file.read_weights(given.start, drafter)
        losses, (held_out, several, one) = training.train(drafter, target, file, given, device)
        gguf_file.write(given.output, given.kind, drafter, source, target, file.header["layers"], given.type)
    except (ValueError, OSError, RuntimeError) as error:
        fail(str(error).split("\n")[0])
    length = given.block_rows - 1 if given.kind == "dflash" else given.length
    efficiency = block_efficiency(given, length, asked) if asked else []
    report = {"kind": given.kind, "file": given.output, "bytes": os.path.getsize(given.output), "steps": len(losses),
              "losses": losses, "held_out": {"loss": held_out, "acceptance": one, "acceptance_of_drafts": several},
              "block_efficiency": efficiency, "seconds": time.monotonic() - began}
    if given.json:
        print(json.dumps(report))
        return
    print(f"{given.output}: {report['bytes'] / 1e6:.1f} MB; acceptance by position on texts held out: "
          + " ".join(f"{value:.2f}" for value in one))
    for row in efficiency:
        print(f"K = {row['drafts']}, L = {row['length']}: {row['mean']:.2f} ± {row['se'] or 0:.2f} tokens per call")


if __name__ == "__main__":
    main()
