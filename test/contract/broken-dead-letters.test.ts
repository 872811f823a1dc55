/**
 * The contract can fail: each spoiled port breaks one promise, as real queues and hasty adapters do, and the check of
 * that promise finds it. The sound port from which they are spoiled passes every check.
 */
import { describe, expect, it } from 'vitest';
import type { DeadLetter, DeadLetters } from '../../functions/ports.ts';
import { type Checks, checkIn, type DeadLettersHarness, DISCARDING, READING, REDRIVING } from './dead-letters.ts';
import { infraiDeadLetters } from './dead-letters-infrai.ts';

const CHECKS: Checks = { ...READING, ...REDRIVING, ...DISCARDING };

const spoiled = (spoil: (sound: DeadLetters) => Partial<DeadLetters>): DeadLettersHarness => ({
  ...infraiDeadLetters,
  open: async () => {
    const world = await infraiDeadLetters.open();
    return { ...world, deadLetters: { ...world.deadLetters, ...spoil(world.deadLetters) } };
  },
});

const eachLetter = (sound: DeadLetters, change: (letter: DeadLetter) => DeadLetter): Partial<DeadLetters> => ({
  read: async (limit) => {
    const read = await sound.read(limit);
    return read.kind === 'read' ? { ...read, letters: read.letters.map(change) } : read;
  },
});

/** As a parser writes it again. */
const rewritten = ({ body, ...letter }: DeadLetter): DeadLetter => {
  const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
  return { ...letter, body: new TextEncoder().encode(JSON.stringify(value)) };
};

const SPOILED: readonly { readonly port: string; readonly harness: DeadLettersHarness; readonly foundBy: string }[] = [
  {
    port: 'believes the listing, which is empty',
    harness: spoiled(() => ({ read: async () => ({ kind: 'read', letters: [] }) })),
    foundBy: 'gives what has died, byte for byte, each with an id of its own',
  },
  {
    port: 'writes messages again',
    harness: spoiled((sound) => eachLetter(sound, rewritten)),
    foundBy: 'gives what has died, byte for byte, each with an id of its own',
  },
  {
    port: 'reads one batch and takes it for all',
    harness: spoiled((sound) => ({ read: (limit) => sound.read(Math.min(limit, 10)) })),
    foundBy: 'goes beyond what one request to the queue may give',
  },
  {
    port: 'ignores the limit',
    harness: spoiled((sound) => ({ read: () => sound.read(100) })),
    foundBy: 'gives no more than its limit, and then the others',
  },
  {
    port: 'discards what it reads',
    harness: spoiled((sound) => ({
      read: async (limit) => {
        const read = await sound.read(limit);
        if (read.kind === 'read') for (const letter of read.letters) await sound.discard(letter);
        return read;
      },
    })),
    foundBy: 'leases what it gives: nobody else sees it until the lease ends, and then it is there again',
  },
  {
    port: 'takes a bulk redrive that says ok for done',
    harness: spoiled(() => ({ redrive: async () => ({ kind: 'done' }) })),
    foundBy: 'puts exactly that one back, where it is pushed again with its bytes',
  },
  {
    port: 'redrives all that it finds',
    harness: spoiled((sound) => ({
      redrive: async (letter) => {
        const done = await sound.redrive(letter);
        const messageIds = [1, 2, 3].map((n) => letter.messageId.replace(/.$/, String(n)));
        for (const messageId of messageIds) await sound.redrive({ ...letter, messageId });
        return done;
      },
    })),
    foundBy: 'puts exactly that one back, where it is pushed again with its bytes',
  },
  {
    port: 'calls every redrive done',
    harness: spoiled((sound) => ({
      redrive: async (letter) => {
        await sound.redrive(letter);
        return { kind: 'done' };
      },
    })),
    foundBy: 'of an id that is not dead is a failed value, and changes nothing',
  },
  {
    port: 'remembers what it has redriven, and does it once only',
    harness: spoiled((sound) => {
      const known = new Set<string>();
      return {
        redrive: async (letter) => {
          if (known.has(letter.messageId)) return { kind: 'done' };
          known.add(letter.messageId);
          return sound.redrive(letter);
        },
      };
    }),
    foundBy: 'begins the deliveries of a message anew: it may die again, and be redriven again',
  },
  {
    port: 'discards by redriving',
    harness: spoiled((sound) => ({ discard: (letter) => sound.redrive({ ...letter, body: new Uint8Array() }) })),
    foundBy: 'removes exactly that one for good, and nothing is pushed',
  },
  {
    port: 'calls every discard done',
    harness: spoiled((sound) => ({
      discard: async (letter) => {
        await sound.discard(letter);
        return { kind: 'done' };
      },
    })),
    foundBy: 'of an unknown id is a failed value, and changes nothing',
  },
  {
    port: 'counts what is in sight only',
    harness: spoiled((sound) => {
      let leased = 0;
      return {
        read: async (limit) => {
          const read = await sound.read(limit);
          leased = read.kind === 'read' ? read.letters.length : 0;
          return read;
        },
        stats: async () => {
          const stats = await sound.stats();
          return stats.kind === 'stats' ? { ...stats, dead: stats.dead - leased } : stats;
        },
      };
    }),
    foundBy: 'loses nothing, however often it is done, and the count goes on counting what is leased',
  },
];

describe('the contract of dead letters', () => {
  it.each(SPOILED)('finds a port that $port', async ({ harness, foundBy }) => {
    const check = CHECKS[foundBy];
    expect(check, 'there is such a check').toBeDefined();
    await expect(checkIn(harness, check)).rejects.toThrow();
  });

  it('finds nothing where nothing is spoiled', async () => {
    const found = new Set(SPOILED.map(({ foundBy }) => foundBy));
    for (const promise of found)
      await checkIn(
        spoiled(() => ({})),
        CHECKS[promise],
      );
  });
});
