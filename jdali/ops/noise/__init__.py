from jdali.ops.noise import _gaussian as _gaussian
from jdali.ops.noise import _salt_and_pepper as _salt_and_pepper
from jdali.ops.noise import _shot as _shot
