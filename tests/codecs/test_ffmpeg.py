"""Files whose texts are in another encoding than UTF-8, for every version of PyAV."""

import io

import numpy as np
import pytest
import soundfile
from support.videos import av, encode, numbers_of, pictures

from jdali.codecs import audio, video

LATIN = "Ärger über Öl".encode("latin-1")
PLACE = "Z" * len(LATIN)

av()


@pytest.mark.parametrize("container", ["mp4", "mov", "matroska", "avi", "asf", "nut", "flv"])
def test_texts_of_videos(container):
    codec = "flv" if container == "flv" else "mpeg4"
    data = encode(pictures(3), codec, container, metadata={"title": PLACE, "handler_name": PLACE})
    written = [PLACE.encode(form) for form in ("ascii", "utf-16-le") if PLACE.encode(form) in data]
    assert written, "the container has no place for texts"
    for text in written:
        data = data.replace(text, (LATIN * 2)[: len(text)])
    index = video.build_index(io.BytesIO(data))
    decoder = video.VideoDecoder(io.BytesIO(data), index)
    try:
        assert numbers_of(decoder.read(np.arange(3))) == [0, 1, 2]
    finally:
        decoder.close()


def test_texts_of_mp3():
    target = io.BytesIO()
    tone = np.sin(np.arange(4000) * 0.05).astype(np.float32)
    soundfile.write(target, tone, 16_000, format="MP3", subtype="MPEG_LAYER_III")
    plain = target.getvalue()
    title = b"\3" + LATIN  # which says that it is UTF-8
    frame = b"TIT2" + len(title).to_bytes(4, "big") + bytes(2) + title
    tag = b"ID3\3" + bytes(5) + len(frame).to_bytes(1, "big") + frame
    np.testing.assert_array_equal(audio.decode(tag + plain)[0], audio.decode(plain)[0])
