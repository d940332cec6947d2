"""Statistics of paired samples: an interval for a geometric mean, and the Wilcoxon signed-rank test."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

#: Number of resamples of a bootstrap interval.
RESAMPLES = 1000

#: Largest number of pairs for which the distribution of the rank sum is computed exactly.
EXACT_PAIRS = 300


def geometric_mean(values: Sequence[float]) -> float:
    """Returns the geometric mean of positive values.

    >>> round(geometric_mean([1, 4]), 9)
    2.0
    """
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def bootstrap(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Returns a percentile bootstrap interval for the geometric mean of positive values, from :data:`RESAMPLES` resamples.
    Equal values give an equal interval. Returns None for fewer than two values.

    Source: B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, section 13.3.

    >>> bootstrap([2.0, 2.0, 2.0], 0.95), bootstrap([2.0], 0.95)
    ((2.0, 2.0), None)
    """
    count = len(values)
    if count < 2:
        return None
    logs = [math.log(value) for value in values]
    source = random.Random(1)
    means = sorted(sum(source.choices(logs, k=count)) / count for _ in range(RESAMPLES))
    tail = round((1 - confidence) / 2 * RESAMPLES)
    low, high = math.exp(means[tail]), math.exp(means[RESAMPLES - 1 - tail])
    # The logarithm and its inverse are rounded, but no mean lies outside of the values.
    return max(low, min(values)), min(high, max(values))


class SignedRank(NamedTuple):
    """Sum of the ranks of the positive and of the negative differences, and the two-sided p-value."""

    positive: float
    negative: float
    p_value: float
    method: str


def signed_rank(differences: Sequence[float]) -> SignedRank:
    """Runs the signed-rank test on differences that are not zero. Equal absolute differences share their mean rank.

    Up to :data:`EXACT_PAIRS` differences, the p-value is exact for these ranks: all signs are equally likely. For more
    differences, the rank sum is approximated by a normal distribution with the variance of these ranks, with a correction for
    continuity.

    Source: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1(6), 1945, DOI 10.2307/3001968.

    >>> signed_rank([1, 2, 3, 4, 5])
    SignedRank(positive=15.0, negative=0.0, p_value=0.0625, method='exact')
    """
    doubled = _doubled_ranks([abs(one) for one in differences])
    above = sum(rank for rank, one in zip(doubled, differences, strict=True) if one > 0)
    least = min(above, sum(doubled) - above)
    if len(doubled) <= EXACT_PAIRS:
        p_value, method = 2 * _at_most(least, doubled), "exact"
    else:
        deviation = math.sqrt(sum(rank * rank for rank in doubled)) / 2
        score = max(0.0, sum(doubled) / 2 - least - 1) / deviation
        p_value, method = math.erfc(score / math.sqrt(2)), "normal approximation"
    return SignedRank(above / 2, (sum(doubled) - above) / 2, min(1.0, p_value), method)


def _doubled_ranks(sizes: list[float]) -> list[int]:
    """Returns twice the rank of each size. A mean of ranks is a multiple of a half, so twice the rank is an integer."""
    order = sorted(range(len(sizes)), key=lambda at: sizes[at])
    ranks = [0] * len(sizes)
    first = 0
    while first < len(order):
        last = first
        # Equal ratios of values can differ in the last digits of their logarithms.
        while last + 1 < len(order) and math.isclose(sizes[order[last + 1]], sizes[order[first]], rel_tol=1e-9):
            last += 1
        for at in range(first, last + 1):
            ranks[order[at]] = first + last + 2
        first = last + 1
    return ranks


def _at_most(limit: int, ranks: list[int]) -> float:
    """Returns the probability that the sum of the ranks with a positive sign is at most the limit.

    The number of sets of ranks with the sum s is a coefficient of the polynomial that multiplies 1 + x^r over all ranks r. The
    coefficients are the digits of one integer, so the additions of integers compute all coefficients at once.
    """
    digit = len(ranks) // 8 + 1
    sets = 1
    for rank in ranks:
        sets += sets << (8 * digit * rank)
    digits = sets.to_bytes(digit * (sum(ranks) + 1), "little")
    counts = (int.from_bytes(digits[at : at + digit], "little") for at in range(0, digit * (limit + 1), digit))
    return sum(counts) / (1 << len(ranks))
