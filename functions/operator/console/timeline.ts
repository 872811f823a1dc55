/**
 * A delivery's life as a picture on a time axis. A schedule runs from seconds to hours, so the axis is not even: the
 * longer a gap, the more it is pressed together, and the labels say how long after the accept each moment was.
 *
 *   causes    who moved it: a push, a sweep, an operation, a person
 *   attempts  from claim to outcome, in the colour of what it came to
 *   waits     from when it was held up until the claim that ended it
 */
import { html } from 'hono/html';
import type { Delivery, Entry } from '../../core/model.ts';
import { round } from './charts.ts';
import { CLASS_TONES, CLASS_WORDS, type Tone, whenOf } from './states.ts';
import { type Html, NOTHING } from './text.ts';
import { spanOf } from './times.ts';

const LEFT = 92;
const RIGHT = 52;
/** A picture with little in it is stretched to this. */
const WIDTH_MIN = 960;
const CAUSES_Y = 34;
const ATTEMPTS_Y = 80;
const WAITS_Y = 122;
const LABELS_BELOW = 38;
const HEIGHT_BELOW = 54;
/** The accept stands a little before the push that came in the same moment. */
const ACCEPT_BEFORE = 9;
const LABEL_ROOM = 58;
const GAP_MIN = 16;
const GAP_PER_DECADE = 24;

interface Attempt {
  readonly number: number;
  readonly fromMs: number;
  /** Undefined: no outcome on record. */
  readonly toMs: number | undefined;
  readonly tone: Tone;
  readonly says: string;
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly says: string;
}

interface Mark {
  readonly atMs: number;
  readonly shape: 'push' | 'sweep' | 'operation' | 'person' | 'accept';
  readonly says: string;
}

const MARKS: Readonly<Record<string, Mark['shape']>> = {
  p: 'push',
  s: 'sweep',
  o: 'operation',
  a: 'person',
  i: 'accept',
  q: 'accept',
};

const MARK_SAYS: Readonly<Record<Mark['shape'], string>> = {
  push: 'a push of the queue',
  sweep: 'a sweep',
  operation: 'a redrive over many',
  person: 'a person',
  accept: 'accepted',
};

