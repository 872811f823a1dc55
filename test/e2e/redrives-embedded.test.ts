/** Plans and runs over the embedded queues, by real HTTP. */
import { describe, expect, it } from 'vitest';
import type { LocalTransportName } from '../../infra/local/world.ts';
import { openRedriveStage, runAgrees } from '../support/embedded-redrives.ts';
import { deliverMessage } from '../support/world.ts';

describe('a run over the embedded queue of Infrai', () => {
  it(
    'agrees with the plan, with the counts of the queue, and with what the partner received',
    {
      timeout: 60_000,
    },
    () => runAgrees('infrai'),
  );
});

describe('a plan', () => {
  const planned = async (transport: LocalTransportName) => {
    const { world, stage, bury, plan, run } = await openRedriveStage(transport);
    await stage.destination('shop', { repeatSafe: true, timeoutMs: 15_000 });
    await stage.submit('done', 'shop');
    await stage.ended('done', 'shop');
    await bury(deliverMessage('done', 'shop'));
    const first = await plan();
    const second = await plan();
    const report = await run(first.operation);
    return { first, second, report, dead: (await world.queue.stats()).dead };
  };

  it('over Infrai has what it read on lease: its run takes it off, and a second plan sees a contradiction', async () => {
    const { first, second, report, dead } = await planned('infrai');
    // What the first plan reads is out of the second one's sight, and the counts tell.
    expect([first.found, second.found]).toEqual([{ drop: 1 }, {}]);
    expect(second).toMatchObject({ contradiction: expect.any(String) });
    expect(report).toMatchObject({ state: 'done', deadAfter: 0, progress: { deduplicated: 1 } });
    expect(dead).toBe(0);
  });

  it('over SQS gives back what it read: its run has to read it again, and so can a second plan', async () => {
    const { first, second, report, dead } = await planned('sqs');
    expect([first.found, second.found]).toEqual([{ drop: 1 }, { drop: 1 }]);
    expect(second.contradiction).toBeUndefined();
    expect(report).toMatchObject({ state: 'done', deadAfter: 0, progress: { deduplicated: 1 } });
    expect(dead).toBe(0);
  });
});
