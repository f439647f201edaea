"""Every C++ header compiles on its own: none depends on what was included before it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HEADERS = sorted((Path(__file__).parents[2] / "cpp").glob("*.hpp"))
COMPILER = shutil.which("c++")


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_a_header_compiles_on_its_own(header, tmp_path):
    source = tmp_path / "only.cpp"
    source.write_text(f'#include "{header.name}"\n')
    flags = ["-std=c++17", "-fsyntax-only", "-fopenmp-simd", "-DWELLSVM_ISA=base", f"-I{header.parent}"]
    done = subprocess.run([str(COMPILER), *flags, str(source)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
