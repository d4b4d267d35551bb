"""The comparison of tools/tables.py --check finds what differs, and passes over what only says how fast a machine is."""
import importlib.util
import sys

spec = importlib.util.spec_from_file_location("tables", sys.argv[1])
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)

HEAD = "| method | K | tokens/call | paper: tokens/call | speed-up |\n| --- | ---: | ---: | ---: | ---: |\n"
COMMITTED = HEAD + "| plain |  | 1 | 1 | 1 |\n| spectr k-seq | 2 | 1.74 ± 0.037 | 2.07 ± 0.01 | 0.684 |\n"


def made(old="", new=""):
    return COMMITTED.replace(old, new) if old else COMMITTED


def finds(text, reduced=False):
    return len(tables.differences(COMMITTED, text, reduced))


assert finds(made()) == 0
assert finds(made("0.684", "0.9")) == 0, "speeds are not compared"
assert finds(made("1.74", "1.75")) == 1, "counts are"
assert finds(made("0.037", "0.038")) == 1, "and their spread"
assert finds(made("1.74", "1.75"), reduced=True) == 0, "not of a reduced run"
assert finds(made("2.07", "2.08"), reduced=True) == 1, "but what the paper prints is"
assert finds(made("| 2 |", "| 4 |"), reduced=True) == 1, "and settings"
assert finds(made("| spectr k-seq", "| tree")) > 0, "a row that is gone"
assert finds("", reduced=True) == 1, "a table that is gone"

assert len(tables.differences(COMMITTED, made("1.74 ± 0.037", "1.8 ± 0.04"), False, True)) == 0, "near, on another processor"
assert len(tables.differences(COMMITTED, made("1.74 ± 0.037", "2.1 ± 0.04"), False, True)) == 1, "far"
assert len(tables.differences(COMMITTED, made("2.07", "2.08"), False, True)) == 1, "the papers' values are the same on all"

summary = "|  | here | paper |\n| --- | ---: | ---: |\n| V = 5: µs here | 4 |  |\n| most rounds | 0.300 | ≤ 1 |\n"
assert len(tables.differences(summary, summary.replace("| 4 |", "| 5 |"), False)) == 0, "times of the laboratory"
assert len(tables.differences(summary, summary.replace("0.300", "0.301"), False)) == 1

claims = COMMITTED + "\n| mean over columns | here | paper's text |\n| --- | ---: | ---: |\n| speed of mtad over bild | 1.2 | 1.38 |\n"
assert len(tables.differences(claims, claims.replace("| 1.2 |", "| 1.3 |"), False)) == 0
assert len(tables.differences(claims, claims.replace("1.38", "1.39"), False)) == 1

assert tables.reduced("lab run pareto") == ("lab run pareto", False)
assert tables.reduced("lab run rejections")[1]
assert "--count 1" in tables.reduced("bench methods --preset mtad-table4 --repeats 1 --count 20 -n 48 -t 1")[0]
assert tables.as_printed({"perplexity": {"mean": 2.1, "sd": None}, "as_printed": {"perplexity": "2.10"}}, "perplexity") == "2.10"
assert tables.as_printed({"relative": 1.7119, "as_printed": {}}, "relative") == "1.71"
assert tables.as_printed({"score": None, "as_printed": {}}, "score") == ""
