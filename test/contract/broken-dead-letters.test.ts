/**
 * The contract can fail: each spoiled port breaks one promise, as real queues and hasty adapters do, and the check of
 * that promise finds it. The sound port from which they are spoiled passes every check.
 */
import { DeleteMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import type { DeadLetter, DeadLetters } from '../../functions/ports.ts';
import { type Checks, checkIn, type DeadLettersHarness, DISCARDING, READING, REDRIVING } from './dead-letters.ts';
import { infraiDeadLetters } from './dead-letters-infrai.ts';
import { openSqsDeadLetters, sqsDeadLetters } from './dead-letters-sqs.ts';

const CHECKS: Checks = { ...READING, ...REDRIVING, ...DISCARDING };

type Spoil = (sound: DeadLetters) => Partial<DeadLetters>;

const spoiled = (harness: DeadLettersHarness, spoil: Spoil): DeadLettersHarness => ({
  ...harness,
  open: async () => {
    const world = await harness.open();
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

interface Spoiled {
  readonly port: string;
  readonly spoil: Spoil;
  readonly foundBy: string;
  /** Wrong only where a message keeps its id when it is put back; over SQS it gets another. */
  readonly wrongBecause?: 'ids-survive';
}

const SPOILED: readonly Spoiled[] = [
  {
    port: 'believes the listing, which is empty',
    spoil: () => ({ read: async () => ({ kind: 'read', letters: [] }) }),
    foundBy: 'gives what has died, byte for byte, each with an id of its own',
  },
  {
    port: 'writes messages again',
    spoil: (sound) => eachLetter(sound, rewritten),
    foundBy: 'gives what has died, byte for byte, each with an id of its own',
  },
  {
    port: 'reads one batch and takes it for all',
    spoil: (sound) => ({ read: (limit) => sound.read(Math.min(limit, 10)) }),
    foundBy: 'goes beyond what one request to the queue may give',
  },
  {
    port: 'ignores the limit',
    spoil: (sound) => ({ read: () => sound.read(100) }),
    foundBy: 'gives no more than its limit, and then the others',
  },
  {
    port: 'discards what it reads',
    spoil: (sound) => ({
      read: async (limit) => {
        const read = await sound.read(limit);
        if (read.kind === 'read') for (const letter of read.letters) await sound.discard(letter);
        return read;
      },
    }),
    foundBy: 'leases what it gives: nobody else sees it until the lease ends, and then it is there again',
  },
  {
    port: 'takes a bulk redrive that says ok for done',
    spoil: () => ({ redrive: async () => ({ kind: 'done' }) }),
    foundBy: 'puts exactly that one back, where it is pushed again with its bytes',
  },
  {
    port: 'redrives all that it finds',
    spoil: (sound) => {
      const seen: DeadLetter[] = [];
      return {
        read: async (limit) => {
          const read = await sound.read(limit);
          if (read.kind === 'read') seen.push(...read.letters);
          return read;
        },
        redrive: async (letter) => {
          const done = await sound.redrive(letter);
          for (const other of seen) if (other.messageId !== letter.messageId) await sound.redrive(other);
          return done;
        },
      };
    },
    foundBy: 'puts exactly that one back, where it is pushed again with its bytes',
  },
  {
    port: 'calls every redrive done',
    spoil: (sound) => ({
      redrive: async (letter) => {
        await sound.redrive(letter);
        return { kind: 'done' };
      },
    }),
    foundBy: 'of an id that is not dead is a failed value, and changes nothing',
  },
  {
    port: 'remembers what it has redriven, and does it once only',
    wrongBecause: 'ids-survive',
    spoil: (sound) => {
      const known = new Set<string>();
      return {
        redrive: async (letter) => {
          if (known.has(letter.messageId)) return { kind: 'done' };
          known.add(letter.messageId);
          return sound.redrive(letter);
        },
      };
    },
    foundBy: 'begins the deliveries of a message anew: it may die again, and be redriven again',
  },
  {
    port: 'discards by redriving',
    spoil: (sound) => ({ discard: (letter) => sound.redrive({ ...letter, body: new Uint8Array() }) }),
    foundBy: 'removes exactly that one for good, and nothing is pushed',
  },
  {
    port: 'calls every discard done',
    spoil: (sound) => ({
      discard: async (letter) => {
        await sound.discard(letter);
        return { kind: 'done' };
      },
    }),
    foundBy: 'of an unknown id is a failed value, and changes nothing',
  },
  {
    port: 'counts what is in sight only',
    spoil: (sound) => {
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
    },
    foundBy: 'loses nothing, however often it is done, and the count goes on counting what is leased',
  },
];

describe.each([
  ['Infrai', infraiDeadLetters, SPOILED],
  ['SQS', sqsDeadLetters, SPOILED.filter(({ wrongBecause }) => wrongBecause !== 'ids-survive')],
] as const)('the contract of dead letters, over %s', (_name, harness, all) => {
  it.each(all)('finds a port that $port', async ({ spoil, foundBy }) => {
    const check = CHECKS[foundBy];
    expect(check, 'there is such a check').toBeDefined();
    await expect(checkIn(spoiled(harness, spoil), check)).rejects.toThrow();
  });

  it('finds nothing where nothing is spoiled', async () => {
    for (const promise of new Set(SPOILED.map(({ foundBy }) => foundBy))) {
      await checkIn(
        spoiled(harness, () => ({})),
        CHECKS[promise],
      );
    }
  });
});

describe('the contract of dead letters, over SQS alone', () => {
  it('finds a port that settles by a handle without asking whether it still holds', async () => {
    const check = CHECKS['of one that has been redriven already is a failed value'];
    await expect(checkIn(unasked, check)).rejects.toThrow();
  });
});

/** Sent and deleted, as hasty code does it: SQS says yes to a delete by a handle that has run out. */
const unasked: DeadLettersHarness = {
  ...sqsDeadLetters,
  open: async () => {
    const { world, ...rest } = await openSqsDeadLetters();
    const { client, queueUrl, deadLetterUrl } = world.sqs;
    const redrive: DeadLetters['redrive'] = async ({ handle, body }) => {
      const MessageBody = new TextDecoder().decode(body);
      await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
      await client.send(new DeleteMessageCommand({ QueueUrl: deadLetterUrl, ReceiptHandle: handle }));
      return { kind: 'done' };
    };
    return { ...rest, deadLetters: { ...rest.deadLetters, redrive } };
  },
};
