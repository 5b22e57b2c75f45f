// Draws a chart of one figure over a logarithmic axis, with one line per server.
const WIDTH = 520;
const HEIGHT = 300;
const LEFT = 70;
const RIGHT = 130;
const TOP = 36;
const BOTTOM = 44;
const COLOURS = { plinth: '#0b6e99', victoriametrics: '#8a5fbf', questdb: '#c2410c' };
const MAX_TICKS = 5;
const NAME_HEIGHT = 14;

const escaped = (words) => words.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const short = (value) =>
  value >= 1e6 ? `${value / 1e6}M` : value >= 1e3 ? `${value / 1e3}k` : String(value);

/**
 * @param lines the points `[x, y]` of each server. A server without points is not drawn.
 * @returns an SVG document.
 */
export function drawFigure({ title, axis, unit, lines }) {
  const points = Object.values(lines).flat();
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
  const [least, most] = [xs[0], xs.at(-1)];
  const step = tickStep(Math.max(...points.map(([, y]) => y)));
  const top = step * Math.ceil(Math.max(...points.map(([, y]) => y)) / step);
  const span = most > least ? Math.log(most / least) : 1;
  const atX = (x) => LEFT + (Math.log(x / least) / span) * (WIDTH - LEFT - RIGHT);
  const atY = (y) => HEIGHT - BOTTOM - (y / top) * (HEIGHT - TOP - BOTTOM);
  const shapes = [label(LEFT, 20, `${title}, ${unit}`, 'font-weight="600"')];
  for (let y = 0; y <= top + step / 2; y += step) {
    const shown = Number(y.toPrecision(6));
    shapes.push(
      `<path d="M${LEFT} ${atY(y)}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
      label(LEFT - 8, atY(y) + 4, short(shown), 'text-anchor="end"'),
    );
  }
  for (const x of xs) {
    shapes.push(label(atX(x), HEIGHT - BOTTOM + 18, short(x), 'text-anchor="middle"'));
  }
  shapes.push(
    label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, axis, 'text-anchor="middle" fill="#555"'),
  );
  const drawn = Object.entries(lines)
    .filter(([, own]) => own.length > 0)
    .sort(([, a], [, b]) => b.at(-1)[1] - a.at(-1)[1]);
  let nameY = -NAME_HEIGHT;
  for (const [name, own] of drawn) {
    // Labels of lines that end close together are placed below each other.
    nameY = Math.max(nameY + NAME_HEIGHT, atY(own.at(-1)[1]) + 4);
    shapes.push(drawLine(name, own, { atX, atY, nameY }));
  }
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" ` +
    `font-family="sans-serif" font-size="12"><title>${escaped(title)}</title><rect width="100%" height="100%" fill="#fff"/>${shapes.join('')}</svg>\n`
  );
}

function drawLine(name, points, { atX, atY, nameY }) {
  const colour = COLOURS[name];
  const places = points.map(([x, y]) => `${atX(x).toFixed(1)} ${atY(y).toFixed(1)}`);
  const [lastX] = points.at(-1);
  const marks = points.map(
    ([x, y]) => `<circle cx="${atX(x).toFixed(1)}" cy="${atY(y).toFixed(1)}" r="3"/>`,
  );
  return (
    `<g fill="${colour}"><path d="M${places.join('L')}" fill="none" stroke="${colour}" stroke-width="2"/>${marks.join('')}` +
    `${label(atX(lastX) + 8, nameY, name)}</g>`
  );
}

const label = (x, y, words, more = '') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(words)}</text>`;

/** Returns 1, 2 or 5 times a power of ten. */
function tickStep(most) {
  const least = (most || 1) / MAX_TICKS;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((times) => times * power >= least);
}
