/**
 * A redrive: its plan with the totals, and each of its messages. How often each finding was made stands in an attribute
 * of its own (`n-redrive`), so that a finding that only newer code makes is carried along.
 */
import * as z from 'zod/mini';
import type { FindingKind, Operation, OperationMessage } from '../../../core/operations.ts';
import { FINDINGS } from '../../../core/operations.ts';
import { type Codec, checked, count, destinationId, eventId, given, instantMs } from './attributes.ts';
import type { Fields } from './stored.ts';

const amount = z.number().check(z.nonnegative());

// ---- the plan -----------------------------------------------------------------------------------------------------

const planSchema = z.strictObject({
  v: count,
  src: z.enum(['dead-letters', 'quarantine']),
  dst: z.optional(destinationId),
  rsn: z.optional(z.string()),
  lim: count,
  rcvMin: amount,
  stop: amount,
  acc2: z.boolean(),
  act: z.string(),
  why: z.string(),
  st: z.enum(['planning', 'planned', 'running', 'stopped', 'done']),
  ruWhy: z.optional(z.string()),
  stWhy: z.optional(z.string()),
  bornMs: instantMs,
  staMs: z.optional(instantMs),
  endMs: z.optional(instantMs),
  estMs: count,
  doN: count,
  judN: count,
  msgN: count,
  short: z.optional(z.enum(['time', 'queue', 'contradiction'])),
  turn: count,
  turnMs: z.optional(instantMs),
  progMs: z.optional(instantMs),
  batch: count,
  ded0: z.optional(count),
  ded1: z.optional(count),
});

type Found = { [kind in FindingKind]?: number };

const foundName = (kind: FindingKind): string => `n-${kind}`;
const FOUND_NAMES: readonly string[] = FINDINGS.map(foundName);

export const operationCodec: Codec<'operation'> = {
  names: new Set([...Object.keys(planSchema.shape), ...FOUND_NAMES]),
  encode: (item) => ({ ...checked(planSchema, planFields(item)), ...foundFields(item.found) }),
  decode: (ref, fields, carried) => {
    const raw = planSchema.parse(
      Object.fromEntries(Object.entries(fields).filter(([name]) => !FOUND_NAMES.includes(name))),
    );
    return {
      item: 'operation',
      operation: ref.operation,
      version: raw.v,
      source: raw.src,
      ...given('destination', raw.dst),
      ...given('reason', raw.rsn),
      limit: raw.lim,
      recoveryMinutes: raw.rcvMin,
      stopAbove: raw.stop,
      acceptSecondEffect: raw.acc2,
      actor: raw.act,
      why: raw.why,
      state: raw.st,
      ...given('startedBecause', raw.ruWhy),
      ...given('stoppedBecause', raw.stWhy),
      createdAtMs: raw.bornMs,
      ...given('startedAtMs', raw.staMs),
      ...given('endedAtMs', raw.endMs),
      estimateMs: raw.estMs,
      found: foundIn(fields),
      nextToAct: raw.doN,
      nextToJudge: raw.judN,
      messages: raw.msgN,
      ...given('shortfall', raw.short),
      turn: raw.turn,
      ...given('turnAtMs', raw.turnMs),
      ...given('progressAtMs', raw.progMs),
      batch: raw.batch,
      ...given('deadBefore', raw.ded0),
      ...given('deadAfter', raw.ded1),
      carried,
    };
  },
};

const planFields = ({ item: _item, operation: _operation, carried: _carried, ...fields }: Operation): Fields => {
  const { version, source, destination, reason, limit, recoveryMinutes, stopAbove, ...others } = fields;
  const { acceptSecondEffect, actor, why, state, startedBecause, stoppedBecause, createdAtMs, startedAtMs, ...more } =
    others;
  const { endedAtMs, estimateMs, found: _found, nextToAct, nextToJudge, messages, ...last } = more;
  const { shortfall, turn, turnAtMs, progressAtMs, batch, deadBefore, deadAfter, ...rest } = last;
  rest satisfies Record<string, never>;
  return {
    v: version,
    src: source,
    dst: destination,
    rsn: reason,
    lim: limit,
    rcvMin: recoveryMinutes,
    stop: stopAbove,
    acc2: acceptSecondEffect,
    act: actor,
    why,
    st: state,
    ruWhy: startedBecause,
    stWhy: stoppedBecause,
    bornMs: createdAtMs,
    staMs: startedAtMs,
    endMs: endedAtMs,
    estMs: estimateMs,
    doN: nextToAct,
    judN: nextToJudge,
    msgN: messages,
    short: shortfall,
    turn,
    turnMs: turnAtMs,
    progMs: progressAtMs,
    batch,
    ded0: deadBefore,
    ded1: deadAfter,
  };
};

