"""The covariance of DeLong by its definition: every positive row against every negative row."""

import numpy as np


def delong_by_pairs(positive: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    models = len(scores)
    ahead, behind = [], []
    for row in scores:
        wins = [
            [1.0 if p > q else 0.5 if p == q else 0.0 for q in row[~positive]]
            for p in row[positive]
        ]
        ahead.append(np.mean(wins, axis=1))
        behind.append(np.mean(wins, axis=0))
    covariance = np.empty((models, models))
    for i in range(models):
        for j in range(models):
            s10 = np.cov(ahead[i], ahead[j])[0, 1]
            s01 = np.cov(behind[i], behind[j])[0, 1]
            covariance[i, j] = s10 / len(ahead[i]) + s01 / len(behind[i])
    return np.array([a.mean() for a in ahead]), covariance
