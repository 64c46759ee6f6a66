"""The bootstrap estimates of Efron and Tibshirani (1997), written as they are printed."""

import numpy as np


def bootstrap_estimates(losses, counts, training_losses, pair_losses) -> dict[str, float]:
    """Estimates from the loss of row i under bootstrap b, and of every truth with every prediction.

    losses[b][i], counts[b][i]: loss of row i under, and times it is in, bootstrap b.
    pair_losses[i][j]: loss of the truth of row i with the full model's prediction of row j.
    """
    n_bootstraps, n = len(losses), len(losses[0])
    plain = sum(sum(row) / n for row in losses) / n_bootstraps
    terms = []
    for i in range(n):
        out = [losses[b][i] for b in range(n_bootstraps) if counts[b][i] == 0]
        if out:
            terms.append(sum(out) / len(out))
    loo = sum(terms) / len(terms)
    training = sum(training_losses) / n
    gamma = sum(sum(row) for row in pair_losses) / n**2
    capped = min(loo, gamma)
    rate = 0.0
    if capped > training and gamma > training:
        rate = (capped - training) / (gamma - training)
    e632 = 0.368 * training + 0.632 * loo
    plus = 0.368 * training + 0.632 * capped
    plus += (capped - training) * 0.368 * 0.632 * rate / (1 - 0.368 * rate)
    return {
        "training": training,
        "plain": plain,
        "leave_one_out": loo,
        "e632": e632,
        "e632_plus": plus,
        "no_information": gamma,
        "relative_overfitting": rate,
    }


def standard_error_of_leave_one_out(losses, counts) -> float:
    """Root of the sum of squared influences, their (38); every row is left out at least once."""
    losses, counts = np.asarray(losses, float), np.asarray(counts)
    n_bootstraps, n = losses.shape
    terms = [
        np.mean([losses[b, i] for b in range(n_bootstraps) if counts[b, i] == 0]) for i in range(n)
    ]
    value = np.mean(terms)
    q = np.zeros(n_bootstraps)
    for b in range(n_bootstraps):
        for i in range(n):
            if counts[b, i] == 0:
                q[b] += losses[b, i] / np.sum(counts[:, i] == 0) / n
    total = 0.0
    for i in range(n):
        part = sum((counts[b, i] - counts[:, i].mean()) * q[b] for b in range(n_bootstraps))
        total += ((2 + 1 / (n - 1)) * (terms[i] - value) / n + part) ** 2
    return np.sqrt(total)
