"""Tests what a command finds under ci/tools/with-libwebsockets, with a library that is already there and a made-up pkg-config."""

import subprocess

from own import ProjectCase


class LibwebsocketsCase(ProjectCase):
    def setUp(self):
        super().setUp()
        self.copied("ci/tools/with-libwebsockets")
        self.folder = self.project / ".build-libwebsockets-4.3"
        (self.folder / "installed").mkdir(parents=True)
        (self.folder / "complete").touch()

    def built_in(self, version="4.3.5-1", **values):
        """Returns the exit code, and the library's version with the folder where Swift builds."""
        self.program("pkg-config", f"#!/bin/sh\necho {version}\n")
        command = [self.project / "ci/tools/with-libwebsockets", "4.3", "bash", "-c", "echo $LIBWEBSOCKETS_VERSION $SWIFTPM_BUILD_DIR"]
        done = subprocess.run(command, env=self.environment(**values), capture_output=True, text=True)
        return done.returncode, (done.stdout or done.stderr).strip()

    def test_what_it_builds_lies_where_the_cell_says_and_apart_from_what_is_built_with_another(self):
        said = f"4.3.5 {self.project}/.build-libwebsockets-4.3/libwebsockets-4.3"
        self.assertEqual(self.built_in(), (0, said))
        self.assertEqual(self.built_in(SWIFTPM_BUILD_DIR="/x"), (0, "4.3.5 /x/libwebsockets-4.3"))

    def test_what_was_cut_off_before_it_was_complete_is_built_anew(self):
        (self.folder / "complete").unlink()
        (self.folder / "installed/half").touch()
        for name in ("cmake", "make", "patch", "xz"):
            self.program(name, "#!/bin/sh\n")
        self.program("apt-get", "#!/bin/sh\necho no mirror; exit 100\n")
        code, said = self.built_in()
        self.assertEqual((code, said.splitlines()[-1]), (1, f"ci/tools/with-libwebsockets: see {self.folder}/log"), said)
        self.assertFalse((self.folder / "installed/half").exists() or (self.folder / "complete").exists())

    def test_another_version_than_asked_for_is_refused(self):
        self.assertEqual(self.built_in("4.1.6"), (1, "ci/tools/with-libwebsockets: pkg-config finds libwebsockets 4.1.6"))
