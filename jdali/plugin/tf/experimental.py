"""Provides DALI's `plugin.tf.experimental`, a data set whose inputs come from other data sets."""

from jdali.plugin.tf._dataset import DALIDatasetWithInputs
from jdali.plugin.tf._inputs import Input

__all__ = ["DALIDatasetWithInputs", "Input"]
