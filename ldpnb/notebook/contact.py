"""A contact sheet of all published figures: ``python -m ldpnb.notebook.contact`` writes ``build/contact.png``."""

from pathlib import Path

from PIL import Image, ImageDraw

ACROSS, WIDE, TALL, MARGIN = 4, 640, 480, 18


def main(root: Path = Path()) -> None:
    """Paste the pictures of `figures/` beside each other, each with its name."""
    paths = sorted((root / "figures").rglob("*.png"))
    sheet = Image.new("RGB", (ACROSS * WIDE, -(-len(paths) // ACROSS) * (TALL + MARGIN)), "white")
    for i, path in enumerate(paths):
        picture = Image.open(path).convert("RGB")
        picture.thumbnail((WIDE - MARGIN, TALL))
        corner = (i % ACROSS * WIDE, i // ACROSS * (TALL + MARGIN))
        ImageDraw.Draw(sheet).text(corner, path.relative_to(root / "figures").as_posix(), fill="black")
        sheet.paste(picture, (corner[0], corner[1] + MARGIN))
    (root / "build").mkdir(exist_ok=True)
    sheet.save(root / "build/contact.png")


if __name__ == "__main__":
    main()
