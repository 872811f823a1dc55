/** The faults, the same for every rival: from a seed, by the name of what they happen to and not by the time of day. */
import { drawOf } from '../../../infra/local/queue/chance.ts';
import type { Destination } from './destination.ts';
import type { Pool } from './pool.ts';

const DUPLICATE_SHARE = 0.3;
const LOST_ACK_SHARE = 0.05;
const COPY_LATER_MS_MAX = 2_000;
const KILL_LATER_MS_MAX = 20;

export interface Fire {
  readonly seed: number;
  readonly events: readonly string[];
  /** How much later than the message its copy is pushed, half of them at once; undefined: there is none. */
  copyLaterMs(event: string): number | undefined;
  /** Whether the acknowledgement of this push gets lost: the queue cannot know, and pushes again. */
  losesAck(event: string, push: number): boolean;
  /** After how many effects at the destination a worker is killed, in rising order. */
  readonly kills: readonly { readonly effects: number; readonly laterMs: number; readonly draw: number }[];
}

export const fireOf = (seed: number, deliveries: number, kills: number): Fire => {
  const step = deliveries / (kills + 1);
  return {
    seed,
    events: Array.from({ length: deliveries }, (_, n) => `event-${n}`),
    copyLaterMs: (event) => {
      if (drawOf(seed, 'copy', event) >= DUPLICATE_SHARE) return undefined;
      const draw = drawOf(seed, 'copy later', event);
      return draw < 0.5 ? 0 : Math.ceil((draw - 0.5) * 2 * COPY_LATER_MS_MAX);
    },
    losesAck: (event, push) => losesAck(seed, event, push),
    kills: Array.from({ length: kills }, (_, n) => ({
      effects: Math.floor(step * (n + 0.5 + drawOf(seed, 'kill', n))),
      laterMs: Math.floor(drawOf(seed, 'kill later', n) * KILL_LATER_MS_MAX),
      draw: drawOf(seed, 'victim', n),
    })),
  };
};

/** For a worker that knows the seed alone. */
export const losesAck = (seed: number, event: string, push: number): boolean =>
  drawOf(seed, 'ack', event, push) < LOST_ACK_SHARE;

/** What came of it, for the table. */
export interface Tally {
  /** Requests that made the destination act. */
  readonly effects: number;
  /** Effects beyond the first of their event. */
  readonly duplicates: number;
  /** Events without an effect of which nothing says so: told as done, or forgotten. */
  readonly lost: number;
  /** Events that wait, visibly, for a person. */
  readonly held: number;
  /** Of those, how many had happened. */
  readonly heldHappened: number;
  readonly kills: number;
  /** Times a message was brought to a worker. */
  readonly pushes: number;
  readonly seconds: number;
}

/** From now on the workers are killed as the fire says. */
export const killAt = (
  fire: Fire,
  destination: Pick<Destination, 'onEffect'>,
  pool: Pick<Pool, 'kill'>,
  later: (run: () => void, ms: number) => void = setTimeout,
): void => {
  const left = [...fire.kills];
  destination.onEffect((effects) => {
    const [next] = left;
    if (next === undefined || effects < next.effects) return;
    left.shift();
    later(() => pool.kill(next.draw), next.laterMs);
  });
};

export const countsOf = (
  { events }: Fire,
  { effects, effectsOf }: Pick<Destination, 'effects' | 'effectsOf'>,
): Pick<Tally, 'effects' | 'duplicates'> => ({
  effects,
  duplicates: events.reduce((sum, event) => sum + Math.max(0, effectsOf(event) - 1), 0),
});
