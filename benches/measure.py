#!/usr/bin/env python3
"""Runs commands in turn and prints, for each, medians: CPU (user and system) and wall time in ms, peak memory in MB.
Usage: measure.py RUNS LABEL=COMMAND..."""

import os
import statistics
import subprocess
import sys
import time

runs, commands = int(sys.argv[1]), [argument.split("=", 1) for argument in sys.argv[2:]]
taken = {label: [] for label, _ in commands}
for _ in range(runs):
    for label, command in commands:
        start = time.monotonic()
        # The shell becomes the command, so that it alone is measured.
        child = subprocess.Popen(f"exec {command}", shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        usage = os.wait4(child.pid, 0)[2]
        cpu, wall = usage.ru_utime + usage.ru_stime, time.monotonic() - start
        taken[label].append((cpu * 1000, wall * 1000, usage.ru_maxrss / 1024))
for label, _ in commands:
    cpu, wall, memory = map(statistics.median, zip(*taken[label]))
    print(f"{label}\t{cpu:.1f}\t{wall:.1f}\t{memory:.1f}")
