#!/usr/bin/env python3
"""Writes the tables of docs/reproduction.md and docs/benchmarks.md anew from what the program prints.

    tools/tables.py [--program build/release/bin/spectr] [--only TEXT] [--list]

A table stands between `<!-- table: COMMAND -->` and `<!-- end of table -->`; COMMAND is what is run, behind the name of
the program: `lab run NAME` (its summary, ours beside the paper's), `bench methods …` and `bench widths …` (their rows,
ours beside what the paper prints). Measure on a machine that does nothing else; all of them take some ten minutes.
--only runs the tables whose command holds this text, --list prints the commands and runs none."""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = ["docs/reproduction.md", "docs/benchmarks.md"]
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


def label(row):
    text = row["method"] + (f" {row['plan']}" if row.get("plan") else "")
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
    if "rows" not in out:  # a preset about prompts
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
        paper = row.get("paper") or {}
        line = [label(row), row.get("column") or "",
                pathlib.Path(row["models"]["draft"] or "").stem if several else "", warp(row) if wide else ""]
        line += [str(row[name]) if row.get(name) is not None else "" for name in ("drafts", "length", "beams")]
        for _, field in MEASURES:
            line += [with_spread(row.get(field), row.get(field + "_sd") or row.get(field + "_se")),
                     with_spread(paper.get(field))]
        rows.append(line)
    return markdown(head, rows)


def widths_table(out):
    """Batches have what the paper prints of them; where it prints of one model alone, that one's rows stand here."""
    measured = [(model, row) for model, member in (("target", "widths"), ("draft", "draft_widths"))
                for row in out.get(member) or []]
    if any(row.get("paper") for _, row in measured):
        measured = [(model, row) for model, row in measured if row.get("paper")]
    rows = []
    for model, row in measured:
        paper = row.get("paper") or {}
        if "width" in row:
            rows.append([model, str(row["width"]), "", with_spread(row["relative"]), "", "", "", "", ""])
        else:
            seconds = paper.get("seconds_per_input")
            rows.append([model, str(row["length"]), str(row["batch"]),
                         with_spread(row["relative"], row["sd_ms"] / row["mean_ms"] * row["relative"]),
                         with_spread(paper.get("relative")), number(row["ms_per_input"]),
                         number(None if seconds is None else 1000 * seconds), number(row["joules_per_input"]),
                         number(paper.get("joules_per_input"))])
    length = "nodes" if any("width" in row for _, row in measured) else "length"
    return markdown(["model", length, "batch", "relative", "paper: relative", "ms/input", "paper: ms/input", "J/input",
                     "paper: J/input"], rows)


def table_of(program, command):
    arguments = shlex.split(command)
    if arguments[:2] == ["lab", "run"]:
        with tempfile.TemporaryDirectory() as folder:
            return summary_table(output(program, arguments + ["--out", folder]))
    out = json.loads(output(program, arguments + ["--json"]))
    return widths_table(out) if arguments[:2] == ["bench", "widths"] else methods_table(out)


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--program", default=str(ROOT / "build/release/bin/spectr"))
    flags.add_argument("--only", default="")
    flags.add_argument("--list", action="store_true")
    given = flags.parse_args()
    for name in DOCUMENTS:
        document = ROOT / name
        text = document.read_text()
        for begin, command, _, end in BLOCK.findall(text):
            if given.only not in command:
                continue
            print(f"{name}: {command}", flush=True)
            if given.list:
                continue
            table = begin + table_of(given.program, command) + end
            text = BLOCK.sub(lambda found: table if found[2] == command else found[0], text)
            document.write_text(text)  # a later one that fails takes nothing back


if __name__ == "__main__":
    main()
