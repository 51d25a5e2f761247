"""The page's two plots, as SVG inside of it: no script, no font and no picture from elsewhere."""

from html import escape
from math import log10

import rates

WIDTH, LEFT, RIGHT, ROW, TOP = 860, 170, 40, 30, 34


def frame(count, title, description, marks):
    """A plot of so many rows around what is drawn in it."""
    height = TOP + count * ROW + 30
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{''.join(marks)}</svg>"
    )


def axis(count, ticks):
    """Lines down the plot with their values above; each tick is a place and a word."""
    bottom = TOP + count * ROW
    return [
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{bottom}"/>'
        f'<text class="tick" x="{x:.1f}" y="{TOP - 12}" text-anchor="middle">{escape(word)}</text>'
        for x, word in ticks
    ]


def name(guard, y):
    """A guard's name at the beginning of its row."""
    kind = ' class="ours"' if guard["ours"] else ""
    return f'<text{kind} x="{LEFT - 14}" y="{y + 4:.1f}" text-anchor="end">{escape(guard["name"])}</text>'


def stopped(guards):
    """How much is stopped of what is dangerous and of what is ordinary, with the intervals."""

    def place(percent):
        return LEFT + (WIDTH - LEFT - RIGHT) * percent / 100

    marks = axis(len(guards), [(place(value), f"{value} %") for value in range(0, 101, 20)])
    for number, guard in enumerate(guards):
        y = TOP + (number + 0.5) * ROW
        marks.append(name(guard, y))
        for side, kind, shift in (("dangerous", "danger", -5), ("ordinary", "plain", 6)):
            rate = rates.of(rates.side(guard, side))
            low, high = rate.interval
            label = escape(f"{guard['name']}: {rate} of the {side} calls stopped")
            marks.append(
                f'<g class="{kind}"><title>{label}</title>'
                f'<line x1="{place(low):.1f}" x2="{place(high):.1f}" y1="{y + shift}" y2="{y + shift}"/>'
                f'<circle cx="{place(rate.percent):.1f}" cy="{y + shift}" r="5"/></g>'
            )
    title = "Calls stopped, by guard"
    described = "For each guard two marks: the share of dangerous calls stopped, and of ordinary calls stopped. The table above has the numbers."
    legend_y = TOP + len(guards) * ROW + 20
    marks.append(
        f'<g class="danger"><circle cx="{LEFT}" cy="{legend_y}" r="5"/></g>'
        f'<text x="{LEFT + 12}" y="{legend_y + 4}">dangerous calls (further right is better)</text>'
        f'<g class="plain"><circle cx="{LEFT + 330}" cy="{legend_y}" r="5"/></g>'
        f'<text x="{LEFT + 342}" y="{legend_y + 4}">ordinary calls (further left is better)</text>'
    )
    return frame(len(guards), title, described, marks)


def cost(guards):
    """How many times as long as an empty process a hook call takes, on a logarithmic axis."""
    most = max(1.0, *(log10(max(1.0, guard["cost"]["upper"])) for guard in guards))

    def place(ratio):
        return LEFT + (WIDTH - LEFT - RIGHT) * log10(max(1.0, ratio)) / most

    steps = [value for value in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000) if log10(value) <= most]
    marks = axis(len(guards), [(place(value), f"{value}×") for value in steps])
    for number, guard in enumerate(guards):
        y, spent = TOP + (number + 0.5) * ROW, guard["cost"]
        label = escape(f"{guard['name']}: {spent['median']} times, half of the calls between {spent['lower']} and {spent['upper']}")
        marks.append(
            f'{name(guard, y)}<g class="bar"><title>{label}</title>'
            f'<rect x="{LEFT}" y="{y - 7}" width="{max(1, place(spent["median"]) - LEFT):.1f}" height="14"/>'
            f'<line x1="{place(spent["lower"]):.1f}" x2="{place(spent["upper"]):.1f}" y1="{y}" y2="{y}"/></g>'
        )
    title = "Cost of a hook call, by guard"
    described = "A bar for each guard: the median of how many times as long as an empty process its hook takes. The table above has the numbers."
    return frame(len(guards), title, described, marks)
