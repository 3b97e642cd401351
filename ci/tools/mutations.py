"""Finds where ci/tools/mutants can make a small slip in Swift code, and writes code that makes it while a switch is on.

Each mutation is (line, what it does, start, end, what it puts there, what is there for both it and the original, declarations), where §
stands for its number, and ¶ for its number as letters of an operator.
"""

import bisect
import re

# Comments, names in backticks, and strings with what is interpolated: nothing in them is changed.
TEXTS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|`[^`\n]*`|(?P<hashes>\#*)\"{3}.*?\"{3}(?P=hashes)|(?P<raw>\#+)"[^\n]*?"(?P=raw)"""
    r"""|"(?:\\\((?:[^()\n"]|"[^"\n]*"|\((?:[^()\n"]|"[^"\n]*")*\))*\)|\\.|[^"\\\n])*\"""", re.DOTALL)
MARK = re.compile(r"// not a mutant: \S")
# Lines that log, that only save time, that the compiler evaluates, or where another order, filling or beginning of a count means nothing;
# and texts for people.
UNSEEN = re.compile(
    r"^\s*[#@]\w+[( ]|^\s*(?!static)[\w() ]*\bvar \w+(?:: [\w.]+)? = 0$|\b(?:sorted|min|max)\(by:|\(repeating: 0,|\blog\w*\(|\.log\b|\blogger\b|\breserveCapacity\b|\bkeepingCapacity\b|\bassert\w*\(|\bprecondition\(")
DESCRIPTION = re.compile(r"\bvar (?:debugD|errorD|d)escription\b[^{\n]*\{")
HERE = {"os(Linux)"} | {f"canImport({module})" for module in ("CLibwebsockets", "COpenSSL", "CSodium", "Glibc", "FoundationNetworking")}
SWAPS = dict(pair.split() for pair in "< <=, <= <, > >=, >= >, == !=, != ==, + -, - +, += -=, -= +=, && ||, || &&".split(", "))
TOKEN = re.compile(r"(?<=\s)(?<!func )(?:[<>=!]=|[<>]|&&|\|\||[+-]=?)(?=\s)")
LITERAL = re.compile(r"(?<![\w$#@])(?<![^.]\.)(?:\d[\d_]*|true|false)(?!\w|\.\d)")
NO_STATEMENT = re.compile(
    r"(?:let|var|func|if|guard|for|while|switch|case|default|return|throw|break|continue|fallthrough|defer|do|repeat|struct|class|enum|actor"
    r"|extension|protocol|init|deinit|import|public|private|fileprivate|internal|package|static|final|mutating|nonisolated|override|indirect"
    r"|typealias|subscript|[gs]et|willSet|didSet|else|catch|where|weak|unowned|lazy|infix|prefix|convenience|required|isolated|consuming)\b")
FUNCTION = re.compile(r"\bfunc \S(?:(?!\b(?:func|var|let|init)\b|\}).)*?\{\n", re.DOTALL)
RESULT = re.compile(r"\) *(?:async *)?(?:throws(?:\(\w+\))? *)?(?:-> *([^{]*?))?(?: where .*)?\s*\{\n$", re.DOTALL)
RESULTS = {"": "return", "Void": "return", "Bool": "return false", "String": 'return ""', "Int": "return 0"}


def depth_of(code):
    return sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))


def is_here(condition):
    """Returns whether code under this `#if` is compiled on Linux without traits."""
    condition = re.sub(r"\w+(?:\(\w+\))?", lambda name: str(name[0] in HERE), condition)
    return eval(condition.replace("&&", " and ").replace("||", " or ").replace("!", " not ").strip())


def hidden_lines(text, code):
    """Returns the numbers of the lines, from 0, that nothing is drawn from."""
    hidden, active, described = set(), [True], 0
    for number, (line, bare) in enumerate(zip(text.split("\n"), code.split("\n"))):
        directive = re.match(r"\s*#(if|elseif|else|endif)\b(.*)", bare)
        if directive and directive[1] == "if":
            active.append(is_here(directive[2]))
            taken = active[-1]
        elif directive and directive[1] == "endif":
            active.pop()
        elif directive:
            active[-1] = not taken and (directive[1] == "else" or is_here(directive[2]))
            taken = taken or active[-1]
        in_text = described or DESCRIPTION.search(bare)
        described = described + depth_of(bare) if in_text else 0
        if not all(active) or directive or in_text or UNSEEN.search(bare) or MARK.search(line):
            hidden.add(number)
        if MARK.match(line.strip()):
            hidden.add(number + 1)
    return hidden


