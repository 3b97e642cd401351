"""A project with made-up cells in a folder of its own, in which ci/matrix runs as it does for a user."""

import contextlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
MATRIX = PACKAGE.parent / "matrix"
FAKE_SWIFT = pathlib.Path(__file__).with_name("fake_swift.py")
sys.path.insert(0, str(PACKAGE.parent))

# One child in its process group, one in a session of its own whose parent is gone, one that ignores polite signals.
SPAWN = """
sleep 1000 & echo $! >> pids.part
setsid bash -c 'sleep 1000 & echo $! >> pids.part'
bash -c 'trap "" TERM INT HUP; sleep 1000 & echo $! $$ >> pids.part; sleep 1001; sleep 1002' &
until [ "$(wc -w < pids.part)" -eq 4 ]; do sleep 0.01; done
mv pids.part pids
"""

# A watchdog: nothing here takes this long unless it hangs.
LIMIT = 60


def environment(**values):
    """Returns the environment without the variables that a hosted runner, or a cell that runs these tests, has set, or that change Python."""
    ours = {name: value for name, value in os.environ.items()
            if name not in ("CI", "SWIFTPM_BUILD_DIR", "CI_METRICS", "CI_CELL", "PYTHONUNBUFFERED") and not name.startswith("GITHUB_")}
    return ours | values


class ProjectCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="matrix-tests.")
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name).resolve()
        (self.project / "ci").mkdir()
        self.programs = self.project / "bin"
        self.program("swift", f"#!{sys.executable} -S\n{FAKE_SWIFT.read_text()}")

    def cells(self, text):
        (self.project / "ci/cells.toml").write_text(text)

    def program(self, name, text):
        """Makes a stand-in for the program with this name."""
        self.programs.mkdir(exist_ok=True)
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def packages(self, apt_get, *there):
        """Makes stand-ins for Debian's tools: `apt_get` runs in the project's folder, `there` is installed. The system isn't changed."""
        (self.project / "there").write_text("".join(f"installed {name}\n" for name in there))
        self.program("dpkg-query", f"#!/bin/sh\ncat {self.project}/there\n")
        self.program("apt-get", f"#!/bin/sh\ncd {self.project}\n{apt_get}\n")
        self.program("sudo", '#!/bin/sh\nexec "$@"\n')
        for name in ("install", "rm"):
            self.program(name, "#!/bin/sh\n")

    def environment(self, **values):
        return environment(**{"PATH": f"{self.programs}:{os.environ['PATH']}"} | values)

    def command(self, *arguments):
        return [sys.executable, str(MATRIX), "--project", str(self.project), *arguments]

    def matrix(self, *arguments, **values):
        """Returns the exit code and the output of ci/matrix, run in this process, because starting one would take most of the time."""
        from matrixlib.cli import main
        from matrixlib import requirements
        requirements.forget()
        said = io.StringIO()
        with unittest.mock.patch.dict(os.environ, self.environment(**values), clear=True):
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = main(["--project", str(self.project), *arguments])
        return code, said.getvalue()

    def start(self, *arguments, cwd=None, **values):
        process = subprocess.Popen(
            self.command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=self.environment(**values), cwd=cwd, start_new_session=True, preexec_fn=interruptible)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.stdout.close()
        process.wait()

    def interrupted(self, process, number=signal.SIGINT):
        process.send_signal(number)
        said, _ = process.communicate(timeout=LIMIT)
        return process.returncode, said

    def results(self):
        return json.loads((self.project / ".ci/results/latest.json").read_text())["cells"]

    def statuses(self):
        return {cell["id"]: cell["status"] for cell in self.results()}

    def wait_for(self, name):
        """Waits until a cell has made a file in the project's folder; returns its text."""
        file, deadline = self.project / name, time.monotonic() + LIMIT
        while not file.exists() or not file.read_text().endswith("\n"):
            self.assertLess(time.monotonic(), deadline, f"{name} was not made")
            time.sleep(0.01)
        return file.read_text()

    def assert_ended(self, *pids, within=5):
        deadline = time.monotonic() + within
        for pid in pids:
            while living(pid):
                self.assertLess(time.monotonic(), deadline, f"process {pid} is left")
                time.sleep(0.01)


class SpawningCase(ProjectCase):
    """Tests with cells whose processes are hard to end: `spawning`."""

    def pids(self):
        return [int(pid) for pid in self.wait_for("pids").split()]

    def assert_the_next_run_works(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        code, said = self.matrix("run", "a")
        self.assertEqual((code, last_line(said)), (0, "1 passed, 0 failed, 0 skipped"), said)


def spawning(then, timeout=30, name="a"):
    return f"[[cell]]\nid = '{name}'\nwhat = 'b'\ntimeout = {timeout}\nrun = '''{SPAWN}{then}'''\n"


def interruptible():
    """Handles signals as in a terminal; under nohup, or in the background of a shell, a process ignores one, and so do its children."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def living(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def last_line(said):
    return said.rstrip("\n").rpartition("\n")[2]
