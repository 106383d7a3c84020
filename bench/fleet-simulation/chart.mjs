import { FLEET, LIFETIMES, TYPICAL } from './scenarios.mjs';
import { modelled } from './model.mjs';
import { fleetSizes } from './tables.mjs';

const SIZE = { width: 800, height: 420 };
const PLOT = { top: 96, height: 230, width: 270 };
const PANELS = [64, 462];
const INK = '#1f2933';
const FAINT = '#616e7c';
const GRID = '#e4e7eb';
/** The second line covers the first, and is drawn so that both are visible. */
const LINES = [
  {
    name: 'with the store, any balancing',
    style: 'stroke="#b197fc" stroke-width="7"',
    of: ({ random }) => random.callsWithStore / random.requests,
  },
  {
    name: 'cache alone, sticky balancing',
    style: 'stroke="#1f2933" stroke-width="2" stroke-dasharray="6 5"',
    of: ({ sticky }) => sticky.callsWithoutStore / sticky.requests,
  },
  {
    name: 'cache alone, random balancing',
    style: 'stroke="#c2410c" stroke-width="2.5"',
    of: ({ random }) => random.callsWithoutStore / random.requests,
  },
];

/** Returns the chart of docs/fleet.md: the part of all requests that reaches the session service. */
export function chart() {
  const title = 'Requests that reach the session service';
  const { exponent, ratePerInstance, ttl } = TYPICAL;
  const mix = `10,000 users and ${ratePerInstance} requests per second for each instance, Zipf exponent ${exponent}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" width="${SIZE.width}" height="${SIZE.height}" role="img" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    `<rect width="${SIZE.width}" height="${SIZE.height}" rx="8" fill="#ffffff"/>`,
    text(20, 32, title, `font-size="18" font-weight="600" fill="${INK}"`),
    text(20, 54, mix, `fill="${FAINT}"`),
    ...panel(
      PANELS[0],
      `by lifetime in seconds, ${FLEET.instances.toLocaleString('en-US')} instances`,
      lifetimes(),
      LIFETIMES,
    ),
    ...panel(PANELS[1], `by number of instances, lifetime ${ttl} s`, bySize(), [1, 10, 100, 1_000]),
    ...LINES.map(legend),
    '</svg>\n',
  ].join('\n');
}

/** Lifetimes of the tables, and some between, for a smooth line. */
function lifetimes() {
  return [1, 2, 5, 10, 20, 30, 60, 120, 200, 300].map((ttl) => {
    const fleet = { ...FLEET, ...TYPICAL, ttl };
    return {
      at: ttl,
      random: modelled({ ...fleet, balancing: 'random' }),
      sticky: modelled({ ...fleet, balancing: 'sticky' }),
    };
  });
}

const bySize = () => fleetSizes().map(({ instances, ...fleet }) => ({ at: instances, ...fleet }));

function panel(left, title, points, ticks) {
  const last = Math.log(points.at(-1).at);
  const x = (value) => left + (Math.log(value) / last) * PLOT.width;
  const y = (part) => PLOT.top + (1 - part) * PLOT.height;
  return [
    text(left, PLOT.top - 16, title, `font-weight="600" fill="${INK}"`),
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((part) => [
      `<line x1="${left}" y1="${y(part)}" x2="${left + PLOT.width}" y2="${y(part)}" stroke="${GRID}"/>`,
      text(left - 8, y(part) + 4, `${part * 100} %`, `text-anchor="end" font-size="12" fill="${FAINT}"`),
    ]),
    ...ticks.map((tick) =>
      text(
        x(tick),
        PLOT.top + PLOT.height + 20,
        tick.toLocaleString('en-US'),
        `text-anchor="middle" font-size="12" fill="${FAINT}"`,
      ),
    ),
    ...LINES.map(({ style, of }) => {
      const path = points.map((point) => `${x(point.at).toFixed(1)},${y(of(point)).toFixed(1)}`).join(' ');
      return `<polyline points="${path}" fill="none" ${style}/>`;
    }),
  ];
}

function legend({ name, style }, index) {
  const left = 20 + index * 256;
  const y = SIZE.height - 32;
  return [
    `<line x1="${left}" y1="${y}" x2="${left + 28}" y2="${y}" ${style}/>`,
    text(left + 36, y + 4, name, `fill="${INK}" font-size="12"`),
  ].join('\n');
}

function text(x, y, content, attributes) {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${content}</text>`;
}
