"""Tests what stands for several cells, here and as hosted jobs: lists of values of axes, and shards of tests."""

import json
import os
import re

from support import ProjectCase
from test_tests import CELL

CELLS = """
[axes]
swift = ["6.1", "6.2", "6.3"]
image = ["bookworm", "noble"]
[runner]
linux = {{ runs-on = "ubuntu-24.04", container = "swift:{{swift}}-{{image}}" }}
[[cell]]
id = "debug"
what = "b"
axes = {{ swift = ["6.2", "6.3"], image = ["bookworm", "noble"] }}
exclude = [{exclude}]
requires = ["swift:{{swift}}"]
run = "touch $CI_CELL.ran"
"""


class AxesCase(ProjectCase):
    def setUp(self):
        super().setUp()
        self.program("swift", "#!/bin/sh\necho 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'\n")
        self.cells(CELLS.format(exclude="{ swift = '6.2', image = 'noble' }"))

    def test_each_combination_is_a_hosted_job_without_those_that_are_excluded(self):
        jobs = json.loads(self.matrix("github")[1].partition("=")[2])["include"]
        self.assertEqual([(job["job"], job["container"]) for job in jobs], [
            ("debug-6.2-bookworm", "swift:6.2-bookworm"), ("debug-6.3-bookworm", "swift:6.3-bookworm"), ("debug-6.3-noble", "swift:6.3-noble")])

    def test_what_is_installed_runs_here_and_the_rest_is_skipped(self):
        code, said = self.matrix("run", "-l", "full")
        self.assertEqual((code, self.statuses()), (0, {"debug-6.2-bookworm": "skipped", "debug-6.3-bookworm": "passed", "debug-6.3-noble": "passed"}))
        self.assertIn("needs Swift 6.2, this is 6.3.1", said)
        self.assertEqual(self.matrix("list", "-a", "swift=6.2")[1].split()[0], "debug-6.2-bookworm")

    def engine(self, name):
        """Makes a stand-in for a container engine, in whose images Swift has another version: no image can be had in these tests."""
        inside = self.project / "inside"
        inside.mkdir(exist_ok=True)
        self.program(name, f"""#!/bin/bash
echo "$@" >> {self.project}/asked
[ "$1" = run ] || exit 0
until [[ $1 == swift:* ]]; do shift; done
shift
cd {inside}
exec "$@"
""")

    def asked(self, word):
        return [line for line in (self.project / "asked").read_text().splitlines() if line.startswith(word)]

    def test_what_is_not_installed_runs_in_a_container_where_an_engine_runs(self):
        for name in ("podman", "docker"):
            self.engine(name)
            code, said = self.matrix("run", "-l", "full")
            self.assertEqual((code, set(self.statuses().values())), (0, {"passed"}), said)
            self.assertTrue((self.project / "inside/debug-6.2-bookworm.ran").exists())
            self.assertFalse((self.project / "inside/debug-6.3-noble.ran").exists(), "it is installed")
        ran, name = self.asked("run")[-1], self.asked("rm --force")[-1].split()[-1]
        for words in (f"--name {name} --user {os.getuid()}:{os.getgid()} ", f" --volume {self.project}:{self.project} ", " --env SWIFTPM_BUILD_DIR ", " --env CI_CELL ",
                      f" --workdir {self.project} swift:6.2-bookworm bash -eo pipefail -c "):
            self.assertIn(words, ran)
        self.assertNotIn("--user", self.asked("run")[0], "podman's root is this user")
        self.assertIn("# would run in swift:6.2-bookworm with docker\n", self.matrix("run", "--dry-run", "debug-6.2-bookworm")[1])

    def test_a_container_ends_with_its_step(self):
        self.engine("docker")
        self.cells(CELLS.format(exclude="{ image = 'noble' }").replace("touch $CI_CELL.ran", "sleep 1000") + "timeout = 1\n")
        self.assertEqual(self.matrix("run", "debug-6.2-bookworm")[0], 124)
        self.assertEqual(len(self.asked("rm --force ci-matrix-")), 1)

    def test_an_image_does_not_have_the_packages_of_a_system(self):
        self.engine("docker")
        self.cells(CELLS.format(exclude="").replace('requires = ["swift:{swift}"]', 'requires = ["swift:{swift}", "apt:bash"]'))
        self.assertIn("needs Swift 6.2, this is 6.3.1", self.matrix("run", "debug-6.2-bookworm")[1])

    def test_a_value_that_the_cell_does_not_have_is_excluded_from_nothing(self):
        for rule, words in (("{ swift = '6.1' }", "no value of the axis 'swift' in the cell called '6.1'"), ("{ other = 'x' }", "no key 'other'"), ("'x'", "is not a table")):
            self.cells(CELLS.format(exclude=rule))
            code, said = self.matrix("list")
            self.assertEqual((code, words in said), (2, True), said)

    def test_axes_and_their_values_may_be_called_as_keys_are(self):
        for axis in ("env", "timeout", "retries", "shards", "megabytes", "run", "steps", "labels", "cell", "exclude", "dev"):
            self.cells(f"axes.{axis} = ['dev', 'steps', 'labels']\nrequires.{axis} = {{ dev = ['command:none-such'], steps = [], labels = [] }}\n[[cell]]\n"
                       f"id = 'a'\nwhat = 'b'\nrun = 'true'\naxes = {{ {axis} = ['dev', 'steps', 'labels'] }}\nexclude = [{{ {axis} = 'labels' }}]\n")
            rows = [(row["id"], row["why"]) for row in json.loads(self.matrix("list", "--json")[1])]
            self.assertEqual(rows, [("a-dev", "needs the command none-such"), ("a-steps", "")], axis)
        self.cells("axes.language = ['steps']\nrequires.language = { steps = [5] }\n[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        self.assertEqual(self.matrix("list"), (2, "matrix: cells.toml: requires.language: 'steps' is not a list of strings\n"))

    def test_a_shared_job_has_one_image(self):
        self.cells(CELLS.format(exclude="") + "[[cell]]\nid = 'a'\nwhat = 'b'\njob = 'x'\nrun = 'true'\n[[cell]]\nid = 'c'\nwhat = 'b'\njob = 'x'\nrun = 'true'\naxes = { swift = '6.2' }\n")
        self.assertIn("which has another runner", self.matrix("list")[1])


class ShardCase(ProjectCase):
    def ran(self, *arguments, tests="one=pass two=pass three=pass four=pass"):
        """Runs a cell; returns its exit code, the names of the tests, and what it said."""
        code, said = self.matrix("run", *arguments, FAKE_TESTS=tests)
        return code, [test["name"] for cell in self.results() for step in cell["steps"] for test in step["tests"]], said

    def test_all_shards_together_run_each_test_once(self):
        self.cells(CELL.format(retries=0, timeout=30))
        found = [self.ran("a", "--shard", f"{number}/2") for number in (1, 2)]
        self.assertEqual([code for code, _, _ in found], [0, 0])
        self.assertEqual(sorted(name for _, names, _ in found for name in names), [f"Made.Up/{name}()" for name in ("four", "one", "three", "two")])
        self.assertTrue(all(names for _, names, _ in found))

    def test_values_whose_names_are_no_part_of_an_id_have_numbers(self):
        for values, ids in ((["a/b", "a-b"], "12"), (["ü", "b"], "12"), (["A/b", "c"], ["a-b", "c"])):
            self.cells(f"[axes]\nx = {values}\n[[cell]]\nid = 'd'\nwhat = 'b'\naxes = {{ x = {values} }}\nrun = 'true'\n")
            self.assertEqual([line.split()[0] for line in self.matrix("list")[1].splitlines() if line.startswith("d-")], [f"d-{part}" for part in ids])

    def test_names_of_both_libraries_are_in_one_shard_each_and_suites_in_none(self):
        """A suite that was left out would take its tests with it."""
        from matrixlib.testlog import shard
        tests = [f"Made.Up/{'x' * length}" for length in range(40)]
        tests = [f"{name}()/Up.swift:7:2" for name in tests] + [f"{name}(of:_:)/Up.swift:117:22" for name in tests] + [
            f"Made.{'U' * length}/testÄ" for length in range(1, 40)] + ["Made.free()/Up.swift:7:2", "Made.Up/Inner/`a (b) /c.swift:1:1`()/Up.swift:7:2"]
        for count in range(1, 9):
            left_out = [shard(f"{number}/{count}")[1:] for number in range(1, count + 1)]
            for name in tests:
                self.assertEqual(sum(not any(re.search(pattern, name) for pattern in one) for one in left_out), 1, (name, count))
            for name in ("Made", "Made.Up", "Made.Up/Inner", "Made.Up/Inner/Most", "Made.`a (b)`"):
                self.assertFalse([one for one in left_out for pattern in one if re.search(pattern, name)], name)

    def test_a_test_stays_in_its_shard_when_its_line_moves(self):
        from matrixlib.testlog import shard
        pattern = shard("1/3")[1]
        self.assertEqual([bool(re.search(pattern, f"Made.Up/one()/Up.swift:{line}:2")) for line in (9, 10, 100)], [bool(re.search(pattern, "Made.Up/one()/Up.swift:1:2"))] * 3)

    def test_a_shard_without_a_test_is_no_failure_and_says_so(self):
        self.cells(CELL.format(retries=0, timeout=30))
        found = [self.ran("a", "--shard", f"{number}/2", tests="one=pass") for number in (1, 2)]
        self.assertEqual(sorted(names for _, names, _ in found), [[], ["Made.Up/one()"]])
        number = 1 if not found[0][1] else 2
        self.assertEqual([code for code, _, _ in found], [0, 0])
        self.assertIn(f"    test: no test of it is in shard {number}/2\n", found[number - 1][2])
        self.assertIn("no test was run", self.ran("a", tests="one=absent")[2], "all of them are another matter")
        for tests, expected in (("one=absent", 1), ("one=skip four=skip", 1), ("one=pass four=skip", 0)):
            found = [self.ran("a", "--shard", f"{number}/2", tests=tests) for number in (1, 2)]
            self.assertEqual([code for code, _, _ in found], [expected] * 2, found)
            self.assertEqual(["no test was run" in said for _, _, said in found], [expected == 1] * 2)

    def test_a_failure_in_a_shard_is_repeated_alone_and_the_shard_with_what_else_it_has(self):
        self.cells(CELL.format(retries=1, timeout=30))
        said = [self.ran("a", "--shard", f"{number}/2", tests="one=fail three=pass two=fail")[2] for number in (1, 2)]
        self.assertEqual([len(re.findall("again: .* run a --shard [12]/2 --step build --step test -- --filter", text)) for text in said], [1 if "Made.Up/" in text else 0 for text in said])
        self.assertNotIn("seconds", json.loads((self.project / ".ci/results/history.json").read_text())["a"], "a part's time is not that of all")

    def test_what_is_no_shard_is_refused(self):
        self.cells(CELL.format(retries=0, timeout=30))
        for text in ("0/2", "3/2", "1", "a/b", "1/0", "-1/2"):
            with self.assertRaises(SystemExit, msg=text):
                self.matrix("run", "a", f"--shard={text}")
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nsteps = [{ kind = 'test', name = 't', run = 'swift test {report}' }]\n")
        self.assertEqual(self.matrix("run", "a", "--shard", "1/2"), (2, "matrix: --shard: a: write {tests} where the command of 't' takes the options that choose tests\n"))

    def test_a_cell_may_stand_for_its_shards(self):
        self.cells(CELL.format(retries=0, timeout=30) + "shards = 2\n[[cell]]\nid = 'c'\nwhat = 'd'\nneeds = ['a-*']\nrun = 'true'\n")
        code, names, said = self.ran("-l", "full")
        self.assertEqual((code, sorted(names)), (0, [f"Made.Up/{name}()" for name in ("four", "one", "three", "two")]), said)
        self.assertEqual(list(self.statuses()), ["a-1-of-2", "a-2-of-2", "c"])
        self.assertIn("1 builds were those of other cells", said)
        jobs = [json.loads(line.partition("=")[2])["include"] for line in self.matrix("github")[1].splitlines()]
        self.assertEqual([[(job["job"], job["cells"]) for job in matrix] for matrix in jobs], [[("a-1-of-2",) * 2, ("a-2-of-2",) * 2], [("c", "c")]])
        self.assertEqual(self.matrix("run", "a-1-of-2", "--shard", "1/2"), (2, "matrix: --shard: a-1-of-2: it is one shard already\n"))
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\nshards = 2\n")
        self.assertEqual(self.matrix("list"), (2, "matrix: cells.toml: cell 'a': 'shards' has no effect: it has no step of the kind test\n"))
