#!/usr/bin/env python3
"""Measures servers under load, as docs/scheduling.md and docs/performance.md have it.

gaps: how even a stream of tokens stays beside other requests. The median, the 99th percentile and the longest of the
gaps between its tokens alone, beside a long prompt, beside fifteen of them, and beside a request with a slow plan.
throughput: tokens per second of all clients together, for methods whose runs take turns, as ratios to plain decoding.

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
    parser.add_argument("what", choices=["gaps", "throughput"])
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("-md", "--draft")
    parser.add_argument("--spectr", action="append", help="NAME=PROGRAM, several times; the built one by default")
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--prompt", type=int, default=4096, help="gaps: tokens of a long prompt, about")
    parser.add_argument("--tokens", type=int, default=128, help="of the stream, or of each answer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clients", default="1,4,8,16", help="throughput: numbers of clients")
    parser.add_argument("--methods", default="plain,auto,speculative:2,speculative:4",
                        help="throughput: METHOD, METHOD:LENGTH or METHOD:DRAFTSxLENGTH")
    parser.add_argument("--prompts", type=pathlib.Path, default=ROOT / "data/stories.jsonl",
                        help="throughput: lines of JSON with `prompt`")
    parser.add_argument("--chat", action="store_true", help="throughput: prompts are a user's messages")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


class Server:
    def __init__(self, program, given):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [program, "serve", "-m", given.model, "--port", str(self.port), "-np", "16", "-c",
                   str(given.context), "-t", str(given.threads), *(["-md", given.draft] if given.draft else [])]
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

    def ask(self, path, body):
        """Sends a request, and returns the response once its head is there."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise SystemExit(f"{response.status}: {response.read().decode()}")
        return response

    def stream(self, body, each=lambda _: None):
        """Requests a completion as a stream, and calls `each` at every event."""
        for line in self.ask("/completion", body | {"stream": True}):
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
                threads.append(threading.Thread(target=server.stream, args=(body,)))
                threads[-1].start()

    stream = {"prompt": "Once upon a time", "n_predict": given.tokens, "temperature": 0,
              "ignore_eos": True, "cache_prompt": False, "speculative": {"method": "plain"}}
    server.stream(stream, note)
    for thread in threads:
        thread.join()
    return [b - a for a, b in zip(times[10:], times[11:])]


def scenarios(given, fresh):
    def prompt(number):
        return {"prompt": long_prompt(given.prompt, fresh + number), "n_predict": 1, "temperature": 0,
                "cache_prompt": False, "speculative": {"method": "plain"}}
    yield "alone", []
    yield "beside a long prompt", [prompt(0)]
    yield "beside 15 long prompts", [prompt(i) for i in range(1, 16)]
    if given.draft:
        yield "beside a slow plan", [{"prompt": "Once", "n_predict": 100, "temperature": 1, "top_k": 0, "top_p": 1,
                                      "min_p": 0, "seed": 1,
                                      "speculative": {"method": "spectr", "plan": "optimal", "drafts": 8,
                                                      "length": 4}}]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def gaps(given, programs):
    found = {}
    for turn in range(given.rounds):
        for name, program in programs.items():
            server = Server(program, given)
            for scenario, others in scenarios(given, 100 * turn):
                found.setdefault((scenario, name), []).extend(gaps_beside(server, given, others))
            server.close()
    return [{"stream": scenario, "program": name, "median ms": 1e3 * statistics.median(values),
             "99 % ms": 1e3 * percentile(values, 0.99), "longest ms": 1e3 * max(values)}
            for (scenario, name), values in found.items()]


def speculative(method):
    """The settings that METHOD, METHOD:LENGTH or METHOD:DRAFTSxLENGTH stands for."""
    name, _, shape = method.partition(":")
    drafts, _, length = shape.rpartition("x")
    return {"method": name} | ({"length": int(length)} if length else {}) | ({"drafts": int(drafts)} if drafts else {})


def tokens_per_second(server, given, prompts, clients, method):
    """Of so many clients, each of which has two answers."""
    tokens = [0] * clients

    def client(number):
        for prompt in (prompts[(2 * number + i) % len(prompts)] for i in range(2)):
            asked = {"messages": [{"role": "user", "content": prompt}]} if given.chat else {"prompt": prompt}
            path = "/v1/chat/completions" if given.chat else "/v1/completions"
            answer = json.load(server.ask(path, asked | {
                "max_tokens": given.tokens, "temperature": given.temperature, "cache_prompt": False,
                "ignore_eos": True, "speculative": speculative(method)}))
            tokens[number] += answer["usage"]["completion_tokens"]

    begun = time.monotonic()
    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(tokens) / (time.monotonic() - begun)


def throughput(given, programs):
    prompts = [json.loads(line)["prompt"] for line in given.prompts.read_text().splitlines()]
    found = {}
    for name, program in programs.items():
        server = Server(program, given)
        for clients in map(int, given.clients.split(",")):
            for _ in range(given.rounds):
                for method in given.methods.split(","):
                    speed = tokens_per_second(server, given, prompts, clients, method)
                    found.setdefault((name, clients), {}).setdefault(method, []).append(speed)
        server.close()
    rows = []
    for (name, clients), speeds in found.items():
        first = next(iter(speeds.values()))
        for method, of in speeds.items():
            ratios = sorted(a / b for a, b in zip(of, first))
            rows.append({"program": name, "clients": clients, "method": method, "tokens/s": statistics.median(of),
                         "ratio": statistics.median(ratios), "least": ratios[0], "largest": ratios[-1]})
    return rows


def main():
    given = arguments()
    programs = dict(one.split("=", 1) for one in given.spectr or [f"spectr={ROOT / 'build/release/bin/spectr'}"])
    rows = {"gaps": gaps, "throughput": throughput}[given.what](given, programs)
    if given.json:
        print(json.dumps(rows))
        return
    print("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row.values()) + " |")


if __name__ == "__main__":
    main()
