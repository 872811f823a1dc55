/**
 * The work of one turn: a bounded number of messages, a few side by side.
 *
 *   not acted on --by id--> acted
 *        +--out of reach--> the dead letters are read --met--> acted
 *                                                +--not met, nothing goes on any more--> gone
 *
 * Where a transport reaches nothing by its id, all of it is read again. What is read beside keeps its lease until all
 * that is wanted was met: it would only be read again, in the place of what is looked for.
 */
import { awaitsResult } from '../core/judge.ts';
import type { Operation, OperationMessage } from '../core/operations.ts';
import type { DeadLetter } from '../ports.ts';
import { createLook } from '../steps/redrive-look.ts';
import { type Acted, actOn, recordGone } from './redrive-act.ts';
import type { Scene } from './redrive-deeds.ts';
import type { Receiver, Run } from './run.ts';

/** Sent before their first outcomes are waited for. */
export const BATCH_MAX = 20;
const AT_ONCE = 5;
const TURN_MS = 20_000;
/** Left to the end of the turn: counting, writing, enqueueing. */
const END_OF_TURN_MS = 8_000;
/** Read beyond those that are looked for: letters come in an order of the queue's own. */
const READ_BESIDE = 20;
const READ_MAX = 100;
/** A letter that is neither reached nor met while nothing else has gone on for this long is not there any more. */
export const GONE_AFTER_MS = 60_000;

export interface Worked {
  /** All that were given, as they stand now. */
  readonly messages: readonly OperationMessage[];
  readonly progress: boolean;
  /** Why the queue could not be asked, if so. */
  readonly trouble?: string;
}

interface Pass {
  readonly scene: Scene;
  readonly latest: Map<number, OperationMessage>;
  readonly unreached: Map<number, OperationMessage>;
  trouble: string | undefined;
}

export const workOn = async (
  world: Receiver,
  run: Run,
  operation: Operation,
  messages: readonly OperationMessage[],
  batch: number,
): Promise<Worked> => {
  const scene: Scene = { world, operation, look: createLook(world, operation), batch };
  const pass: Pass = {
    scene,
    latest: new Map(messages.map((message) => [message.position, message])),
    unreached: new Map(),
    trouble: undefined,
  };
  const todo = messages.filter(({ action }) => action === undefined);
  const endsAtMs = world.clock.nowMs() + Math.min(TURN_MS, run.remainingMs() - END_OF_TURN_MS);
  const unreachable = operation.source === 'dead-letters' && !world.deadLetters.traits.reachesById;
  if (unreachable) for (const message of todo) pass.unreached.set(message.position, message);
  for (let at = 0; !unreachable && at < todo.length && world.clock.nowMs() < endsAtMs; ) {
    const room = roomIn(pass);
    if (room <= 0 || (at > 0 && !(await isRunning(scene)))) break;
    const group = todo.slice(at, at + Math.min(AT_ONCE, room));
    await Promise.all(group.map(async (message) => note(pass, await actOn(scene, message))));
    at += group.length;
  }
  if (operation.source === 'dead-letters' && pass.unreached.size > 0) await readAndAct(pass, endsAtMs);
  const left = todo.filter(({ position }) => pass.latest.get(position)?.action === undefined).length;
  return {
    messages: [...pass.latest.values()],
    progress: left < todo.length,
    ...(pass.trouble === undefined ? {} : { trouble: pass.trouble }),
  };
};

const roomIn = (pass: Pass): number => BATCH_MAX - sentIn(pass);

const sentIn = ({ latest, scene }: Pass): number =>
  [...latest.values()].filter((message) => message.batch === scene.batch && awaitsResult(message)).length;

const note = (pass: Pass, acted: Acted): void => {
  const { message } = acted;
  pass.latest.set(message.position, message);
  if (acted.kind === 'acted') {
    pass.unreached.delete(message.position);
    return;
  }
  pass.unreached.set(message.position, message);
  pass.trouble ??= acted.trouble;
};

/** A person may stop the run at any moment. */
const isRunning = async ({ world, operation }: Scene): Promise<boolean> => {
  const found = await world.ledger.load({ item: 'operation', operation: operation.operation });
  return found.kind === 'found' && found.item.state === 'running' && found.item.turn <= operation.turn + 1;
};

/** Read once where letters are reached by their id; else until all are met, the batch is full, or nothing comes. */
const readAndAct = async (pass: Pass, endsAtMs: number): Promise<void> => {
  const { world } = pass.scene;
  const beside: DeadLetter[] = [];
  let more = true;
  while (more && pass.unreached.size > 0 && roomIn(pass) > 0 && world.clock.nowMs() < endsAtMs) {
    const wish = Math.min(pass.unreached.size, roomIn(pass));
    const read = await world.deadLetters.read(Math.min(READ_MAX, wish + READ_BESIDE));
    if (read.kind === 'failed') {
      pass.trouble ??= `${read.code}: ${read.detail}`;
      break;
    }
    beside.push(...(await actOnMet(pass, read.letters)));
    more = read.letters.length > 0 && !world.deadLetters.traits.reachesById && (await isRunning(pass.scene));
  }
  if (pass.unreached.size === 0 || roomIn(pass) <= 0) await world.deadLetters.release(beside);
  else if (pass.trouble === undefined && (await areGone(pass))) {
    for (const message of [...pass.unreached.values()]) {
      note(pass, { kind: 'acted', message: await recordGone(pass.scene, message) });
    }
  }
};

/** Gives those that are not wanted, or not now. */
const actOnMet = async (pass: Pass, letters: readonly DeadLetter[]): Promise<readonly DeadLetter[]> => {
  const wanted = new Map([...pass.unreached.values()].map((message) => [message.messageId, message]));
  const met = letters.flatMap((letter) => {
    const message = wanted.get(letter.messageId);
    return message === undefined ? [] : [{ letter, message }];
  });
  let acted = 0;
  for (let room = roomIn(pass); acted < met.length && room > 0; room = roomIn(pass)) {
    const group = met.slice(acted, acted + Math.min(AT_ONCE, room));
    await Promise.all(group.map(async ({ letter, message }) => note(pass, await actOn(pass.scene, message, letter))));
    acted += group.length;
  }
  const done = new Set(met.slice(0, acted).map(({ letter }) => letter));
  return letters.filter((letter) => !done.has(letter));
};

/** The queue counts no dead letter, and counts exactly; or these have not been met for long. */
const areGone = async ({ scene: { world, operation } }: Pass): Promise<boolean> => {
  const stats = await world.deadLetters.stats();
  if (stats.kind === 'stats' && stats.dead === 0 && world.deadLetters.traits.countsExactly) return true;
  return world.clock.nowMs() - (operation.progressAtMs ?? operation.startedAtMs ?? 0) >= GONE_AFTER_MS;
};
