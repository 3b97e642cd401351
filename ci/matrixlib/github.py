"""The jobs of hosted runners: one for the cells that share a build folder, or that say so."""


def jobs(matrix, cells):
    """What a workflow's matrix includes."""
    found = {}
    for cell in cells:
        found.setdefault(cell.job, []).append(cell)
    return [job(matrix, name, members) for name, members in found.items()]


def job(matrix, name, cells):
    runner = matrix.runners[cells[0].runner]
    # Room for what the steps' time-outs don't cover: the runner's own steps.
    minutes = sum(cell.seconds for cell in cells) // 60 + 10
    return {
        "job": name,
        "cells": " ".join(cell.id for cell in cells),
        "runs-on": runner.get("runs-on", "ubuntu-latest"),
        "container": runner.get("container"),  # None: on the machine itself
        "minutes": min(minutes, 350),
    }
