/**
 * The dead letters of two transports as one desk.
 *
 * Which of the two a letter is of stands in its handle, which is opaque to everybody else; so everything is settled by a
 * reading, also where one of the two could do without. Counts are added up, and are as good as the worse of the two.
 */
import type { DeadLetter, DeadLetters, Done, QueueStats } from '../../ports.ts';

export interface NamedDesk {
  /** Without a colon. */
  readonly name: string;
  readonly port: DeadLetters;
}

type Failed = Extract<Done, { kind: 'failed' }>;

const failed = (code: string, detail: string): Failed => ({ kind: 'failed', code, detail });

export const deadLettersOfBoth = (desks: readonly [NamedDesk, NamedDesk]): DeadLetters => {
  /** The port that a letter is of, and the handle that it knows. */
  const partOf = (handle: string | undefined) => {
    const at = handle?.indexOf(':') ?? -1;
    const desk = desks.find(({ name }) => name === handle?.slice(0, Math.max(at, 0)));
    const rest = handle?.slice(at + 1);
    return desk === undefined ? undefined : { desk, ...(rest === '' || rest === undefined ? {} : { handle: rest }) };
  };
  const settle = async (
    { messageId, handle }: Pick<DeadLetter, 'messageId' | 'handle'>,
    how: (port: DeadLetters, letter: Pick<DeadLetter, 'messageId' | 'handle'>) => Promise<Done>,
  ): Promise<Done> => {
    const part = partOf(handle);
    if (part === undefined) return failed('no-handle', 'of two transports, a letter is known by its reading only');
    return how(part.desk.port, { messageId, ...(part.handle === undefined ? {} : { handle: part.handle }) });
  };
  return {
    traits: { reachesById: false, countsExactly: desks.every(({ port }) => port.traits.countsExactly) },
    stats: async () => {
      const [first, second] = await Promise.all([desks[0].port.stats(), desks[1].port.stats()]);
      if (first.kind === 'failed') return first;
      if (second.kind === 'failed') return second;
      return { kind: 'stats', ...sumOf(first, second) };
    },
    read: async (limit, leaseSec) => {
      const letters: DeadLetter[] = [];
      let trouble: Failed | undefined;
      for (const { name, port } of desks) {
        if (letters.length >= limit) break;
        const read = await port.read(limit - letters.length, leaseSec);
        if (read.kind === 'failed') trouble ??= read;
        else letters.push(...read.letters.map((letter) => ({ ...letter, handle: `${name}:${letter.handle ?? ''}` })));
      }
      return letters.length === 0 && trouble !== undefined ? trouble : { kind: 'read', letters };
    },
    redrive: (letter) => settle(letter, (port, own) => port.redrive({ ...own, body: letter.body })),
    discard: (letter) => settle(letter, (port, own) => port.discard(own)),
    release: async (letters) => {
      await Promise.all(
        desks.map(({ name, port }) =>
          port.release(
            letters.flatMap(({ handle }) => {
              const part = partOf(handle);
              return part?.desk.name === name && part.handle !== undefined ? [{ handle: part.handle }] : [];
            }),
          ),
        ),
      );
    },
  };
};

const sumOf = (first: QueueStats, second: QueueStats): QueueStats => {
  const ages = [first.oldestAgeMs, second.oldestAgeMs].filter((age) => age !== undefined);
  return {
    available: first.available + second.available,
    delayed: first.delayed + second.delayed,
    inFlight: first.inFlight + second.inFlight,
    dead: first.dead + second.dead,
    ...(ages.length === 0 ? {} : { oldestAgeMs: Math.max(...ages) }),
  };
};
