"""Tests the status line on a terminal, with the elapsed time and an estimate of the rest."""

import io
import json

from support import ProjectCase


class Terminal(io.StringIO):
    def isatty(self):
        return True


class ScreenCase(ProjectCase):
    def screen(self, seconds, out=None, **variables):
        from matrixlib.cells import load
        from matrixlib.history import History
        from matrixlib.screen import Screen
        from matrixlib.shell import Places
        self.cells("".join(f"[[cell]]\nid = '{name}'\nwhat = 'x'\nrun = 'true'\n" for name in "abc"))
        (self.project / ".ci/results").mkdir(parents=True, exist_ok=True)
        (self.project / ".ci/results/history.json").write_text(json.dumps({name: {"seconds": value} for name, value in seconds.items()}))
        cells = load(self.project).cells
        history = History(Places(self.project))
        return Screen({cell.id: history.last(cell, "seconds") for cell in cells}, 1, out or Terminal(), variables)

    def test_what_runs_and_about_how_long_it_will_take(self):
        screen = self.screen({"a": 30, "b": 60, "c": 100})
        screen.finished.add("a")
        screen.running["b"] = ("build", screen.began - 20)
        self.assertEqual(screen.status(), "[1/3] 0:00, about 2:20 left  b: build 0:20")

    def test_what_ends_after_an_interrupt(self):
        screen = self.screen({"a": 30, "b": 60, "c": 100})
        screen.running["b"] = ("build", screen.began)
        screen.ending = True
        self.assertEqual(screen.status(), "[0/3] 0:00, interrupted: waits for what runs to end, 16 s at most  b: build 0:00")

    def test_a_terminal_that_cannot_write_over_a_line_gets_none_to_write_over(self):
        screen = self.screen({}, TERM="dumb")
        with screen:
            screen.began_step("a", "build")
        self.assertEqual(screen.out.getvalue(), "            a: build\n")

    def test_without_a_time_of_every_cell_there_is_no_estimate(self):
        screen = self.screen({"a": 30})
        self.assertEqual(screen.status(), "[0/3] 0:00  ")

    def test_color_is_for_terminals_and_those_who_like_it(self):
        self.assertIn("\x1b[31m", self.screen({}).paint("failed", "x"))
        self.assertEqual(self.screen({}, io.StringIO()).paint("failed", "x"), "x")
        self.assertEqual(self.screen({}, NO_COLOR="1").paint("failed", "x"), "x")

    def test_clock(self):
        from matrixlib.screen import clock
        self.assertEqual([clock(0.4), clock(59.6), clock(3725)], ["0:00", "1:00", "1:02:05"])
