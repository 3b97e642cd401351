"""Tests reports: JUnit, JSON, Markdown, the differences between two runs, and what GitHub shows."""

import json
import os
import pathlib
import subprocess
import unittest.mock
import xml.etree.ElementTree as xml

from support import LIMIT, MATRIX, ProjectCase, last_line
from test_run import cell
from test_tests import CELL


class ReportCase(ProjectCase):
    def test_a_page_has_all_of_it_and_nothing_of_it_is_markup(self):
        from html.parser import HTMLParser
        self.cells("[axes]\nspeed = ['slow', 'fast']\n[[cell]]\nid = 'a'\nwhat = 'b'\naxes = { speed = 'fast' }\nrun = 'exit 3'\n"
                   "[[cell]]\nid = 'c'\nwhat = 'd'\nsteps = [{ name = 'test', kind = 'test', run = 'swift test {report} {tests}' }]\n"
                   "[[cell]]\nid = 'e'\nwhat = 'f'\nrun = 'true'\n")
        self.matrix("run", "*", FAKE_TESTS="one=pass two=flaky")
        value = self.project / ".ci/results/latest.json"
        value.write_text(value.read_text().replace("exit 3", "<script>alert(1)</script>"))
        code, _ = self.matrix("report", "--html", str(self.project / "page.html"))
        text = (self.project / "page.html").read_text()
        self.assertEqual(code, 0)
        for words in ("1 passed, 1 failed, 0 skipped", "speed=fast", "Made.Up/two(): 1×", "&lt;script&gt;", 'class="flaky"'):
            self.assertIn(words, text)
        tags = set()
        parser = HTMLParser()
        parser.handle_starttag = lambda tag, attributes: tags.add(tag)
        parser.feed(text)
        self.assertFalse(tags & {"script", "img", "link", "iframe"}, "it needs nothing else")

    def test_a_page_says_that_more_failed_than_it_shows(self):
        self.run_to("1.json", " ".join(f"t{number}=fail" for number in range(5)))
        self.matrix("report", "--html", str(self.project / "page.html"))
        self.assertIn("Made.Up/t2(): 1 is not 2\nand 2 more</pre>", (self.project / "page.html").read_text())

    def run_to(self, name, tests="one=pass two=pass", **values):
        self.cells(CELL.format(retries=0, timeout=30) + cell("b") + cell("c", requires=["command:no-such-program"], optional=True))
        file = str(self.project / name)
        _, self.said = self.matrix("run", "*", "--report", file, FAKE_TESTS=tests, **values)
        return file

    def test_junit_names_tests_by_their_cell(self):
        file = self.run_to("1.json", "one=pass two=crash three=pass")
        self.matrix("report", file, "--junit", str(self.project / "out.xml"))
        cases = {(case.get("classname"), case.get("name")): [child.tag for child in case] for case in xml.parse(self.project / "out.xml").iter("testcase")}
        self.assertEqual(cases, {
            ("a", "build"): [], ("a.Made.Up", "one()"): [], ("a.Made.Up", "two()"): ["error"], ("b", "true"): [], ("c", "cell"): ["skipped"]})
        suite = xml.parse(self.project / "out.xml").find("testsuite[@name='a']")
        self.assertEqual((suite.get("tests"), suite.get("errors"), suite.get("failures")), ("3", "1", "0"))

    def test_a_cell_that_failed_though_its_steps_passed_is_an_error_and_named_at_the_end(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nsteps = [{ name = 'one', run = 'mkdir .ci/logs/a/two.log' }, { name = 'two', run = 'true' }]\n"
                   + cell("b"))
        code, said = self.matrix("run", "*")
        self.assertEqual((code, self.statuses()), (4, {"a": "failed", "b": "passed"}), said)
        self.assertRegex(said, r"(?m)^failed: a: .*/two\.log: .*\n    again: .* run a\n1 passed, 1 failed, 0 skipped\n")
        suite = xml.parse(self.project / ".ci/results/junit.xml").find("testsuite[@name='a']")
        self.assertEqual((suite.get("tests"), suite.get("errors")), ("2", "1"))

    def test_a_log_that_could_not_be_written_behind_a_flaky_step_is_an_error_too(self):
        from matrixlib.report import junit
        from matrixlib.results import CellResult, StepResult
        suite = xml.fromstring(junit([CellResult("a", "failed", why="no space left", steps=[StepResult("s", "test", "flaky")])]).encode())
        self.assertEqual([error.get("message") for error in suite.iter("error")][0], "no space left")

    def test_output_that_xml_may_not_hold(self):
        from matrixlib.report import junit
        from matrixlib.results import CellResult, StepResult
        xml.fromstring(junit([CellResult("a", "failed", steps=[StepResult("s", "check", "failed", why="\x1b[31m\x00<&")])]).encode())

    def test_runs_of_several_jobs_are_merged(self):
        first, second = self.run_to("1.json", "one=pass two=fail"), self.run_to("2.json")
        _, table = self.matrix("report", first, second, "--json", str(self.project / "merged.json"))
        self.assertIn("| a | passed |", table)
        self.assertIn("| c | skipped |  |  |  | needs the command no-such-program |", table)
        self.assertTrue(table.endswith("\n2 passed, 0 failed, 1 skipped\n"))
        self.assertEqual(len(json.loads((self.project / "merged.json").read_text())["cells"]), 3)

    def test_cells_whose_job_ended_before_it_had_a_result_failed(self):
        file = self.run_to("1.json")
        jobs = '{"include": [{"job": "a", "cells": "a b"}, {"job": "d", "cells": "d"}]}'
        code, table = self.matrix("report", file, "--expect", jobs)
        self.assertEqual(code, 4)
        self.assertEqual(self.matrix("report", file, "--expect", '{"include": [{"cells": "a b"}]}')[0], 0)
        self.assertIn("| d | **failed** |  |  |  | no result: its job ended before it had one |", table)
        self.assertTrue(table.endswith("\n2 passed, 1 failed, 1 skipped\n"))
        _, table = self.matrix("report", str(self.project / "none.json"), "--expect", jobs)
        self.assertIn(f"matrix: there is no {self.project}/none.json\n", table)
        self.assertTrue(table.endswith("\n0 passed, 3 failed, 0 skipped\n"))
        self.assertEqual(self.matrix("report", file, "--expect", "[]")[0], 2)
        self.assertEqual(self.matrix("report", file, "--expect", "")[0], 2, "the job that prints it has failed")

    def test_the_status_tells_what_nobody_reads(self):
        reading, writing = os.pipe()
        os.close(reading)
        self.addCleanup(os.close, writing)
        expected = '{"include": [{"cells": "a0 z"}]}'
        for count in (1, 1000):  # More than is buffered.
            for name, status in (("1.json", "passed"), ("2.json", "failed")):
                cells = [{"id": f"a{number}", "status": status} for number in range(count)]
                (self.project / name).write_text(json.dumps({"version": 1, "cells": cells}))
            for words, code in ((["compare", "1.json", "2.json"], 1), (["compare", "1.json", "1.json"], 0), (["report", "1.json", "--expect", expected], 4),
                                (["report", "none.json", "--expect", expected], 4), (["report", "1.json"], 0)):
                done = subprocess.run(self.command(*words), cwd=self.project, env=self.environment(), stdout=writing, stderr=writing, timeout=LIMIT)
                self.assertEqual(done.returncode, code, (count, words))

    def test_options_may_stand_between_the_files(self):
        one, two, page = (str(self.project / name) for name in ("1.json", "2.json", "page.html"))
        self.cells(cell("a") + cell("b"))
        for name, file in (("a", one), ("b", two)):
            self.matrix("run", name, "--report", file)
        code, said = self.matrix("report", one, "--html", page, two)
        self.assertEqual((code, last_line(said)), (0, "2 passed, 0 failed, 0 skipped"), said)
        self.assertEqual(self.matrix("report", "--html", page, one)[0], 0)

    def test_what_is_expected_is_looked_for_in_the_last_run(self):
        self.cells(cell("a"))
        jobs = '{"include": [{"cells": "a"}]}'
        self.assertEqual(self.matrix("report", "--expect", jobs)[0], 4)
        self.matrix("run", "a")
        self.assertEqual(self.matrix("report", "--expect", jobs)[0], 0)

    def test_a_skip_elsewhere_does_not_hide_a_result(self):
        from matrixlib.report import merged
        from matrixlib.results import CellResult
        (found,) = merged([[CellResult("a", "failed")], [CellResult("a", "skipped")]])
        self.assertEqual(found.status, "failed")

    def test_comparing(self):
        before, after = self.run_to("1.json"), self.run_to("2.json", "one=pass three=fail")
        code, said = self.matrix("compare", before, after)
        self.assertEqual(code, 1)
        self.assertIn("a: passed -> failed (test: failed: Made.Up/three())", said)
        self.assertIn("a: 1 test gone: Made.Up/two()", said)
        self.assertEqual(self.matrix("compare", before, before), (0, "no difference\n"))
        self.assertEqual(self.matrix("compare", after, before)[0], 0)

    def test_comparing_times_and_metrics(self):
        from matrixlib.compare import differences, worse
        from matrixlib.results import CellResult
        old, new = (CellResult("a", "passed", seconds=seconds, metrics={"coverage": value}) for seconds, value in ((60, 90.0), (90, 91.5)))
        self.assertEqual([*differences([old], [new])], [("a: 1:00 -> 1:30", False), ("a: coverage 90.0 -> 91.5", False)])
        self.assertEqual(worse([old], [new]), [])
        self.assertEqual(worse([old], [CellResult("a", "unchanged")]), [], "it passed, and would again")
        self.assertEqual(worse([CellResult("a", "unchanged")], [CellResult("a", "failed")]), ["a"])
        self.assertEqual(worse([CellResult("a", "passed")], []), ["a"])

    def test_differences_within_noise_are_told_apart(self):
        from matrixlib.compare import differences
        from matrixlib.results import CellResult, StepResult, Test

        def found(seconds, test, coverage):
            return [CellResult("a", "passed", seconds=seconds, metrics={"coverage": coverage}, steps=[
                StepResult("s", "test", "passed", tests=[Test("t()", "passed", test)])])]
        old, new = found(60, 4, 90.0), found(70, 4.5, 90.1)
        everything = ["a: 1:00 -> 1:10", "a: coverage 90.0 -> 90.1", "a: t() 4.0 s -> 4.5 s"]
        self.assertEqual([*differences(old, new)], [(line, True) for line in everything])

    def test_noise_is_that_of_the_cells_earlier_runs(self):
        from matrixlib.compare import differences
        from matrixlib.results import CellResult
        old, new = ([CellResult("a", "passed", seconds=seconds)] for seconds in (60, 70))
        for times, hidden in (([60, 61, 60, 59, 70], False), ([60, 75, 50, 68, 55], True), ([60, 61, 60], True)):
            self.assertEqual([is_noise for _, is_noise in differences(old, new, lambda name: times)], [hidden], times)

    def test_what_a_cell_took_is_remembered_for_it(self):
        self.cells(cell("a"))
        for _ in range(2):
            self.matrix("run", "a")
        entry = json.loads((self.project / ".ci/results/history.json").read_text())["a"]
        self.assertEqual(len(entry["times"]), 2)
        before, after = self.run_to("1.json"), self.project / "2.json"
        value = json.loads((self.project / "1.json").read_text())
        value["cells"][0]["steps"][-1]["tests"][0]["seconds"] += 0.4
        after.write_text(json.dumps(value))
        code, said = self.matrix("compare", before, str(after))
        self.assertEqual((code, said), (0, "no difference that is more than noise\nwithin noise, and hidden: 1; --all shows them\n"))
        self.assertIn(" s -> ", self.matrix("compare", before, str(after), "--all")[1])

    def test_what_is_no_report(self):
        (self.project / "no.json").write_text("{}")
        self.assertEqual(self.matrix("report", str(self.project / "no.json"))[0], 2)
        self.assertEqual(self.matrix("report", str(self.project / "none.json"))[0], 2)

    def test_before_any_run_there_is_nothing_to_report(self):
        code, said = self.matrix("report")
        self.assertEqual((code, said), (2, f"matrix: nothing has been run here yet: {MATRIX} --project {self.project} run\n"))

    def test_a_report_to_a_hyphen_goes_to_the_output(self):
        file = self.run_to("1.json")
        table = self.matrix("report", file)[1]
        self.assertEqual(self.matrix("report", file, "--markdown", "-")[1], table)
        self.assertEqual(len(json.loads(self.matrix("report", file, "--json", "-")[1])["cells"]), 3)
        self.assertFalse(pathlib.Path("-").exists())

    def test_a_report_that_cannot_be_written(self):
        file = self.run_to("1.json")
        code, said = self.matrix("report", file, "--json", str(self.project))
        self.assertEqual((code, said.count("\n")), (4, 1), said)

    def test_github_gets_errors_folded_logs_and_a_table(self):
        summary = self.project / "summary.md"
        self.run_to("1.json", "one=fail", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
        self.assertIn("::error file=/made/Up.swift,line=7,title=a::failed: Made.Up/one(): 1 is not 2", self.said)
        self.assertIn("::group::a: test", self.said)
        self.cells(cell("c", requires=["command:no-such-program"]))
        _, said = self.matrix("run", "c", CI="true", GITHUB_ACTIONS="true")
        self.assertIn("::error title=c::missing requirement: needs the command no-such-program", said)
        from matrixlib import details
        from matrixlib.results import CellResult, StepResult
        from matrixlib.shell import Places
        (self.project / "log").write_text(f"{self.project}/lib/A.swift:3:1: error: no such thing\n")
        for status, level in (("failed", "error"), ("flaky", "warning")):
            result = CellResult("a", status, steps=[StepResult("s", "build", status, log=str(self.project / "log"))])
            with unittest.mock.patch.dict("os.environ", GITHUB_WORKSPACE=str(self.project)):
                found = details.annotations(Places(self.project / "lib"), result)
            self.assertEqual(found, [f"::{level} file=lib/A.swift,line=3,title=a::no such thing"])
        self.assertIn("| a | **failed** |", summary.read_text())
