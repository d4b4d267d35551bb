#!/usr/bin/env python3
"""Writes the tables of docs/reproduction.md, docs/verification.md and docs/benchmarks.md anew from what the program prints, or compares them.

    tools/tables.py [--program build/release/bin/spectr] [--only TEXT] [--list] [--resume FILE]
    tools/tables.py --check [--quick] [--only TEXT]
    tools/tables.py --print COMMAND [--resume FILE]

A table stands between `<!-- table: COMMAND -->` and `<!-- end of table -->`; COMMAND is what is run, behind the name of
the program: `lab run NAME` (its summary, ours beside the paper's), `bench methods …` and `bench widths …` (their rows,
ours beside what the paper prints). Measure on a machine that does nothing else; all of them take about an hour.
--only runs the tables whose command holds this text, --list prints the commands and runs none, --resume keeps what
`bench` has measured in a file, so that a run that is killed goes on. --print writes the table of one command alone.

--check writes nothing. It runs every command again and compares all cells that do not depend on the speed of the machine:
counts, perplexities, scores, acceptances, the papers' values. What models generate depends on the kind of processor, in its
roundings: a table of another kind than this machine's, which it names, is compared in settings and the papers' values, and in
counts as far as four of their standard errors go. --quick reduces what takes longer than seconds, and then
compares only the cells that do not depend on the number of texts: labels, settings and the papers' values. A table that
has none of these is named as skipped. It ends with a line "N passed, M failed", and with status 1 where a cell
differs."""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = ["docs/reproduction.md", "docs/verification.md", "docs/benchmarks.md"]
BLOCK = re.compile(r"^(<!-- table: ([^\n]+) -->\n)(.*?)^(<!-- end of table -->)$", re.DOTALL | re.MULTILINE)


