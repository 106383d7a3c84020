import { CHART_PLATFORM } from '../compare.js';
import type { Bar, Finding } from '../question.js';

interface DrawnBar extends Bar {
  readonly share: number;
}

const WIDTH = 800;
const LABEL_WIDTH = 350;
const PLOT_WIDTH = 400;
const ROW = 30;
const GROUP_GAP = 46;
const TOP = 92;
const INK = '#1f2933';
const FAINT = '#7b8794';
const OURS = '#0b7285';
const PEERS = '#c3ccd5';
/** Wide enough to have its figure inside. */
const WIDE = 60;

/** The chart: what is left of an unguarded route's requests per second behind each guard. */
export function chart(findings: readonly Finding[]): string {
  const bars = findings.flatMap(({ bar, value }) => (bar ? [{ ...bar, share: value.median }] : []));
  const groups = [...new Set(bars.map(({ group }) => group))];
  const drawn: string[] = [];
  let y = TOP;
  for (const group of groups) {
    drawn.push(text(20, y + 12, group, `font-weight="600" fill="${INK}"`));
    y += 24;
    for (const bar of bars.filter((candidate) => candidate.group === group).toSorted((left, right) => right.share - left.share)) {
      drawn.push(drawBar(bar, y));
      y += ROW;
    }
    y += GROUP_GAP - ROW;
  }
  return svg(y + 16, [...scale(y), ...drawn]);
}

function drawBar({ label, share, isOurs }: DrawnBar, y: number): string {
  const width = Math.max(2, Math.min(share, 1.08) * PLOT_WIDTH);
  const weight = isOurs ? 'font-weight="600"' : '';
  const inside = width > WIDE;
  const figureAt = LABEL_WIDTH + width + (inside ? -8 : 8);
  const figureStyle = `text-anchor="${inside ? 'end' : 'start'}" fill="${inside && isOurs ? '#ffffff' : INK}" ${weight}`;
  return [
    text(LABEL_WIDTH - 10, y + 16, label, `text-anchor="end" fill="${INK}" ${weight}`),
    `<rect x="${LABEL_WIDTH}" y="${y + 2}" width="${width.toFixed(1)}" height="20" rx="3" fill="${isOurs ? OURS : PEERS}"/>`,
    text(figureAt, y + 16, `${Math.round(share * 100)} %`, figureStyle),
  ].join('\n');
}

function scale(bottom: number): string[] {
  const x = LABEL_WIDTH + PLOT_WIDTH;
  return [
    `<line x1="${x}" y1="${TOP - 4}" x2="${x}" y2="${bottom - 8}" stroke="${FAINT}" stroke-dasharray="3 4"/>`,
    text(x, TOP - 10, 'no guard: 100 %', `text-anchor="middle" font-size="12" fill="${FAINT}"`),
  ];
}

function svg(height: number, content: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="14">`,
    '<title>What each guard leaves of a route&#8217;s requests per second</title>',
    `<rect width="${WIDTH}" height="${height}" rx="8" fill="#ffffff"/>`,
    text(20, 32, 'What each guard leaves of a route’s requests per second', `font-size="18" font-weight="600" fill="${INK}"`),
    text(20, 54, `${CHART_PLATFORM}, as a share of the same route without a guard; more is better`, `font-size="13" fill="${FAINT}"`),
    ...content,
    '</svg>\n',
  ].join('\n');
}

function text(x: number, y: number, content: string, attributes: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped}</text>`;
}
