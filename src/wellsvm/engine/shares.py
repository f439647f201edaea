"""Class shares of the unlabeled rows, estimated from labeled and unlabeled rows.

No single estimator is safe, and labels are drawn in two ways that nobody reports: at random, or class by class. So:

1. Two scores per class, of rows their function has not seen: the supervised SVM (out-of-fold) and the distance to the
   class mean (leave-one-out), each divided by its spread inside classes and added. Means are right where few labels
   meet many weak columns, the SVM where columns differ in worth.
2. A logistic function with one slope and an offset per class turns scores into likelihood ratios; it is fitted to the
   labeled rows, every class with the same total weight.
3. Labels of unequal counts were drawn at random. Their shares are the prior, and the estimate is the mean posterior
   probability of the unlabeled rows: the labels' share, corrected by what the scores explain.
4. Labels of equal counts were collected class by class and say nothing about shares. Two bold estimates are averaged,
   since their errors are of different kinds: EM for the prior, held by a few votes for equal shares, and a count. Of
   two classes it is the share at which the mean posterior would be what it is, since plain counts miss rare classes; of
   more, that of plain prediction. They are trusted as far as scores tell shares, by the labeled rows' word (the
   correlation: root of one minus the squared standard error over the variance of all shares alike likely); the rest
   goes to the mean posterior at equal shares. Of two classes the share then moves towards what growing finds (see
   growing.py).
5. The same again from other scores, of labels spread over a graph of neighbors (neighborhood.py). Both estimates are
   averaged, each weighed by one over its variance.
6. The shares then move towards valleys between the rows (valley.py, valley_of_many.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from wellsvm._typing import FloatArray, IntArray
from wellsvm.engine.calibration import fit_logistic
from wellsvm.engine.growing import grown_share
from wellsvm.engine.neighborhood import neighbor_scores, neighborhood_of
from wellsvm.engine.supervised import Supervised, own_order, some_unlabeled, supervised_values
from wellsvm.engine.valley import shares_in_valley
from wellsvm.engine.valley_of_many import shares_in_valleys
from wellsvm.options import Options
from wellsvm.rows.base import Rows

__all__ = ["Shares", "collected", "combined_scores", "estimate_shares", "mean_scores", "shares_of_unlabeled"]


class Shares(NamedTuple):
    """Share of every class among the unlabeled rows, and its standard error."""

    shares: FloatArray
    errors: FloatArray


def shares_of_unlabeled(
    rows: Rows, codes: IntArray, n_classes: int, loss: str, C: FloatArray, seed: int, options: Options
) -> Shares:
    """Estimate the shares; parameters are those of `supervised_values`, and the ``loss`` of growing and searching."""
    if codes.size > 5 * options.share_rows:  # a copy is then a fifth of X at most
        rows, codes, C = some_unlabeled(rows, codes, C, options.share_rows, np.random.default_rng(seed))
    elif codes.size <= options.ordered_rows:
        order = own_order(rows, codes)
        rows, codes, C = rows.part(order), codes[order], C[order]
    known = codes[codes >= 0]
    by_scores = estimate_shares(
        *_scores(supervised_values(rows, codes, n_classes, C, seed, options), known), known, options
    )
    counts = np.bincount(known, minlength=n_classes)
    if n_classes == 2 and collected(counts):
        shares = by_scores.shares
        step = (grown_share(rows, codes, loss, C, seed, options) - shares[1]) / 2
        shares[1] = np.clip(shares[1] + np.clip(step, -options.most_grown, options.most_grown), 0.0, 1.0)
        shares[0] = 1 - shares[1]
    rng = np.random.default_rng(seed)
    near = neighborhood_of(rows, codes, C, rng, options)
    spread = neighbor_scores(near, n_classes, rng, options)
    shares, errors = _averaged(by_scores, estimate_shares(*combined_scores(known, spread), known, options))
    if collected(counts):
        # With one label a class nothing was held out, with two each was judged by one other: equal shares count then.
        trust = min(1.0, (int(counts[0]) - 1) / (options.enough_labels - 1))
        shares = trust * shares + (1 - trust) / n_classes
    if options.search_prices and np.any(near.C[near.codes < 0] > 0):
        if n_classes == 2:
            shares = shares_in_valley(near, shares, float(errors.mean()), loss, rng, options)
        elif n_classes <= options.most_valleys:
            shares = shares_in_valleys(near, shares, errors, collected(counts), rng, options)
    return Shares(shares, errors)


def _scores(supervised: Supervised, known: IntArray) -> tuple[FloatArray, FloatArray]:
    """Scores of labeled and unlabeled rows, from what the labeled ones say."""
    means = mean_scores(supervised.means_labeled, supervised.squares, supervised.means_unlabeled, known)
    return combined_scores(known, (supervised.out_of_fold, supervised.unlabeled), means)


def _averaged(first: Shares, second: Shares) -> Shares:
    """Two estimates, each by one over its variance; the variance stays theirs, as if both had the same error."""
    weights = [1.0 / np.mean(estimate.errors**2) for estimate in (first, second)]
    share = weights[1] / sum(weights)
    shares = (1 - share) * first.shares + share * second.shares
    return Shares(shares, np.sqrt((1 - share) * first.errors**2 + share * second.errors**2))


def collected(counts: IntArray) -> bool:
    """Whether labels look as if they had been collected class by class."""
    return bool(np.all(counts == counts[0]))


def mean_scores(
    inner: FloatArray, squares: FloatArray, unlabeled: FloatArray, codes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the scores <x, mean_k> - |mean_k|^2 / 2, labeled rows leaving themselves out of their class mean.

    The only label of a class cannot be left out; its own score is that of the other classes, which says nothing.

    Parameters
    ----------
    inner : array of shape (n_labeled, n_classes)
        Inner products of labeled rows and class means: X_l @ means.T, or for kernels K_ll @ indicator / counts.
    squares : array of shape (n_labeled,)
        Squared lengths k(x, x) of the labeled rows.
    unlabeled : array of shape (n_unlabeled, n_classes)
        Inner products of unlabeled rows and class means.
    codes : array of shape (n_labeled,)
        Classes of the labeled rows, 0 to n_classes - 1, each at least once.

    Returns
    -------
    labeled, unlabeled : arrays of shapes (n_labeled, n_classes) and (n_unlabeled, n_classes)
        The latter in the place of what was given.
    """
    n_labeled, n_classes = inner.shape
    rows = np.arange(n_labeled)
    counts = np.bincount(codes, minlength=n_classes)
    without = (inner[rows, codes] * counts[codes] - squares) / np.maximum(counts - 1, 1)[codes]
    # the mean of <x_i, mean without x_i> is |mean|^2 less the noise of estimating it; unknown for a single label
    halves = 0.5 * np.bincount(codes, without) / counts
    single = counts == 1
    halves[single] = halves[~single].mean() if np.any(~single) else 0.0
    scores = inner - halves
    others = (scores.sum(axis=1) - scores[rows, codes]) / (n_classes - 1)
    scores[rows, codes] = np.where(single[codes], others, without - halves[codes])
    unlabeled -= halves
    return scores, unlabeled


