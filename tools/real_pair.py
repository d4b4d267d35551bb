#!/usr/bin/env python3
"""Prints what speculation brings on a pair of published models, as docs/performance.md has it: a table of plain
decoding, auto, the best fixed setting with one sequence, the best with several, and n-grams; for code, chat and
editing at temperatures 0, 0.7 and 1.

The best fixed settings are chosen on the first half of a kind's prompts (data/real_pair), and measured, as auto
and n-grams are, on the other half. Every text is written plainly in the same run, next to it: what is printed are
ratios of times. FOLDER holds the target and the draft, qwen2.5-coder-1.5b.gguf and qwen2.5-coder-0.5b.gguf unless
they are named."""
import argparse
import json
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHAINS = [1, 2, 3, 4, 6]
SEVERAL = [(2, 2), (3, 2), (4, 3), (4, 4), (8, 3)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where the two models lie")
    parser.add_argument("--target", default="qwen2.5-coder-1.5b.gguf")
    parser.add_argument("--draft", default="qwen2.5-coder-0.5b.gguf")
    parser.add_argument("--spectr", default=ROOT / "build/release/bin/spectr", help="the program to measure")
    parser.add_argument("--kinds", default="code,chat,editing")
    parser.add_argument("--temperatures", default="0,0.7,1")
    parser.add_argument("--prompts", type=int, default=10, help="of each kind; one half chooses, the other tells")
    parser.add_argument("--tokens", type=int, default=128, help="of each answer")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", default="", help="a file that keeps what was measured, to go on after a stop")
    parser.add_argument("--llama-bench", default="", help="llama.cpp's program, for its plain speed")
    parser.add_argument("--llama-server", default="", help="llama.cpp's program, for its speculation")
    given = parser.parse_args()
    for name in (given.target, given.draft):
        if not (given.folder / name).is_file():
            parser.error(f"{given.folder / name} is not there; get the GGUF files of Qwen2.5-Coder Instruct "
                         "(1.5B in Q4_K_M, 0.5B) or name others")
    return given


class Bench:
    """Runs `spectr bench methods` on some prompts."""

    def __init__(self, given, work):
        self.given, self.work = given, work

    def rows(self, prompts, temperature, settings):
        file = self.work / "prompts.jsonl"
        file.write_text("".join(prompts))
        g = self.given
        command = [str(g.spectr), "bench", "methods", "-m", str(g.folder / g.target), "-md",
                   str(g.folder / g.draft), "-t", str(g.threads), "--prompts", str(file), "--count", "0", "-n",
                   str(g.tokens), "--chat", "--temp", str(temperature), "--json", *settings]
        if g.resume:
            command += ["--resume", g.resume]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if ran.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{ran.stderr}")
        return json.loads(ran.stdout)["rows"]

    def fixed(self, prompts, temperature):
        """The rows of all fixed settings: of one sequence, and of several."""
        lengths = ",".join(map(str, CHAINS))
        chains = self.rows(prompts, temperature, ["--method", "speculative", "-L", lengths])
        several = []
        if temperature > 0:  # at temperature 0, all sequences would be equal
            for drafts, length in SEVERAL:
                several += self.rows(prompts, temperature, ["--method", "spectr", "--plan", "optimal", "-K",
                                                            str(drafts), "-L", str(length)])
        return chains, several


def settings_of(row):
    if row["method"] == "speculative":
        return ["--method", "speculative", "-L", str(row["length"])]
    return ["--method", "spectr", "--plan", "optimal", "-K", str(row["drafts"]), "-L", str(row["length"])]


def cell(row, named=True):
    if row is None:
        return ""
    name = f"K {row['drafts']}, L {row['length']}: " if named else ""
    return f"{name}{row['speedup']:.2f} ({row['block_efficiency']['mean']:.2f})"


def table(given, work):
    bench = Bench(given, work)
    print("Times as fast as plain decoding, in brackets tokens a pass of the target.\n")
    print("| prompts | temperature | plain, tokens/s | auto | best K = 1 | best K > 1 | n-grams |")
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for kind in given.kinds.split(","):
        prompts = (ROOT / "data/real_pair" / f"{kind}.jsonl").read_text().splitlines(keepends=True)
        prompts = prompts[: given.prompts]
        half = max(1, len(prompts) // 2)
        choosing, telling = prompts[:half], prompts[half:] or prompts
        for temperature in map(float, given.temperatures.split(",")):
            best = [max(rows, key=lambda row: row["speedup"], default=None)
                    for rows in bench.fixed(choosing, temperature)]
            told = [bench.rows(telling, temperature, settings_of(row))[0] if row else None for row in best]
            auto = bench.rows(telling, temperature, ["--method", "auto"])[0]
            ngrams = bench.rows(telling, temperature, ["--method", "ngram", "-L", "6"])[0]
            print(f"| {kind} | {temperature:g} | {auto['plain_tokens_per_second']:.1f} | {cell(auto, False)} | "
                  f"{cell(told[0])} | {cell(told[1])} | {cell(ngrams, False)} |", flush=True)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"\nMost memory of a run: {memory:.2f} GiB.")


def llama_bench(given):
    command = [given.llama_bench, "-m", str(given.folder / given.target), "-t", str(given.threads), "-p", "0",
               "-n", str(given.tokens), "-o", "json"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    print(f"\nllama-bench writes {json.loads(ran.stdout)[0]['avg_ts']:.1f} tokens/s.")


def llama_speed(given, prompts, drafts):
    """Tokens per second of llama-server over some prompts, at temperature 0."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [given.llama_server, "-m", str(given.folder / given.target), "-t", str(given.threads), "--port",
               str(port), "-np", "1", "-c", "4096", *(["-md", str(given.folder / given.draft)] if drafts else [])]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        base = f"http://127.0.0.1:{port}"
        for _ in range(240):
            try:
                urllib.request.urlopen(base + "/health")
                break
            except OSError:
                time.sleep(0.5)
        tokens = seconds = 0.0
        for prompt in prompts:
            body = {"messages": [{"role": "user", "content": json.loads(prompt)["prompt"]}],
                    "max_tokens": given.tokens, "temperature": 0}
            request = urllib.request.Request(base + "/v1/chat/completions", json.dumps(body).encode(),
                                             {"Content-Type": "application/json"})
            timings = json.load(urllib.request.urlopen(request))["timings"]
            tokens += timings["predicted_n"]
            seconds += timings["predicted_ms"] / 1e3
        return tokens / seconds
    finally:
        server.terminate()
        server.wait()


def llama_server(given):
    for kind in given.kinds.split(","):
        prompts = (ROOT / "data/real_pair" / f"{kind}.jsonl").read_text().splitlines()[: given.prompts]
        plain, drafted = (llama_speed(given, prompts, drafts) for drafts in (False, True))
        print(f"llama-server, {kind}, temperature 0: {plain:.1f} tokens/s plainly, {drafted:.1f} with the draft "
              f"({drafted / plain:.2f} times as fast).", flush=True)


def main():
    given = arguments()
    with tempfile.TemporaryDirectory() as work:
        table(given, pathlib.Path(work))
    if given.llama_bench:
        llama_bench(given)
    if given.llama_server:
        llama_server(given)


main()
