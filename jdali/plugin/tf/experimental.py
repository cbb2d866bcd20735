"""DALI's `plugin.tf.experimental`: a data set that is fed by others."""

from jdali.plugin.tf._dataset import DALIDatasetWithInputs
from jdali.plugin.tf._inputs import Input

__all__ = ["DALIDatasetWithInputs", "Input"]
