/**
 * An authentic message that makes no sense is filed once and acknowledged: refusing it would only bring it back. A
 * flood is bounded by a count in the ledger; beyond it the queue's own dead letters are the overflow.
 */
import { createHash } from 'node:crypto';
import type { Poison, PoisonMinute } from '../core/items.ts';
import { poisonName } from '../core/keys.ts';
import { POISON_EXCERPT_BYTES_MAX, POISON_KEPT_MS, POISON_PER_MINUTE_MAX } from '../core/limits.ts';
import type { Found } from '../ports.ts';
import { ack, later, type Verdict } from './answer.ts';
import type { Receiver } from './run.ts';

const MINUTE_MS = 60_000;
const COUNT_TRIES_MAX = 4;

export const filePoison = async (
  world: Pick<Receiver, 'ledger' | 'clock' | 'telemetry'>,
  body: Uint8Array,
  messageId: string | undefined,
  reason: string,
): Promise<Verdict> => {
  const hash = createHash('sha256').update(body).digest('base64url');
  const id = poisonName(messageId, hash);
  const known = await world.ledger.load({ item: 'poison', id });
  if (known.kind !== 'absent') return ack('poison');
  const nowMs = world.clock.nowMs();
  const expiresAtSec = Math.floor((nowMs + POISON_KEPT_MS) / 1_000);
  if (!(await countOne(world, nowMs, expiresAtSec))) {
    world.telemetry.count('poison-overflow');
    return later('poison-overflow', 'too many senseless messages in this minute; the queue keeps this one');
  }
  const poison: Poison = {
    item: 'poison',
    version: 1,
    id,
    reason: reason.slice(0, 200),
    excerpt: body.slice(0, POISON_EXCERPT_BYTES_MAX),
    hash,
    bytes: body.byteLength,
    ...(messageId === undefined ? {} : { messageId: messageId.slice(0, 256) }),
    seenAtMs: nowMs,
    expiresAtSec,
    carried: {},
  };
  await world.ledger.create<Poison>(poison);
  world.telemetry.count('poison');
  world.telemetry.line('push.poison', { id, reason: poison.reason, bytes: poison.bytes, messageId: poison.messageId });
  return ack('poison');
};

/** Counts by swap, so the bound holds over all workers. Losing the swap again and again is a flood in itself. */
const countOne = async (world: Pick<Receiver, 'ledger'>, nowMs: number, expiresAtSec: number): Promise<boolean> => {
  const minute = Math.floor(nowMs / MINUTE_MS);
  let found: Found<PoisonMinute> = await world.ledger.load({ item: 'poison-minute', minute });
  for (let tries = 0; tries < COUNT_TRIES_MAX; tries += 1) {
    if (found.kind === 'later') return false;
    if (found.kind === 'found' && found.item.count >= POISON_PER_MINUTE_MAX) return false;
    const next: PoisonMinute =
      found.kind === 'found'
        ? { ...found.item, version: found.item.version + 1, count: found.item.count + 1 }
        : { item: 'poison-minute', version: 1, minute, count: 1, expiresAtSec, carried: {} };
    const written =
      found.kind === 'found'
        ? await world.ledger.replace<PoisonMinute>(found.item, next)
        : await world.ledger.create<PoisonMinute>(next);
    if (written.kind === 'written') return true;
    found = written.present;
  }
  return false;
};
