/** Instants and spans for people: always UTC, with the distance from now in words beside it. */
import { html } from 'hono/html';
import type { Html } from './text.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The two largest units: `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export const spanOf = (ms: number): string => {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(ms < 10 * SECOND ? 1 : 0).replace(/\.0$/, '')} s`;
  if (ms < HOUR) return two(ms, MINUTE, 'min', SECOND, 's');
  if (ms < DAY) return two(ms, HOUR, 'h', MINUTE, 'min');
  return two(ms, DAY, 'd', HOUR, 'h');
};

const two = (ms: number, large: number, largeName: string, small: number, smallName: string): string => {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
};

/** `3 min ago`, `in 2 h`, `now`: one unit is enough to know where one is. */
export const away = (ms: number, nowMs: number): string => {
  const distance = Math.abs(ms - nowMs);
  if (distance < SECOND) return 'now';
  const text = coarse(distance);
  return ms < nowMs ? `${text} ago` : `in ${text}`;
};

/** One unit, rounded down. */
export const coarse = (ms: number): string => {
  if (ms < 2 * MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < 2 * HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
};

const iso = (ms: number): string => new Date(ms).toISOString();

/** `29 Nov 22:21:46`, with the year where it is another one. */
export const clockText = (ms: number, nowMs: number): string => {
  const at = new Date(ms);
  const year = at.getUTCFullYear() === new Date(nowMs).getUTCFullYear() ? '' : ` ${at.getUTCFullYear()}`;
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}${year} ${iso(ms).slice(11, 19)}`;
};

export const moment = (ms: number, nowMs: number): Html =>
  html`<time datetime="${iso(ms)}" title="${iso(ms)}">${clockText(ms, nowMs)} <abbr>UTC</abbr></time> <small>${away(ms, nowMs)}</small>`;

/** Where there is no room: the distance, with the instant in its title. */
export const distance = (ms: number, nowMs: number): Html =>
  html`<time datetime="${iso(ms)}" title="${clockText(ms, nowMs)} UTC">${away(ms, nowMs)}</time>`;
