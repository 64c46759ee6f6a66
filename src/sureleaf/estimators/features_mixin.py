"""Which tables an estimator takes, and the columns of the one it was fitted on."""

import numpy as np
from sklearn.utils import Tags

from sureleaf.table import Schema

__all__ = ["FeaturesMixin"]


class FeaturesMixin:
    """What scikit-learn asks of an estimator's tables.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> TreeClassifier().fit([[1], [2]], ["no", "yes"]).n_features_in_
    1
    """

    schema_: Schema

    def _note_features(self) -> None:
        self.n_features_in_ = len(self.schema_)
        if self.schema_.named:
            self.feature_names_in_ = np.array(self.schema_.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = False
        return tags
