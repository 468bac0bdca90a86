"""Fonts by role. They come from Debian packages and are only rendered (see README)."""
from functools import lru_cache
from PIL import ImageFont

BASE = "/usr/share/fonts/"
FILES = {
    "ocr": "opentype/ocr-b/OCRB.otf",
    "garamond": "opentype/ebgaramond/EBGaramond12-Regular.otf",
    "garamond-italic": "opentype/ebgaramond/EBGaramond12-Italic.otf",
    "garamond-bold": "opentype/linux-libertine/LinLibertine_RB.otf",
    "libertine": "opentype/linux-libertine/LinLibertine_R.otf",
    "libertine-bold": "opentype/linux-libertine/LinLibertine_RB.otf",
    "libertine-italic": "opentype/linux-libertine/LinLibertine_RI.otf",
    "libertine-display": "opentype/linux-libertine/LinLibertine_DR.otf",
    "lato": "truetype/lato/Lato-Regular.ttf",
    "lato-bold": "truetype/lato/Lato-Bold.ttf",
    "lato-black": "truetype/lato/Lato-Black.ttf",
    "lato-light": "truetype/lato/Lato-Light.ttf",
    "lato-italic": "truetype/lato/Lato-Italic.ttf",
    "sans": "truetype/liberation/LiberationSans-Regular.ttf",
    "sans-bold": "truetype/liberation/LiberationSans-Bold.ttf",
    "narrow": "truetype/liberation/LiberationSansNarrow-Regular.ttf",
    "narrow-bold": "truetype/liberation/LiberationSansNarrow-Bold.ttf",
    "dejavu": "truetype/dejavu/DejaVuSerif.ttf",
    "mincho": "opentype/ipafont-mincho/ipam.ttf",
    "gothic": "opentype/ipafont-gothic/ipag.ttf",
}


@lru_cache(maxsize=None)
def get(role, size):
    return ImageFont.truetype(BASE + FILES[role], max(4, int(size)), layout_engine=ImageFont.Layout.BASIC)
