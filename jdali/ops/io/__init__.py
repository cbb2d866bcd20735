from jdali.ops.io import _file_read as _file_read
