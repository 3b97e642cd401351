"""The requirements that a cell has for the machine: each probe returns None, or why the requirement isn't met here."""

import functools
import json
import os
import pathlib
import platform
import re
import shutil
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import packages
from .problems import StrPath
from .processes import said

if TYPE_CHECKING:
    from .cells import Cell

APT_LISTS = pathlib.Path("/var/lib/apt/lists")
# By platform, the name of its runtimes in simctl, and that with which a device's begins.
PLATFORMS = {"iOS": ("iOS", "iPhone"), "tvOS": ("tvOS", "Apple TV"), "watchOS": ("watchOS", "Apple Watch"), "visionOS": ("xrOS", "Apple Vision")}


def apt(name: str, _: object) -> str | None:
    there = packages.installed()
    return None if name in (there or ()) else f"needs the Debian package {name}{'' if there is None else '; --install gets it'}"


def of_setup(_: object, project: StrPath) -> str | None:
    """Checks for what ci/setup installs, but only on systems with Debian packages; others may have their equivalents."""
    there = packages.installed()
    absent = [] if there is None else [name for name in setup_packages(project) if name not in there]
    return f"needs what ci/setup installs ({', '.join(absent)}); --install gets it" if absent else None


def setup_packages(project: StrPath) -> list[str]:
    file = pathlib.Path(project, "ci/tools/packages")
    return file.read_text().split() if file.exists() else []


def debian_mirror(_: object, __: object) -> str | None:
    """Checks apt's lists, because asking apt itself takes half a second."""
    releases = (file.read_text(errors="replace").splitlines() for file in APT_LISTS.glob("*Release"))
    there = any("Origin: Debian" in lines and "Label: Debian" in lines for lines in releases)
    return None if there else "needs a mirror of Debian that apt knows (apt-get update)"


def swift(name: str, project: StrPath) -> str | None:
    """Checks for a version of Swift, or the beginning of one, as 6.2 is of 6.2.3."""
    version = re.search(r"Swift version (\S+)", said("swift", "--version", cwd=project) or "")
    there = version and f"{version[1]}.".startswith(f"{name}.")
    return None if there else f"needs Swift {name}, {f'this is {version[1]}' if version else 'and there is none'}"


simctl = functools.cache(lambda: said("xcrun", "simctl", "list", "-j", "devices", "available"))


def simulator(name: str, _: object) -> str | None:
    if (listing := simctl()) is None:
        return "needs Xcode's simulators (xcrun simctl)"
    return None if available(json.loads(listing), name) else f"no {name} simulator is available"


def available(listing: Any, platform: str) -> bool:
    """Returns whether simctl's listing has a device of a platform; its runtimes are called com.apple.CoreSimulator.SimRuntime.iOS-18-4."""
    runtime, beginning = PLATFORMS.get(platform, (platform, platform))
    devices = [device for name, of_runtime in listing["devices"].items() if f".SimRuntime.{runtime}-" in name for device in of_runtime]
    return any(device.get("isAvailable") and device["name"].startswith(beginning) for device in devices)


def swift_sdk(name: str, _: object) -> str | None:
    folders = [pathlib.Path.home() / folder / "swift-sdks" for folder in (".swiftpm", ".config/swiftpm", "Library/org.swift.swiftpm")]
    there = any(name in bundle.name for folder in folders for bundle in folder.glob("*.artifactbundle"))
    return None if there else f"needs a Swift SDK for {name} (swift sdk install)"


def swift_apart(_: object, __: object) -> str | None:
    """Checks for a Swift that can be mounted elsewhere without the rest of the system; a program that only starts one can't, as swiftly's."""
    root = pathlib.Path(shutil.which("swift") or "/").resolve().parent.parent.parent
    apart = root != pathlib.Path("/") and (root / "usr/bin/swift").exists()
    return None if apart else "needs a Swift in a folder of its own, not in /usr"


def engine_for(cell: "Cell", project: str) -> str | None:
    """Returns the container engine for a cell whose image may have what this machine lacks; None if it runs here."""
    # Nobody would install packages in its image.
    if not cell.image or {"apt", "setup"} & {*map(kind_of, cell.requires)}:
        return None
    return engine() if any(kind_of(name) in OF_IMAGES and missing(name, project) for name in cell.requires) else None


@functools.cache
def engine() -> str | None:
    return next((name for name in ("docker", "podman") if said(name, "info") is not None), None)


# The name before the colon: its probe, given the text after the colon and the project's folder.
KINDS: dict[str, Callable[[str, StrPath], str | None]] = {
    "linux": lambda *_: None if platform.system() == "Linux" else f"needs Linux, this is {platform.system()}",
    "macos": lambda *_: None if platform.system() == "Darwin" else f"needs macOS, this is {platform.system()}",
    "root": lambda *_: "needs root" if os.geteuid() else None,
    "namespaces": lambda *_: (
        "needs mount and process namespaces (unshare --mount --pid)" if said("unshare", "--mount", "--pid", "--fork", "true") is None else None),
    "machine": lambda name, _: None if platform.machine() == name else f"needs a machine of {name}, this is one of {platform.machine()}",
    "command": lambda name, _: None if shutil.which(name) else f"needs the command {name}",
    "apt": apt,
    "docker": lambda *_: "needs a Docker that runs (docker info)" if said("docker", "info") is None else None,
    "setup": of_setup,
    "debian-mirror": debian_mirror,
    "simulator": simulator,
    "swift": swift,
    "swift-sdk": swift_sdk,
    "swift-apart": swift_apart,
    "git-tag": lambda _, project: None if said("git", "describe", "--tags", cwd=project) else "there is no tag to compare with yet",
}
# Those that an image may meet.
OF_IMAGES = {"swift", "command"}
# The requirements that need a name after a colon.
NAMED = {"swift", "command", "apt", "machine", "swift-sdk", "simulator"}


@functools.cache
def missing(requirement: str, project: str) -> str | None:
    return KINDS[kind_of(requirement)](requirement.partition(":")[2], project)


def missing_of(cell: 'Cell', project: str) -> str | None:
    """Returns the first reason why a cell can't run here, because others may follow from it, or None."""
    here = (name for name in cell.requires if not (kind_of(name) in OF_IMAGES and engine_for(cell, project)))
    return next(filter(None, (missing(requirement, project) for requirement in here)), None)


def kind_of(requirement: str) -> str:
    return requirement.partition(":")[0]


def forget() -> None:
    for known in (missing, simctl, engine, packages.installed):
        known.cache_clear()


def install(cells: "Iterable[Cell]", project: StrPath) -> str | None:
    """Installs the Debian packages that cells need and that are missing; returns the reason if it can't."""
    needed, there = {requirement for cell in cells for requirement in cell.requires}, packages.installed()
    names = {name.removeprefix("apt:") for name in needed if name.startswith("apt:")}
    names |= {*setup_packages(project)} if "setup" in needed else set()
    return packages.install(sorted(names - there)) if there is not None and names - there else None


def on_ci() -> bool:
    """Returns whether `CI` is set, which makes a missing requirement a failure."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")
