/** A push begins its work: the real receiver with the ports of a new actor, until it answers, dies or throws. */
import { statusOf } from '../../functions/receiver/answer.ts';
import { receive } from '../../functions/receiver/receive.ts';
import { portsOf, type Surroundings } from './ports.ts';
import { pushOf } from './push-side.ts';
import type { Actor } from './stage.ts';

export interface PushBegun {
  readonly messageId: string;
  readonly payload: string;
  /** In place of the mark of our queue. */
  readonly forged?: string | undefined;
  readonly answer: (status: number) => void;
}

/** `event destination`, where the message is about a delivery. */
const aboutOf = (payload: string): string | undefined => {
  const message: unknown = JSON.parse(payload);
  if (typeof message !== 'object' || message === null || !('kind' in message) || message.kind !== 'deliver') return;
  return 'event' in message && 'destination' in message ? `${message.event} ${message.destination}` : undefined;
};

export const noteBug = ({ stage }: Pick<Surroundings, 'stage'>, actor: Actor, error: unknown): void => {
  actor.ended = true;
  stage.note(actor, { kind: 'bug', text: String(error instanceof Error ? (error.stack ?? error) : error) });
};

export const beginPush = (around: Surroundings, { messageId, payload, forged, answer }: PushBegun): void => {
  const { stage } = around;
  const actor = stage.actor('push', aboutOf(payload));
  stage.note(actor, { kind: 'push', messageId, body: payload, authentic: forged === undefined });
  actor.onDeath = () => {
    if (stage.draws.happens('the platform says so', 0.5)) answer(502);
  };
  const push = {
    ...pushOf(messageId, payload, forged),
    runId: actor.nextId(),
    remainingMs: () => actor.limitAtMs - stage.nowMs,
  };
  receive(portsOf(around, actor), push).then(
    (verdict) => {
      if (actor.dead) return;
      actor.ended = true;
      const status = statusOf(verdict);
      stage.note(actor, { kind: 'verdict', status, note: verdict.kind === 'ack' ? verdict.note : verdict.code });
      answer(status);
    },
    (error: unknown) => {
      noteBug(around, actor, error);
      answer(500);
    },
  );
};