def conditions(code):
    clauses = [clause.span(1) for clause in re.finditer(r"^\s*(?:case|for)\b[^\n{]* where ([^\n]*?)(?::| \{)$", code, re.MULTILINE)]
    for keyword in re.finditer(r"(?<!#)(?<!\} )\b(?:if|guard|while)\s", code):
        depth, start = 0, keyword.end()
        for at in range(start, len(code)):
            ends = depth == 0 and (code.startswith("else ", at) if keyword[0][0] == "g" else code[at] == "{")
            if ends or depth == 0 and code[at] == ",":
                clauses.append((start, at))
                start = at + 1
            if ends:
                break
            depth += depth_of(code[at])
    for start, end in clauses:
        part = code[start:end]
        if part.strip() and not re.match(r"\s*(?:(?:let|var|case|_)\b|#)", part):
            yield "negates a condition", end - len(part.lstrip()), start + len(part.rstrip()), "!(\0)", "((\0) != mutant(§))", ""


def operators(code):
    for token in TOKEN.finditer(code):
        old, new = token[0], SWAPS[token[0]]
        if old in ("&&", "||"):
            order = "LogicalConjunction" if old == "&&" else "LogicalDisjunction"
            signature, body = "(_ a: Bool, _ b: @autoclosure () throws -> Bool) rethrows -> Bool", "return try a {} b()"
        elif old[-1] == "=" and old[0] in "+-":
            order, signature, body = "Assignment", "<T: AdditiveArithmetic>(_ a: inout T, _ b: T)", "return a {} b"
        else:
            order, kind = ("Addition", "AdditiveArithmetic") if old in "+-" else ("Comparison", "Comparable" if old[0] in "<>" else "Equatable")
            signature, body = f"<T: {kind}>(_ a: T, _ b: T) -> {'T' if old in '+-' else 'Bool'}", "return a {} b"
        body = f"{{ if mutant(§) {{ {body.format(new)} }} else {{ {body.format(old)} }} }}"
        declared = f"infix operator {old}¶: {order}Precedence\nfunc {old}¶ {signature} {body}"
        if old in ("==", "!="):
            declared += f"\nfunc {old}¶ <T>(_ a: T?, _ b: _OptionalNilComparisonType) -> Bool {body}"
        yield "swaps an operator", *token.span(), new, f"{old}¶", declared
    for token in re.finditer(r"\.\.<(?=[^\s)\]])", code):
        yield "swaps an operator", *token.span(), "...", "..<¶", (
            "infix operator ..<¶: RangeFormationPrecedence\nfunc ..<¶ <T: Strideable>(_ a: T, _ b: T) -> Range<T> where T.Stride: SignedInteger"
            " { a..<(mutant(§) ? b.advanced(by: 1) : b) }")


def literals(code):
    for token in LITERAL.finditer(code):
        if token[0] in ("true", "false"):
            if not re.search(r"^\s*case\b[^:\n]*\Z", code[:token.start()], re.MULTILINE):  # In a pattern it has to be a constant.
                yield "negates a constant", *token.span(), str(token[0] == "false").lower(), "(\0 != mutant(§))", ""
        else:
            yield "is off by one", *token.span(), str(int(token[0].replace("_", "")) + 1), "offByOne(\0, §)", ""


def statements(code):
    lines, before = list(re.finditer(r"^.*$", code, re.MULTILINE)), "{"
    for number, line in enumerate(lines):
        words, above = line[0].strip(), before
        before = words or before
        if not re.match(r"[A-Za-z_].*[(=]", words) or NO_STATEMENT.match(words) or re.search(r"[,(\[=+\-&|?<>*/]$", above):
            continue
        last, depth = number, depth_of(words)
        while depth > 0 and last < min(number + 3, len(lines) - 1):
            last += 1
            depth += depth_of(lines[last][0])
        start, end = line.end() - len(line[0].lstrip()), lines[last].start() + len(lines[last][0].rstrip())
        if depth == 0 and not re.search(r"[,{=+\-&|?:<>*/]$", code[start:end]) and not re.match(r"\s*(?:[.?:,)\]&|<>=+*/-]|else\b)", code[end:]):
            yield "drops a statement", start, end, "", "if !mutant(§) { \0 }", ""


def branches(code):
    for token in re.finditer(r"(?<=\} )else( if)?\b", code):
        after = "," if token[1] else ""
        yield "skips an else", *token.span(), f"else if false{after}", f"else if !mutant(§){after}", ""


def returns(code):
    for found in FUNCTION.finditer(code):
        result = RESULT.search(found[0])
        kind = (result and result[1] or "").strip()
        early = RESULTS.get(kind) or ("return nil" if kind.endswith("?") else "return []" if kind.startswith("[") else None)
        if result and early:
            yield "returns early", found.end() - 2, found.end() - 1, f"{{ {early};", f"{{ if mutant(§) {{ {early} }};", ""


def mutations(text):
    """Yields the mutations of a file's text."""
    code = TEXTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    hidden = hidden_lines(text, code)
    ends = [newline.start() for newline in re.finditer("\n", code)]
    for operator in (conditions, operators, literals, statements, branches, returns):
        for what, start, end, new, switched, declares in operator(code):
            first, last = bisect.bisect_left(ends, start), bisect.bisect_left(ends, end)
            if not hidden.intersection(range(first, last + 1)):
                old = text[start:end]
                yield first + 1, what, start, end, new.replace("\0", old), switched.replace("\0", old), declares
