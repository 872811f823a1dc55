/**
 * The work of one turn: a bounded number of messages, a few side by side.
 *
 *   not acted on --by id--> acted
 *        +--out of reach--> the dead letters are read, once --met--> acted
 *                                                +--not met, nothing goes on any more--> gone
 */
import { awaitsResult } from '../core/judge.ts';
import type { Operation, OperationMessage } from '../core/operations.ts';
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
  for (let at = 0; at < todo.length && world.clock.nowMs() < endsAtMs; ) {
    const room = BATCH_MAX - sentIn(pass);
    if (room <= 0 || (at > 0 && !(await isRunning(scene)))) break;
    const group = todo.slice(at, at + Math.min(AT_ONCE, room));
    await Promise.all(group.map(async (message) => note(pass, await actOn(scene, message))));
    at += group.length;
  }
  if (operation.source === 'dead-letters' && pass.unreached.size > 0) await readAndAct(pass);
  const left = todo.filter(({ position }) => pass.latest.get(position)?.action === undefined).length;
  return {
    messages: [...pass.latest.values()],
    progress: left < todo.length,
    ...(pass.trouble === undefined ? {} : { trouble: pass.trouble }),
  };
};

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

const readAndAct = async (pass: Pass): Promise<void> => {
  const { world } = pass.scene;
  const read = await world.deadLetters.read(Math.min(READ_MAX, pass.unreached.size + READ_BESIDE));
  if (read.kind === 'failed') {
    pass.trouble ??= `${read.code}: ${read.detail}`;
    return;
  }
  const wanted = new Map([...pass.unreached.values()].map((message) => [message.messageId, message]));
  for (const letter of read.letters) {
    const message = wanted.get(letter.messageId);
    if (message !== undefined) note(pass, await actOn(pass.scene, message, letter));
  }
  if (pass.unreached.size > 0 && pass.trouble === undefined && (await areGone(pass))) {
    for (const message of [...pass.unreached.values()]) {
      note(pass, { kind: 'acted', message: await recordGone(pass.scene, message) });
    }
  }
};

/** The queue counts no dead letter; or it counts some, and these have not been met for long. */
const areGone = async ({ scene: { world, operation } }: Pass): Promise<boolean> => {
  const stats = await world.deadLetters.stats();
  if (stats.kind === 'stats' && stats.dead === 0) return true;
  return world.clock.nowMs() - (operation.progressAtMs ?? operation.startedAtMs ?? 0) >= GONE_AFTER_MS;
};
