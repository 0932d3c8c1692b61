"""Programs that act and learn with scikit-learn: estimators that are fitted, and asked."""

from __future__ import annotations

from support.process.automatic_programs import names
from support.process.installed import need
from support.process.recorded_child import record

from rlscope.opening import load

_PROGRAM = """
import rlscope.auto
rlscope.auto.begin()
import gymnasium, numpy
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

class Mean(RegressorMixin, BaseEstimator):  # the program's own
    def fit(self, x, y):
        self.mean_ = y.mean()
        return self

    def predict(self, x):
        return numpy.full(len(x), self.mean_)

env = gymnasium.make("CartPole-v1")
env.reset(seed=1)
x, y = numpy.ones((2, 4)), numpy.ones(2)
line = SGDRegressor()
line.partial_fit(x, y)
for _ in range(2):
    line.predict(x)
    env.step(0)
both = make_pipeline(StandardScaler(), Mean())
both.fit(x, y)  # one update, whatever it fits inside
both.predict(x)
env.step(0)
"""


def test_fitting_is_an_update_and_asking_acts(directory: str) -> None:
    need("sklearn")
    recorded = record(directory, _PROGRAM, timeout=300)
    acting = ["inference", "simulation"]
    found = [name for name in names(recorded) if name != "import"]
    assert found == ["simulation", "update", *acting * 2, "update", *acting]
    with load(directory) as trace:
        rules = dict(iter(trace.sql("SELECT path, rule FROM operation")))
    assert "sklearn.partial_fit" in rules["update"]
    assert "sklearn.predict" in rules["inference"]
