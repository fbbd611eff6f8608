"""A contact sheet of all published figures: ``python -m ldpnb.notebook.contact`` writes ``build/contact.png``."""

from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.image import imread

if __name__ == "__main__":
    paths = sorted(Path("figures").rglob("*.png"))
    tall = -(-len(paths) // 4)
    sheet = Figure(figsize=(26, 4.4 * tall), layout="constrained")
    for axis in sheet.subplots(tall, 4).flat:
        axis.set_axis_off()
    for axis, path in zip(sheet.axes, paths, strict=False):
        axis.imshow(imread(path))
        axis.set_title(str(path), loc="left")
    Path("build").mkdir(exist_ok=True)
    sheet.savefig("build/contact.png")
