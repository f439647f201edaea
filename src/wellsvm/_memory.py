"""The memory that is available: what the machine, the control group and the limits of the process leave."""

from __future__ import annotations

from pathlib import Path

from wellsvm.options import Options

__all__ = ["available_memory", "require_room"]

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
NO_LIMIT = 2**60  # groups of the first version that have none name a larger one


def available_memory() -> int | None:
    """Bytes that can be had without swapping; None where nothing tells.

    The least of what the Linux kernel estimates to be free, of what the control groups of the process (a container's
    limit) leave, and of what its own limit of address space (``ulimit -v``) leaves.
    """
    told = [_free_of_machine(), _left_in_groups(), _left_of_address_space()]
    known = [room for room in told if room is not None]
    return max(0, min(known)) if known else None


def require_room(n_rows: int, n_features: int) -> None:
    """Refuse to begin a fit that memory could not end: libraries below us may crash where they find none."""
    needed, available = Options.least_room + Options.bytes_per_row * (n_rows + n_features), available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"a fit on {n_rows} rows and {n_features} features needs {needed / 2**20:.0f} MiB besides the data, "
            f"and {available / 2**20:.0f} MiB are free: raise the memory limit of the process, or pass fewer rows"
        )


def _free_of_machine() -> int | None:
    for line in _lines(PROC / "meminfo"):
        if line.startswith("MemAvailable:"):
            return _number(line.split()[1], 1024)
    return None


def _left_in_groups() -> int | None:
    """The least room in the control groups of the process and those above them, of either version."""
    rooms = []
    for line in _lines(PROC / "self/cgroup"):
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            root, names = CGROUPS, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = CGROUPS / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        # In a container the group's path may be the host's, which is not to be seen; its root is the group then.
        parts = path.strip().strip("/").split("/")
        groups = dict.fromkeys("/".join((str(root), *parts[:k])).rstrip("/") for k in range(len(parts) + 1))
        rooms += [_room_in(group, names) for group in groups]
    known = [room for room in rooms if room is not None]
    return min(known) if known else None


def _room_in(group: str, names: tuple[str, str, str]) -> int | None:
    limit = _number("".join(_lines(f"{group}/{names[0]}")).strip())
    if limit is None or limit > NO_LIMIT:
        return None
    used = _number("".join(_lines(f"{group}/{names[1]}")).strip())
    if used is None:
        return None
    kept = (line.split()[1] for line in _lines(f"{group}/memory.stat") if line.startswith(f"{names[2]} "))
    return limit - used + (_number(next(kept, "0")) or 0)  # files that are kept in memory give way


def _left_of_address_space() -> int | None:
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    used = _number("".join(_lines(PROC / "self/statm")).partition(" ")[0], resource.getpagesize())
    return None if limit == resource.RLIM_INFINITY or used is None else limit - used


def _lines(path: Path | str) -> list[str]:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read().decode(errors="replace").splitlines()
    except OSError:
        return []


def _number(text: str, unit: int = 1) -> int | None:
    return int(text) * unit if text.isdigit() else None
