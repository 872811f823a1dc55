/** A batch of SQS, as Lambda hands it over, becomes pushes of its own: what fails is named, and only that. */
import { describe, expect, it } from 'vitest';
import { createSqsPush } from '../../functions/adapters/queue/sqs/push.ts';
import { causeOf } from '../../functions/core/journal.ts';
import { RECORDS_AT_ONCE } from '../../functions/core/limits.ts';
import { createSqsEntry } from '../../functions/receiver/sqs-entry.ts';
import { lambdaContext, QUEUE_URL, sqsBatch, sqsRecord } from '../support/sqs-events.ts';
import { deliverMessage, openTestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

const open = () => {
  const world = openTestWorld({ reshape: (ports) => ({ ...ports, push: createSqsPush({ queueUrl: QUEUE_URL }) }) });
  const entry = createSqsEntry(world.ports);
  const failedOf = async (event: unknown, remainingMs: number | undefined = 30_000): Promise<readonly string[]> => {
    const response = await world.finish(entry(event, lambdaContext(remainingMs)));
    return response.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  };
  return { world, entry, failedOf };
};

const deliver = (event: string): string => JSON.stringify(deliverMessage(event, 'partner'));

const withEvents = async (count: number) => {
  const opened = open();
  await opened.world.destination('partner');
  for (let n = 1; n <= count; n += 1) await opened.world.accepted(`e-${n}`, 'partner');
  return opened;
};

describe('a batch', () => {
  it('of ten delivers nine and names none, where one is senseless: that one is filed, and gone', async () => {
    const { world, failedOf } = await withEvents(9);
    const good = Array.from({ length: 9 }, (_, n) => sqsRecord(`m-${n + 1}`, deliver(`e-${n + 1}`)));
    const batch = sqsBatch(...good.slice(0, 4), sqsRecord('m-senseless', '{"kind":"deliver"'), ...good.slice(4));
    expect(await failedOf(batch)).toEqual([]);
    expect(world.sender.sends).toHaveLength(9);
    const filed = await world.records.load({ item: 'poison', id: 'message:m-senseless' });
    expect(filed).toMatchObject({ kind: 'found', item: { bytes: 17, messageId: 'm-senseless' } });
  });

  it('with one poison among nine names that one alone: the others are done, and stay done when it comes back', async () => {
    const { world, failedOf } = await withEvents(9);
    const poison = sqsRecord('m-newer', JSON.stringify({ ...deliverMessage('e-1', 'partner'), format: 2 }));
    const good = Array.from({ length: 9 }, (_, n) => sqsRecord(`m-${n + 1}`, deliver(`e-${n + 1}`)));
    expect(await failedOf(sqsBatch(poison, ...good))).toEqual(['m-newer']);
    expect(world.sender.sends).toHaveLength(9);
    const attributes = { ...poison.attributes, ApproximateReceiveCount: '2' };
    expect(await failedOf(sqsBatch({ ...poison, attributes }))).toEqual(['m-newer']);
    expect(world.sender.sends).toHaveLength(9);
  });

  it('with a record that meets a fault of ours names that one alone', async () => {
    const { world, failedOf } = await withEvents(2);
    world.ledgerHooks.before = (operation) => {
      if (JSON.stringify(operation).includes('e-1')) throw new TypeError('a bug');
    };
    expect(await failedOf(sqsBatch(sqsRecord('m-1', deliver('e-1')), sqsRecord('m-2', deliver('e-2'))))).toEqual([
      'm-1',
    ]);
    expect(world.telemetry.counted('internal-error')).toBe(1);
    expect(world.sender.sends).toHaveLength(1);
  });

  it('is named as a whole while the ledger is away, and nothing is sent', async () => {
    const { world, failedOf } = await withEvents(3);
    world.ledgerAway();
    const batch = sqsBatch(...[1, 2, 3].map((n) => sqsRecord(`m-${n}`, deliver(`e-${n}`))));
    expect((await failedOf(batch)).toSorted()).toEqual(['m-1', 'm-2', 'm-3']);
    expect(world.sender.sends).toEqual([]);
  });

  it('with the same message twice delivers it once', async () => {
    const { world, failedOf } = await withEvents(1);
    const twice = sqsBatch(sqsRecord('m-1', deliver('e-1')), sqsRecord('m-1', deliver('e-1')));
    expect(await failedOf(twice)).toEqual([]);
    expect(world.sender.sends).toHaveLength(1);
  });

  it('of more than ten is worked on ten at once, to its end', async () => {
    const { world, failedOf } = await withEvents(23);
    let now = 0;
    let most = 0;
    world.sender.always(async () => {
      now += 1;
      most = Math.max(most, now);
      await world.clock.sleep(100);
      now -= 1;
      return answered(200);
    });
    const batch = sqsBatch(...Array.from({ length: 23 }, (_, n) => sqsRecord(`m-${n + 1}`, deliver(`e-${n + 1}`))));
    expect(await failedOf(batch)).toEqual([]);
    expect(world.sender.sends).toHaveLength(23);
    expect(most).toBe(RECORDS_AT_ONCE);
  });

  it('leaves in the journal the id of the message that caused the claim', async () => {
    const { world, failedOf } = await withEvents(1);
    await failedOf(sqsBatch(sqsRecord('059f36b4-87a3-44ab-83d2-661975830a7d', deliver('e-1'))));
    const { journal } = await world.row('e-1', 'partner');
    const causes = journal.lines.map(({ entry }) => entry.cause);
    expect(causes).toContain(causeOf('push', '059f36b4-87a3-44ab-83d2-661975830a7d'));
  });

  it('takes in a whole event of a producer that has nothing but the queue', async () => {
    const { world, failedOf } = open();
    await world.destination('partner', { acceptFromQueue: true });
    const event = { id: 'from-the-queue', payload: { text: 'é 🚚' }, destinations: ['partner'] };
    expect(await failedOf(sqsBatch(sqsRecord('m-1', JSON.stringify({ kind: 'event', format: 1, event }))))).toEqual([]);
    expect((await world.row('from-the-queue', 'partner')).status).toBe('pending');
  });
});

describe('the time that is left', () => {
  it.each([0, 1, 1_999, -5])('is too little to begin at %d ms: everything is named, nothing is written', async (ms) => {
    const { world, failedOf } = await withEvents(2);
    const batch = sqsBatch(sqsRecord('m-1', deliver('e-1')), sqsRecord('m-2', deliver('e-2')));
    const writes = await world.writesOf(async () => {
      expect((await failedOf(batch, ms)).toSorted()).toEqual(['m-1', 'm-2']);
    });
    expect(writes).toEqual([]);
    expect(world.sender.sends).toEqual([]);
  });

  it('is that of the function where the platform says nothing', async () => {
    const { world, entry } = await withEvents(1);
    const response = await world.finish(entry(sqsBatch(sqsRecord('m-1', deliver('e-1')))));
    expect(response).toEqual({ batchItemFailures: [] });
    expect(world.sender.sends).toHaveLength(1);
  });
});

describe('a record that is not to be believed', () => {
  const record = sqsRecord('m-1', deliver('e-1'));
  it.each([
    ['of another queue', { eventSourceARN: 'arn:aws:sqs:eu-central-1:123456789012:somebody-elses' }],
    ['of another account', { eventSourceARN: 'arn:aws:sqs:eu-central-1:999999999999:onceward' }],
    ['of another service', { eventSource: 'aws:kinesis' }],
    ['without its source', { eventSourceARN: undefined }],
    ['whose bytes are not those that the queue took the digest of', { body: deliver('e-2') }],
    ['without its digest', { md5OfBody: undefined }],
  ])('%s is named as failed, so that it is never deleted, and causes nothing', async (_what, change) => {
    const { world, failedOf } = await withEvents(2);
    expect(await failedOf(sqsBatch({ ...record, ...(change as object) }))).toEqual(['m-1']);
    expect(world.sender.sends).toEqual([]);
    expect(world.telemetry.counted('push-unauthentic')).toBe(1);
  });

  it('is believed as it comes', async () => {
    const { world, failedOf } = await withEvents(1);
    expect(await failedOf(sqsBatch(record))).toEqual([]);
    expect(world.sender.sends).toHaveLength(1);
  });
});

describe('an event that is no batch of SQS', () => {
  it.each([
    ['a schedule', { 'detail-type': 'Scheduled Event', source: 'aws.events', detail: {} }],
    ['a record without an id', { Records: [{ body: '{}' }] }],
    ['a stream', { Records: [{ eventSource: 'aws:dynamodb', dynamodb: {} }] }],
    ['nothing', undefined],
  ])('(%s) is refused as a whole, and counted', async (_what, event) => {
    const { world, entry } = open();
    await expect(entry(event, lambdaContext(30_000))).rejects.toThrow('not a batch of SQS');
    expect(world.telemetry.counted('batch-senseless')).toBe(1);
  });
});
