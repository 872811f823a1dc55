/** The ports that a measured process fills, whatever its ledger and its sender; and what has to stand there before. */
import { createInfraiPush } from '../../../functions/adapters/queue/infrai/push.ts';
import { INFRAI_LIMITS } from '../../../functions/adapters/queue/transport-facts.ts';
import { createLedgerSecrets } from '../../../functions/adapters/secrets.ts';
import { systemClock, systemDice } from '../../../functions/adapters/system.ts';
import { silentTelemetry } from '../../../functions/adapters/telemetry.ts';
import { readDestination } from '../../../functions/core/destination-input.ts';
import { readJson } from '../../../functions/core/json-tree.ts';
import { TICK_MS } from '../../../functions/core/limits.ts';
import { readSubmission } from '../../../functions/core/submission.ts';
import { putDestination } from '../../../functions/operator/commands/destinations.ts';
import type { Ledger, Pace, Pages, Sender } from '../../../functions/ports.ts';
import type { Receiver } from '../../../functions/receiver/run.ts';
import { accept } from '../../../functions/steps/accept.ts';
import { destinationIdOf } from '../../support/rows.ts';
import { heldDeadLetters } from '../../support/world-ports.ts';
import type { Round } from './child.ts';
import { destinationsOf, eventBodyOf, PUSH_SECRET } from './messages.ts';

/** The queue is whoever measures: what is published is taken and dropped. */
export const benchWorldOf = (
  engine: { readonly ledger: Ledger; readonly pages: Pages; readonly pace: Pace },
  sender: Sender,
): Receiver => ({
  ...engine,
  queue: { limits: INFRAI_LIMITS, publish: async ({ key }) => ({ kind: 'published', messageId: key }) },
  deadLetters: heldDeadLetters(),
  push: createInfraiPush({ secrets: [PUSH_SECRET], signatureHeader: 'x-infrai-signature', prefix: '' }),
  sender,
  secrets: createLedgerSecrets(engine.ledger, systemClock),
  telemetry: silentTelemetry,
  clock: systemClock,
  dice: systemDice,
  tickMs: TICK_MS,
});

export const setDestinations = async (world: Receiver, { destinationUrl, spread }: Round): Promise<void> => {
  for (const name of destinationsOf(spread)) {
    const settings = { url: destinationUrl, repeatSafe: true };
    const read = readDestination(destinationIdOf(name), settings, { allowLocal: true });
    if (read.kind !== 'ok') throw new TypeError('the destination of the benchmark is not a valid one');
    await putDestination(world, read);
  }
};

/** Events that were accepted some time ago: their pushes are what the round brings. */
export const acceptAll = async (world: Receiver, { first, count, payloadBytes, spread }: Round): Promise<void> => {
  for (let n = first; n < first + count; n += 1) {
    const document = readJson(Buffer.from(eventBodyOf(n, payloadBytes, spread)));
    if (document.kind === 'bad') throw new TypeError(document.reason);
    const read = readSubmission(document, document.root, systemClock.nowMs());
    if (read.kind === 'bad') throw new TypeError(read.reason);
    await accept(world, read.submission, { kind: 'api', cause: 'i:bench' });
  }
};
