/**
 * Scenes for the machine: rows, steps and histories as data.
 *
 *   steps --inputOf--> inputs --decide--> decisions --> the next row, and what was taken on the way
 *
 * A step keeps its number (and so its write id) when a history is changed: the same step twice is the same input twice.
 */
import { deliveryOf, eventOf } from '../../functions/core/acceptance.ts';
import {
  type ClaimId,
  type DestinationId,
  type EventId,
  type IdResult,
  parseClaimId,
  parseDestinationId,
  parseEventId,
  parseWriteId,
  type WriteId,
} from '../../functions/core/ids.ts';
import type { Decision, Effect, Input, Outcome, Rules, SettleInput, Withheld } from '../../functions/core/inputs.ts';
import type { Destination } from '../../functions/core/items.ts';
import { causeOf } from '../../functions/core/journal.ts';
import { SCHEDULE_SEC_DEFAULT, TIMEOUT_MS_DEFAULT } from '../../functions/core/limits.ts';
import { decide } from '../../functions/core/machine.ts';
import type { Delivery, Entry, Pending, WaitReason } from '../../functions/core/model.ts';
import { mayHaveArrived, type OutcomeClass } from '../../functions/core/outcome.ts';
import type { Submission } from '../../functions/core/submission.ts';

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** When the scenes begin. */
export const START_MS = Date.UTC(2026, 10, 29, 12);

// ---- ids and rules ------------------------------------------------------------------------------------------------

const idOf = <Id>(result: IdResult<Id>): Id => {
  if (result.kind === 'bad') throw new TypeError(`the id ${result.reason}`);
  return result.id;
};

export const eventIdOf = (text: string): EventId => idOf(parseEventId(text));
export const destinationIdOf = (text: string): DestinationId => idOf(parseDestinationId(text));
/** As long as the ids of production, so that sizes are true: 11 characters. */
export const writeIdOf = (text: string): WriteId => idOf(parseWriteId(text.padEnd(11, '_')));
export const claimIdOf = (text: string): ClaimId => idOf(parseClaimId(text.padEnd(11, '_')));

/** A destination where a repeat is safe, with every default. */
export const SAFE: Rules = {
  repeatSafe: true,
  keyLifeHours: 24,
  scheduleSec: SCHEDULE_SEC_DEFAULT,
  timeoutMs: TIMEOUT_MS_DEFAULT,
  mode: 'live',
};
export const UNSAFE: Rules = { ...SAFE, repeatSafe: false };
export const SHADOW: Rules = { ...SAFE, mode: 'shadow' };

export const destinationOf = (rules: Rules = SAFE, over: Partial<Destination> = {}): Destination => ({
  item: 'destination',
  version: 1,
  destination: destinationIdOf('partner'),
  url: 'https://partner.example/hook',
  rejectOn: [],
  headers: {},
  acceptFromQueue: false,
  createdAtMs: START_MS - DAY_MS,
  updatedAtMs: START_MS - DAY_MS,
  carried: {},
  ...rules,
  ...over,
});

export const submissionOf = (over: Partial<Submission> = {}): Submission => ({
  event: eventIdOf('order-17'),
  payload: new TextEncoder().encode('{"paid":true}'),
  contentType: 'application/json',
  fingerprint: 'fingerprint-1',
  destinations: [destinationIdOf('partner')],
  ...over,
});

export interface AcceptedOptions {
  readonly rules?: Rules;
  readonly deliverAtMs?: number;
  readonly nowMs?: number;
}

export const acceptedRow = ({ rules = SAFE, deliverAtMs, nowMs = START_MS }: AcceptedOptions = {}): Pending => {
  const submission = submissionOf(deliverAtMs === undefined ? {} : { deliverAtMs });
  const event = eventOf(submission, 'api', nowMs, undefined);
  return deliveryOf(event, destinationOf(rules), writeIdOf('accept'), causeOf('api', 'r-1'), nowMs);
};

// ---- outcomes -----------------------------------------------------------------------------------------------------

const USUAL: Readonly<Record<OutcomeClass, Pick<Outcome, 'detail' | 'status' | 'durationMs'>>> = {
  delivered: { detail: 'status-200', status: 200, durationMs: 120 },
  throttled: { detail: 'status-429', status: 429, durationMs: 40 },
  failed: { detail: 'status-500', status: 500, durationMs: 300 },
  rejected: { detail: 'status-422', status: 422, durationMs: 80 },
  gone: { detail: 'status-410', status: 410, durationMs: 30 },
  'not-sent': { detail: 'dns', durationMs: 12 },
  'in-doubt': { detail: 'timeout', durationMs: 20_000 },
  withheld: { detail: 'paused' },
  abandoned: { detail: 'lease-lapsed' },
};

