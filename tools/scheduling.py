#!/usr/bin/env python3
"""Prints how even a stream of tokens stays beside other requests, as docs/scheduling.md has it: the median and the
99th percentile of the gaps between the stream's tokens alone, beside a long prompt, beside fifteen of them, and
beside a request with a slow plan. With several programs, whose runs take turns, one line each.

Speed depends on the machine: compare lines of one run."""
import argparse
import http.client
import json
import pathlib
import socket
import statistics
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORDS = "the river ran past a mill and over stones into the old town where people sold bread and fish".split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", required=True, help="a model with a context of 8,192 tokens or more")
    parser.add_argument("-md", "--draft", help="its draft, for the request with a slow plan")
    parser.add_argument("--spectr", action="append", help="NAME=PROGRAM, several times; the built one by default")
    parser.add_argument("--prompt", type=int, default=4096, help="tokens of a long prompt, about")
    parser.add_argument("--tokens", type=int, default=150, help="of the stream")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


class Server:
    def __init__(self, program, given):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [program, "serve", "-m", given.model, "--port", str(self.port), "-np", "16", "-c", "8192",
                   "-t", str(given.threads), *(["-md", given.draft] if given.draft else [])]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.is_ready():
            if self.process.poll() is not None:
                raise SystemExit(f"{program} has ended with status {self.process.returncode}")
            time.sleep(0.2)

    def is_ready(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def post(self, body, each=lambda _: None):
        """Sends a completion request and calls `each` at every event of its stream."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request("POST", "/completion", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise SystemExit(f"{response.status}: {response.read().decode()}")
        for line in response:
            if line.startswith(b"data: {"):
                each(json.loads(line[6:]))

    def close(self):
        self.process.terminate()
        self.process.wait()


def long_prompt(tokens, number):
    """Prompts that begin differently, so that none is taken from a cache."""
    return f"{number} " + " ".join(WORDS[(i * (number + 3)) % len(WORDS)] for i in range(tokens))


def gaps_beside(server, given, others):
    """The gaps of a stream, in seconds, while other requests run that begin after its tenth token."""
    times, threads = [], []

    def note(event):
        times.append(time.monotonic())
        if len(times) == 10:
            for body in others:
                threads.append(threading.Thread(target=server.post, args=(body,)))
                threads[-1].start()

    stream = {"prompt": "Once upon a time", "n_predict": given.tokens, "stream": True, "temperature": 0,
              "ignore_eos": True, "cache_prompt": False, "speculative": {"method": "plain"}}
    server.post(stream, note)
    for thread in threads:
        thread.join()
    return [b - a for a, b in zip(times[10:], times[11:])]


def scenarios(given, fresh):
    def prompt(number):
        return {"prompt": long_prompt(given.prompt, fresh + number), "n_predict": 1, "temperature": 0,
                "cache_prompt": False, "stream": True, "speculative": {"method": "plain"}}
    yield "alone", []
    yield "beside a long prompt", [prompt(0)]
    yield "beside 15 long prompts", [prompt(i) for i in range(1, 16)]
    if given.draft:
        yield "beside a slow plan", [{"prompt": "Once", "n_predict": 100, "temperature": 1, "top_k": 0, "top_p": 1,
                                      "min_p": 0, "seed": 1, "stream": True,
                                      "speculative": {"method": "spectr", "plan": "optimal", "drafts": 8,
                                                      "length": 4}}]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main():
    given = arguments()
    programs = dict(one.split("=", 1) for one in given.spectr or [f"spectr={ROOT / 'build/release/bin/spectr'}"])
    gaps = {}
    for turn in range(given.rounds):
        for name, program in programs.items():
            server = Server(program, given)
            for scenario, others in scenarios(given, 100 * turn):
                gaps.setdefault(scenario, {}).setdefault(name, []).extend(gaps_beside(server, given, others))
            server.close()
    rows = [{"scenario": scenario, "program": name, "p50_ms": 1e3 * statistics.median(values),
             "p99_ms": 1e3 * percentile(values, 0.99), "max_ms": 1e3 * max(values)}
            for scenario, of in gaps.items() for name, values in of.items()]
    if given.json:
        print(json.dumps(rows))
        return
    print("| the stream | program | median | 99 % | longest |\n|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['scenario']} | {row['program']} | {row['p50_ms']:.1f} ms | {row['p99_ms']:.1f} ms | "
              f"{row['max_ms']:.1f} ms |")


if __name__ == "__main__":
    main()
