"""Implements `jdali.statistics`, which measures a data set before training.

labels.py    finds the reader behind a value, and the class names of its labels
moments.py   mean and standard deviation: exact for integers, stable for floats
outputs.py   collects sizes, values and labels of one output
results.py   the results, and how they are printed
measure.py   runs the pipeline and collects its samples
"""

from jdali._statistics.measure import statistics
from jdali._statistics.moments import Moments
from jdali._statistics.results import OutputStatistics, Statistics

__all__ = ["Moments", "OutputStatistics", "Statistics", "statistics"]
