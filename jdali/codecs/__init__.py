"""Codecs: decode images, sound, video and arrays. `libraries` is the table of the packages that read each format.

* Images: `image` reads headers and decodes, `image_batch` does so for many at once, `base` has the records of a format and a
  request. One module for each format: `jpeg` (with `jpeg_scan`, `jpeg_segments`), `png`, `webp`, `tiff`, `bmp`, `pnm`,
  `jpeg2000`, `jpegxl`, `heif` (AVIF, HEIC), `gif`, `fits`. `color` and `exif` convert what was decoded.
* Sound: `audio`, with `wav`, `flac`, `mp3`, `mp4_sound`; `incomplete_sound` finds files that are cut off, `resampling`
  changes rates.
* Video: `video`, with `video_index`, `video_decoder`, `video_frames`; `ffmpeg` opens files.
* Arrays: `npy`.
"""
