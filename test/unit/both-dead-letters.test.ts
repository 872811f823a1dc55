/** The dead letters of two transports as one desk: each letter finds back to its own. */
import { describe, expect, it } from 'vitest';
import { deadLettersOfBoth } from '../../functions/adapters/queue/both-dead-letters.ts';
import { leasedDeadLetters, refused } from '../support/dead-letters.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const open = () => {
  const clock = new VirtualClock();
  const back: string[] = [];
  const sqs = leasedDeadLetters(clock, async (id) => void back.push(`sqs ${id}`), { needsHandle: true });
  const infrai = leasedDeadLetters(clock, async (id) => void back.push(`infrai ${id}`));
  sqs.add('s-1', { n: 1 });
  infrai.add('i-1', { n: 2 });
  infrai.add('i-2', { n: 3 });
  const both = deadLettersOfBoth([
    { name: 'sqs', port: sqs },
    { name: 'infrai', port: infrai },
  ]);
  const lettersOf = async (limit: number) => {
    const read = await both.read(limit);
    if (read.kind === 'failed') throw new Error(read.detail);
    return read.letters;
  };
  return { both, sqs, infrai, back, lettersOf };
};

describe('the dead letters of both', () => {
  it('are read from one and then from the other, within one limit', async () => {
    const { lettersOf } = open();
    expect((await lettersOf(2)).map(({ messageId }) => messageId)).toEqual(['s-1', 'i-1']);
  });

  it('are put back each on its own queue', async () => {
    const { both, back, lettersOf } = open();
    for (const letter of await lettersOf(10)) expect(await both.redrive(letter)).toEqual({ kind: 'done' });
    expect(back).toEqual(['sqs s-1', 'infrai i-1', 'infrai i-2']);
  });

  it('are discarded each on its own queue', async () => {
    const { both, sqs, infrai, lettersOf } = open();
    for (const letter of await lettersOf(10)) expect(await both.discard(letter)).toEqual({ kind: 'done' });
    expect([sqs.done, infrai.done]).toEqual([['discard s-1'], ['discard i-1', 'discard i-2']]);
  });

  it('are not settled without a reading, or by a handle that neither has given out', async () => {
    const { both, sqs, infrai } = open();
    const body = new Uint8Array();
    for (const handle of [undefined, '', 'sqs', 'kafka:h', ':h']) {
      const letter = { messageId: 's-1', body, ...(handle === undefined ? {} : { handle }) };
      expect(await both.redrive(letter)).toMatchObject({ kind: 'failed', code: 'no-handle' });
    }
    expect([sqs.asked, infrai.asked]).toEqual([[], []]);
  });

  it('are counted together, as well as the worse of the two counts', async () => {
    const { both, infrai } = open();
    expect(await both.stats()).toMatchObject({ kind: 'stats', dead: 3 });
    expect(both.traits).toEqual({ reachesById: false, countsExactly: false });
    infrai.answer = () => refused('unavailable');
    expect(await both.stats()).toMatchObject({ kind: 'failed', code: 'unavailable' });
  });

  it('of one are there also while the other cannot be asked; of none, the trouble is told', async () => {
    const { both, sqs, infrai, lettersOf } = open();
    sqs.answer = () => refused('unavailable');
    expect((await lettersOf(10)).map(({ messageId }) => messageId)).toEqual(['i-1', 'i-2']);
    infrai.answer = () => refused('throttled');
    expect(await both.read(10)).toMatchObject({ kind: 'failed', code: 'unavailable' });
  });

  it('are released where that can be done', async () => {
    const { both, lettersOf } = open();
    await both.release(await lettersOf(10));
    expect((await lettersOf(10)).map(({ messageId }) => messageId)).toEqual(['s-1']);
  });
});