export const outcomeOf = (outcomeClass: OutcomeClass, over: Partial<Outcome> = {}): Outcome => ({
  class: outcomeClass,
  mayHaveArrived: mayHaveArrived(outcomeClass),
  ...USUAL[outcomeClass],
  ...over,
});

// ---- steps --------------------------------------------------------------------------------------------------------

type Ruled = { readonly rules?: Rules };
export type Step =
  | { readonly do: 'wait'; readonly ms: number }
  | ({ readonly do: 'claim'; readonly by: string } & Ruled)
  | { readonly do: 'mark'; readonly by: string }
  | ({ readonly do: 'settle'; readonly by: string; readonly outcome: Outcome; readonly withheld?: Withheld } & Ruled)
  | ({ readonly do: 'park'; readonly reason: 'paused' | 'closed'; readonly opensInMs?: number } & Ruled)
  | ({ readonly do: 'defer'; readonly ms: number; readonly reason: Exclude<WaitReason, 'paused'> } & Ruled)
  | { readonly do: 'sweep'; readonly gate?: 'open' | 'closed'; readonly slotInMs?: number }
  | { readonly do: 'refuse'; readonly reason: 'no-destination' | 'payload-changed' }
  | { readonly do: 'redrive'; readonly request: string; readonly grant?: number; readonly accept?: boolean }
  | { readonly do: 'resolve'; readonly request: string; readonly as: 'delivered' | 'not-delivered' }
  | { readonly do: 'cancel'; readonly request: string };

export const wait = (ms: number): Step => ({ do: 'wait', ms });
export const claim = (by: string, rules?: Rules): Step => ({ do: 'claim', by, ...(rules ? { rules } : {}) });
export const mark = (by: string): Step => ({ do: 'mark', by });
export const settle = (by: string, outcome: OutcomeClass | Outcome, withheld?: Withheld, rules?: Rules): Step => ({
  do: 'settle',
  by,
  outcome: typeof outcome === 'string' ? outcomeOf(outcome) : outcome,
  ...(withheld ? { withheld } : {}),
  ...(rules ? { rules } : {}),
});
export const park = (reason: 'paused' | 'closed' = 'paused', rules?: Rules): Step => ({
  do: 'park',
  reason,
  ...(rules ? { rules } : {}),
});
/** The line in which rates and closings give their slots. */
export const LINE = 3;

export const defer = (ms: number, reason: Exclude<WaitReason, 'paused'> = 'rate'): Step => ({
  do: 'defer',
  ms,
  reason,
});
export const sweep = (gate?: 'open' | 'closed'): Step => ({ do: 'sweep', ...(gate ? { gate } : {}) });
export const refuse = (reason: 'no-destination' | 'payload-changed' = 'no-destination'): Step => ({
  do: 'refuse',
  reason,
});
export const redrive = (request: string, over: { grant?: number; accept?: boolean } = {}): Step => ({
  do: 'redrive',
  request,
  ...over,
});
export const resolve = (request: string, as: 'delivered' | 'not-delivered'): Step => ({ do: 'resolve', request, as });
export const cancel = (request: string): Step => ({ do: 'cancel', request });

export type NumberedStep = Step & { readonly number: number };
export const numbered = (steps: readonly Step[]): readonly NumberedStep[] =>
  steps.map((step, index) => ({ ...step, number: index + 1 }));

// ---- playing a history --------------------------------------------------------------------------------------------

/** What a worker remembers of the claim that it was given. */
export type Holder = Pick<SettleInput, 'claimId' | 'attempt'>;

export interface Taken {
  readonly before: Delivery;
  readonly input: Input;
  readonly decision: Decision;
  readonly nowMs: number;
}

export interface Scene {
  readonly row: Delivery;
  readonly nowMs: number;
  /** The destination's settings where a step names no others. */
  readonly rules: Rules;
  readonly holders: ReadonlyMap<string, Holder>;
  /** The queue's name for the message that brought a step: it becomes the cause of an entry. */
  readonly messageIdOf: (number: number) => string;
  /** Steps so far, time included: later steps are numbered from here. */
  readonly played: number;
  readonly taken: readonly Taken[];
}

export interface SceneOptions extends AcceptedOptions {
  readonly row?: Delivery;
  readonly messageIdOf?: (number: number) => string;
}

export const sceneOf = (options: SceneOptions = {}): Scene => ({
  row: options.row ?? acceptedRow(options),
  nowMs: options.nowMs ?? START_MS,
  rules: options.rules ?? SAFE,
  holders: new Map(),
  messageIdOf: options.messageIdOf ?? ((number) => `m-${number}`),
  played: 0,
  taken: [],
});

