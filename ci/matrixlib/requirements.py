"""What a cell needs of the machine: each probe gives None, or the reason why it can't be had here."""

import functools
import os
import pathlib
import platform
import shutil
import subprocess


def quiet(*command, cwd=None):
    """Whether a command ends well."""
    try:
        done = subprocess.run(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def system(name):
    names = {"Darwin": "macos"}
    here = names.get(platform.system(), platform.system().lower())
    return None if here == name else f"needs {'macOS' if name == 'macos' else 'Linux'}, this is {platform.system()}"


def root(_, __):
    return None if os.geteuid() == 0 else "needs root"


def namespaces(_, __):
    if not shutil.which("unshare") or not quiet("unshare", "--mount", "--pid", "--fork", "true"):
        return "needs mount and process namespaces (unshare --mount --pid)"
    return None


def command(name, _):
    return None if shutil.which(name) else f"needs the command {name}"


def apt(name, _):
    if not shutil.which("dpkg-query"):
        return f"needs the Debian package {name}"
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", name], capture_output=True, text=True).stdout
    return None if found == "install ok installed" else f"needs the Debian package {name}; --install gets it"


def swift_sdk(name, _):
    for folder in (".swiftpm/swift-sdks", ".config/swiftpm/swift-sdks", "Library/org.swift.swiftpm/swift-sdks"):
        if any(name in bundle.name for bundle in (pathlib.Path.home() / folder).glob("*.artifactbundle")):
            return None
    return f"needs a Swift SDK for {name} (swift sdk install)"


def swift_apart(_, __):
    """A Swift that can be mounted elsewhere without the rest of the system."""
    program = shutil.which("swift")
    if program and pathlib.Path(program).resolve().parents[2] != pathlib.Path("/"):
        return None
    return "needs a Swift in a folder of its own, not in /usr"


def git_tag(_, project):
    return None if quiet("git", "describe", "--tags", "--abbrev=0", cwd=project) else "there is no tag to compare with yet"


# The name before the colon: what looks after it, given what is behind the colon and the project's folder.
KINDS = {
    "linux": lambda *_: system("linux"),
    "macos": lambda *_: system("macos"),
    "root": root,
    "namespaces": namespaces,
    "command": command,
    "apt": apt,
    "swift-sdk": swift_sdk,
    "swift-apart": swift_apart,
    "git-tag": git_tag,
}
# Those of which there are many, so that they have a name.
NAMED = {"command", "apt", "swift-sdk"}


@functools.cache
def missing(requirement, project):
    """None, or why a requirement isn't met."""
    kind, _, name = requirement.partition(":")
    return KINDS[kind](name, project)


def missing_of(cell, project):
    """Why a cell can't run here: the first reason, since the others may follow from it."""
    for requirement in cell.requires:
        if reason := missing(requirement, project):
            return reason
    return None


def install(cells):
    """Installs the Debian packages that cells need and that aren't there."""
    packages = sorted({name.partition(":")[2] for cell in cells for name in cell.requires if name.startswith("apt:")})
    packages = [name for name in packages if missing(f"apt:{name}", None)]
    if not packages or not shutil.which("apt-get"):
        return True
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    commands = [[*as_root, "apt-get", "update", "-qq"], [*as_root, "apt-get", "install", "-y", "-qq", *packages]]
    print(f"installing {' '.join(packages)}", flush=True)
    done = all(subprocess.run(line, env=environment, stdout=subprocess.DEVNULL).returncode == 0 for line in commands)
    missing.cache_clear()
    return done


def on_ci(environment=os.environ):
    """Whether a missing requirement is a failure: where `CI` is set."""
    return environment.get("CI", "").lower() not in ("", "0", "false")
