/** Small charts as SVG: no script, no style attribute, and every number in words beside or inside it. */
import { html } from 'hono/html';
import type { Ahead } from '../commands/overview.ts';
import { type Html, number } from './text.ts';
import { coarse } from './times.ts';

const MINUTE = 60_000;

/** Bounds of the bars, from now: what is overdue stands before zero. */
const BOUNDS: readonly { readonly untilMs: number; readonly name: string }[] = [
  { untilMs: 0, name: 'overdue' },
  { untilMs: MINUTE, name: '1 min' },
  { untilMs: 5 * MINUTE, name: '5 min' },
  { untilMs: 15 * MINUTE, name: '15 min' },
  { untilMs: 60 * MINUTE, name: '1 h' },
  { untilMs: 6 * 60 * MINUTE, name: '6 h' },
  { untilMs: 24 * 60 * MINUTE, name: '1 d' },
  { untilMs: Number.POSITIVE_INFINITY, name: 'later' },
];

const WIDTH = 560;
const HEIGHT = 150;
const FLOOR = 118;
const TOP = 24;

/** When open deliveries are next looked at. The last bar that is shown of a cut list is not whole. */
export const aheadChart = ({ lookAfterMs, isCut }: Ahead, nowMs: number): Html => {
  const counts = BOUNDS.map(
    ({ untilMs }, index) =>
      lookAfterMs.filter(
        (ms) => ms - nowMs <= untilMs && (index === 0 || ms - nowMs > (BOUNDS[index - 1]?.untilMs ?? 0)),
      ).length,
  );
  const most = Math.max(1, ...counts);
  const step = WIDTH / BOUNDS.length;
  const says = BOUNDS.map(({ name }, index) => `${name}: ${counts[index]}`).join(', ');
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Open deliveries by when a sweep looks at them next: ${says}${isCut ? '; the soonest only' : ''}">
<line class="axis" x1="0" x2="${WIDTH}" y1="${FLOOR + 0.5}" y2="${FLOOR + 0.5}"/>
${BOUNDS.map(({ name }, index) => {
  const count = counts[index] ?? 0;
  const height = count === 0 ? 2 : Math.max(4, ((FLOOR - TOP) * count) / most);
  const x = index * step;
  const tone = index === 0 && count > 0 ? 'bad' : count === 0 ? 'track' : 'fill';
  return html`<rect class="${tone}" x="${round(x + step * 0.18)}" y="${round(FLOOR - height)}" width="${round(step * 0.64)}" height="${round(height)}" rx="3"/><text x="${round(x + step / 2)}" y="${FLOOR + 20}" text-anchor="middle">${name}</text>${count === 0 ? '' : html`<text class="strong" x="${round(x + step / 2)}" y="${round(FLOOR - height - 7)}" text-anchor="middle">${number(count)}</text>`}`;
})}</svg>`;
};

/** A share of a whole, such as failures in a row against the number at which the breaker opens. */
export const meter = (value: number, whole: number, tone: 'fill' | 'wait' | 'bad' | 'good'): Html => {
  const width = whole === 0 ? 0 : Math.min(88, (88 * value) / whole);
  return html`<svg class="meter" viewBox="0 0 88 8" aria-hidden="true"><rect class="track" width="88" height="8" rx="4"/>${value === 0 ? '' : html`<rect class="${tone}" width="${round(Math.max(6, width))}" height="8" rx="4"/>`}</svg>`;
};

export interface Part {
  readonly name: string;
  readonly count: number;
  readonly tone: 'good' | 'wait' | 'bad' | 'quiet' | 'fill' | 'soft';
}

/** Parts of a whole side by side, with their names and counts under it. */
export const partsBar = (parts: readonly Part[], of: string): Html => {
  const whole = parts.reduce((sum, { count }) => sum + count, 0);
  let x = 0;
  const present = parts.filter(({ count }) => count > 0);
  const bars = present.map(({ count, tone }, index) => {
    const width = (1000 * count) / Math.max(1, whole);
    const gap = index === present.length - 1 ? 0 : 3;
    const bar = html`<rect class="${classOf(tone)}" x="${round(x)}" y="0" width="${round(Math.max(2, width - gap))}" height="14"/>`;
    x += width;
    return bar;
  });
  return html`<svg class="bar" viewBox="0 0 1000 14" preserveAspectRatio="none" role="img" aria-label="${of}: ${parts.map(({ name, count }) => `${name} ${count}`).join(', ')}"><rect class="track" width="1000" height="14"/>${bars}</svg>
<ul class="legend">${parts
    .filter(({ count }) => count > 0)
    .map(
      ({ name, count, tone }) =>
        html`<li><svg viewBox="0 0 10 10" aria-hidden="true"><circle class="${classOf(tone)}" cx="5" cy="5" r="5"/></svg>${name} <b>${number(count)}</b></li>`,
    )}</ul>`;
};

const classOf = (tone: Part['tone']): string => (tone === 'soft' ? 'fill soft' : tone);

export const round = (value: number): number => Math.round(value * 10) / 10;

/** How long ago each shard was last passed. */
export const beatText = (passAtMs: number | undefined, nowMs: number): string =>
  passAtMs === undefined ? 'never' : `${coarse(Math.max(0, nowMs - passAtMs))} ago`;
