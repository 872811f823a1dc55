/** A delivery in both directions. The chain of the journal is not verified here: an audit does that, over all lines. */
import { readLine } from '../../../core/journal.ts';
import type { Carried, Claim, Delivery, DeliveryRef, Excerpt, Life, Pending } from '../../../core/model.ts';
import { both, type Codec, checked, given, hashBytes } from './attributes.ts';
import { DELIVERY_NAMES, type DeliveryFields, deliverySchema } from './delivery-schema.ts';
import { packed, unpacked } from './packing.ts';
import type { Fields } from './stored.ts';

export const deliveryCodec: Codec<'delivery'> = {
  names: DELIVERY_NAMES,
  encode: (row) => checked(deliverySchema, fieldsOf(row)),
  decode: (ref, fields, carried) => rowOf(deliverySchema.parse(fields), ref, carried),
};

// ---- writing ------------------------------------------------------------------------------------------------------
// What is left over after all members are named must be nothing: a member that is added to the model cannot be forgotten
// here, for it does not compile.

type Nothing = Record<string, never>;

const fieldsOf = (row: Delivery): Fields => {
  switch (row.status) {
    case 'pending':
      return pendingFields(row);
    case 'claimed': {
      const { status, claim, lookAfterMs, ...life } = row;
      return { ...lifeFields(life), st: status, lookMs: lookAfterMs, ...claimFields(claim) };
    }
    case 'delivered': {
      const { status, endedAtMs, by, ...life } = row;
      return { ...lifeFields(life), st: status, endMs: endedAtMs, by };
    }
    case 'cancelled':
    case 'quarantined': {
      const { status, endedAtMs, reason, ...life } = row;
      return { ...lifeFields(life), st: status, endMs: endedAtMs, why: reason };
    }
  }
};

const pendingFields = (row: Pending): Fields => {
  const { status, dueAtMs, lookAfterMs, deferral, parking, waits, ...life } = row;
  return {
    ...lifeFields(life),
    st: status,
    dueMs: dueAtMs,
    lookMs: lookAfterMs,
    defMs: deferral?.untilMs,
    defWhy: deferral?.reason,
    defLn: deferral?.line,
    parMs: parking?.sinceMs,
    parWhy: parking?.reason,
    waiN: waits?.count,
    waiMs: waits?.sinceMs,
    waiWhy: waits?.reason,
  };
};

const claimFields = (claim: Claim): Fields => {
  const { id, holder, attempt, startedAtMs, leaseEndsAtMs, repeatSafe, sendingAtMs, ...rest } = claim;
  rest satisfies Nothing;
  return {
    cid: id,
    who: holder,
    catt: attempt,
    staMs: startedAtMs,
    leaMs: leaseEndsAtMs,
    safe: repeatSafe,
    senMs: sendingAtMs,
  };
};

/** Takes a life and nothing more: what belongs to a status only is named where that status is written. */
const lifeFields = <L extends Life>(row: L & { [member in Exclude<keyof L, keyof Life>]: never }): Fields => {
  // Identity stands in the keys, and what is carried is written beside all this.
  const life: Life = row;
  const { item: _item, event: _event, destination: _destination, carried: _carried, ...fields } = life;
  const { version, acceptedAtMs, horizonFromMs, payloadHash, budget, attempts, refunds, redrives, ...others } = fields;
  const { decisions, keyFromMs, doubt, graceMs, sweeps, firstExcerpt, latestExcerpt, journal, ...rest } = others;
  rest satisfies Nothing;
  return {
    v: version,
    bornMs: acceptedAtMs,
    horMs: horizonFromMs,
    ph: hashBytes(payloadHash),
    bud: budget,
    att: attempts,
    ref: refunds,
    red: redrives,
    dec: decisions,
    keyMs: keyFromMs,
    dbt: doubt,
    graMs: graceMs,
    swp: sweeps,
    x1n: firstExcerpt?.attempt,
    x2n: latestExcerpt?.attempt,
    ...packed({ j: journal.lines.map(({ text }) => text), x1: firstExcerpt?.text, x2: latestExcerpt?.text }),
    jh: hashBytes(journal.head),
  };
};

// ---- reading ------------------------------------------------------------------------------------------------------

const rowOf = (raw: DeliveryFields, ref: DeliveryRef, carried: Carried): Delivery => {
  const life = lifeOf(raw, ref, carried);
  switch (raw.st) {
    case 'pending':
      return pendingOf(raw, life);
    case 'claimed':
      return { ...life, status: raw.st, lookAfterMs: raw.lookMs, claim: claimOf(raw) };
    case 'delivered':
      return { ...life, status: raw.st, endedAtMs: raw.endMs, by: raw.by };
    case 'cancelled':
      return { ...life, status: raw.st, endedAtMs: raw.endMs, reason: raw.why };
    case 'quarantined':
      return { ...life, status: raw.st, endedAtMs: raw.endMs, reason: raw.why };
  }
};

const lifeOf = (raw: DeliveryFields, ref: DeliveryRef, carried: Carried): Life => {
  const texts = unpacked(raw);
  return {
    item: 'delivery',
    event: ref.event,
    destination: ref.destination,
    version: raw.v,
    acceptedAtMs: raw.bornMs,
    horizonFromMs: raw.horMs,
    payloadHash: raw.ph,
    budget: raw.bud,
    attempts: raw.att,
    refunds: raw.ref,
    redrives: raw.red,
    decisions: raw.dec,
    ...given('keyFromMs', raw.keyMs),
    doubt: raw.dbt,
    graceMs: raw.graMs,
    sweeps: raw.swp,
    ...given('firstExcerpt', excerptOf(texts.x1, raw.x1n)),
    ...given('latestExcerpt', excerptOf(texts.x2, raw.x2n)),
    journal: { lines: texts.j.map(readLine), head: raw.jh },
    carried,
  };
};

const excerptOf = (text: string | undefined, attempt: number | undefined): Excerpt | undefined => {
  const pair = both(text, attempt);
  return pair && { text: pair[0], attempt: pair[1] };
};

const pendingOf = (raw: Extract<DeliveryFields, { st: 'pending' }>, life: Life): Pending => {
  const deferral = both(raw.defMs, raw.defWhy);
  if (raw.defLn !== undefined && !deferral) throw new TypeError('a line without a slot in it');
  const parking = both(raw.parMs, raw.parWhy);
  const waits = both(both(raw.waiN, raw.waiMs), raw.waiWhy);
  return {
    ...life,
    status: raw.st,
    dueAtMs: raw.dueMs,
    lookAfterMs: raw.lookMs,
    ...given('deferral', deferral && { untilMs: deferral[0], reason: deferral[1], ...given('line', raw.defLn) }),
    ...given('parking', parking && { sinceMs: parking[0], reason: parking[1] }),
    ...given('waits', waits && { count: waits[0][0], sinceMs: waits[0][1], reason: waits[1] }),
  };
};

const claimOf = (raw: Extract<DeliveryFields, { st: 'claimed' }>): Claim => ({
  id: raw.cid,
  holder: raw.who,
  attempt: raw.catt,
  startedAtMs: raw.staMs,
  leaseEndsAtMs: raw.leaMs,
  repeatSafe: raw.safe,
  ...given('sendingAtMs', raw.senMs),
});
