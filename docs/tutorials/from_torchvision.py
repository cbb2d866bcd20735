# %% [markdown]
# # From torchvision
#
# A `Compose` over an `ImageFolder` becomes a pipeline: first the transforms of an evaluation, compared value by value with those
# that torchvision computes, then those of training. The table is in [From torchvision v2](../migration/torchvision.md).

# %%
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image

for number in range(8):
    photo = load_sample_image(("china.jpg", "flower.jpg")[number % 2])
    folder = Path("photos") / ("temples", "flowers")[number % 2]
    folder.mkdir(parents=True, exist_ok=True)
    top, left = 20 * number, 30 * number
    Image.fromarray(photo[top : top + 240, left : left + 320]).save(folder / f"{number}.jpg", quality=92)

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])

# %% [markdown]
# ## Evaluate
#
# ```python
# transform = v2.Compose([
#     v2.Resize(120), v2.CenterCrop(96), v2.ToImage(), v2.ToDtype(torch.float32, scale=True),
#     v2.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
# ])
# loader = DataLoader(ImageFolder("photos", transform), batch_size=4)
# ```
#
# `fn.crop_mirror_normalize` crops, normalizes and turns HWC into CHW in one go; mean and deviation are in units of 0 to 255.

# %%
from jdali import fn, pipeline_def
from jdali.iterator import DataIterator, LastBatchPolicy


@pipeline_def(batch_size=4, num_threads=2)
def evaluation():
    jpegs, labels = fn.readers.file(file_root="photos", name="Reader")
    images = fn.resize(fn.decoders.image(jpegs), resize_shorter=120)
    images = fn.crop_mirror_normalize(
        images, crop=[96, 96], mean=(255 * MEAN).tolist(), std=(255 * STD).tolist()
    )
    return images, labels


with DataIterator(
    evaluation(),
    ["images", "labels"],
    reader_name="Reader",
    last_batch_policy=LastBatchPolicy.PARTIAL,
    squeeze="labels",
) as batches:
    found = np.concatenate([np.asarray(batch["images"]) for batch in batches])
print(found.shape, found.dtype)

# %% [markdown]
# torchvision resizes PIL images by Pillow, so Pillow says what it would give. Where the rest beside a centre crop is odd, DALI's
# crop, and with it jdali's, begins a pixel further on; give `crop_pos_x` to have the other one.

# %%
expected = []
for path in sorted(Path("photos").rglob("*.jpg")):
    picture = Image.open(path)
    scale = 120 / min(picture.size)
    picture = picture.resize(
        (int(picture.width * scale), int(picture.height * scale)), Image.Resampling.BILINEAR
    )
    left, top = round((picture.width - 96) / 2), round((picture.height - 96) / 2)
    pixels = np.asarray(picture.crop((left, top, left + 96, top + 96))) / 255
    expected.append(((pixels - MEAN) / STD).transpose(2, 0, 1))
difference = np.abs(found - np.array(expected)) * 255 * STD[:, None, None]
print(f"mean difference {difference.mean():.2f} of 255, largest {difference.max():.1f}")
assert difference.mean() < 1

# %%
import matplotlib.pyplot as plt


def shown(pictures):
    return np.clip(pictures.transpose(0, 2, 3, 1) * STD + MEAN, 0, 1)


figure, axes = plt.subplots(2, 4, figsize=(8, 4.2))
for row, title, pictures in zip(
    axes, ("jdali", "Pillow, as torchvision"), (found, np.array(expected)), strict=True
):
    for axis, picture in zip(row, shown(pictures), strict=False):
        axis.imshow(picture)
        axis.axis("off")
    row[0].set_title(title, fontsize=9, loc="left")
plt.tight_layout()
plt.show()

# %% [markdown]
# ## Train
#
# What torchvision draws inside of a transform is a node here, `fn.random.uniform` for one: each sample draws its own value in
# each epoch, and the same one after a resume. Below, one photograph in eight epochs.


# %%
@pipeline_def(batch_size=8, num_threads=2, seed=7)
def training():
    jpegs, labels = fn.readers.file(file_root="photos", random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(jpegs), size=[96, 96], random_area=[0.3, 1.0])
    images = fn.color_twist(
        images,
        brightness=fn.random.uniform(range=[0.7, 1.3]),
        saturation=fn.random.uniform(range=[0.6, 1.4]),
        hue=fn.random.uniform(range=[-15, 15]),
    )
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels


pipe = training()
figure, axes = plt.subplots(1, 8, figsize=(10, 1.5))
for epoch, axis in enumerate(axes):
    images, labels = pipe.run()
    names = [Path(name).name for name in images.source_info()]
    axis.imshow(np.array(images.at(names.index("0.jpg"))))
    axis.set_title(f"epoch {epoch}", fontsize=8)
    axis.axis("off")
plt.tight_layout()
plt.show()
pipe.close()
