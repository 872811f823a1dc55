/** A stated scenario: who acts, on what row, and how much may go wrong. Plain data, so that it can be printed and sent. */
import { deliveryOf, eventOf } from '../../functions/core/acceptance.ts';
import { payloadHash } from '../../functions/core/fingerprint.ts';
import type { ClaimId, DestinationId, EventId, WriteId } from '../../functions/core/ids.ts';
import type { Input, Rules } from '../../functions/core/inputs.ts';
import type { AcceptedEvent, Destination, Gate, Item } from '../../functions/core/items.ts';
import { decide } from '../../functions/core/machine.ts';
import type { Delivery } from '../../functions/core/model.ts';

/** 2026-01-01T00:00:00Z. */
export const START_MS = 1_767_225_600_000;
export const TIMEOUT_MS = 20_000;
/** Less lease left than an attempt needs; and a pause longer than lease and margin. */
export const INSIDE_LEASE_MS = 29_000;
export const PAST_LEASE_MS = 36_000;

/** What the destination may do beside answering 200. */
export const ANSWERS = ['200', '500', '429', '410', '422', 'refused', 'timeout', '502'] as const;
export type AnswerName = (typeof ANSWERS)[number];

/**
 * The row that stands there at the beginning:
 * `fresh` first attempt due; `last` the only attempt of its budget; `dead-unsent` and `dead-sent` claimed by a worker
 * that has died long ago, before and after its request left; `parked` at a gate that is open again; `overdue` a lost
 * message, past its look-after; `doubted` quarantined as in doubt; `shut` first attempt due at a paused destination; `probing` the
 * same, paused by its breaker, and the time for one to try has come; `early` wished for in half a minute.
 */
export type Start =
  | 'fresh'
  | 'last'
  | 'dead-unsent'
  | 'dead-sent'
  | 'parked'
  | 'overdue'
  | 'doubted'
  | 'shut'
  | 'probing'
  | 'early';

/** Workers come from pushes; a sweep looks after the row; the others are what a person may do to row or destination. */
export type Part =
  | 'worker'
  | 'sweep'
  | 'cancel'
  | 'redrive'
  | 'resolve'
  | 'pause'
  | 'resume'
  /** Other settings of the destination, or none: it is deleted. */
  | 'edit'
  | 'delete';

export interface Scene {
  readonly name: string;
  readonly repeatSafe: boolean;
  readonly answer: AnswerName;
  readonly start: Start;
  readonly cast: readonly Part[];
  /** What the destination allows: `place` one attempt at a time, `rate` one a second. */
  readonly limit: 'none' | 'place' | 'rate';
  /** How many messages published during the run are pushed at once as further workers. */
  readonly pushes: number;
  /** How far the clock of the second worker runs ahead of the others. */
  readonly skewMs: number;
  readonly jumps: number;
  readonly jumpsMs: readonly number[];
  readonly crashes: number;
  /** Calls that fail or lose their answer; `row`: only those that have to do with the row. */
  readonly faults: number;
  readonly faultsAt: 'anything' | 'row';
  /** In the quiet phase: are messages that were published still there, or has the queue lost them all? */
  readonly messages: 'kept' | 'lost';
  /** False: explore also the mirror images of runs with two like workers. Only to show that they add nothing. */
  readonly mirror?: boolean;
}

const EVENT = 'order-1' as EventId;
const DESTINATION = 'partner' as DestinationId;
export const REF = { event: EVENT, destination: DESTINATION };
const PAYLOAD = Buffer.from('{"order":1}');

export interface Beginning {
  readonly event: AcceptedEvent;
  readonly config: Destination;
  readonly row: Delivery;
  /** Only where somebody has changed it. */
  readonly gate?: Gate;
  /** A request of the dead worker has arrived and had its effect. */
  readonly arrived: boolean;
}

const configOf = (scene: Scene): Destination => ({
  item: 'destination',
  version: 1,
  destination: DESTINATION,
  url: 'https://partner.example/hook',
  repeatSafe: scene.repeatSafe,
  keyLifeHours: 24,
  scheduleSec: scene.start === 'last' ? [] : [5],
  timeoutMs: TIMEOUT_MS,
  ...(scene.limit === 'place' ? { concurrency: 1 } : {}),
  ...(scene.limit === 'rate' ? { ratePerSecond: 1 } : {}),
  rejectOn: [],
  headers: {},
  acceptFromQueue: false,
  mode: 'live',
  createdAtMs: START_MS,
  updatedAtMs: START_MS,
  carried: {},
});

