/** What the ports over SQS send and understand, where the contracts do not look: against a server that answers as told. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqsDeadLetters } from '../../functions/adapters/queue/sqs/dead-letters.ts';
import { createSqsPush } from '../../functions/adapters/queue/sqs/push.ts';
import { createSqsQueue } from '../../functions/adapters/queue/sqs/queue.ts';
import { systemClock, systemDice } from '../../functions/adapters/system.ts';
import { DEAD_LETTER_LEASE_SEC, PUSH_BODY_BYTES_MAX } from '../../functions/core/limits.ts';
import { GONE_AFTER_MS } from '../../functions/receiver/redrive-batch.ts';
import { PLAN_MS } from '../../functions/steps/redrive-plan.ts';
import { QUEUE_ARN, QUEUE_URL } from '../support/sqs-events.ts';

interface Asked {
  readonly action: string;
  readonly body: Readonly<Record<string, unknown>>;
}
interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const md5 = (text: unknown): string => createHash('md5').update(String(text)).digest('hex');

/** The client takes no answer whose digest is not that of what it sent. */
const withDigest = (answer: Answer['body'], asked: Asked | undefined) => ({
  ...answer,
  MD5OfMessageBody: md5(asked?.body['MessageBody']),
});

/** Answers by action; where a list stands, in turn, and then the last one for ever. */
const open = async (answers: Readonly<Record<string, readonly Answer[]>>) => {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const action = String(request.headers['x-amz-target']).replace('AmazonSQS.', '');
    const before = asked.filter((one) => one.action === action).length;
    asked.push({ action, body: JSON.parse(Buffer.concat(chunks).toString()) });
    const all = answers[action] ?? [{ status: 200, body: {} }];
    const answer = all[Math.min(before, all.length - 1)] ?? { status: 500, body: {} };
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
    const said =
      action === 'SendMessage' && answer.status === 200 ? withDigest(answer.body, asked.at(-1)) : answer.body;
    response.end(JSON.stringify(said));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  const endpoint = `http://127.0.0.1:${address.port}`;
  const access = { region: 'eu-central-1', endpoint, credentials: { accessKeyId: 'KEY', secretAccessKey: 'HIDDEN' } };
  const urls = { queueUrl: `${endpoint}/123456789012/onceward`, deadLetterUrl: `${endpoint}/123456789012/dead` };
  const queue = createSqsQueue({ queueUrl: urls.queueUrl, publishMs: 2_000, access });
  const retries = { triesMax: 2, tryMs: 2_000, totalMs: 5_000 };
  const clock = { ...systemClock, sleep: async () => {} };
  const letters = createSqsDeadLetters({ ...urls, clock, dice: systemDice, retries, access });
  return {
    asked,
    queue,
    letters,
    close: async () => {
      queue.close();
      letters.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

type World = Awaited<ReturnType<typeof open>>;
let world: World;
const opened = async (answers: Parameters<typeof open>[0] = {}): Promise<World> => {
  await world?.close();
  world = await open(answers);
  return world;
};
beforeEach(async () => {
  world = await open({});
});
afterEach(() => world.close());

const refusal = (name: string, status = 400): Answer => ({ status, body: { __type: `com.amazonaws.sqs#${name}` } });
const letter = { messageId: 'm-1', handle: 'handle-1', body: new TextEncoder().encode('{"a":"🚚"}') };

describe('a publish to SQS', () => {
  const message = { key: 'k', body: '{"kind":"deliver"}', delaySec: 0 };

  it('says its delay also where it is none: the queue may have one of its own', async () => {
    const { asked, queue } = await opened();
    await queue.publish(message);
    expect(asked[0]).toMatchObject({ action: 'SendMessage', body: { MessageBody: message.body, DelaySeconds: 0 } });
  });

  it('escapes the two characters that SQS refuses and an id may hold, and changes nothing else', async () => {
    const { asked, queue } = await opened();
    const event = 'a\uFFFEb\uFFFFc🚚é';
    await queue.publish({ ...message, body: JSON.stringify({ kind: 'deliver', event }) });
    const sent = String(asked[0]?.body['MessageBody']);
    expect(sent).toBe('{"kind":"deliver","event":"a\\ufffeb\\uffffc🚚é"}');
    expect(JSON.parse(sent)).toEqual({ kind: 'deliver', event });
  });

  it.each([
    ['QueueDoesNotExist', 400, 'refused'],
    ['RequestThrottled', 400, 'throttled'],
    ['ThrottlingException', 400, 'throttled'],
    ['AccessDeniedException', 403, 'unauthorized'],
    ['ExpiredTokenException', 403, 'unauthorized'],
    ['InvalidMessageContents', 400, 'refused'],
    ['InternalFailure', 500, 'unavailable'],
    ['ServiceUnavailable', 503, 'unavailable'],
  ])('that SQS refuses as %s (%i) fails as a value: %s', async (name, status, code) => {
    const { asked, queue } = await opened({ SendMessage: [refusal(name, status)] });
    const published = await queue.publish(message);
    expect(published).toMatchObject({ kind: 'failed', code, detail: expect.stringContaining(name) });
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(published)).not.toMatch(/HIDDEN|deliver/);
  });

  it('that is answered without an id is no publish', async () => {
    const { queue } = await opened({ SendMessage: [{ status: 200, body: {} }] });
    expect(await queue.publish(message)).toMatchObject({ kind: 'failed', code: 'senseless-answer' });
  });

  it('is never larger than what the receiver takes in', () => {
    expect(world.queue.limits.messageBytesMax).toBeLessThanOrEqual(PUSH_BODY_BYTES_MAX);
  });
});

describe('a reading of the dead letters of SQS', () => {
  it('waits, so that all servers are asked, and leases what it gives for half a minute', async () => {
    const { asked, letters } = await opened();
    await letters.read(25);
    expect(asked[0]).toMatchObject({
      action: 'ReceiveMessage',
      body: { WaitTimeSeconds: 1, VisibilityTimeout: DEAD_LETTER_LEASE_SEC, MaxNumberOfMessages: 10 },
    });
  });

  it('goes on behind an answer that holds less than was asked for: that is no end at SQS', async () => {
    const one = (n: number) => ({ MessageId: `m-${n}`, ReceiptHandle: `h-${n}`, Body: '{}', MD5OfBody: md5('{}') });
    const few = (...all: readonly number[]) => ({ status: 200, body: { Messages: all.map(one) } });
    const { letters } = await opened({ ReceiveMessage: [few(1), few(2, 3), few(4), { status: 200, body: {} }] });
    const read = await letters.read(10);
    expect(read.kind === 'read' && read.letters.map(({ messageId }) => messageId)).toEqual([
      'm-1',
      'm-2',
      'm-3',
      'm-4',
    ]);
  });

  it('outlasts the reading of a plan, and is over long before a letter that is not met counts as gone', () => {
    expect(DEAD_LETTER_LEASE_SEC * 1_000).toBeGreaterThan(PLAN_MS);
    expect(2 * DEAD_LETTER_LEASE_SEC * 1_000).toBeLessThanOrEqual(GONE_AFTER_MS);
  });
});

describe('the redrive of a letter over SQS', () => {
  const actions = ({ asked }: World) => asked.map(({ action }) => action);
  const sent = { status: 200, body: { MessageId: 'new-1' } };

  it('asks whether the letter is still ours, sends its copy, and only then deletes it', async () => {
    const { letters } = await opened({ SendMessage: [sent] });
    expect(await letters.redrive(letter)).toEqual({ kind: 'done' });
    expect(actions(world)).toEqual(['ChangeMessageVisibility', 'SendMessage', 'DeleteMessage']);
    expect(world.asked[1]?.body['MessageBody']).toBe('{"a":"🚚"}');
  });

  it('deletes nothing where the copy was not taken: a crash there makes two, and never none', async () => {
    const { letters } = await opened({ SendMessage: [refusal('InternalFailure', 500)] });
    expect(await letters.redrive(letter)).toMatchObject({ kind: 'failed', code: 'unavailable' });
    expect(actions(world)).toEqual(['ChangeMessageVisibility', 'SendMessage', 'SendMessage']);
  });

  it.each(['MessageNotInflight', 'ReceiptHandleIsInvalid', 'InvalidParameterValue'])(
    'sends nothing where the reading no longer holds (%s)',
    async (name) => {
      const { letters } = await opened({ ChangeMessageVisibility: [refusal(name)] });
      expect(await letters.redrive(letter)).toMatchObject({ kind: 'failed', code: 'not-in-flight' });
      expect(actions(world)).toEqual(['ChangeMessageVisibility']);
    },
  );

  it('is in doubt where the copy was taken and the letter could not be deleted', async () => {
    const { letters } = await opened({ SendMessage: [sent], DeleteMessage: [refusal('InternalFailure', 500)] });
    expect(await letters.redrive(letter)).toMatchObject({ kind: 'failed', code: 'in-doubt' });
  });

  it('needs a reading: by its id alone nothing is asked', async () => {
    const { letters } = await opened();
    expect(await letters.redrive({ messageId: 'm-1', body: letter.body })).toMatchObject({ code: 'no-handle' });
    expect(await letters.discard({ messageId: 'm-1' })).toMatchObject({ code: 'no-handle' });
    expect(world.asked).toEqual([]);
  });

  it('holds it for longer than all its tries may take', async () => {
    const { letters } = await opened();
    await letters.redrive(letter);
    expect(Number(world.asked[0]?.body['VisibilityTimeout'])).toBeGreaterThanOrEqual(10);
  });
});

describe('the counts of SQS', () => {
  const counts = (available: string, delayed: string, inFlight: string): Answer => ({
    status: 200,
    body: {
      Attributes: {
        ApproximateNumberOfMessages: available,
        ApproximateNumberOfMessagesDelayed: delayed,
        ApproximateNumberOfMessagesNotVisible: inFlight,
      },
    },
  });

  it('count as dead also what somebody has on lease, and say nothing of an age that no call gives', async () => {
    const { letters } = await opened({ GetQueueAttributes: [counts('1', '2', '3')] });
    const stats = await letters.stats();
    expect(stats).toEqual({ kind: 'stats', available: 1, delayed: 2, inFlight: 3, dead: 6 });
  });

  it.each([{}, { Attributes: { ApproximateNumberOfMessages: 'many' } }])(
    'are refused where they are none',
    async (body) => {
      const { letters } = await opened({ GetQueueAttributes: [{ status: 200, body }] });
      expect(await letters.stats()).toMatchObject({ kind: 'failed', code: 'senseless-answer' });
    },
  );
});

describe('a record of SQS as a push', () => {
  const push = createSqsPush({ queueUrl: QUEUE_URL });
  const fields = (given: Readonly<Record<string, string>>) => (name: string) => given[name];
  const body = new TextEncoder().encode('{}');
  const authentic = { eventSource: 'aws:sqs', md5OfBody: '99914b932bd37a50b983c5e7c90ae93b' };

  it.each([QUEUE_ARN, QUEUE_ARN.replace('arn:aws:', 'arn:aws-cn:')])('is ours by account and name: %s', (arn) => {
    expect(push.verify(fields({ ...authentic, eventSourceARN: arn }), body, 0)).toEqual({ kind: 'authentic' });
  });

  it.each([`${QUEUE_ARN}-dead`, QUEUE_ARN.replace('123456789012', '210987654321'), '', 'onceward', `x${QUEUE_ARN}`])(
    'is refused with the source "%s"',
    (arn) => {
      const verified = push.verify(fields({ ...authentic, eventSourceARN: arn }), body, 0);
      expect(verified).toEqual({ kind: 'refused', code: 'other-queue' });
    },
  );

  it('names its message and counts its receives, where it says so in a way that can be used', () => {
    const unwrap = (messageId: string, ApproximateReceiveCount: string) =>
      push.unwrap(body, fields({ messageId, ApproximateReceiveCount }));
    expect(unwrap('m-1', '3')).toEqual({ kind: 'message', body, messageId: 'm-1', deliveryCount: 3 });
    expect(unwrap('a b', '0')).toEqual({ kind: 'message', body });
  });
});