def output(program, arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"{program} {shlex.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def markdown(head, rows):
    """A table, without the columns that are empty throughout."""
    used = [i for i in range(len(head)) if any(row[i] for row in rows)]
    lines = [[head[i] for i in used], ["---" if i == used[0] else "---:" for i in used]]
    lines += [[row[i].replace("|", "\\|") for i in used] for row in rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def summary_table(text):
    """What `lab run` prints: a line per figure, its columns apart by two spaces and more."""
    rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()[2:] if line.strip()]
    for row in rows:
        if len(row) != 3:
            sys.exit(f"not a line of a summary: {row}")
    return markdown(["", "here", "paper"], [["" if cell == "-" else cell for cell in row] for row in rows])


def number(value):
    return "" if value is None else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def with_spread(value, spread=None):
    """A number, or {mean, sd, se}, with its spread behind it."""
    if isinstance(value, dict):
        value, spread = value.get("mean"), value.get("sd") or value.get("se")
    if value is None:
        return ""
    return number(value) + (f" ± {spread:.2g}" if spread else "")


def as_printed(paper, field):
    """What a paper prints, with its own digits; a ratio of such values has none."""
    value = (paper or {}).get(field)
    return paper["as_printed"].get(field, "") if isinstance(value, dict) or value is None and paper else number(value)


def label(row):
    text = row["method"] + (f" {row['plan']}" if row.get("plan") else "")
    if row.get("tree"):
        text += " " + "·".join(str(factor) for factor in row["tree"])
    if row.get("beam_mode") == "top":
        text += " top"
    for name, member in (("τ", "tau"), ("τ₁", "bild_fallback"), ("τ₂", "bild_rollback")):
        if row.get(member) is not None:
            text += f" {name}={row[member]:g}"
    return text + (f", {row['rank']}" if row.get("rank") else "")


def warp(row):
    filters = row["warp"]
    parts = [f"top-k {filters['top_k']}"] if filters["top_k"] else []
    if filters["top_p"] < 1:
        parts.append(f"top-p {filters['top_p']:g}")
    return ", ".join(parts) + (f", T {filters['temperature']:g}" if filters["temperature"] != 1 else "")


MEASURES = [("tokens/call", "block_efficiency"), ("speed-up", "speedup"), ("relative", "relative"),
            ("perplexity", "perplexity"), ("J/token", "joules_per_token"), ("score", "score")]


def methods_table(out):
    if "rows" not in out:  # a preset that only has prompts
        rows = [[s["name"], str(s["prompts"]), number(s["mean_tokens"]),
                 number(s["paper"]["mean_tokens"]) if s.get("paper") else ""] for s in out["datasets"]]
        return markdown(["data set", "prompts", "mean tokens", "paper"], rows)
    head = ["method", "column", "draft", "filters", "K", "L", "beams"]
    for name, _ in MEASURES:
        head += [name, f"paper: {name}"]
    several = len({row["models"]["draft"] for row in out["rows"]} - {None}) > 1
    wide = len({warp(row) for row in out["rows"]}) > 1
    rows = []
    for row in out["rows"]:
        paper = row.get("paper")
        line = [label(row), row.get("column") or "",
                pathlib.Path(row["models"]["draft"] or "").stem if several else "", warp(row) if wide else ""]
        line += [str(row[name]) if row.get(name) is not None else "" for name in ("drafts", "length", "beams")]
        for _, field in MEASURES:
            line += [with_spread(row.get(field), row.get(field + "_sd") or row.get(field + "_se")),
                     as_printed(paper, field) if paper else ""]
        rows.append(line)
    return markdown(head, rows) + claims_table(out.get("claims") or [])


def claims_table(claims):
    """The ratios of a paper's text, below the table that they are of."""
    if not claims:
        return ""
    rows = [[f"{claim['of']} of {claim['method']} over {claim['to']}", number(claim.get("ours")) or "n/a",
             claim["as_printed"], f"{claim['paper']:.3f}"] for claim in claims]
    return "\n" + markdown(["mean over columns", "here", "paper's text", "paper's table"], rows)


def widths_table(out):
    """Batches have what the paper prints of them; where it prints of one model alone, that one's rows stand here."""
    measured = [(model, row) for model, member in (("target", "widths"), ("draft", "draft_widths"))
                for row in out.get(member) or []]
    if any(row.get("paper") for _, row in measured):
        measured = [(model, row) for model, row in measured if row.get("paper")]
    rows = []
    for model, row in measured:
        paper = row.get("paper") or {"as_printed": {}}
        if "width" in row:
            rows.append([model, str(row["width"]), "", with_spread(row["relative"])] + [""] * 10)
            continue
        printed = paper["as_printed"]
        rows.append([model, str(row["length"]), str(row["batch"]),
                     with_spread(row["relative"], (row["sd_ms"] or 0) / row["mean_ms"] * row["relative"]),
                     printed.get("relative", ""), number(row["ms_per_input"]), printed.get("seconds_per_input", ""),
                     number(row["seconds"]), printed.get("seconds", ""), number(row["joules_per_input"]),
                     printed.get("joules_per_input", ""), number(row["joules"]), printed.get("joules", "")])
    length = "nodes" if any("width" in row for _, row in measured) else "length"
    return markdown(["model", length, "batch", "relative", "paper: relative", "ms/input", "paper: s/input", "s", "paper: s",
                     "J/input", "paper: J/input", "J", "paper: J"], [row[:13] for row in rows])


def table_of(program, command, resume=None):
    arguments = shlex.split(command)
    if arguments[:2] == ["lab", "run"]:
        with tempfile.TemporaryDirectory() as folder:
            return summary_table(output(program, arguments + ["--out", folder]))
    out = json.loads(output(program, arguments + ["--json"] + (["--resume", resume] if resume else [])))
    return widths_table(out) if arguments[:2] == ["bench", "widths"] else methods_table(out)


# --check

# Processor kinds whose products round differently, the most capable first. Tables without one are of the first kind.
KINDS = ["amx_int8", "avx512_vnni", "avx_vnni", "avx2"]
KIND = re.compile(r"^<!-- processor: (\S+) -->\n", re.MULTILINE)


def kind_of_processor():
    try:
        flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1].split())
    except (OSError, TypeError):
        return "other"
    return next((kind for kind in KINDS if kind in flags), "other")


def runs_models(command):
    return command.startswith(("bench methods", "lab run opt-vs-uno", "lab run plans"))


def marked(command, table):
    """The table, behind the kind of processor where that matters and is not the first."""
    kind = kind_of_processor()
    return f"<!-- processor: {kind} -->\n{table}" if runs_models(command) and kind != KINDS[0] else table


def is_near(committed, made):
    """Two "mean ± standard error" within four standard errors of their difference."""
    values = [[float(part) for part in cell.split(" ± ")] for cell in (committed, made)]
    (a, s), (b, t) = values
    return abs(a - b) <= 4 * (s * s + t * t) ** 0.5


# Experiments that take a second or so at full size.
SHORT = {"spectr-bernoulli", "spectr-uniform", "spectr-recursive", "spectr-naive", "spectr-bounds", "spectrpp-subsets",
         "pareto", "pareto-markov", "mtad-counterexamples", "verification-counterexamples"}
# Columns that measure the speed of the machine.
TIMED = {"speed-up", "relative", "ms/input", "s", "J/token", "J/input", "J", "µs here"}
# Columns that depend neither on that nor on the number of prompts.
FIXED = {"method", "column", "draft", "filters", "K", "L", "beams", "model", "length", "nodes", "batch"}


