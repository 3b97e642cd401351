"""Tests what the machine must have: each is found if it is there, and otherwise reported and, for Debian packages, installed."""

import shutil
import unittest.mock

from support import ProjectCase
from test_run import cell
from test_simulator import LISTING


class RequirementsCase(ProjectCase):
    def ran(self, requirement, *arguments, **values):
        self.cells(cell("a", requires=[requirement]))
        return self.matrix("run", "a", *arguments, **values)

    def assert_missing(self, requirement, why, **values):
        code, said = self.ran(requirement, **values)
        self.assertEqual((code, self.results()[0]["why"]), (5, why), said)

    def write_packages(self, text):
        (self.project / "ci/tools").mkdir()
        (self.project / "ci/tools/packages").write_text(text)

    def test_debian_packages_are_installed_where_that_is_asked_for(self):
        self.packages('[ "$1" != install ] || { echo "$*" > installed; echo "installed made-up" >> there; }')
        self.assert_missing("apt:made-up", "needs the Debian package made-up; --install gets it")
        code, said = self.ran("apt:made-up", "--install")
        self.assertEqual((code, (self.project / "installed").read_text()), (0, "install -y -qq made-up\n"), said)

    def test_what_ci_setup_installs(self):
        self.packages('[ "$1" != install ] || { echo "$*" > installed; for x in "$@"; do echo "installed $x" >> there; done; }', "one", "made-up-not")
        self.write_packages("one\nmade-up\nthird\n")
        self.assert_missing("setup", "needs what ci/setup installs (made-up, third); --install gets it")
        code, said = self.ran("setup", "--install")
        self.assertEqual((code, (self.project / "installed").read_text()), (0, "install -y -qq made-up third\n"), said)
        self.assertEqual(self.ran("setup")[0], 0)

    def test_where_debians_packages_are_not_known_what_ci_setup_installs_may_be_there_by_other_names(self):
        self.write_packages("made-up\n")
        for name in ("bash", "sh"):
            (self.programs / name).symlink_to(f"/bin/{name}")
        self.assertEqual(self.ran("setup", "--install", PATH=str(self.programs))[0], 0)
        self.assert_missing("apt:made-up", "needs the Debian package made-up", PATH=str(self.programs))

    def test_packages_that_cannot_be_installed(self):
        self.packages("exit 100")
        code, said = self.ran("apt:made-up", "--install")
        self.assertEqual((code, said), (4, "installing made-up\nmatrix: Debian packages could not be installed: apt-get update failed\n"))

    def test_a_mirror_of_debian_and_not_of_another(self):
        from matrixlib import requirements
        why = "needs a mirror of Debian that apt knows (apt-get update)"
        with unittest.mock.patch.object(requirements, "APT_LISTS", self.project / "lists"):
            self.assert_missing("debian-mirror", why)
            (self.project / "lists").mkdir()
            (self.project / "lists/u_InRelease").write_text("Origin: Ubuntu\nLabel: Ubuntu\n")
            (self.project / "lists/s_InRelease").write_text("Origin: Debian\nLabel: Debian-Security\n")
            self.assert_missing("debian-mirror", why)
            (self.project / "lists/d_InRelease").write_text("-----BEGIN PGP SIGNED MESSAGE-----\n\nOrigin: Debian\nLabel: Debian\n")
            self.assertEqual(self.ran("debian-mirror")[0], 0)

    def test_a_simulator(self):
        self.program("xcrun", f"#!/bin/sh\necho >> {self.project}/calls\ncat {LISTING}\n")
        self.cells(cell("a", requires=["simulator:iOS"]) + cell("b", requires=["simulator:tvOS"]) + cell("c", requires=["simulator:watchOS"]))
        self.matrix("run", "*")
        self.assertEqual({result["id"]: result["why"] for result in self.results()}, {"a": "", "b": "no tvOS simulator is available", "c": ""})
        self.assertEqual((self.project / "calls").read_text().count("\n"), 1, "simctl is slow")
        self.program("xcrun", "#!/bin/sh\nexit 72\n")
        self.assert_missing("simulator:iOS", "needs Xcode's simulators (xcrun simctl)")

    def test_a_swift_that_can_be_taken_along(self):
        from matrixlib.requirements import swift_apart
        why = "needs a Swift in a folder of its own, not in /usr"
        swift = self.programs / "swift"
        for name in ("swiftly/bin/swiftly", "toolchain/usr/bin/swift"):
            (self.project / name).parent.mkdir(parents=True)
            shutil.copy(swift, self.project / name)
        swift.unlink()
        swift.symlink_to(self.project / "swiftly/bin/swiftly")
        self.assert_missing("swift-apart", why)
        swift.unlink()
        swift.symlink_to(self.project / "toolchain/usr/bin/swift")
        self.assertEqual(self.ran("swift-apart")[0], 0)
        for name in ("/swift", "/usr/bin/swift"):
            with unittest.mock.patch("shutil.which", return_value=name):
                self.assertEqual(swift_apart("", ""), why)

    def test_swift_sdks_are_found_wherever_swiftpm_puts_them(self):
        self.cells(cell("a", requires=["swift-sdk:made-up"]))
        for folder in (".swiftpm", ".config/swiftpm", "Library/org.swift.swiftpm"):
            home = self.project / folder.replace("/", "-")
            (home / folder / "swift-sdks/swift-6_made-up.artifactbundle").mkdir(parents=True)
            self.assertEqual(self.matrix("run", "a", HOME=str(home))[0], 0, folder)
        code, said = self.matrix("run", "a", HOME=str(self.project))
        self.assertEqual(code, 5)
        self.assertIn("needs a Swift SDK for made-up (swift sdk install)", said)
