"""Random JSON schemas, and values that they describe."""

import json
import math
import random

NAMES = ["a", "ab", "abc", "name", "é", "日本", "x y", 'q"t', "a/b", "b\\c", "$id", "n\nl", ""]
TEXTS = ["", "a", "ab", "Abc9", "é", "日本語", "😀", 'say "hi"', "a\\b", "c/d", "line\nend", "tab\t", "\u0001", " ", "x" * 9]
# A pattern, texts that it matches somewhere, and texts that it does not match.
PATTERNS = [
    ("^[a-z]+$", ["a", "abc"], ["A", "", "a1"]),
    ("^[A-Z]{2}-\\d{3,5}$", ["AB-123", "XY-12345"], ["AB-12", "AB-123456"]),
    ("^(foo|bar)?$", ["", "foo", "bar"], ["fo", "foobar"]),
    ("^a|b$", ["a", "axx", "xxb", "b"], ["xa", "bx"]),
    ("b", ["b", "abc", "xxb"], ["", "a"]),
    ("^x", ["x", "xyz"], ["ax", ""]),
    ("\\d$", ["1", "a1"], ["1a", ""]),
    ("^\\w+@\\w+\\.(com|org)$", ["me@x.com", "a_1@b.org"], ["me@x.net", "@x.com"]),
    ("^[^a-c]*$", ["", "xyz", "é"], ["a", "xb"]),
    ("^(?:\\+|-)?\\d+$", ["1", "+12", "-3"], ["+", "1-"]),
    ("^\\S+ \\S+$", ["a b", "foo bar"], ["ab", " a"]),
    ("^.{2,4}$", ["ab", "abcd", "éé"], ["a", "abcde"]),
    ("^[\\w.-]+$", ["a.b-c", "_"], ["", "a b"]),
    ("^é+$", ["é", "éé"], ["e", ""]),
    ("^\\u00e9[\\d ]*$", ["é", "é1 2"], ["e"]),
    ("^(a|b)(c|d){2}?$", ["acd", "bdd"], ["a", "acdc"]),
    ("^$", [""], ["a"]),
    ("", ["", "any"], []),
]
FORMATS = {
    "date": (["2024-02-29", "1999-12-31"], ["2023-02-29", "2024-13-01", "2024-04-31"]),
    "time": (["12:00:00Z", "23:59:59.5+01:00"], ["24:00:00Z", "12:00"]),
    "date-time": (["2024-02-29T12:00:00Z", "2024-01-01T00:00:00.25-05:30"], ["2023-02-29T12:00:00Z"]),
    "ipv4": (["127.0.0.1", "255.255.255.0"], ["256.1.1.1", "1.1.1", "01.1.1.1"]),
    "ipv6": (["::1", "2001:db8::8a2e:370:7334"], ["1::2::3", "12345::"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]),
    "email": (["me@example.org", "a.b@c.de"], ["me", "a b@c"]),
    "hostname": (["example.org", "a-b.c"], ["-a", "a..b"]),
    "uri": (["https://example.org/a?b=c#d"], ["no scheme"]),
    "duration": (["P1D", "PT1H30M"], ["P", "1D"]),
}


