"""The measures are imported from where the interface says."""

import sureleaf.evaluation.measures
import sureleaf.measures


def test_every_measure_of_the_room_is_public() -> None:
    assert sureleaf.measures.__all__ == sureleaf.evaluation.measures.__all__
    for name in sureleaf.measures.__all__:
        assert getattr(sureleaf.measures, name) is getattr(sureleaf.evaluation.measures, name)
