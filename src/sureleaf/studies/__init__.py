"""Studies: many learners on many data sets, resumable, with every prediction kept."""

from sureleaf.studies.results import LearnerCost, StudyResults, study_answer, study_document
from sureleaf.studies.store import Failure, StatusCounts, Store, StoreError
from sureleaf.studies.study import Cell, DataSet, Learner, Limits, Study, read_study
from sureleaf.studies.worker import run, verify

__all__ = [
    "Cell",
    "DataSet",
    "Failure",
    "Learner",
    "LearnerCost",
    "Limits",
    "StatusCounts",
    "Store",
    "StoreError",
    "Study",
    "StudyResults",
    "read_study",
    "run",
    "study_answer",
    "study_document",
    "verify",
]
