"""Reads the part of YAML that workflows are written in: mappings, lists, plain and quoted words, `|` blocks, [a, b] and {}.

Refuses everything else, so what it reads means the same to every parser.
"""

import re

KEY = re.compile(r"""("[^"]*"|'[^']*'|[\w.-]+):(?: +(.*))?$""")


def parse(text):
    lines = [(number, len(line) - len(line.lstrip(" ")), line.strip(" ")) for number, line in enumerate(text.split("\n"), 1)]
    if "\t" in text:
        raise ValueError("a tab")
    reader = Reader(lines)
    value = reader.block(0)
    if reader.peek():
        raise ValueError(f"line {reader.peek()[0]}: not expected here")
    return value


class Reader:
    def __init__(self, lines):
        self.lines, self.at = lines, 0

    def peek(self):
        """Returns the next line that isn't empty or a comment."""
        while self.at < len(self.lines) and (not self.lines[self.at][2] or self.lines[self.at][2].startswith("#")):
            self.at += 1
        return self.lines[self.at] if self.at < len(self.lines) else None

    def block(self, least):
        line = self.peek()
        if line is None or line[1] < least:
            return ""
        return self.list(line[1]) if line[2].startswith("- ") else self.mapping(line[1])

    def list(self, indent):
        items = []
        while (line := self.peek()) and line[1] == indent:
            number, _, text = line
            if not text.startswith("- "):
                raise ValueError(f"line {number}: no item of the list")
            rest = text[2:].lstrip(" ")
            if KEY.match(rest):
                # A mapping that begins after the dash.
                self.lines[self.at] = (number, indent + len(text) - len(rest), rest)
                items.append(self.mapping(self.lines[self.at][1]))
            else:
                self.at += 1
                items.append(scalar(rest, number))
        self.ends(indent)
        return items

    def mapping(self, indent):
        found = {}
        while (line := self.peek()) and line[1] == indent:
            number, _, text = line
            match = KEY.match(text)
            if not match:
                raise ValueError(f"line {number}: no key")
            key, rest = match[1].strip("\"'"), uncommented(match[2] or "")
            if key in found:
                raise ValueError(f"line {number}: {key} for the second time")
            self.at += 1
            if rest == "|":
                found[key] = self.text(indent)
            elif rest:
                found[key] = scalar(rest, number)
            else:
                nested = self.peek()
                same = nested and nested[1] == indent and nested[2].startswith("- ")
                found[key] = self.block(indent if same else indent + 1)
        self.ends(indent)
        return found

    def ends(self, indent):
        line = self.peek()
        if line and line[1] > indent:
            raise ValueError(f"line {line[0]}: indented further than what is above")

    def text(self, indent):
        taken, own = [], None
        while self.at < len(self.lines):
            _, depth, line = self.lines[self.at]
            if line and depth <= indent:
                break
            own = own if own is not None or not line else depth
            taken.append(" " * (depth - (own or 0)) + line if line else "")
            self.at += 1
        return "\n".join(taken).rstrip("\n") + "\n"


def uncommented(text):
    return re.sub(r"(^| )#.*$", "", text).rstrip(" ") if not text.startswith(("'", '"')) else text


def scalar(text, number):
    text = uncommented(text)
    if text[:1] in "\"'":
        if len(text) < 2 or text[-1] != text[0] or text[0] in text[1:-1] or "\\" in text:
            raise ValueError(f"line {number}: quotes")
        return text[1:-1]
    if text == "{}":
        return {}
    if text.startswith("["):
        if not text.endswith("]"):
            raise ValueError(f"line {number}: a list without an end")
        return [scalar(item.strip(), number) for item in text[1:-1].split(",") if item.strip()]
    if ": " in text or text.endswith(":") or text[:1] in "&*!|>{%@`-?,":
        raise ValueError(f"line {number}: {text}")
    return text