const writeId = (text: string): WriteId => text as WriteId;
const Z_CLAIM = 'Z0000000001' as ClaimId;

const SHUT: Gate = {
  item: 'gate',
  version: 1,
  destination: DESTINATION,
  pause: { by: 'person', reason: 'their maintenance', sinceMs: START_MS },
  carried: {},
};

const PROBING: Gate = {
  ...SHUT,
  pause: { by: 'system', reason: 'failures', sinceMs: START_MS - 60_000, probeAtMs: START_MS },
  failures: { count: 20, sinceMs: START_MS - 660_000 },
};

const gateOf = (start: Start): { gate?: Gate } =>
  start === 'shut' ? { gate: SHUT } : start === 'probing' ? { gate: PROBING } : {};

/** How long before the start the row was accepted. */
const LEAD_MS: Readonly<Record<Start, number>> = {
  fresh: 0,
  last: 0,
  'dead-unsent': 40_000,
  'dead-sent': 40_000,
  parked: 60_000,
  overdue: 36_000,
  doubted: 80_000,
  shut: 0,
  probing: 0,
  early: 0,
};

export const itemsOf = ({ event, config, row, gate }: Beginning): readonly Item[] =>
  gate === undefined ? [event, config, row] : [event, config, row, gate];

const beginnings = new Map<string, Beginning>();

/** The state at the start, made by the machine itself from an accepted row. */
export const beginningOf = (scene: Scene): Beginning => {
  const name = `${scene.start} ${scene.repeatSafe} ${scene.limit}`;
  const known = beginnings.get(name) ?? makeBeginning(scene);
  beginnings.set(name, known);
  return known;
};

const makeBeginning = (scene: Scene): Beginning => {
  const config = configOf(scene);
  const acceptedAtMs = START_MS - LEAD_MS[scene.start];
  const event = eventOf(
    {
      event: EVENT,
      payload: PAYLOAD,
      contentType: 'application/json',
      fingerprint: payloadHash(PAYLOAD),
      destinations: [DESTINATION],
      ...(scene.start === 'early' ? { deliverAtMs: START_MS + 30_000 } : {}),
    },
    'api',
    acceptedAtMs,
    undefined,
  );
  const accepted = deliveryOf(event, config, writeId('accepted'), 'i:accept', acceptedAtMs);
  const inputs = inputsBefore(scene, config, acceptedAtMs);
  const row = inputs.reduce<Delivery>((at, { input, atMs }) => next(at, input, atMs), accepted);
  const arrived = scene.start === 'dead-sent' || scene.start === 'doubted';
  return { event, config, row, arrived, ...gateOf(scene.start) };
};

const next = (row: Delivery, input: Input, atMs: number): Delivery => {
  const decision = decide(row, input, atMs, 0);
  if (decision.kind !== 'write') throw new Error(`the start cannot be made: ${input.kind} came to ${decision.kind}`);
  return decision.next;
};

const inputsBefore = (scene: Scene, rules: Rules, atMs: number): { input: Input; atMs: number }[] => {
  const recorded = (id: string) => ({ writeId: writeId(id), cause: 'p:before', rules });
  const claim: Input = { kind: 'claim', claimId: Z_CLAIM, holder: 'Z', ...recorded('Z0000000002') };
  const mark: Input = { kind: 'mark', claimId: Z_CLAIM };
  const sent = scene.repeatSafe
    ? [{ input: claim, atMs }]
    : [
        { input: claim, atMs },
        { input: mark, atMs },
      ];
  switch (scene.start) {
    case 'fresh':
    case 'last':
    case 'overdue':
    case 'shut':
    case 'probing':
    case 'early':
      return [];
    case 'dead-unsent':
      return [{ input: claim, atMs }];
    case 'dead-sent':
      return sent;
    case 'parked':
      return [{ input: { kind: 'park', reason: 'paused', ...recorded('Z0000000003') }, atMs }];
    case 'doubted': {
      // The destination was called unsafe for this look at it, so that the row is held whatever the scene says.
      const held: Input = {
        kind: 'claim',
        claimId: 'Y0000000001' as ClaimId,
        holder: 'Y',
        ...recorded('Y0000000002'),
        rules: { ...rules, repeatSafe: false },
      };
      return [...sent, { input: held, atMs: atMs + 36_000 }];
    }
  }
};
