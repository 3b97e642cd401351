"""`ci/matrix init`: a first cells.toml for a Swift package, and the hosted workflow that runs it."""

from .problems import Problem

CELLS = """# The cells of ci/matrix: id, what, and run or steps; `ci/matrix explain ID` shows what becomes of one.
# labels: smoke for every commit, full before a merge (smoke's, too), nightly for what takes long.

[axes]
configuration = ["debug", "release"]
sanitizer = ["none", "thread", "address"]

[runner]
linux = { runs-on = "ubuntu-24.04", container = "swift:6.3-bookworm" }

[step.build]
kind = "build"
run = "swift build --build-tests {flags}"
timeout = 1800

[step.test]
kind = "test"
run = "swift test --skip-build {flags} {report} {tests}"

[[cell]]
id = "format"
what = "Formatted as swift format wants it"
labels = ["smoke"]
run = "git ls-files -co --exclude-standard 'Sources/*.swift' 'Tests/*.swift' | xargs swift format lint --strict"

[[cell]]
id = "debug"
what = "Debug build, all tests"
labels = ["smoke"]
steps = ["build", "test"]

[[cell]]
id = "release"
what = "Optimized build, all tests"
axes = { configuration = "release" }
flags = ["-c", "release", "-Xswiftc", "-enable-testing"]
steps = ["build", "test"]

[[cell]]
id = "tsan"
what = "Data races, by the thread sanitizer"
axes = { sanitizer = "thread" }
flags = ["--sanitize=thread"]
steps = ["build", "test"]

[[cell]]
id = "asan"
what = "Memory faults, by the address sanitizer"
axes = { sanitizer = "address" }
flags = ["--sanitize=address"]
env = { ASAN_OPTIONS = "detect_leaks=0" } # XCTest and Swift Testing have some of their own
steps = ["build", "test"]

[[cell]]
id = "coverage"
what = "Tests with coverage, and where its JSON is"
flags = ["--enable-code-coverage"]
steps = ["build", "test", "swift test --show-codecov-path {flags}"]
"""

WORKFLOW = """# Asks ci/matrix for the jobs and runs their cells, as `ci/matrix run` does anywhere.
name: CI
on: [push, pull_request]
permissions:
  contents: read
env:
  MATRIX: /tmp/swift-pusher-channels/ci/matrix --project .
jobs:
  plan:
    runs-on: ubuntu-24.04
    outputs:
      matrix: ${{ steps.plan.outputs.matrix }}
    steps:
      - uses: actions/checkout@v4
      - run: git clone --depth 1 https://github.com/swift-pusher-channels/swift-pusher-channels /tmp/swift-pusher-channels
      - id: plan
        run: $MATRIX github -l full >> "$GITHUB_OUTPUT"
  cells:
    needs: [plan]
    name: ${{ matrix.job }}
    strategy:
      fail-fast: false
      matrix: ${{ fromJson(needs.plan.outputs.matrix) }}
    runs-on: ${{ matrix.runs-on }}
    container: ${{ matrix.container }}
    timeout-minutes: ${{ matrix.minutes }}
    steps:
      - if: ${{ matrix.container }}
        run: apt-get update -qq && apt-get install -y -qq git python3
      - uses: actions/checkout@v4
      - run: git config --global --add safe.directory "$GITHUB_WORKSPACE"
      - run: git clone --depth 1 https://github.com/swift-pusher-channels/swift-pusher-channels /tmp/swift-pusher-channels
      - run: $MATRIX run ${{ matrix.cells }}
"""

# As `swift package init` writes its sources; swift format's own default is two spaces.
FORMAT = """{
  "version": 1,
  "indentation": { "spaces": 4 }
}
"""

FILES = {"ci/cells.toml": CELLS, ".github/workflows/ci.yml": WORKFLOW}


def init(project):
    """Writes the files, none where one is there already; the lines to say."""
    if not (project / "Package.swift").exists():
        raise Problem(f"{project} has no Package.swift: --project names the folder of a package")
    there = [name for name in FILES if (project / name).exists()]
    if there:
        raise Problem(f"{', '.join(there)} is there already")
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
        yield f"wrote {name}"
    if not (project / ".swift-format").exists():
        (project / ".swift-format").write_text(FORMAT)
        yield "wrote .swift-format"
    ignored = project / ".gitignore"
    if ".ci/" not in (ignored.read_text().split() if ignored.exists() else []):
        with ignored.open("a") as file:
            file.write(".ci/\n")
        yield "added .ci/ to .gitignore"
