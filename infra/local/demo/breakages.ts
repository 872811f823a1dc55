/**
 * Rules of the product, broken on purpose: `npm run demo -- --break <name>` has to fail, or the demo would prove
 * nothing.
 */
import type { OutgoingRequest } from '../../../functions/ports.ts';
import type { Receiver } from '../../../functions/receiver/run.ts';

type Breakage = (world: Receiver) => Receiver;

const sendingAs =
  (change: (world: Receiver, request: OutgoingRequest) => OutgoingRequest): Breakage =>
  (world) => ({
    ...world,
    sender: { ...world.sender, send: (request) => world.sender.send(change(world, request)) },
  });

/** Each attempt under a key of its own, as if it were another event. */
const freshKeys = sendingAs((world, request) => ({
  ...request,
  headers: { ...request.headers, 'idempotency-key': `ow_${world.dice.id()}`, 'webhook-id': `ow_${world.dice.id()}` },
}));

/** The wish to wait is not heard. */
const deafToRetryAfter: Breakage = (world) => ({
  ...world,
  sender: {
    ...world.sender,
    async send(request) {
      const answer = await world.sender.send(request);
      return answer.kind === 'answered' ? { ...answer, retryAfter: [] } : answer;
    },
  },
});

/** A lost answer counts as a request that never left. */
const doubtForgotten: Breakage = (world) => ({
  ...world,
  sender: {
    ...world.sender,
    async send(request) {
      const answer = await world.sender.send(request);
      return answer.kind === 'in-doubt' ? { ...answer, kind: 'not-sent', cause: 'connect-timeout' } : answer;
    },
  },
});

export const BREAKAGES: Readonly<Record<string, Breakage>> = {
  'fresh-keys': freshKeys,
  'deaf-to-retry-after': deafToRetryAfter,
  'doubt-forgotten': doubtForgotten,
};
