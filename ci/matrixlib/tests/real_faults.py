"""Tests faults in a real package: what Swift and its tools say about them is read correctly."""

import json
import subprocess

from support import ProjectCase, environment, last_line, living

MANIFEST = """// swift-tools-version:6.1
import PackageDescription
let package = Package(
    name: "Made", products: [.library(name: "Made", targets: ["Made"])],
    targets: [.target(name: "Made"), .testTarget(name: "MadeTests", dependencies: ["Made"])])
"""
LIBRARY = "/// One more.\npublic func next(_ number: Int) -> Int { number + 1 }\n"
TESTS = "import Foundation\nimport Made\nimport Testing\n\n@Test func passes() { #expect(next(1) == 2) }\n"
CELLS = """
[step.build]
kind = "build"
run = "swift build --build-tests {flags}"
[step.test]
kind = "test"
run = "swift test --skip-build {flags} {report} {tests}"
timeout = 120
[[cell]]
id = "plain"
what = "tests"
steps = ["build", "test"]
[[cell]]
id = "hasty"
what = "tests with little time"
build = "plain"
steps = ["build", { use = "test", timeout = 20 }]
[[cell]]
id = "tsan"
what = "tests with the thread sanitizer"
flags = ["--sanitize=thread"]
steps = ["build", "test"]
"""


class FaultCase(ProjectCase):
    def environment(self, **values):
        return environment(**values)  # with the real Swift

    def setUp(self):
        super().setUp()
        self.cells(CELLS)
        self.write("Package.swift", MANIFEST)
        self.write("Sources/Made/Made.swift", LIBRARY)
        self.write("Tests/MadeTests/MadeTests.swift", TESTS)

    def write(self, name, text):
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def ran_with(self, test, cell="plain", library=""):
        self.write("Tests/MadeTests/MadeTests.swift", TESTS + test)
        self.write("Sources/Made/Made.swift", LIBRARY + library)
        return self.run_cell(cell)

    def run_cell(self, *arguments, **values):
        code, self.said = self.matrix("run", *arguments, **values)
        return code, last_line(self.said)


