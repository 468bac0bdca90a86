"""Setting text: words broken into lines, justified, on a Pillow picture."""
import fonts


def lines_of(text, font, width, tracking=0):
    """Breaks at spaces; a text without spaces (Japanese) is broken anywhere."""
    words = text.split(" ") if " " in text else list(text)
    gap = " " if " " in text else ""
    line, out = "", []
    for word in words:
        trial = line + gap + word if line else word
        if font.getlength(trial) <= width or not line:
            line = trial
        else:
            out.append(line)
            line = word
    return out + [line]


def paragraph(pen, xy, text, role, size, width, fill, leading=1.3, align="justify", indent=0):
    """Draws one paragraph and returns the y below it."""
    font = fonts.get(role, size)
    x, y = xy
    lines = lines_of(text, font, width)
    for k, line in enumerate(lines):
        words = line.split(" ")
        last = k == len(lines) - 1
        if align == "justify" and not last and len(words) > 1:
            free = width - sum(font.getlength(w) for w in words)
            step = free / (len(words) - 1)
            cx = x
            for w in words:
                pen.text((cx, y), w, font=font, fill=fill)
                cx += font.getlength(w) + step
        elif align == "centre":
            pen.text((x + (width - font.getlength(line)) / 2, y), line, font=font, fill=fill)
        elif align == "right":
            pen.text((x + width - font.getlength(line), y), line, font=font, fill=fill)
        else:
            pen.text((x, y), line, font=font, fill=fill)
        y += size * leading
    return y
