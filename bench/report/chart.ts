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
const TITLE = 'Requests that a processor serves behind each guard';
/** Colours of both schemes: an image follows the reader's scheme by its own style alone. */
const STYLE = `<style>
.card { fill: #ffffff; }
text { fill: #1f2933; }
text.faint { fill: #616e7c; }
line { stroke: #616e7c; }
.peer { fill: #c3ccd5; }
.ours { fill: #0b7285; }
text.on-ours { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  .card { fill: #0d1117; }
  text { fill: #e6edf3; }
  text.faint { fill: #9aa5b1; }
  line { stroke: #9aa5b1; }
  .peer { fill: #3b4754; }
  .ours { fill: #22b8cf; }
  text.on-ours { fill: #0d1117; }
}
</style>`;
/** Minimum width of a bar that contains its figure. */
const WIDE = 60;

/** Draws the requests of each guarded route for a second of processor time as a share of the unguarded route's. */
export function chart(findings: readonly Finding[]): string {
  const bars = findings.flatMap(({ bar, value }) => (bar ? [{ ...bar, share: value.median }] : []));
  const groups = [...new Set(bars.map(({ group }) => group))];
  const drawn: string[] = [];
  let y = TOP;
  for (const group of groups) {
    drawn.push(text(20, y + 12, group, 'font-weight="600"'));
    y += 24;
    for (const bar of bars
      .filter((candidate) => candidate.group === group)
      .toSorted((left, right) => right.share - left.share)) {
      drawn.push(drawBar(bar, y));
      y += ROW;
    }
    y += GROUP_GAP - ROW;
  }
  return svg(y + 16, [...scale(y), ...drawn]);
}

function drawBar({ label, share, isOurs }: DrawnBar, y: number): string {
  const width = Math.max(2, Math.min(share, 1.08) * PLOT_WIDTH);
  const weight = isOurs ? ' font-weight="600"' : '';
  const inside = width > WIDE;
  const figureAt = LABEL_WIDTH + width + (inside ? -8 : 8);
  const figureStyle = `text-anchor="${inside ? 'end' : 'start'}"${inside && isOurs ? ' class="on-ours"' : ''}${weight}`;
  return [
    text(LABEL_WIDTH - 10, y + 16, label, `text-anchor="end"${weight}`),
    `<rect x="${LABEL_WIDTH}" y="${y + 2}" width="${width.toFixed(1)}" height="20" rx="3" class="${isOurs ? 'ours' : 'peer'}"/>`,
    text(figureAt, y + 16, `${Math.round(share * 100)} %`, figureStyle),
  ].join('\n');
}

function scale(bottom: number): string[] {
  const x = LABEL_WIDTH + PLOT_WIDTH;
  return [
    `<line x1="${x}" y1="${TOP - 4}" x2="${x}" y2="${bottom - 8}" stroke-dasharray="3 4"/>`,
    text(x, TOP - 10, '100 %', 'text-anchor="middle" font-size="12" class="faint"'),
  ];
}

function svg(height: number, content: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="14">`,
    `<title>${TITLE}</title>`,
    STYLE,
    `<rect width="${WIDTH}" height="${height}" rx="8" class="card"/>`,
    text(20, 32, TITLE, 'font-size="18" font-weight="600"'),
    text(
      20,
      54,
      `For a second of processor time of the application, as a part of those without a guard (${CHART_PLATFORM})`,
      'font-size="13" class="faint"',
    ),
    ...content,
    '</svg>\n',
  ].join('\n');
}

function text(x: number, y: number, content: string, attributes: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped}</text>`;
}
