"""Decodes images, sound, video and arrays. `libraries` lists the packages that read each format.

* Images: `image` reads headers and decodes; `image_batch` does both for many images at once; `base` defines `Format`,
  `Request` and `ImageInfo`. Each format has a module: `jpeg` (with `jpeg_scan`, `jpeg_segments`, `jpeg_tiles`), `png`,
  `webp`, `tiff`, `bmp`, `pnm`, `jpeg2000`, `jpegxl`, `heif` (AVIF, HEIC; with `av1_size`), `gif`, `fits`. `color`
  converts colour spaces and types, `exif` rotates pictures.
* Sound: `audio`, with `wav`, `flac`, `mp3`, `mp4_sound`; `incomplete_sound` finds truncated files, `resampling`
  changes rates.
* Video: `video`, with `video_index`, `video_decoder`, `video_frames`; `ffmpeg` opens files.
* Arrays: `npy`.
"""