export const timeline = (row: Delivery, nowMs: number): Html => {
  const entries = row.journal.lines.map(({ entry }) => entry);
  const attempts = attemptsIn(entries);
  const waits = waitsIn(row, entries, nowMs);
  const marks = marksIn(entries);
  const next = row.status === 'pending' && !row.parking ? whenOf(row, nowMs).atMs : undefined;
  const isOpen = row.status === 'pending' || row.status === 'claimed';
  const times = [
    ...marks.map(({ atMs }) => atMs),
    ...attempts.flatMap(({ fromMs, toMs }) => [fromMs, toMs ?? fromMs]),
    ...waits.flatMap(({ fromMs, toMs }) => [fromMs, toMs]),
    ...(isOpen ? [nowMs] : [row.endedAtMs]),
    ...(next === undefined ? [] : [next]),
  ];
  const scale = scaleOf(times);
  const floor = waits.length === 0 ? ATTEMPTS_Y : WAITS_Y;
  const height = floor + HEIGHT_BELOW;
  const width = LEFT + scale.width + RIGHT;
  const bars = attempts.map((attempt) => attemptBar(attempt, scale, isOpen ? nowMs : row.endedAtMs));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Timeline"><svg width="${round(width)}" height="${height}" viewBox="0 0 ${round(width)} ${height}" role="img" aria-label="Timeline of this delivery; the journal below says the same in words">
${lane('Causes', CAUSES_Y, width)}${lane('Attempts', ATTEMPTS_Y, width)}${waits.length === 0 ? NOTHING : lane('Waits', WAITS_Y, width)}
${waits.map(({ fromMs, toMs, says }) => html`<line class="hatch" x1="${round(scale.at(fromMs))}" x2="${round(Math.max(scale.at(fromMs) + 4, scale.at(toMs)))}" y1="${WAITS_Y}" y2="${WAITS_Y}"><title>${says}</title></line>`)}
${bars}${marks.map((mark) => markShape(mark, scale))}
${isOpen ? upright(scale.at(nowMs), floor, 'now') : NOTHING}${next !== undefined && next > nowMs ? upright(scale.at(next), floor, 'due') : NOTHING}
${labels(times, row.acceptedAtMs, scale, floor)}</svg></div>${legend(attempts, marks, waits)}`;
};

// ---- what happened ------------------------------------------------------------------------------------------------

const attemptsIn = (entries: readonly Entry[]): readonly Attempt[] =>
  entries.flatMap((claimed) => {
    if (claimed.kind !== 'claimed' || claimed.attempt === undefined) return [];
    const end = entries.find((entry) => entry.kind === 'outcome' && entry.attempt === claimed.attempt);
    const word = end?.class === undefined ? 'no outcome yet' : CLASS_WORDS[end.class];
    const status = end?.status === undefined ? '' : `, status ${end.status}`;
    return [
      {
        number: claimed.attempt,
        fromMs: claimed.atMs,
        toMs: end?.atMs,
        tone: end?.class === undefined ? 'live' : CLASS_TONES[end.class],
        says: `attempt ${claimed.attempt}: ${word}${status}`,
      },
    ];
  });

const waitsIn = (row: Delivery, entries: readonly Entry[], nowMs: number): readonly Span[] => {
  const past = entries.flatMap(({ waits, atMs }) =>
    waits === undefined ? [] : [{ fromMs: waits.sinceMs, toMs: atMs, says: `waited for ${waits.reason}` }],
  );
  if (row.status !== 'pending') return past;
  const since = row.parking?.sinceMs ?? row.waits?.sinceMs;
  const reason = row.parking?.reason ?? row.waits?.reason;
  return since === undefined ? past : [...past, { fromMs: since, toMs: nowMs, says: `waits: ${reason}` }];
};

const marksIn = (entries: readonly Entry[]): readonly Mark[] =>
  entries.flatMap(({ kind, cause, atMs }) => {
    if (kind === 'accepted') return [{ atMs, shape: 'accept' as const, says: 'accepted' }];
    if (cause === undefined) return [];
    const shape = MARKS[cause.slice(0, 1)] ?? 'push';
    return [{ atMs, shape, says: `${kind.replaceAll('-', ' ')} by ${MARK_SAYS[shape]}` }];
  });

// ---- the axis -----------------------------------------------------------------------------------------------------

interface Scale {
  readonly width: number;
  at(ms: number): number;
}

/** Every gap between two moments has room by the order of its length: 100 ms, a second, ten, a minute and a half ... */
const scaleOf = (times: readonly number[]): Scale => {
  const moments = [...new Set(times)].toSorted((a, b) => a - b);
  const places = new Map<number, number>();
  let x = 0;
  for (const [index, ms] of moments.entries()) {
    const before = moments[index - 1];
    if (before !== undefined) x += GAP_MIN + GAP_PER_DECADE * Math.log10(1 + (ms - before) / 100);
    places.set(ms, x);
  }
  const room = Math.max(x, WIDTH_MIN - LEFT - RIGHT);
  const stretch = x === 0 ? 1 : room / x;
  return { width: room, at: (ms) => LEFT + 14 + (places.get(ms) ?? 0) * stretch };
};

const lane = (name: string, y: number, width: number): Html =>
  html`<text x="0" y="${y + 4}">${name}</text><rect class="lane" x="${LEFT}" y="${y - 14}" width="${round(width - LEFT)}" height="28" rx="6"/>`;

const upright = (x: number, floor: number, word: string): Html =>
  html`<line class="now" x1="${round(x)}" x2="${round(x)}" y1="18" y2="${floor + 16}"/><text class="strong" x="${round(x)}" y="12" text-anchor="middle">${word}</text>`;

const labels = (times: readonly number[], acceptedAtMs: number, scale: Scale, floor: number): readonly Html[] => {
  let free = Number.NEGATIVE_INFINITY;
  return [...new Set(times)]
    .toSorted((a, b) => a - b)
    .flatMap((ms) => {
      const x = scale.at(ms);
      if (x < free) return [];
      free = x + LABEL_ROOM;
      const text = ms <= acceptedAtMs ? '0' : `+${spanOf(ms - acceptedAtMs)}`;
      return [
        html`<line class="axis" x1="${round(x)}" x2="${round(x)}" y1="${floor + 18}" y2="${floor + 24}"/><text x="${round(x)}" y="${floor + LABELS_BELOW}" text-anchor="middle">${text}</text>`,
      ];
    });
};

// ---- shapes -------------------------------------------------------------------------------------------------------

const FILLS: Readonly<Record<Tone, string>> = { good: 'good', wait: 'wait', bad: 'bad', live: 'fill', off: 'quiet' };

const attemptBar = ({ number, fromMs, toMs, tone, says }: Attempt, scale: Scale, endMs: number): Html => {
  const x = scale.at(fromMs);
  const width = Math.max(9, scale.at(toMs ?? Math.max(fromMs, endMs)) - x);
  return html`<g><title>${says}</title><rect class="${FILLS[tone]}" x="${round(x)}" y="${ATTEMPTS_Y - 7}" width="${round(width)}" height="14" rx="3"/><text x="${round(x + width / 2)}" y="${ATTEMPTS_Y - 18}" text-anchor="middle">${number}</text></g>`;
};

const markShape = ({ atMs, shape, says }: Mark, scale: Scale): Html =>
  html`<g><title>${says}</title>${shapeAt(shape, round(scale.at(atMs)), CAUSES_Y)}</g>`;

const shapeAt = (shape: Mark['shape'], x: number, y: number): Html => {
  switch (shape) {
    case 'accept':
      return html`<rect class="quiet" x="${round(x - 1.5 - ACCEPT_BEFORE)}" y="${y - 8}" width="3" height="16" rx="1.500"/>`;
    case 'push':
      return html`<path class="quiet" d="M${round(x - 5)} ${y - 5}L${round(x + 5)} ${y}L${round(x - 5)} ${y + 5}Z"/>`;
    case 'sweep':
      return html`<path class="wait" d="M${x} ${y - 6}L${round(x + 6)} ${y}L${x} ${y + 6}L${round(x - 6)} ${y}Z"/>`;
    case 'operation':
      return html`<rect class="person" x="${round(x - 5)}" y="${y - 5}" width="10" height="10" rx="2"/>`;
    case 'person':
      return html`<circle class="person" cx="${x}" cy="${y}" r="6"/>`;
  }
};

/** Only what is in the picture. */
const legend = (attempts: readonly Attempt[], marks: readonly Mark[], waits: readonly Span[]): Html => {
  const shapes = [...new Set(marks.map(({ shape }) => shape))];
  const tones = [...new Set(attempts.map(({ tone }) => tone))];
  return html`<ul class="legend">${shapes.map(
    (shape) =>
      html`<li><svg viewBox="0 0 16 16" aria-hidden="true">${shapeAt(shape, shape === 'accept' ? 8 + ACCEPT_BEFORE : 8, 8)}</svg>${MARK_SAYS[shape]}</li>`,
  )}${tones.map(
    (tone) =>
      html`<li><svg viewBox="0 0 16 16" aria-hidden="true"><rect class="${FILLS[tone]}" y="3" width="16" height="10" rx="2"/></svg>${TONE_SAYS[tone]}</li>`,
  )}${waits.length === 0 ? '' : html`<li><svg viewBox="0 0 16 16" aria-hidden="true"><line class="hatch" x1="0" x2="16" y1="8" y2="8"/></svg>held up</li>`}</ul>`;
};

const TONE_SAYS: Readonly<Record<Tone, string>> = {
  good: 'delivered',
  wait: 'asked for time, or not sent',
  bad: 'failed, or in doubt',
  live: 'under way',
  off: 'nothing has left',
};
