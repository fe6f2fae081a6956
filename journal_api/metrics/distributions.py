"""Quantiles and tails of Student's t and of Pearson's type III, by published algorithms.

They are held to scipy's by tests; scipy itself is 40 MB for a few functions (DECISIONS 21).
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import copysign, erfc, exp, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

# From this skewness on the gamma function gives the tails of Pearson's type III: below it takes many terms.
MIN_SKEWNESS = 0.01
EPSILON, TINY, MAX_TERMS = 1e-15, 1e-300, 100_000

# Student's t (Student 1908) ------------------------------------------------------------------------------


def t_p_value(t: float, freedom: float) -> float:
    """Return the probability of a |t| at least as large."""
    square = t * t
    if not square:
        return 1.0
    log_far, log_near = -log1p(square / freedom), -log1p(freedom / square)
    if square * (freedom + 2) > 3 * freedom:  # here the fraction of the one converges fast, else of the other
        return beta_ratio(freedom / 2, 0.5, log_far, log_near)
    return 1 - beta_ratio(0.5, freedom / 2, log_near, log_far)


@lru_cache(maxsize=4096)
def t_quantile(probability: float, freedom: float) -> float:
    """Return the t below which the probability lies.

    Newton's method on the tail, which is convex, from the first two terms of the expansion by Fisher and
    Cornish (1960), which fall short of the quantile: no step leads beyond it.
    """
    tail = min(probability, 1 - probability)
    z = -NormalDist().inv_cdf(tail)
    t = z + (z**3 + z) / (4 * freedom)
    for _ in range(200):
        step = (t_p_value(t, freedom) / 2 - tail) / t_density(t, freedom)
        t += step
        if step <= 1e-8 * t:  # the next step would be its square
            break
    return copysign(t, probability - 0.5)


def t_density(t: float, freedom: float) -> float:
    scale = lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - log(pi * freedom) / 2
    return exp(scale - (freedom + 1) / 2 * log1p(t * t / freedom))


# Pearson's type III (Mielke and Berry 2007) --------------------------------------------------------------


def pearson_tails(z: float, skewness: float) -> float:
    """Return the probability of a standardized deviation beyond z or -z, of Pearson's type III (z >= 0)."""
    if skewness < MIN_SKEWNESS:
        # Edgeworth's expansion: the terms of the first power of the skewness cancel in the two tails.
        second = (z**3 - 3 * z) / 16 + (z**5 - 10 * z**3 + 15 * z) / 72
        return erfc(z / sqrt(2)) + sqrt(2 / pi) * exp(-z * z / 2) * skewness**2 * second
    shape = 4 / skewness**2
    lower = 1 - gamma_tail(shape, shape - z * sqrt(shape))
    return min(1.0, gamma_tail(shape, shape + z * sqrt(shape)) + lower)


# Incomplete functions ------------------------------------------------------------------------------------


def beta_ratio(a: float, b: float, log_x: float, log_y: float) -> float:
    """Return the regularized incomplete beta function of x, with y = 1 - x (DLMF 8.17.22)."""
    x = exp(log_x)

    def list_terms() -> Iterator[tuple[float, float]]:
        yield 1.0, 1.0
        for number in range(MAX_TERMS):
            place = a + 2 * number
            yield -(a + number) * (a + b + number) * x / (place * (place + 1)), 1.0
            yield (number + 1) * (b - number - 1) * x / ((place + 1) * (place + 2)), 1.0

    log_scale = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log_x + b * log_y
    return exp(log_scale) / a * evaluate_fraction(list_terms())


def gamma_tail(shape: float, x: float) -> float:
    """Return the probability that a gamma variable of the shape exceeds x (DLMF 8.7.1 and 8.9.2)."""
    if x <= 0:
        return 1.0
    log_scale = shape * log(x) - x - lgamma(shape)
    if x > shape + 1:
        terms = (
            (number * (shape - number) if number else 1.0, x + 2 * number + 1 - shape) for number in range(MAX_TERMS)
        )
        return exp(log_scale) * evaluate_fraction(terms)
    term = total = 1 / shape
    divisor = shape
    while term > EPSILON * total:
        divisor += 1
        term *= x / divisor
        total += term
    return 1 - exp(log_scale) * total


def evaluate_fraction(terms: Iterable[tuple[float, float]]) -> float:
    """Return a1 / (b1 + a2 / (b2 + ...)), modified as Thompson and Barnett (1986) have it (Lentz 1976)."""
    value = ahead = TINY
    behind = 0.0
    for a, b in terms:
        behind = 1 / (b + a * behind or TINY)
        ahead = b + a / ahead or TINY
        value *= ahead * behind
        if abs(ahead * behind - 1) < EPSILON:
            break
    return value
