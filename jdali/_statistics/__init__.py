"""`jdali.statistics`: what a data set is like, measured before it is trained on.

labels.py    where labels come from, and their names
moments.py   mean and deviation: exact for integers, stable for floats
results.py   what was found, and how it is printed
measure.py   going through the samples
"""

from jdali._statistics.measure import statistics
from jdali._statistics.moments import Moments
from jdali._statistics.results import OutputStatistics, Statistics

__all__ = ["Moments", "OutputStatistics", "Statistics", "statistics"]