class Generator:
    """Makes schemas, mostly of keywords that are kept, sometimes of those that are refused."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.definitions = []  # names that $ref may refer to

    def chance(self, probability):
        return self.random.random() < probability

    def schema(self):
        names = [f"d{i}" for i in range(self.random.randrange(3))] if self.chance(0.35) else []
        self.definitions = names
        schema = self.node(0)
        if names:
            schema = dict(schema)
            schema["$defs"] = {name: self.node(1) for name in names}
        return schema

    def node(self, depth):
        kinds = ["string", "integer", "number", "boolean", "null", "enum", "const"] + ["any"] * (depth > 0)
        if depth < 4:
            kinds += ["object"] * (8 if depth == 0 else 3) + ["array"] * 2 + ["anyOf", "oneOf", "allOf", "types", "names"]
            kinds += ["$ref"] * (2 * bool(self.definitions)) + ["#"] * (depth > 1 and self.chance(0.2)) + ["untyped"] * self.chance(0.3)
        schema = getattr(self, "make_" + {"$ref": "ref", "#": "loop"}.get(kind := self.random.choice(kinds), kind))(depth)
        if self.chance(0.1):
            schema["title"] = "T"
        if self.chance(0.02):
            extra = self.random.choice([("not", {}), ("uniqueItems", True), ("minLength", 1), ("maximum", 3), ("required", ["a"]),
                                        ("type", "string"), ("enum", ["a", 1]), ("pattern", "a"), ("format", "date"), ("minProperties", 1)])
            schema.setdefault(*extra)
        return schema

    def value(self, depth=0):
        kinds = ["s", "s", "i", "f", "b", "n"] + ["l", "o"] * (depth < 2)
        kind = self.random.choice(kinds)
        if kind == "s":
            return self.random.choice(TEXTS)
        if kind == "i":
            return self.random.choice([0, 1, -1, 42, 1000000, -9007199254740993, 9223372036854775807])
        if kind == "f":
            return self.random.choice([0.1, -2.5, 1e30, 1.5e-7, 3.0, 123456.789])
        if kind in "bn":
            return self.random.choice([True, False]) if kind == "b" else None
        if kind == "l":
            return [self.value(depth + 1) for _ in range(self.random.randrange(3))]
        return {self.random.choice(NAMES): self.value(depth + 1) for _ in range(self.random.randrange(3))}

    def make_any(self, depth):
        return {}

    def make_untyped(self, depth):
        schema = self.node(depth + 1)
        schema.pop("type", None)
        return schema

    def make_ref(self, depth):
        return {"$ref": "#/$defs/" + self.random.choice(self.definitions)}

    def make_loop(self, depth):
        return {"$ref": "#"}

    def make_boolean(self, depth):
        return {"type": "boolean"}

    def make_null(self, depth):
        return {"type": "null"}

    def make_enum(self, depth):
        values = []
        for _ in range(self.random.randrange(1, 6)):
            value = self.value()
            if not any(json.dumps(value) == json.dumps(other) for other in values):
                values.append(value)
        schema = {"enum": values}
        if self.chance(0.2):
            schema["type"] = self.random.choice(["string", "integer", "number", ["string", "null"]])
        return schema

    def make_const(self, depth):
        return {"const": self.value()}

    def make_string(self, depth):
        schema = {"type": "string"}
        kind = self.random.randrange(6)
        if kind == 0:
            schema["pattern"] = self.random.choice(PATTERNS)[0]
        elif kind == 1:
            schema["format"] = self.random.choice(list(FORMATS))
        elif kind == 2:
            low = self.random.randrange(4)
            if self.chance(0.6):
                schema["minLength"] = low
            if self.chance(0.7):
                schema["maxLength"] = low + self.random.randrange(6)
        if self.chance(0.02):
            schema["pattern"] = "a"
        return schema

    def bounds(self, values, schema):
        low, high = sorted([self.random.choice(values), self.random.choice(values)])
        if self.chance(0.6):
            schema["minimum" if self.chance(0.7) else "exclusiveMinimum"] = low
        if self.chance(0.6):
            schema["maximum" if self.chance(0.7) else "exclusiveMaximum"] = high

    def make_integer(self, depth):
        schema = {"type": "integer"}
        if self.chance(0.5):
            self.bounds([-1000, -100, -99, -10, -9, -1, 0, 1, 5, 9, 10, 11, 99, 100, 255, 12345, 10**12, self.random.randrange(-500, 500)], schema)
        elif self.chance(0.2):
            schema["multipleOf"] = self.random.choice([1, 2, 3, 5, 7, 12])
        return schema

    def make_number(self, depth):
        schema = {"type": "number"}
        if self.chance(0.5):
            self.bounds([-100, -10.5, -1, -0.5, -0.001, 0, 0.001, 0.25, 0.5, 1, 1.5, 9.99, 10, 100.125, 1000], schema)
        return schema

    def make_types(self, depth):
        types = self.random.sample(["string", "integer", "boolean", "null", "number", "array", "object"], self.random.randrange(1, 4))
        schema = {"type": types}
        if "string" in types and self.chance(0.3):
            schema["maxLength"] = 4
        if "integer" in types and self.chance(0.3):
            schema["minimum"] = 3
        return schema

    def make_array(self, depth):
        schema = {"type": "array"}
        if self.chance(0.8):
            schema["items"] = self.node(depth + 1)
        prefix = 0
        if self.chance(0.3):
            prefix = self.random.randrange(1, 4)
            schema["prefixItems"] = [self.node(depth + 1) for _ in range(prefix)]
            if self.chance(0.3):
                schema["items"] = self.chance(0.3)
        low = self.random.randrange(4)
        if self.chance(0.4):
            schema["minItems"] = low
        if self.chance(0.4):
            schema["maxItems"] = max(prefix - self.chance(0.1), low + self.random.randrange(4))
        if self.chance(0.03):
            schema["unevaluatedItems"] = False
        return schema

    def make_object(self, depth):
        schema = {"type": "object"}
        names = self.random.sample(NAMES, self.random.randrange(5)) if self.chance(0.9) else []
        if names:
            schema["properties"] = {name: self.node(depth + 1) for name in names}
        required = [name for name in names if self.chance(0.5)]
        if self.chance(0.06):
            required.append("zz")
        if required:
            schema["required"] = required
        kind = self.random.randrange(10)
        if kind < 4:
            schema["additionalProperties"] = False
        elif kind == 4:
            schema["additionalProperties"] = self.node(depth + 1)
        elif kind == 5 and self.chance(0.4):
            schema["unevaluatedProperties"] = False
        if self.chance(0.1):
            schema["minProperties"] = self.random.randrange(4)
        if self.chance(0.1):
            schema["maxProperties"] = len(required) + self.random.randrange(3)
        if self.chance(0.02):
            schema["patternProperties"] = {self.random.choice(PATTERNS[:-1])[0]: self.node(depth + 1)}
        if self.chance(0.02):
            schema["propertyNames"] = self.make_string(depth + 1)
        return schema

    def make_names(self, depth):
        """An object of properties that are not listed."""
        schema = {"type": "object"}
        if self.chance(0.5):
            schema.update(patternProperties={self.random.choice(PATTERNS[:-1])[0]: self.node(depth + 1)}, additionalProperties=False)
        else:
            schema["propertyNames"] = self.make_string(depth + 1)
            if self.chance(0.5):
                schema["additionalProperties"] = self.node(depth + 1)
        if self.chance(0.3):
            schema["minProperties"] = self.random.randrange(2)
        if self.chance(0.3):
            schema["maxProperties"] = self.random.randrange(1, 4)
        return schema

    def make_anyOf(self, depth):
        return {"anyOf": [self.node(depth + 1) for _ in range(self.random.randrange(1, 4))]}

    def make_oneOf(self, depth):
        if self.chance(0.5):
            return {"oneOf": [{"type": kind} for kind in self.random.sample(["string", "integer", "boolean", "null"], 2)]}
        branches = []
        for i in range(self.random.randrange(2, 4)):
            branches.append({"type": "object", "properties": {"kind": {"const": f"k{i}"}, "v": self.node(depth + 1)}, "required": ["kind"]})
        return {"oneOf": branches}

    def make_allOf(self, depth):
        return {"allOf": [self.node(depth + 1)]}


class Values:
    """Draws values that a schema describes, in the order of its properties; None of them where it gives up."""

    class GiveUp(Exception):
        pass

    def __init__(self, root, seed):
        self.root = root
        self.random = random.Random(seed)
        self.any = Generator(seed)
        self.steps = 0

    def draw(self):
        self.steps = 0
        try:
            return [self.of(self.root, 0)]
        except (self.GiveUp, RecursionError):
            return []

    def of(self, schema, depth):
        self.steps += 1
        if self.steps > 300 or schema is False:
            raise self.GiveUp
        if schema is True:
            return self.any.value(depth)
        if "$ref" in schema:
            target = self.root
            for part in schema["$ref"].lstrip("#").split("/")[1:]:
                target = target[part]
            return self.of(target, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema:
                return self.of(self.random.choice(schema[keyword]), depth + 1)
        kinds = schema.get("type")
        if kinds is None:
            of_object = any("ropert" in keyword or keyword == "required" for keyword in schema)
            of_array = any(keyword in ("prefixItems", "uniqueItems") or "tems" in keyword for keyword in schema)
            kinds = "object" if of_object else "array" if of_array else None
            if kinds is None:
                return self.any.value(depth)
        kind = self.random.choice(kinds) if isinstance(kinds, list) else kinds
        return getattr(self, kind)(schema, depth)

    def null(self, schema, depth):
        return None

    def boolean(self, schema, depth):
        return self.random.choice([True, False])

    def low_high(self, schema, step):
        low = max([schema.get("minimum", -math.inf), schema.get("exclusiveMinimum", -math.inf) + step])
        high = min([schema.get("maximum", math.inf), schema.get("exclusiveMaximum", math.inf) - step])
        return low, high

    def integer(self, schema, depth):
        low, high = self.low_high(schema, 1)
        if low == -math.inf:
            low = (high if high < math.inf else 1000) - 2000
        high = min(high, low + 2000)
        step = schema.get("multipleOf", 1)
        low, high = math.ceil(low), math.floor(high)
        value = self.random.choice([low, high, self.random.randint(low, high)]) if low <= high else low
        return value // step * step

    def number(self, schema, depth):
        low, high = self.low_high(schema, 0)
        if low == -math.inf and high == math.inf:
            return self.random.choice([0, -1, 2.5, 1e10, -3e-05, 0.1, 123456789])
        if low == -math.inf:
            low = high - 1000
        high = min(high, low + 1000)
        value = round(self.random.choice([low, high, round(self.random.uniform(low, high), self.random.randrange(7))]), 6)
        return int(value) if value == int(value) else value

    def string(self, schema, depth):
        if "pattern" in schema:
            return self.random.choice(next((good for pattern, good, _ in PATTERNS if pattern == schema["pattern"]), ["a"]))
        if schema.get("format") in FORMATS:
            return self.random.choice(FORMATS[schema["format"]][0])
        low, high = schema.get("minLength", 0), schema.get("maxLength", 20)
        # A string of bounded length has no escapes, see docs/structured-output.md.
        texts = [text for text in TEXTS if json.dumps(text, ensure_ascii=False)[1:-1] == text] if {"minLength", "maxLength"} & set(schema) else TEXTS
        size = self.random.randint(low, max(low, high))
        text = "".join(self.random.choice(texts) for _ in range(size + 1))
        return text[:size] if len(text) >= low else text + "é" * (low - len(text))

    def array(self, schema, depth):
        prefix, items = schema.get("prefixItems", []), schema.get("items", schema.get("unevaluatedItems", True))
        low = schema.get("minItems", 0)
        high = min(schema.get("maxItems", low + 3), len(prefix) if items is False else low + 3 + len(prefix))
        size = self.random.randint(low, max(low, high)) if depth < 4 else low
        return [self.of(prefix[i] if i < len(prefix) else items, depth + 1) for i in range(size)]

    def object(self, schema, depth):
        properties, required = schema.get("properties", {}), schema.get("required", [])
        additional = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
        value = {}
        for name, one in properties.items():
            if name in required or (depth < 4 and one is not False and self.random.random() < 0.5):
                value[name] = self.of(one, depth + 1)
        for name in required:
            if name not in properties:
                value[name] = self.of(additional, depth + 1)
        wanted = max(schema.get("minProperties", 0) - len(value), self.random.randrange(2) if depth < 4 else 0)
        for _ in range(wanted):
            if schema.get("patternProperties") and self.random.random() < 0.7:
                pattern, one = next(iter(schema["patternProperties"].items()))
                name = self.random.choice(next(good for known, good, _ in PATTERNS if known == pattern))
            elif additional is not False:
                name, one = self.random.choice(NAMES + ["aa", "b", "é1", "日", 'q"', "b\\"]), additional
                if "propertyNames" in schema:
                    name = self.string(schema["propertyNames"], depth)
            else:
                continue
            if name not in properties and name not in value:
                value[name] = self.of(one, depth + 1)
        return value

    def mutated(self, value, depth=0):
        """A value that differs from this one somewhere."""
        if isinstance(value, dict) and value and depth < 3 and self.random.random() < 0.8:
            name = self.random.choice(list(value))
            copy = dict(value)
            if self.random.random() < 0.3:
                del copy[name]
            elif self.random.random() < 0.2:
                copy[self.random.choice(NAMES)] = self.any.value()
            else:
                copy[name] = self.mutated(value[name], depth + 1)
            return copy
        if isinstance(value, list) and value and depth < 3 and self.random.random() < 0.8:
            i = self.random.randrange(len(value))
            return value[:i] + ([] if self.random.random() < 0.3 else [self.mutated(value[i], depth + 1)] * self.random.randrange(1, 3)) + value[i + 1:]
        if isinstance(value, str) and self.random.random() < 0.7:
            bad = [text for _, _, texts in PATTERNS for text in texts] + [text for _, texts in FORMATS.values() for text in texts]
            return self.random.choice([value + "x", value[1:], value + '"', value * 2] + bad)
        if isinstance(value, int) and not isinstance(value, bool) and self.random.random() < 0.7:
            return value + self.random.choice([-1, 1, 10, -100, 1000])
        if isinstance(value, float) and self.random.random() < 0.7:
            return value + self.random.choice([-0.5, 0.5, -1000.0, 1000.0])
        return self.any.value()
