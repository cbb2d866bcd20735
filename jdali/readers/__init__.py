from jdali.readers import caffe as caffe
from jdali.readers import caffe2 as caffe2
from jdali.readers import file as file
from jdali.readers import fits as fits
from jdali.readers import mxnet as mxnet
from jdali.readers import numpy as numpy
from jdali.readers import tfrecord as tfrecord
from jdali.readers import webdataset as webdataset
