"""Tests which simulator is chosen, from recorded output of simctl, and that it is booted before it is used, with a made-up xcrun."""

import json
import os
import pathlib
import subprocess
import sys

from support import ROOT, ProjectCase

LISTING = pathlib.Path(__file__).with_name("simctl.json")
# The devices of the hosted images, by runtime, as their own lists name them; ids are made up.
IMAGES = json.loads(pathlib.Path(__file__).with_name("simulators.json").read_text())
SIMULATOR = ROOT / "ci/tools/simulator"
ID = "AAAAAAAA-0000-0000-0000-00000000000{}"


class SimulatorCase(ProjectCase):
    def chosen(self, platform, listing=None):
        done = subprocess.run(
            [sys.executable, SIMULATOR, "choose", platform], input=listing or LISTING.read_text(), capture_output=True, text=True)
        return done.returncode, (done.stdout or done.stderr).strip()

    def test_of_the_newest_runtime_by_number_and_not_by_letters_one_that_is_available(self):
        self.assertEqual(self.chosen("iOS"), (0, ID.format(4)))

    def test_one_that_is_booted_already(self):
        self.assertEqual(self.chosen("watchOS"), (0, ID.format(8)))

    def test_visions_runtime_has_another_name(self):
        self.assertEqual(self.chosen("visionOS"), (0, ID.format(9)))

    def test_without_one_it_fails_and_takes_no_other(self):
        self.assertEqual(self.chosen("tvOS"), (1, "ci/tools/simulator: no tvOS simulator is available"))

    def test_each_hosted_image_has_one_of_its_newest_runtime_for_each_platform(self):
        expected = {
            "macos-15": {"iOS": "iOS-26-2 iPhone 16", "tvOS": "tvOS-26-2 Apple TV", "watchOS": "watchOS-26-2 Apple Watch SE (40mm) (2nd generation)",
                         "visionOS": "xrOS-26-2 Apple Vision Pro"},
            "macos-26": {"iOS": "iOS-26-5 iPhone 17", "tvOS": "tvOS-26-5 Apple TV", "watchOS": "watchOS-26-5 Apple Watch SE 3 (40mm)",
                         "visionOS": "xrOS-26-5 Apple Vision Pro"},
        }
        for image, devices in expected.items():
            listing = {"devices": {f"com.apple.CoreSimulator.SimRuntime.{runtime}": [
                {"udid": f"{runtime} {name}", "name": name, "state": "Shutdown", "isAvailable": True} for name in names]
                for runtime, names in IMAGES[image].items()}}
            for platform, device in devices.items():
                with self.subTest(image=image, platform=platform):
                    self.assertEqual(self.chosen(platform, json.dumps(listing)), (0, device))

    def test_it_is_booted_and_built_for_by_its_id(self):
        self.program("xcrun", f'#!/bin/sh\necho "xcrun $*" >> {self.project}/calls\n[ "$2" != list ] || cat {LISTING}\n')
        self.program("xcodebuild", f'#!/bin/sh\necho "xcodebuild $*" >> {self.project}/calls\n')
        for arguments in (["boot", "iOS"], ["xcodebuild", "iOS", "build", "/x"]):
            environment = os.environ | {"PATH": f"{self.programs}:{os.environ['PATH']}"}
            subprocess.run([sys.executable, SIMULATOR, *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)
        calls = (self.project / "calls").read_text().splitlines()
        self.assertEqual([call.split(" -scheme")[0] for call in calls], [
            "xcrun simctl list -j devices available", f"xcrun simctl bootstatus {ID.format(4)} -b",
            "xcrun simctl list -j devices available", "xcodebuild build"])
        self.assertIn(f"-destination platform=iOS Simulator,id={ID.format(4)} ", calls[-1])