def with_flags(arguments, **flags):
    """The arguments with these flags, instead of what they were."""
    for name, value in flags.items():
        flag = f"-{name}" if len(name) == 1 else f"--{name}"
        if flag in arguments:
            at = arguments.index(flag)
            arguments = arguments[:at] + arguments[at + 2:]
        arguments = arguments + [flag, str(value)]
    return arguments


def reduced(command):
    """The command at the least size that tells its fixed cells, and whether it was reduced."""
    arguments = shlex.split(command)
    if arguments[:2] == ["lab", "run"]:
        return (command, False) if arguments[2] in SHORT else (shlex.join(with_flags(arguments, runs=3)) + " --quick", True)
    if arguments[:2] == ["bench", "widths"]:
        return shlex.join(with_flags(arguments, runs=2)), True
    ranked = "--preset" in arguments and arguments[arguments.index("--preset") + 1] == "mtad-table1"
    return shlex.join(with_flags(arguments, count=1, n=4, **({} if ranked else {"repeats": 1}))), True


def cells_of(table):
    """{(part, row, column): cell} of a table, or of several with a line between; rows are numbered where labels repeat."""
    cells = {}
    for part, text in enumerate(table.strip().split("\n\n")):
        lines = [[cell.strip(" |") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])] for line in text.splitlines()]
        if len(lines) < 2:
            continue
        head, seen = lines[0], {}
        for line in lines[2:]:
            seen[line[0]] = seen.get(line[0], 0) + 1
            for column, cell in zip(head, line):
                cells[(part, line[0], seen[line[0]], column)] = cell
    return cells


def is_timed(key):
    _, row, _, column = key
    return column in TIMED or "µs" in row or row.startswith(("speed of", "energy of")) and column == "here"


def is_fixed(key):
    _, _, _, column = key
    return column in FIXED or column.startswith("paper")


def differences(committed, made, was_reduced, other_kind=False):
    """Lines about the cells that should be the same and are not. A reduced run need not have every row."""
    expected, found = cells_of(committed), cells_of(made)
    lines = []
    compared = {key for key in expected if not is_timed(key) and (is_fixed(key) or not was_reduced)}
    for key, cell in expected.items():
        if key not in compared:
            continue
        if key not in found:
            if not was_reduced:
                lines.append(f"{key[1]}, {key[3]}: {cell!r} is missing")
        elif other_kind and not is_fixed(key):
            if " ± " in cell and " ± " in found[key] and key[3] == "tokens/call" and not is_near(cell, found[key]):
                lines.append(f"{key[1]}, {key[3]}: {cell!r} is committed, {found[key]!r} is made, on another processor")
        elif found[key] != cell:
            lines.append(f"{key[1]}, {key[3]}: {cell!r} is committed, {found[key]!r} is made")
    if not any(key in found for key in compared):
        lines.append("no cell of the table is compared")
    return lines


def check(given):
    passed = failed = 0
    for name in DOCUMENTS:
        for _, command, table, _ in BLOCK.findall((ROOT / name).read_text()):
            if given.only not in command:
                continue
            shorter, was_reduced = reduced(command) if given.quick else (command, False)
            if was_reduced and not any(map(is_fixed, cells_of(KIND.sub("", table)))):
                print(f"skipped: {name}: {command}: all of its cells depend on its size", flush=True)
                continue
            kind = KIND.search(table)
            other_kind = runs_models(command) and (kind[1] if kind else KINDS[0]) != kind_of_processor()
            lines = differences(KIND.sub("", table), table_of(given.program, shorter), was_reduced, other_kind)
            passed, failed = passed + (not lines), failed + bool(lines)
            print(f"{'FAILED' if lines else 'ok'}: {name}: {shorter}", *lines, sep="\n  ", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--program", default=str(ROOT / "build/release/bin/spectr"))
    flags.add_argument("--only", default="")
    flags.add_argument("--list", action="store_true")
    flags.add_argument("--resume")
    flags.add_argument("--print", metavar="COMMAND")
    flags.add_argument("--check", action="store_true")
    flags.add_argument("--quick", action="store_true")
    given = flags.parse_args()
    if given.print:
        print(table_of(given.program, given.print, given.resume), end="")
        return
    if given.check:
        sys.exit(check(given))
    for name in DOCUMENTS:
        document = ROOT / name
        text = document.read_text()
        for begin, command, _, end in BLOCK.findall(text):
            if given.only not in command:
                continue
            print(f"{name}: {command}", flush=True)
            if given.list:
                continue
            table = begin + marked(command, table_of(given.program, command, given.resume)) + end
            text = BLOCK.sub(lambda found: table if found[2] == command else found[0], text)
            document.write_text(text)  # written at once, so a later failure does not lose it


if __name__ == "__main__":
    main()
