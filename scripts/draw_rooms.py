#!/usr/bin/env python3
"""Draws the rooms of the code and what may include what, from the tables of check_layers.py.

usage: draw_rooms.py            writes docs/rooms.svg anew
       draw_rooms.py --check    fails where that file is not what the tables say

An arrow leads from a room to one that may include it; what follows by way of other arrows is not
drawn, and what would follow but is refused is told below. In a box stand the libraries whose
headers only that room, or few rooms, may include.
"""
import pathlib
import sys

sys.dont_write_bytecode = True  # leaves no folder beside the scripts
from check_layers import ROOMS, THIRD_PARTY

PICTURE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "rooms.svg"
SEEN = {room: set(others.split()) for room, others in ROOMS.items()}
BOX = (88, 46)
STEP = (108, 64)
MARGIN = 14
MOST_ROOMS_TOLD = 3  # a library that more may include is nobody's own
NAMES = {"muParser.h": "muParser", "CLI": "CLI11", "boost": "Boost.Graph", "pugixml.hpp": "pugixml",
         "zlib.h": "zlib", "sqlite3.h": "sqlite", "google": "protobuf", "chakra.pb.h": "", "Python.h": "", "dlfcn.h": "",
         "unistd.h": "", "sched.h": "", "sys": "", "nlohmann": "nlohmann/json"}


def arrows():
    """(from, to) of each room and those that it includes by no other's way."""
    return [(other, room) for room, others in SEEN.items() for other in others
            if not any(other in SEEN[between] for between in others)]


def columns():
    """The rooms from left to right: each as far to the right as those that include it let it."""
    place = {}
    for room in reversed(ROOMS):
        users = [place[other] for other in ROOMS if room in SEEN[other]]
        place[room] = min(users, default=0) - 1
    return [[room for room in ROOMS if place[room] == x] for x in range(min(place.values()), 0)]


def refused():
    """Pairs that follow from the arrows, but that the table refuses."""
    reach = {}
    for room in ROOMS:  # those that it includes stand before it
        reach[room] = set()
        for first, last in arrows():
            if last == room:
                reach[room] |= {first} | reach[first]
    return sorted((room, other) for room in ROOMS for other in reach[room] - SEEN[room])


def libraries(room):
    """Two lines of those that are its own."""
    own = [NAMES.get(name, name) for name, rooms in THIRD_PARTY.items()
           if room in rooms.split() and len(rooms.split()) <= MOST_ROOMS_TOLD]
    lines = [""]
    for name in filter(None, own):
        if lines[-1] and len(lines[-1]) + len(name) > 13:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + name
    return lines


def text(x, y, size, colour, words):
    return (f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="middle">'
            f"{words}</text>")


def arrow(start, end):
    """From one box to the next column, or around what lies between."""
    (x, y), (to_x, to_y) = start, end
    to_x -= BOX[0] / 2 + 6
    if to_x - x < STEP[0]:
        path = f"M{x + BOX[0] / 2:g} {y:g}L{to_x:g} {to_y:g}"
    else:
        path = f"M{x:g} {y + BOX[1] / 2:g}Q{x:g} {to_y:g} {to_x:g} {to_y:g}"
    return f'<path d="{path}" marker-end="url(#head)"/>'


def picture():
    rooms = columns()
    width = 2 * MARGIN + BOX[0] + STEP[0] * (len(rooms) - 1)
    tallest = max(map(len, rooms))
    height = 2 * MARGIN + BOX[1] + STEP[1] * (tallest - 1)
    centre = {}
    for x, column in enumerate(rooms):
        for y, room in enumerate(column):
            down = y + (tallest - len(column)) / 2
            centre[room] = (MARGIN + BOX[0] / 2 + x * STEP[0], MARGIN + BOX[1] / 2 + down * STEP[1])
    notes = [f"{room} may not include {other}" for room, other in refused()]
    whole = height + 22 * bool(notes)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{whole:g}" '
             f'viewBox="0 0 {width:g} {whole:g}" font-family="Helvetica,Arial,sans-serif">',
             '<defs><marker id="head" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="7" '
             'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#4a5568"/></marker>'
             "</defs>",
             '<rect width="100%" height="100%" fill="#ffffff"/>',
             '<g fill="none" stroke="#4a5568" stroke-width="1.5">']
    lines += [arrow(centre[first], centre[last]) for first, last in sorted(arrows())]
    lines.append("</g>")
    for room, (x, y) in centre.items():
        own = libraries(room)
        lines.append(f'<rect x="{x - BOX[0] / 2:g}" y="{y - BOX[1] / 2:g}" width="{BOX[0]}" '
                     f'height="{BOX[1]}" rx="5" fill="#ebf4ff" stroke="#2b6cb0"/>')
        lines.append(text(x, y + (5 if own == [""] else 9 - 7 * len(own)), 14, "#1a202c", room))
        lines += [text(x, y + 20 - 7 * len(own) + 11 * i, 10, "#4a5568", words)
                  for i, words in enumerate(own) if words]
    if notes:
        lines.append(text(width / 2, height + 4, 12, "#4a5568", "; ".join(notes)))
    return "\n".join(lines + ["</svg>"]) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    drawn = picture()
    if not sys.argv[1:]:
        PICTURE.write_text(drawn, encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != drawn:
        print(f"docs/{PICTURE.name} is not what the tables of check_layers.py say; "
              "scripts/draw_rooms.py draws it anew")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
