/** Whole events among the dead letters are taken in by the sweep; everything else there is left to a person. */
import { describe, expect, it } from 'vitest';
import type { DeadLetter, DeadLetters } from '../../functions/ports.ts';
import { rescueEvents } from '../../functions/receiver/rescue.ts';
import { openTestWorld } from '../support/world.ts';

const bodyOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

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
  it('accepts the whole events among them and discards only those, a few at a time and for a short while', async () => {
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
    expect(asked).toEqual([{ limit: 10, leaseSec: 30 }]);
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
