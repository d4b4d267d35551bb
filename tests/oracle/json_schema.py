"""Compares constraints of JSON schemas with jsonschema, on random schemas.

    python3 tests/oracle/json_schema.py build/release/tests/oracle/constraint_oracle VOCABULARY.gguf [--schemas N] [--seed S]

Every text that a constraint lets pass must be valid, and every valid value must pass, up to the order of keys and white
space; schemas that are refused are counted by their reasons, and too many of them are a failure. A mistake is printed with
its schema. The last line counts the schemas that were accepted: "1398 passed, 2 failed".
"""

import argparse
import collections
import datetime
import ipaddress
import json
import re
import subprocess
import sys

import jsonschema

from schemas import Generator, Values

MIN_ACCEPTED = 0.75
checker = jsonschema.FormatChecker(formats=())


@checker.checks("date", raises=ValueError)
def is_date(text):
    return not isinstance(text, str) or (re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) and (
        text.startswith("0000") or datetime.date.fromisoformat(text)))


@checker.checks("time")
def is_time(text):
    return not isinstance(text, str) or re.fullmatch(
        r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)", text, re.ASCII) is not None


@checker.checks("date-time", raises=ValueError)
def is_date_time(text):
    return not isinstance(text, str) or bool(is_date(text[:10]) and text[10:11] == "T" and is_time(text[11:]))


@checker.checks("ipv4", raises=ValueError)
def is_ipv4(text):
    return not isinstance(text, str) or bool(ipaddress.IPv4Address(text))


@checker.checks("ipv6", raises=ValueError)
def is_ipv6(text):
    return not isinstance(text, str) or bool(ipaddress.IPv6Address(text) is not None)


@checker.checks("uuid")
def is_uuid(text):
    return not isinstance(text, str) or re.fullmatch("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", text) is not None


@checker.checks("email")
def is_email(text):
    return not isinstance(text, str) or "@" in text


@checker.checks("hostname")
def is_hostname(text):
    return not isinstance(text, str) or re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*", text) is not None


@checker.checks("uri")
def is_uri(text):
    return not isinstance(text, str) or re.match("[A-Za-z][A-Za-z0-9+.-]*:", text) is not None


@checker.checks("duration")
def is_duration(text):
    return not isinstance(text, str) or re.fullmatch(r"P(?!$)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)", text, re.ASCII) is not None


def is_valid(validator, value):
    try:
        return validator.is_valid(value)
    except RecursionError:
        return None  # $ref loops that read nothing


def with_short_numbers(value):
    """The value with 3 for 3.0."""
    if isinstance(value, dict):
        return {name: with_short_numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [with_short_numbers(one) for one in value]
    return int(value) if isinstance(value, float) and value == int(value) and abs(value) < 2**53 else value


def spellings_of(value):
    """The value as compact JSON, and with blanks."""
    value = with_short_numbers(value)
    return [json.dumps(value, ensure_ascii=False, separators=(",", ":")), json.dumps(value, ensure_ascii=False)]


def line_of(seed, samples):
    """A schema, its validator, and the line that is asked about it."""
    schema = Generator(seed).schema()
    validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
    values = Values(schema, seed + 1)
    cases = []
    for _ in range(6):
        for value in values.draw():
            for one in (value, values.mutated(value), values.mutated(value)):
                judged = is_valid(validator, one)
                if judged is not None and (judged is False or one is value):
                    cases.append((spellings_of(one), judged))
    texts = [text for spellings, _ in cases for text in spellings]
    return schema, validator, cases, {"schema": schema, "texts": texts, "samples": samples, "seed": seed}


def faults_of(validator, cases, answer):
    accepted = iter(answer["accepted"])
    for spellings, valid in cases:
        can_be_written = any([next(accepted) for _ in spellings])
        if can_be_written != valid:
            yield ("a valid text cannot be written" if valid else "an invalid text can be written"), spellings[0]
    for sample in answer["samples"]:
        text = sample["text"]
        if not sample["ended"]:
            yield ("no token is allowed" if sample.get("stuck") else "unfinished"), text
            continue
        if not sample["utf8"]:
            yield "not UTF-8", text
        try:
            value = json.loads(text)
        except ValueError:
            yield "not JSON", text
            continue
        if is_valid(validator, value) is False:
            yield "a sample is invalid", text


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("oracle")
    arguments.add_argument("vocabulary")
    arguments.add_argument("--schemas", type=int, default=2000)
    arguments.add_argument("--samples", type=int, default=6)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--accepted", type=float, default=MIN_ACCEPTED, help="smallest part of the schemas to be accepted")
    arguments.add_argument("--show", type=int, default=20, help="mistakes to print")
    arguments.add_argument("--reasons", action="store_true", help="print why schemas were refused")
    options = arguments.parse_args()
    lines = [line_of(options.seed * 1_000_000 + i, options.samples) for i in range(options.schemas)]
    asked = "".join(json.dumps(line) + "\n" for _, _, _, line in lines)
    replies = subprocess.run([options.oracle, options.vocabulary], input=asked, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in replies.stdout.split("\n")[:-1]]
    if len(answers) < len(lines):
        print(f"the oracle ended with {replies.returncode}: {replies.stderr} at {json.dumps(lines[len(answers)][0])}")
    failed = len(lines) - len(answers)
    kinds, reasons, counts = collections.Counter(), collections.Counter(), collections.Counter()
    for (schema, validator, cases, _), answer in zip(lines, answers):
        if "refused" in answer:
            reason = re.sub(r"at '[^ ]*'|got .*|\"[^ ]*\"|-?\d+", "…", answer["refused"])
            reasons[reason] += 1
            continue
        counts["valid"] += sum(valid for _, valid in cases)
        counts["invalid"] += sum(not valid for _, valid in cases)
        counts["samples"] += len(answer["samples"])
        counts["unfinished"] += sum(not sample["ended"] for sample in answer["samples"])
        faults = [fault for fault in faults_of(validator, cases, answer) if fault[0] != "unfinished"]
        if not faults:
            continue
        failed += 1
        for kind in {kind for kind, _ in faults}:
            kinds[kind] += 1
        if failed <= options.show:
            print(f"{faults[0][0]}: {faults[0][1]}\n  by {json.dumps(schema, ensure_ascii=False)}")
    slowest = max((answer["seconds"] for answer in answers), default=0)
    print(f"{sum(reasons.values())} schemas refused, {counts['valid']} valid and {counts['invalid']} invalid texts, "
          f"{counts['samples']} samples, {counts['unfinished']} of them unfinished; slowest compilation {slowest:.2f} s")
    for reason, count in reasons.most_common() if options.reasons else []:
        print(f"{count:5} {reason}")
    for kind, count in kinds.most_common():
        print(f"{kind}: {count} schemas")
    accepted = len(lines) - sum(reasons.values())
    passed = accepted - failed
    if accepted < options.accepted * len(lines):
        failed += 1
        print(f"only {accepted} of {len(lines)} schemas were accepted")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
