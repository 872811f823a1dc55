/** Whole events among the dead letters are taken in by the sweep; everything else there is left to a person. */
import { describe, expect, it } from 'vitest';
import { TICK_MS } from '../../functions/core/limits.ts';
import {
  RESCUE_EVERY_TICKS,
  RESCUE_LEASE_SEC,
  RESCUE_MS,
  rescueRelations,
} from '../../functions/core/rescue-limits.ts';
import type { DeadLetter, DeadLetters } from '../../functions/ports.ts';
import { rescueEvents } from '../../functions/receiver/rescue.ts';
import { type LeasedDeadLetters, leasedDeadLetters, refused } from '../support/dead-letters.ts';
import { openFlow } from '../support/flow.ts';
import { deliverMessage, openTestWorld } from '../support/world.ts';

const bodyOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

const MARGIN_MS = 5_000;

const eventMessage = (id: string, destinations: readonly string[]) => ({
  kind: 'event',
  format: 1,
  event: { id, payload: { a: 1 }, destinations },
});

const held = (letters: readonly DeadLetter[]) => {
  const gone: string[] = [];
  const asked: { limit: number; leaseSec: number | undefined }[] = [];
  const deadLetters: DeadLetters = {
    traits: { reachesById: true, countsExactly: true },
    release: async () => {},
    stats: async () => ({ kind: 'failed', code: 'unavailable', detail: '' }),
    read: async (limit, leaseSec) => {
      asked.push({ limit, leaseSec });
      return { kind: 'read', letters: letters.filter((letter) => !gone.includes(letter.messageId)).slice(0, limit) };
    },
    redrive: async () => ({ kind: 'failed', code: 'refused', detail: '' }),
    discard: async ({ messageId }) => {
      gone.push(messageId);
      return { kind: 'done' };
    },
  };
  return { deadLetters, gone, asked };
};

describe('a sweep that finds dead letters', () => {
  it('accepts the whole events among them and discards only those, a few at a time and for a short while, until nothing new comes', async () => {
    const { deadLetters, gone, asked } = held([
      { messageId: 'm-1', body: bodyOf(eventMessage('only-copy', ['partner'])) },
      { messageId: 'm-2', body: bodyOf({ kind: 'deliver', format: 1, event: 'e', destination: 'partner' }) },
      { messageId: 'm-3', body: bodyOf({ nonsense: true }) },
      { messageId: 'm-4', body: bodyOf(eventMessage('nowhere', ['unknown'])) },
      { messageId: 'm-5', body: bodyOf(eventMessage('not-from-queue', ['shut'])) },
    ]);
    const world = await openTestWorld({ reshape: (ports) => ({ ...ports, deadLetters }) });
    await world.destination('partner', { acceptFromQueue: true });
    await world.destination('shut', { acceptFromQueue: false });
    await rescueEvents(world.ports);
    expect(gone).toEqual(['m-1']);
    expect(asked).toEqual([
      { limit: 10, leaseSec: 30 },
      { limit: 10, leaseSec: 30 },
    ]);
    expect((await world.row('only-copy', 'partner')).status).toBe('pending');
    await expect(world.row('nowhere', 'unknown')).rejects.toThrow();
  });

  it('accepts an event once, however often it finds it', async () => {
    const letter = (messageId: string) => ({ messageId, body: bodyOf(eventMessage('twice', ['partner'])) });
    const { deadLetters, gone } = held([letter('m-1'), letter('m-2')]);
    const world = await openTestWorld({ reshape: (ports) => ({ ...ports, deadLetters }) });
    await world.destination('partner', { acceptFromQueue: true });
    await rescueEvents(world.ports);
    expect(gone).toEqual(['m-1', 'm-2']);
    expect((await world.row('twice', 'partner')).version).toBe(1);
  });
});

describe('a rescue among many other dead letters', () => {
  /** So many letters of others, and behind them an event. */
  const behind = (letters: LeasedDeadLetters, others: number): void => {
    for (let n = 0; n < others; n += 1) letters.add(`m-${n}`, deliverMessage(`e-${n}`, 'partner'));
    letters.add('m-event', eventMessage('only-copy', ['partner']));
  };

  const opened = async (others: number, needsHandle = false) => {
    const made: LeasedDeadLetters[] = [];
    const flow = openFlow({
      reshape: (ports) => {
        const letters = leasedDeadLetters(ports.clock, async () => {}, {
          leaseMs: RESCUE_LEASE_SEC * 1_000,
          needsHandle,
        });
        made.push(letters);
        return { ...ports, deadLetters: letters };
      },
    });
    const [letters] = made;
    if (letters === undefined) throw new Error('the world was not built with the letters');
    await flow.destination('partner', { acceptFromQueue: true });
    behind(letters, others);
    const visible = async (): Promise<number> => {
      const read = await letters.read(10_000);
      return read.kind === 'read' ? read.letters.length : Number.NaN;
    };
    return { flow, letters, visible };
  };

  it.each([false, true])('takes an event in behind 500 of them, settled by its reading: %s', async (needsHandle) => {
    const { flow, letters, visible } = await opened(500, needsHandle);
    flow.startTicks();
    await flow.run(RESCUE_EVERY_TICKS * TICK_MS + MARGIN_MS);
    expect((await flow.world.row('only-copy', 'partner')).status).toBe('delivered');
    expect(letters.done).toEqual(['discard m-event']);
    // Where the transport can, the others were given back; else they are by the end of their lease.
    if (!needsHandle) expect(await visible()).toBe(0);
    if (!needsHandle) await flow.run(RESCUE_LEASE_SEC * 1_000);
    expect(await visible()).toBe(500);
  });

  it('ends when its time is over, and leaves what it had no time for', async () => {
    const { flow, letters } = await opened(25);
    const { read } = letters;
    letters.read = async (...given) => {
      await flow.world.clock.sleep(RESCUE_MS * 0.4);
      return read(...given);
    };
    const rescued = rescueEvents(flow.world.ports);
    await flow.run(TICK_MS);
    await rescued;
    // The third page brings the event, too late.
    expect(letters.asked).toEqual(['read 10', 'read 10', 'read 10']);
    expect(letters.ids()).toContain('m-event');
  });

  it('ends at 1,000 letters', async () => {
    const { flow, letters } = await opened(1_500);
    await rescueEvents(flow.world.ports);
    expect(letters.asked).toEqual(Array.from({ length: 100 }, () => 'read 10'));
  });

  it('ends at a reading that fails', async () => {
    const { flow, letters } = await opened(500);
    letters.answer = () => (letters.asked.length > 2 ? refused('unavailable') : undefined);
    await rescueEvents(flow.world.ports);
    expect(letters.asked).toHaveLength(3);
  });

  it('has bounds that hold', () => {
    expect(rescueRelations().filter(({ holds }) => !holds)).toEqual([]);
  });
});
