/** States in a word and a dot: what is well, what waits, what wants a person. */
import { html } from 'hono/html';
import type { Gate } from '../../core/items.ts';
import type { Delivery, QuarantineReason } from '../../core/model.ts';
import type { OutcomeClass } from '../../core/outcome.ts';
import type { Found } from '../../ports.ts';
import { destinationView } from '../api/views.ts';
import type { DestinationShown } from '../commands/destination-list.ts';
import { type Html, shown } from './text.ts';

export type Tone = 'good' | 'wait' | 'bad' | 'live' | 'off';

export const badge = (tone: Tone, word: string, more?: Html | string): Html =>
  html`<span class="state ${tone}">${word}${more === undefined ? '' : html` <small>${more}</small>`}</span>`;

const REASONS: Readonly<Record<QuarantineReason, string>> = {
  budget: 'all attempts are spent',
  rejected: 'the destination said never',
  gone: 'the destination is gone',
  'in-doubt': 'a request may have arrived',
  'key-expired': 'its key is forgotten there',
  horizon: 'older than 7 days',
  blocked: 'its address is not one that we call',
  'payload-changed': 'the stored bytes do not match',
  'no-destination': 'the destination was deleted',
};

export const reasonText = (reason: QuarantineReason): string => REASONS[reason];

export const deliveryState = (row: Delivery): Html => {
  switch (row.status) {
    case 'pending':
      if (row.parking) return badge('wait', 'parked', row.parking.reason);
      return row.attempts === 0 ? badge('off', 'pending') : badge('wait', 'pending', 'tries again');
    case 'claimed':
      return badge('live', 'claimed');
    case 'delivered':
      return badge('good', 'delivered', row.by === 'decision' ? 'by decision' : undefined);
    case 'cancelled':
      return badge('off', 'cancelled', row.reason === 'shadow' ? 'shadow' : undefined);
    case 'quarantined':
      return badge('bad', 'quarantined', row.reason);
  }
};

const TONES: Readonly<Record<string, Tone>> = { active: 'good', paused: 'wait', closed: 'wait', crowded: 'wait' };

/** Of a destination: its word, and why it is so. */
export const gateState = ({ config, gate }: DestinationShown, nowMs: number): Html => {
  const view = destinationView(config, gate, nowMs);
  const why =
    'reason' in view && view.reason !== undefined ? html`${shown(view.reason)} · ${shown(view.by)}` : undefined;
  return badge(TONES[view.state] ?? 'off', view.state, why);
};

/** `active`, `paused`, `closed` or `crowded`, as the API calls it. */
export const stateOfGate = ({ config, gate }: DestinationShown, nowMs: number): string =>
  destinationView(config, gate, nowMs).state;

export const isTroubled = (one: DestinationShown, nowMs: number): boolean =>
  stateOfGate(one, nowMs) !== 'active' || failuresOf(one.gate) > 0;

export const failuresOf = (gate: Found<Gate>): number => (gate.kind === 'found' ? (gate.item.failures?.count ?? 0) : 0);

export const CLASS_TONES: Readonly<Record<OutcomeClass, Tone>> = {
  delivered: 'good',
  throttled: 'wait',
  failed: 'bad',
  rejected: 'bad',
  gone: 'bad',
  'not-sent': 'wait',
  'in-doubt': 'bad',
  withheld: 'off',
  abandoned: 'off',
};

export const CLASS_WORDS: Readonly<Record<OutcomeClass, string>> = {
  delivered: 'delivered',
  throttled: 'asked for time',
  failed: 'failed',
  rejected: 'rejected',
  gone: 'gone',
  'not-sent': 'not sent',
  'in-doubt': 'in doubt',
  withheld: 'withheld before its first byte',
  abandoned: 'abandoned before its first byte',
};

/** When it is next due, or how long it has been over. */
export const whenOf = (row: Delivery, nowMs: number): { readonly word: string; readonly atMs: number } => {
  switch (row.status) {
    case 'pending':
      return row.parking
        ? { word: 'parked since', atMs: row.parking.sinceMs }
        : { word: row.dueAtMs > nowMs ? 'due' : 'due since', atMs: Math.max(row.dueAtMs, row.deferral?.untilMs ?? 0) };
    case 'claimed':
      return { word: 'lease ends', atMs: row.claim.leaseEndsAtMs };
    case 'delivered':
    case 'cancelled':
    case 'quarantined':
      return { word: 'since', atMs: row.endedAtMs };
  }
};
