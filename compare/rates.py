"""Rates out of sums, with what chance allows for them."""

from dataclasses import dataclass
from math import sqrt

STOPPED = ("denied", "asked", "rewritten")
# Of the normal distribution, for intervals that hold in 95 of 100 cases.
Z = 1.96


@dataclass(frozen=True)
class Rate:
    """So many of so many."""

    part: int
    whole: int

    @property
    def percent(self):
        """The rate in hundredths; nothing of nothing is none."""
        return 100 * self.part / self.whole if self.whole else 0.0

    @property
    def interval(self):
        """Wilson's interval, in hundredths."""
        if not self.whole:
            return 0.0, 100.0
        share, n = self.part / self.whole, self.whole
        middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
        half = Z / (1 + Z * Z / n) * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
        return max(0.0, 100 * (middle - half)), min(100.0, 100 * (middle + half))

    def __str__(self):
        return f"{self.percent:.1f} %"


def of(row, keys=STOPPED):
    """How many of a row's cases came to one of these ends."""
    return Rate(sum(row.get(key, 0) for key in keys), row.get("cases", 0))


def summed(rows):
    """Several rows as one."""
    total = {}
    for row in rows:
        for key, value in row.items():
            total[key] = total.get(key, 0) + value
    return total


def side(guard, name, kinds=("shell", "others")):
    """A guard's sums on the dangerous or the ordinary side."""
    return summed(guard["sides"].get(f"{name} {kind}", {}) for kind in kinds)


def held(guard):
    """Of how many faults the call did not run."""
    found = guard["faults"].values()
    return Rate(sum(row["stopped"] for row in found), sum(row["faults"] for row in found))