const foundFields = (found: Operation['found']): Fields =>
  Object.fromEntries(
    FINDINGS.map((kind) => {
      const times = found[kind];
      return [foundName(kind), times === undefined ? undefined : count.parse(times)];
    }),
  );

const foundIn = (fields: Readonly<Record<string, unknown>>): Found => {
  const found: Found = {};
  for (const kind of FINDINGS) {
    const times = fields[foundName(kind)];
    if (times !== undefined) found[kind] = count.parse(times);
  }
  return found;
};

// ---- its messages -------------------------------------------------------------------------------------------------

const messageSchema = z.strictObject({
  v: count,
  mid: z.optional(z.string()),
  fnd: z.enum(FINDINGS),
  det: z.string(),
  pfnd: z.optional(z.enum(FINDINGS)),
  ev: z.optional(eventId),
  dst: z.optional(destinationId),
  cls: z.optional(z.string()),
  sta: z.optional(count),
  durMs: z.optional(count),
  att: z.optional(count),
  chsMs: z.optional(instantMs),
  batch: z.optional(count),
  act: z.optional(z.enum(['requeued', 'discarded', 'left', 'gone'])),
  doneMs: z.optional(instantMs),
  res: z.optional(
    z.enum(['delivered', 'deduplicated', 'failed', 'in-doubt', 'open', 'dropped', 'held', 'accepted', 'gone']),
  ),
  resAtt: z.optional(count),
  judMs: z.optional(instantMs),
});

export const operationMessageCodec: Codec<'operation-message'> = {
  names: new Set(Object.keys(messageSchema.shape)),
  encode: (item) => checked(messageSchema, messageFields(item)),
  decode: (ref, fields, carried) => {
    const raw = messageSchema.parse(fields);
    return {
      item: 'operation-message',
      operation: ref.operation,
      position: ref.position,
      version: raw.v,
      ...given('messageId', raw.mid),
      finding: raw.fnd,
      detail: raw.det,
      ...given('plannedAs', raw.pfnd),
      ...given('event', raw.ev),
      ...given('destination', raw.dst),
      ...given('lastClass', raw.cls),
      ...given('lastStatus', raw.sta),
      ...given('lastDurationMs', raw.durMs),
      ...given('attemptsBefore', raw.att),
      ...given('chosenAtMs', raw.chsMs),
      ...given('batch', raw.batch),
      ...given('action', raw.act),
      ...given('actedAtMs', raw.doneMs),
      ...given('result', raw.res),
      ...given('attempt', raw.resAtt),
      ...given('judgedAtMs', raw.judMs),
      carried,
    };
  },
};

const messageFields = (item: OperationMessage): Fields => {
  const { item: _item, operation: _operation, position: _position, carried: _carried, ...fields } = item;
  const { version, messageId, finding, detail, plannedAs, event, destination, lastClass, lastStatus, ...others } =
    fields;
  const { lastDurationMs, attemptsBefore, chosenAtMs, batch, action, actedAtMs, result, attempt, judgedAtMs, ...rest } =
    others;
  rest satisfies Record<string, never>;
  return {
    v: version,
    mid: messageId,
    fnd: finding,
    det: detail,
    pfnd: plannedAs,
    ev: event,
    dst: destination,
    cls: lastClass,
    sta: lastStatus,
    durMs: lastDurationMs,
    att: attemptsBefore,
    chsMs: chosenAtMs,
    batch,
    act: action,
    doneMs: actedAtMs,
    res: result,
    resAtt: attempt,
    judMs: judgedAtMs,
  };
};
