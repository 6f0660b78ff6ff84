"""Creates docs/report.png, the picture in README.md: parts of the report of the quickstart.

Usage: python3 tests/report_picture.py BUILD    (a build folder; needs Chromium)"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

from browser import Browser, find_browser  # noqa: E402

SHOWN = ["summary", "speedup", "replay"]
MOST_BYTES = 200_000


def name_program(png, program):
    """The PNG file with a text chunk `Software` (PNG specification, section 11.3.4.3), placed before the image data.
    A test compares it with the program's version, so that the picture does not stay behind."""
    data = b"tEXtSoftware\0" + program.encode("latin-1")
    chunk = struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
    at = png.index(b"IDAT") - 4
    return png[:at] + chunk + png[at:]


def unfiltered(data, width, pixel):
    """The image data of a PNG file without filters (PNG specification, section 9); `pixel`: bytes of a pixel."""
    size, rows, above = width * pixel, [], bytearray(width * pixel)
    for begin in range(0, len(data), size + 1):
        kind, row = data[begin], bytearray(data[begin + 1:begin + 1 + size])
        for at in range(size):
            left, up = row[at - pixel] if at >= pixel else 0, above[at]
            corner = above[at - pixel] if at >= pixel else 0
            paeth = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            row[at] = (row[at] + (0, left, up, (left + up) // 2, paeth)[kind]) % 256
        rows.append(b"\0" + row)
        above = row
    return b"".join(rows)


def recompressed(png):
    """The same PNG file in a quarter less space: Chromium's filters suit photographs, and it compresses for speed."""
    head, chunks, data, at = png[:8], [], b"", 8
    while at < len(png):
        size, = struct.unpack(">I", png[at:at + 4])
        chunk = png[at + 4:at + 8 + size]
        if chunk.startswith(b"IDAT"):
            data += chunk[4:]
        else:
            chunks.append(chunk)
        at += size + 12
    width, = struct.unpack(">I", png[16:20])
    pixel = {2: 3, 6: 4}[png[25]]  # of 8-bit RGB or RGBA
    data = unfiltered(zlib.decompress(data), width, pixel)
    chunks.insert(-1, b"IDAT" + zlib.compress(data, 9))
    return head + b"".join(struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
                           for chunk in chunks)


def main():
    if len(sys.argv) != 2 or find_browser() is None:
        sys.exit(__doc__)
    lloyd = pathlib.Path(sys.argv[1]).resolve() / "bin" / "lloyd"
    picture = ROOT / "docs" / "report.png"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([lloyd, "run", ROOT / "configs" / "quickstart.yaml", "--output", folder],
                       check=True, stdout=subprocess.DEVNULL)
        page = f"{folder}/report.html"
        subprocess.run([lloyd, "report", folder, "-o", page], check=True)
        with Browser(find_browser(), width=900) as browser:
            browser.open(page)
            # The charts side by side. The replay shows the second fit at its end, when the centroids have left trails.
            browser.run(f"""
                document.querySelectorAll('section.part').forEach(part => {{
                  if (!{SHOWN}.includes(part.id)) part.remove();
                }});
                document.querySelectorAll('nav, footer').forEach(part => part.remove());
                const parts = document.getElementById('sections');
                parts.style.cssText = 'display: grid; grid-template-columns: 1fr 1fr; gap: 0 24px';
                document.getElementById('summary').style.gridColumn = '1 / 3';
                document.querySelectorAll('.part .note').forEach(note => {{ note.style.display = 'none'; }});
                document.querySelectorAll('.head').forEach(head => {{ head.style.marginBottom = '10px'; }});
                const fit = document.querySelector('#replay select');
                fit.value = 1;
                fit.dispatchEvent(new Event('change'));
                const slider = document.querySelector('#replay input');
                slider.value = slider.max;
                slider.dispatchEvent(new Event('input'));
                document.querySelector('main').style.paddingBottom = '24px';
            """)
            browser.wait("document.querySelector('#replay svg').viewBox.baseVal.width < 500")
            # The note on columns out of view is updated in the next frame, which changes the height of the page.
            browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert browser.errors() == [], browser.errors()
            browser.screenshot(picture)
    version = subprocess.run([lloyd, "--version"], check=True, capture_output=True, text=True).stdout.split()[:2]
    picture.write_bytes(name_program(recompressed(picture.read_bytes()), " ".join(version)))
    size = picture.stat().st_size
    print(f"{picture}: {size} bytes")
    if size > MOST_BYTES:
        sys.exit(f"{picture} has {size} bytes, more than {MOST_BYTES}")


main()
