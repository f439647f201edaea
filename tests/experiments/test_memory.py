"""The meter sees what a process takes."""

from __future__ import annotations

import subprocess
import sys

from experiments.memory import highest_growth, resident, watch

MIB = 2**20


def test_a_process_is_watched_until_it_ends():
    code = "import time; x = bytearray(100 * 2**20); time.sleep(0.5)"
    child = subprocess.Popen([sys.executable, "-c", code])
    samples = watch(child, seconds=60)
    assert child.returncode == 0
    assert max(rss for _, rss in samples) > 100 * MIB
    assert resident() > MIB


def test_a_process_that_takes_too_long_is_given_up():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    watch(child, seconds=0.2)
    assert child.poll() is None
    child.kill()
    child.wait()


def test_growth_is_the_highest_between_the_moments():
    samples = [(9.9, 900), (10.5, 400), (10.9, 300), (11.1, 800)]
    assert highest_growth(samples, (10.0, 100), (11.0, 150)) == 300
    assert highest_growth([], (10.0, 100), (11.0, 150)) == 50
