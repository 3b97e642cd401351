"""Transcripts of what servers say to the steps in steps.jsonl, in a form in which two runs of a server are the same.

A transcript starts with lines `# ...`: which server it was and when it was recorded. After `## step` come the step's answers, the HTTP
API's first, then frames by connection. A line `~ reason` after them says why `serve --profile NAME` may answer differently.
"""

import ast
import json
import pathlib
import re

HERE = pathlib.Path(__file__).parent
STEPS = [json.loads(line) for line in (HERE / "steps.jsonl").read_text(encoding="utf-8").split("\n") if line]
ORDER = {step["step"]: place for place, step in enumerate(STEPS)}
# What these cause may come late, so it counts as a later step's.
LATE = {"batch": "batch frames", "batch 11": "batch empty", "events missing name": "events not json",
        "events missing data": "events not json", "terminate u1": "after terminate", "terminate u1 with {}": "after terminate"}


def plain(value):
    """Returns a JSON value without what differs from run to run, and lists of people in order."""
    if isinstance(value, dict):
        value = {key: plain(item) for key, item in value.items()}
        for key in ("ids", "users"):
            if isinstance(value.get(key), list):
                value[key].sort(key=json.dumps)
        for key in ("socket_id", "acknowledgement_id"):
            if key in value:
                value[key] = f"<{key}>"
        return value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return compact(plain(json.loads(value)))
        except ValueError:
            return value
    return value


def compact(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def normal(text):
    """Returns a text from a server without what differs from run to run."""
    try:
        text = compact(plain(json.loads(text)))
    except ValueError:
        text = " ".join(text.split())
    text = re.sub(r"(.)\1{99,}", lambda run: f"<{len(run[0])} {run[1]}>", text)
    text = re.sub(r"\b[0-9a-f]{32,64}\b", "<digest>", text)
    text = re.sub(r"\b\d+\.\d+(?=:)|\b\d{4,}\.\d{4,}\b", "<socket_id>", text)
    text = re.sub(r"\"\d+\.\d+\"", '"<socket_id>"', text)
    text = re.sub(r"\b1\d{9}\b", "<time>", text)
    return text[:1500].replace("\u2028", "\\u2028")


def line(connection, kind, *values):
    """Returns the line of what came on a connection; `None` for the end that follows a close frame or a refused upgrade."""
    values = [normal(str(value)) for value in values]
    return f"{connection}< {' '.join([kind, *values])}".rstrip()


class Transcript:
    """What a server says to each step, with the reasons for which an imitation may differ."""

    def __init__(self, about=()):
        self.about, self.steps, self.reasons = list(about), {}, {}

    def add(self, step, http, frames):
        """Adds a step with the HTTP answer's line, if any, and frames as (connection, kind, values...)."""
        answers = self.steps.setdefault(step, [])
        answers[:0] = [http] if http else []
        for place, frame in enumerate(frames):
            follows = any(other[0] == frame[0] and (other[1] == "close" or "101" not in other[2] and other[1] == "status")
                          for other in frames[:place])
            if frame[1] == "eof" and follows:
                continue
            self.steps.setdefault(LATE.get(step, step), []).append(line(frame[0], *(frame[1:2] if frame[1] == "eof" else frame[1:])))
        for name in (step, LATE.get(step, step)):
            self.steps.setdefault(name, []).sort(key=lambda answer: "" if answer.startswith("HTTP") else answer[0])

    def text(self):
        """Returns the transcript as its file holds it."""
        lines = self.about[:]
        for step in sorted(self.steps, key=ORDER.__getitem__):
            lines += [f"## {step}", *self.steps[step], *(f"~ {reason}" for reason in self.reasons.get(step, []))]
        return "\n".join(lines) + "\n"

    @classmethod
    def read(cls, path):
        transcript, step = cls(), None
        for text in pathlib.Path(path).read_text(encoding="utf-8").split("\n"):
            if text.startswith("## "):
                step = text[3:]
                transcript.steps[step] = []
            elif text.startswith("# "):
                transcript.about.append(text)
            elif text.startswith("~ "):
                transcript.reasons.setdefault(step, []).append(text[2:])
            elif text:
                transcript.steps[step].append(text)
        return transcript

    @classmethod
    def convert(cls, path, about):
        """Reads a recording of raw frames: `## step`, `HTTP status type body`, and `A< ('text', '...')`."""
        transcript, step, http, frames = cls([f"# {about}"]), None, None, []

        def finish():
            if step in ORDER:
                transcript.add(step, http, frames)

        for text in pathlib.Path(path).read_text(encoding="utf-8").split("\n"):
            text = re.sub(r"<(\d+) (.)>", lambda run: int(run[1]) * run[2], text)
            if "## " in text and text.split("## ")[-1] in ORDER and (text.startswith("## ") or text.startswith("  D>")):
                finish()
                step, http, frames = text.split("## ")[-1], None, []
            elif text.startswith("## "):
                finish()
                step = None
            elif answer := re.match(r"  HTTP (\d+|ERR) \S+(?: charset=\S+)? ?(.*)", text):
                http = f"HTTP {answer[1]} {normal(answer[2])}".rstrip()
            elif (frame := re.match(r"  ([A-Z])< (\(.*\))$", text)) and "('ping'" not in text:
                frames.append((frame[1], *ast.literal_eval(frame[2])))
        finish()
        return transcript

    def differences(self, other):
        """Returns what another server says differently, line by line, and the steps among it for which there is no reason, or a reason
        without a difference.
        """
        lines, problems, count = [], [], 0
        for step, expected in self.steps.items():
            came, reasons = other.steps.get(step, []), self.reasons.get(step, [])
            count += came != expected
            if (came != expected) != bool(reasons):
                problems.append(step)
            if came != expected:
                lines += [f"## {step}", *(f"  - {answer}" for answer in expected), *(f"  + {answer}" for answer in came)]
                lines += [f"  ~ {reason}" for reason in reasons] or ["  differs without a reason"]
            elif reasons:
                lines += [f"## {step}", "  is the same, though there is a reason to differ"]
        lines.append(f"{count} of {len(self.steps)} steps differ; {len(problems)} are unexplained")
        return lines, problems