class RealFaults(FaultCase):
    def test_none_then_a_failing_test_then_a_compile_error(self):
        """Runs them one after the other in one folder: each run after a fault works."""
        self.assertEqual(self.ran_with(""), (0, "1 passed, 0 failed, 0 skipped"), self.said)
        self.assertIn("1 test\n", self.said)
        self.assertEqual(self.ran_with("@Test func fails() { #expect(next(1) == 3) }\n"), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("test: failed 3 times: MadeTests.fails()", self.said)
        self.assertRegex(self.said, r"MadeTests\.fails\(\) at .*/MadeTests\.swift:6\n.*Expectation failed: .*next\(1\).* == 3")
        self.assertEqual(self.ran_with("", library="let wrong: Int = \"text\"\n"), (3, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertRegex(self.said, r"build: does not compile: .*Made\.swift:3: cannot convert value")

    def test_flaky(self):
        self.assertEqual(self.ran_with(self.fails_once("failsOnce")), (0, "0 passed, 0 failed, 0 skipped, 1 flaky"), self.said)
        self.assertIn("1 flaky: plain", self.said)
        self.assertIn("Expectation failed: there", self.said)
        (line,) = (self.project / ".ci/flakes.jsonl").read_text().splitlines()
        self.assertEqual(json.loads(line)["test"], "MadeTests.failsOnce()")

    def fails_once(self, name):
        marker = self.project / name
        return f"""
@Test func {name}() throws {{
    let there = FileManager.default.fileExists(atPath: "{marker}")
    try Data().write(to: URL(fileURLWithPath: "{marker}"))
    #expect(there)
}}
"""

    def test_a_failure_that_lasts_beside_a_test_that_passes_alone(self):
        ends_with_3 = self.fails_once("one") + "@Test func endsWith3() { atexit { _exit(3) } }\n"
        self.assertEqual(self.ran_with(ends_with_3), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("test: failed: MadeTests.one(), which passed alone; all tests again: exit 1\n", self.said)
        in_order = """
nonisolated(unsafe) private var ran = false
@Suite(.serialized) struct Ordered {
    @Test func a() { ran = true }
    @Test func b() { #expect(!ran) }
}
"""
        self.assertEqual(self.ran_with(in_order), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("which passed alone; all tests again: failed: MadeTests.Ordered/b()\n", self.said)

    def test_tests_that_never_run(self):
        self.write("Tests/MadeTests/Old.swift", """import XCTest
final class First: XCTestCase {
    override class func tearDown() { exit(0) }
    func testA() {}
}
final class Second: XCTestCase { func testB() {} }
""")
        self.assertEqual(self.ran_with(""), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("test: XCTest did not run to its end, so tests may be missing; exit 0\n", self.said)
        self.write("Tests/MadeTests/Old.swift", "import XCTest\nfinal class First: XCTestCase { func testA() {} }\n")
        early = "struct Early: TestTrait { init() { exit(0) } }\n@Test(Early()) func early() {}\n"
        self.assertEqual(self.ran_with(early), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertRegex(self.said, "test: Swift Testing (reported nothing|did not run to its end).*; exit 0\n")  # It may have begun a report.
        self.assertEqual(self.ran_with(""), (0, "1 passed, 0 failed, 0 skipped"), self.said)

    def test_crash_and_hang(self):
        crash = "@Suite struct Group { @Test func traps() { let none: [Int] = []; print(none[next(0)]) } }\n"
        self.assertEqual(self.ran_with(crash), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertRegex(self.said, r"test: crashed(; running:| in) MadeTests\.Group/traps\(\)")
        self.assertIn("Fatal error: Index out of range", self.said)
        self.assertIn("running when its process ended", (self.project / ".ci/results/junit.xml").read_text())
        pids = self.project / "pids"
        hang = f"""
@Test func hangs() throws {{
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/bin/sleep")
    child.arguments = ["1000"]
    try child.run()
    try Data("\\(ProcessInfo.processInfo.processIdentifier) \\(child.processIdentifier)\\n".utf8).write(to: URL(fileURLWithPath: "{pids}"))
    while true {{ sleep(1) }}
}}
"""
        self.assertEqual(self.ran_with(hang, "hasty"), (124, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("not finished within 20 s; running: MadeTests.hangs()", self.said)
        self.assertEqual([pid for pid in map(int, pids.read_text().split()) if living(pid)], [])
        self.assertEqual(self.ran_with(""), (0, "1 passed, 0 failed, 0 skipped"), self.said)

    def test_data_race(self):
        race = """
final class Counter: @unchecked Sendable { var count = 0 }
@Test func races() {
    let counter = Counter()
    let done = DispatchSemaphore(value: 0)
    let threads = (0..<2).map { _ in Thread { counter.count += 1; done.signal() } }
    for thread in threads { thread.start() }
    for _ in threads { done.wait() }
    #expect(counter.count > 0)
}
"""
        self.assertEqual(self.ran_with(race, "tsan"), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertRegex(self.said, r"test: a data race at Tests/MadeTests/\w+\.swift:\d+")
        self.assertRegex(self.said, r"\| WARNING: ThreadSanitizer: .*race")
        self.assertEqual(self.ran_with("", "tsan"), (0, "1 passed, 0 failed, 0 skipped"), self.said)

    def test_missing_requirement(self):
        self.cells('[[cell]]\nid = "a"\nwhat = "b"\nrequires = ["swift-sdk:of-nowhere"]\nsteps = [{ run = "swift build", kind = "build" }]\n')
        self.assertEqual(self.run_cell("a"), (5, "0 passed, 0 failed, 1 skipped"), self.said)
        self.assertEqual(self.run_cell("a", CI="1"), (4, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("needs a Swift SDK for of-nowhere", self.said)

    def test_a_fresh_package_has_cells_that_pass(self):
        """Runs what `swift package init` and `ci/matrix init` write, without any edit, and before there is a repository."""
        self.project /= "a fresh one"
        self.project.mkdir()
        subprocess.run(["swift", "package", "init", "--name", "Fresh"], cwd=self.project, check=True, capture_output=True)
        code, said = self.matrix("init")
        self.assertEqual(code, 0, said)
        code, said = self.matrix("run", "-l", "full")
        self.assertEqual((code, last_line(said)), (0, "5 passed, 0 failed, 0 skipped"), said)
