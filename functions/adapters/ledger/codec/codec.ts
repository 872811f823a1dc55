/**
 * Items to stored records and back. Strict both ways: nothing is written that could not be read, and nothing is read
 * that this code could not have written, but for what newer code may add.
 *
 *   record ── format above ours ─────────────────────────► later: neither read nor written
 *     ├────── anything missing, malformed, out of place ──► LedgerCorrupt
 *     └────── ours ──► found; attributes of other names are carried along untouched
 *
 * An attribute can be added without a new format; a new value of an attribute that is known here cannot.
 */
import { $ZodError, type $ZodIssue } from 'zod/v4/core';
import type { Item, ItemKind, ItemOf } from '../../../core/items.ts';
import { FORMAT } from '../../../core/model.ts';
import type { Found, RefOf } from '../../../ports.ts';
import { LedgerCorrupt } from '../../../ports.ts';
import { FORMAT_ATTRIBUTE, TABLE_KEY } from '../schema.ts';
import type { Codec } from './attributes.ts';
import { decisionCodec } from './decision.ts';
import { deliveryCodec } from './delivery.ts';
import { destinationCodec, noticeRegisterCodec, secretCodec } from './destination.ts';
import { conflictCodec, eventCodec } from './event.ts';
import { gateCodec, slotCodec } from './gate.ts';
import { heartbeatCodec } from './heartbeat.ts';
import { INDEX_ATTRIBUTES, indexEntries } from './index-entries.ts';
import { type ItemKey, keyOf, refOf, refOfKeys } from './item-keys.ts';
import { operationCodec, operationMessageCodec } from './operation.ts';
import { carriedOf, type Fields, plainOf, type Stored, storedCarried, storedOf } from './stored.ts';
import { poisonCodec, poisonMinuteCodec, tokenCodec, tokenRegisterCodec } from './upkeep.ts';

const CODECS: { readonly [K in ItemKind]: Codec<K> } = {
  event: eventCodec,
  delivery: deliveryCodec,
  conflict: conflictCodec,
  destination: destinationCodec,
  gate: gateCodec,
  slot: slotCodec,
  secret: secretCodec,
  token: tokenCodec,
  'token-register': tokenRegisterCodec,
  'notice-register': noticeRegisterCodec,
  poison: poisonCodec,
  'poison-minute': poisonMinuteCodec,
  heartbeat: heartbeatCodec,
  decision: decisionCodec,
  operation: operationCodec,
  'operation-message': operationMessageCodec,
};

/** Of every item, and of no codec: the keys, the format, and what is there for the indexes alone. */
const COMMON = new Set([TABLE_KEY.partition.name, TABLE_KEY.sort.name, FORMAT_ATTRIBUTE, ...INDEX_ATTRIBUTES]);

const isKnown = (kind: ItemKind, name: string): boolean => COMMON.has(name) || CODECS[kind].names.has(name);

/** Throws on an item that breaks the rules of its kind: that is a bug of whoever made it. */
export const toItem = (item: Item): Stored => ({
  ...storedOf({ ...keyOf(refOf(item)), [FORMAT_ATTRIBUTE]: FORMAT, ...encode(item.item, item), ...indexEntries(item) }),
  ...storedCarried(item.carried, (name) => isKnown(item.item, name)),
});

/** Throws LedgerCorrupt. */
export const fromItem = (stored: Stored): Found<Item> => {
  const key = keyIn(stored);
  const broken = (reason: string, cause?: unknown): LedgerCorrupt =>
    new LedgerCorrupt(key.pk, key.sk, reason, { cause });
  const ref = refOfKeys(key);
  if (ref === undefined) throw broken('no item of this ledger has such a key');
  const format = Number(stored[FORMAT_ATTRIBUTE]?.N);
  if (!Number.isSafeInteger(format) || format < 1) throw broken('it has no format number');
  if (format > FORMAT) return { kind: 'later', format };
  const { names } = CODECS[ref.item];
  const fields: [name: string, value: unknown][] = [];
  for (const [name, value] of Object.entries(stored)) if (names.has(name)) fields.push([name, plainOf(value)]);
  const carried = carriedOf(stored, (name) => isKnown(ref.item, name));
  try {
    return { kind: 'found', item: decode(ref.item, ref, Object.fromEntries(fields), carried) };
  } catch (cause) {
    throw broken(reasonOf(cause), cause);
  }
};

/** Names of attributes and rules only: a value may be a secret. */
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof $ZodError)) return cause instanceof Error ? cause.message : String(cause);
  const issues: readonly $ZodIssue[] = cause.issues;
  return issues.map((issue) => `${issue.path.join('.')}: ${issue.code}`).join(', ');
};

export const keyIn = (stored: Stored): ItemKey => ({
  pk: stored[TABLE_KEY.partition.name]?.S ?? '',
  sk: stored[TABLE_KEY.sort.name]?.S ?? '',
});

// The kind is asked for beside the item, so that the compiler can tell that codec and item belong together.
const encode = <K extends ItemKind>(kind: K, item: ItemOf<K>): Fields => CODECS[kind].encode(item);
const decode = <K extends ItemKind>(
  kind: K,
  ref: RefOf<K>,
  fields: Readonly<Record<string, unknown>>,
  carried: Item['carried'],
): ItemOf<K> => CODECS[kind].decode(ref, fields, carried);
