/** The dead letters of the transport of the settings; with `both`, those of the two as one. */
import { PUBLISH_MS } from '../../core/limits.ts';
import type { Clock, DeadLetters, Dice } from '../../ports.ts';
import type { InfraiSettings, SqsSettings, TransportSettings } from './open-queue.ts';
import { REQUEST_RETRIES, type RetryBounds } from './transport-retries.ts';

interface Needs {
  readonly clock: Clock;
  readonly dice: Pick<Dice, 'draw'>;
}

/** With the patience of a request: a sweep's page and one call of these fit into the sweep's lease. */
export const openDeadLetters = async (settings: TransportSettings, needs: Needs): Promise<DeadLetters> => {
  switch (settings.transport) {
    case 'sqs':
      return openSqs(settings.sqs, needs);
    case 'infrai':
      return openInfrai(settings.infrai, needs);
    case 'both': {
      const { deadLettersOfBoth } = await import('./both-dead-letters.ts');
      const [sqs, infrai] = await Promise.all([openSqs(settings.sqs, needs), openInfrai(settings.infrai, needs)]);
      return deadLettersOfBoth([
        { name: 'sqs', port: sqs },
        { name: 'infrai', port: infrai },
      ]);
    }
  }
};

/** The next tick is the retry. */
const ONCE: RetryBounds = { triesMax: 1, tryMs: PUBLISH_MS, totalMs: PUBLISH_MS };

/** What a watcher has to ask a transport for. SQS has metrics of its own that an alarm can stand on. */
export const openWatchedStats = async (
  settings: TransportSettings,
  needs: Needs,
): Promise<DeadLetters['stats'] | undefined> =>
  settings.transport === 'sqs' ? undefined : (await openInfrai(settings.infrai, needs, ONCE)).stats;

const openSqs = async (sqs: SqsSettings, needs: Needs): Promise<DeadLetters> => {
  const { createSqsDeadLetters } = await import('./sqs/dead-letters.ts');
  return createSqsDeadLetters({ ...sqs, ...needs, retries: REQUEST_RETRIES });
};

const openInfrai = async (infrai: InfraiSettings, needs: Needs, retries = REQUEST_RETRIES): Promise<DeadLetters> => {
  const { createInfraiDeadLetters } = await import('./infrai/dead-letters.ts');
  return createInfraiDeadLetters({ ...infrai, ...needs, retries });
};