/** Undefined where nobody could do that: time alone, or a worker that was never given its claim. */
export const inputOf = (scene: Scene, step: NumberedStep): Input | undefined => {
  const recorded = { writeId: writeIdOf(`w${step.number}`), cause: causeOf('push', scene.messageIdOf(step.number)) };
  const rules = 'rules' in step && step.rules ? step.rules : scene.rules;
  switch (step.do) {
    case 'wait':
      return undefined;
    case 'claim':
      return { kind: 'claim', claimId: claimIdOf(`c-${step.by}`), holder: step.by, rules, ...recorded };
    case 'mark':
    case 'settle': {
      const holder = scene.holders.get(step.by);
      if (holder === undefined) return undefined;
      if (step.do === 'mark') return { kind: 'mark', claimId: holder.claimId };
      const { outcome, withheld } = step;
      return { kind: 'settle', ...holder, outcome, rules, ...recorded, ...(withheld ? { withheld } : {}) };
    }
    case 'park': {
      const opens = step.opensInMs === undefined ? {} : { opensAtMs: scene.nowMs + step.opensInMs };
      return { kind: 'park', reason: step.reason, rules, ...recorded, ...opens };
    }
    case 'defer':
      return {
        kind: 'defer',
        reason: step.reason,
        untilMs: scene.nowMs + step.ms,
        ...(step.reason === 'concurrency' ? {} : { line: LINE }),
        rules,
        ...recorded,
      };
    case 'sweep':
      return {
        ...{ kind: 'sweep', tick: step.number },
        ...(step.gate ? { gate: step.gate } : {}),
        ...(step.slotInMs === undefined ? {} : { slotAtMs: scene.nowMs + step.slotInMs, line: LINE }),
      };
    case 'refuse':
      return { kind: 'refuse', reason: step.reason, ...recorded };
    case 'redrive':
    case 'resolve':
    case 'cancel':
      return personInput(step, recorded.writeId);
  }
};

const personInput = (step: Extract<Step, { request: string }>, writeId: WriteId): Input => {
  const recorded = { writeId, cause: causeOf('actor', step.request) };
  switch (step.do) {
    case 'redrive':
      return { kind: 'redrive', grant: step.grant ?? 0, acceptSecondEffect: step.accept ?? false, ...recorded };
    case 'resolve':
      return { kind: 'resolve', as: step.as, ...recorded };
    case 'cancel':
      return { kind: 'cancel', ...recorded };
  }
};

export const rowAfter = (before: Delivery, decision: Decision): Delivery =>
  decision.kind === 'write' ? decision.next : before;

export const take = (scene: Scene, step: NumberedStep, draw = 0.5): Scene => {
  const played = scene.played + 1;
  if (step.do === 'wait') return { ...scene, played, nowMs: scene.nowMs + step.ms };
  const input = inputOf(scene, step);
  if (input === undefined) return { ...scene, played };
  const { row: before, nowMs } = scene;
  const decision = decide(before, input, nowMs, draw);
  const row = rowAfter(before, decision);
  const holders = new Map(scene.holders);
  if (decision.kind === 'write' && input.kind === 'claim' && row.status === 'claimed') {
    const { id, attempt } = row.claim;
    holders.set(input.holder, { claimId: id, attempt });
  }
  return { ...scene, row, holders, played, taken: [...scene.taken, { before, input, decision, nowMs }] };
};

/** Plays the steps from a scene on; numbers go on where the scene has stopped. */
export const play = (steps: readonly Step[], from: Scene = sceneOf()): Scene =>
  numbered(steps).reduce((scene, step) => take(scene, { ...step, number: step.number + from.played }), from);

// ---- looking at what came out -------------------------------------------------------------------------------------

export const lastTaken = (scene: Scene): Taken => {
  const taken = scene.taken.at(-1);
  if (taken === undefined) throw new RangeError('nothing has happened in this scene');
  return taken;
};

/** The note of the last decision, or the code of its refusal. */
export const saidOf = (scene: Scene): string => {
  const { decision } = lastTaken(scene);
  return decision.kind === 'refused' ? decision.code : decision.note;
};

export const effectsOf = (scene: Scene): readonly Effect[] => {
  const { decision } = lastTaken(scene);
  return decision.kind === 'write' ? [...decision.before, ...decision.after] : [];
};

export const entriesOf = (row: Delivery): readonly Entry[] => row.journal.lines.map((line) => line.entry);

/** The journal in one line each: `claimed 2`, `outcome 2 failed`, `decision refuse budget`. */
export const storyOf = (row: Delivery): readonly string[] =>
  entriesOf(row).map((entry) =>
    [entry.kind, entry.attempt, entry.class, entry.decision, entry.decision === 'refuse' ? entry.detail : undefined]
      .filter((part) => part !== undefined)
      .join(' '),
  );

export const pendingRow = (row: Delivery): Pending => {
  if (row.status !== 'pending') throw new TypeError(`the row is ${row.status}, not pending`);
  return row;
};