def combined_scores(codes: IntArray, *kinds: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the sum of several kinds of scores, each centered per row and divided by its spread inside classes.

    Parameters
    ----------
    codes : array of shape (n_labeled,)
        Classes of the labeled rows.
    kinds : pairs of arrays of shapes (n_labeled, n_scores) and (n_unlabeled, n_scores)
        Scores of labeled rows under functions that have not seen them, and of unlabeled rows; one column for two
        classes (of the second class), else one per class.

    Returns
    -------
    labeled, unlabeled : arrays of shapes (n_labeled, n_classes) and (n_unlabeled, n_classes)
    """
    known = np.eye(int(codes.max()) + 1)[codes]
    known /= known.sum(axis=0)
    labeled, unlabeled = np.zeros(1), None
    for pair in kinds:
        a, b = (np.hstack([-s, s]) if s.shape[1] == 1 else s - s.mean(axis=1, keepdims=True) for s in pair)
        spread = np.sqrt(np.mean(known.T @ (a - (known.T @ a)[codes]) ** 2)) + Options.no_spread * np.sqrt(
            np.mean(a**2)
        )
        b /= spread or 1.0  # in place: unlabeled rows may be many
        labeled, unlabeled = labeled + a / (spread or 1.0), b if unlabeled is None else np.add(unlabeled, b, out=b)
    scale = float(np.sqrt(np.mean(labeled**2))) or 1.0
    assert unlabeled is not None
    unlabeled /= scale
    return labeled / scale, unlabeled


def estimate_shares(
    labeled: FloatArray,
    unlabeled: FloatArray,
    codes: IntArray,
    options: Options = Options(),
) -> Shares:
    """Estimate the share of each class among the unlabeled rows.

    Parameters
    ----------
    labeled : array of shape (n_labeled, n_classes)
        Scores of the labeled rows under functions that have not seen them, as `combined_scores` returns them.
    unlabeled : array of shape (n_unlabeled, n_classes)
        Scores of the unlabeled rows; they are overwritten.
    codes : array of shape (n_labeled,)
        Classes of the labeled rows.
    options : Options, default=Options()
        Constants.

    Returns
    -------
    Shares
        They sum to one.
    """
    counts = np.bincount(codes, minlength=labeled.shape[1])
    slope, offsets = _calibrate(labeled, codes, counts, options)
    known, predicted = slope * labeled + offsets, np.bincount(unlabeled.argmax(axis=1), minlength=counts.size)
    unlabeled *= slope
    unlabeled += offsets
    unlabeled -= unlabeled.max(axis=1, keepdims=True)
    likelihood = np.exp(unlabeled, out=unlabeled)
    if collected(counts):
        shares, prior_variance = _when_collected(known, likelihood, predicted, codes, options)
    else:
        drawn = (counts + options.drawn_votes) / np.sum(counts + options.drawn_votes)
        shares, prior_variance = _mean_posterior(likelihood, drawn), drawn * (1 - drawn) / len(codes)
    return Shares(shares, _errors(known, codes, shares, prior_variance))


def _when_collected(
    known: FloatArray,
    likelihood: FloatArray,
    predicted: IntArray,
    codes: IntArray,
    options: Options,
) -> tuple[FloatArray, FloatArray]:
    """Return shares and their variance before any row is seen, for labels that say nothing about them."""
    n_classes = known.shape[1]
    equal = np.full(n_classes, 1 / n_classes)
    variance = equal * (1 - equal) / (n_classes + 1)  # all shares alike likely
    trust = np.sqrt(max(0.0, 1 - np.mean(_errors(known, codes, equal, variance) ** 2 / variance)))
    shares, posterior = equal, _mean_posterior(likelihood, equal)
    at_equal, votes = posterior, options.votes_of_two if n_classes == 2 else options.equal_votes
    for _ in range(options.share_rounds):
        before = shares
        shares = votes / n_classes + len(codes) * posterior
        shares /= shares.sum()
        posterior = _mean_posterior(likelihood, shares)
        if np.max(np.abs(shares - before)) < options.share_change:
            break
    counted = _corrected(at_equal, known, codes, options) if n_classes == 2 else predicted / len(likelihood)
    bold = (posterior + counted) / 2
    return trust * bold + (1 - trust) * at_equal, variance


def _corrected(at_equal: FloatArray, known: FloatArray, codes: IntArray, options: Options) -> FloatArray:
    """Return the shares of two classes at which the mean posterior at equal shares would be what it is: it grows with
    the share from the mean of the labeled rows of the first class to that of the second."""
    posterior = softmax(known, axis=1)[:, 1]
    low, high = (float(posterior[codes == k].mean()) for k in (0, 1))
    share = (at_equal[1] - low) / max(high - low, options.least_growth)
    share = np.clip(share, options.least_corrected, 1.0 - options.least_corrected)
    return np.array([1.0 - share, share])


def _mean_posterior(likelihood: FloatArray, prior: FloatArray) -> FloatArray:
    """Return the mean probability of each class over the rows, no share below a trace."""
    shares = np.maximum(prior * ((1.0 / (likelihood @ prior)) @ likelihood) / len(likelihood), Options.trace)
    return np.asarray(shares / shares.sum())


def _calibrate(scores: FloatArray, codes: IntArray, counts: IntArray, options: Options) -> tuple[float, FloatArray]:
    """Return slope and offsets of the logistic function, fitted with the same total weight for every class."""
    n_labeled, n_classes = scores.shape
    weights = (n_labeled / (n_classes * counts))[codes]
    slope, offsets = fit_logistic(scores, np.eye(n_classes)[codes], weights, options.slope_ridge)
    return (slope, offsets) if slope > 0 else (0.0, np.zeros(n_classes))


def _errors(known: FloatArray, codes: IntArray, shares: FloatArray, prior_variance: FloatArray) -> FloatArray:
    """Return standard errors: the prior's variance, lessened by what the mean posterior of a class tells of its share.

    The mean posterior of class k is gain_k share_k + const, known up to the sampling error of the class averages.
    """
    posterior = softmax(known + np.log(shares), axis=1)
    members = np.eye(len(shares))[codes]
    counts = members.sum(axis=0)
    averages = (members / counts).T @ posterior
    squares = members.T @ (posterior - averages[codes]) ** 2
    # the largest variance of one row is added: a few labels without an error are no proof of none
    noise = shares**2 @ ((squares + Options.one_row_variance) / (np.maximum(counts - 1, 1) * counts)[:, None])
    inside = np.diag(averages)
    outside = (shares @ averages - shares * inside) / np.maximum(1 - shares, Options.trace)
    gain = np.maximum(inside - outside, 0)
    return np.asarray(1 / np.sqrt(1 / prior_variance + gain**2 / noise))
