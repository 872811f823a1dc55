/**
 * Having a queue push to our receiver, and its cron call our reconciler. Safe to run twice.
 *
 *   documents --a field that is sent is not known there--> refused, nothing was changed
 *       |
 *       +--> subscribe, under a key made of queue, address and secret: the same again is the same request
 *       +--> list the schedules --ours is there, same address--> left as it is
 *                 |               --ours is there, another address--> refused: no route that changes one is known
 *                 +--> create
 *
 * Nothing is guessed: a field that the documents do not confirm is not sent unless a person says so.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { type ContractRow, compareContract, type Discovered } from './queue-contract.ts';
import { type Use, useOf } from './queue-use.ts';

/** Calls to the management of the queue. */
export interface QueueManagement {
  discover(capability: string): Promise<Discovered>;
  /** `path` is the whole one, with its parameters in. */
  call(request: {
    readonly method: 'GET' | 'POST';
    readonly path: string;
    readonly body?: Readonly<Record<string, unknown>>;
    readonly idempotencyKey?: string;
  }): Promise<
    | { readonly kind: 'ok'; readonly data: unknown }
    | { readonly kind: 'failed'; readonly code: string; readonly detail: string }
  >;
}

export interface SubscribeWish {
  readonly queue: string;
  readonly push?: { readonly url: string; readonly secret: string };
  readonly cron?: { readonly url: string; readonly header: string; readonly secret: string };
  /** Names that the queue spells otherwise, by ours. */
  readonly spelt: Readonly<Record<string, string>>;
  /** Also where the documents differ, or do not say. */
  readonly unconfirmed: boolean;
}

export type Step =
  | { readonly kind: 'done'; readonly what: 'push' | 'cron'; readonly says: string }
  | { readonly kind: 'there'; readonly what: 'cron'; readonly says: string }
  | {
      readonly kind: 'refused';
      readonly what: 'push' | 'cron';
      readonly says: string;
      readonly rows?: readonly ContractRow[];
    };

export const subscribeQueue = async (management: QueueManagement, wish: SubscribeWish): Promise<readonly Step[]> => {
  const steps: Step[] = [];
  if (wish.push !== undefined) steps.push(await subscribePush(management, wish, wish.push));
  if (wish.cron !== undefined) steps.push(await createCron(management, wish, wish.cron));
  return steps;
};

/** Rows that a person has to look at before anything is sent, or none. */
const unconfirmedOf = async (
  management: QueueManagement,
  wish: SubscribeWish,
  use: Use,
): Promise<readonly ContractRow[]> => {
  if (wish.unconfirmed) return [];
  const renamed = {
    ...use,
    sends: use.sends.map((field) => ({ ...field, name: wish.spelt[field.name] ?? field.name })),
  };
  const rows = compareContract(renamed, await management.discover(use.capability));
  const matters = ({ what, field }: ContractRow): boolean =>
    what === 'route' || what === 'sends' || what === 'wants' || field === 'available';
  return rows.filter((row) => row.verdict !== 'agrees' && matters(row));
};

const NOT_CONFIRMED = 'the discovery document does not confirm what would be sent; nothing was changed';

const named = (wish: SubscribeWish, body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [wish.spelt[name] ?? name, value]));

const pathOf = ({ path }: Use, queue: string): string => path.replace('{queue}', encodeURIComponent(queue));

/** The same wish is the same request, and a new secret is a new one. */
const keyOf = (...parts: readonly string[]): string =>
  `ow_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}`;

const subscribePush = async (
  management: QueueManagement,
  wish: SubscribeWish,
  { url, secret }: NonNullable<SubscribeWish['push']>,
): Promise<Step> => {
  const use = useOf('queue.push_subscribe');
  const rows = await unconfirmedOf(management, wish, use);
  if (rows.length > 0) return { kind: 'refused', what: 'push', says: NOT_CONFIRMED, rows };
  const called = await management.call({
    method: use.method,
    path: pathOf(use, wish.queue),
    body: named(wish, { url, secret }),
    idempotencyKey: keyOf('push', wish.queue, url, secret),
  });
  if (called.kind === 'failed') return { kind: 'refused', what: 'push', says: `${called.code}: ${called.detail}` };
  return {
    kind: 'done',
    what: 'push',
    says: `the messages of ${wish.queue} are pushed to ${url}. The same again within a day is one subscription; no route is known that lists or ends one`,
  };
};

// ---- cron ---------------------------------------------------------------------------------------------------------

const EVERY_MINUTE = '* * * * *';
const TIMEOUT_SEC = 60;

const Jobs = z.object({ items: z.array(z.record(z.string(), z.unknown())) });

export const cronNameOf = (queue: string): string => `onceward-${queue}`;

const createCron = async (
  management: QueueManagement,
  wish: SubscribeWish,
  { url, header, secret }: NonNullable<SubscribeWish['cron']>,
): Promise<Step> => {
  const use = useOf('cron.create');
  const rows = await unconfirmedOf(management, wish, use);
  if (rows.length > 0) return { kind: 'refused', what: 'cron', says: NOT_CONFIRMED, rows };
  const name = cronNameOf(wish.queue);
  const listed = await management.call({ method: 'GET', path: useOf('cron.list').path });
  if (listed.kind === 'failed') {
    const says = `the schedules that are there cannot be listed (${listed.code}: ${listed.detail}), and one more must not be made blindly`;
    return { kind: 'refused', what: 'cron', says };
  }
  const jobs = Jobs.safeParse(listed.data);
  if (!jobs.success) return { kind: 'refused', what: 'cron', says: 'the list of schedules is not understood' };
  const ours = jobs.data.items.find((job) => job['name'] === name);
  if (ours !== undefined) {
    // Which member holds the address is not documented: any that does will do.
    return Object.values(ours).includes(url)
      ? { kind: 'there', what: 'cron', says: `the schedule ${name} calls ${url} already` }
      : {
          kind: 'refused',
          what: 'cron',
          says: `there is a schedule ${name} that does not call ${url}; no route is known that changes one: remove it there first`,
        };
  }
  const body = {
    name,
    cron_expr: EVERY_MINUTE,
    task: url,
    timeout_seconds: TIMEOUT_SEC,
    headers: { [header]: secret },
  };
  const called = await management.call({
    method: use.method,
    path: use.path,
    body: named(wish, body),
    idempotencyKey: keyOf('cron', name, url, header, secret),
  });
  if (called.kind === 'failed') return { kind: 'refused', what: 'cron', says: `${called.code}: ${called.detail}` };
  return { kind: 'done', what: 'cron', says: `the schedule ${name} calls ${url} every minute` };
};
