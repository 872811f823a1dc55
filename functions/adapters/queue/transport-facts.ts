/**
 * What can be said of each transport before its client is loaded. The clients take it from here, so that a queue which is
 * opened later says the same as one that stands.
 */
import type { DeadLetterTraits, QueueLimits } from '../../ports.ts';

export type Transport = 'sqs' | 'infrai' | 'both';

/**
 * "Amazon SQS message quotas": a delay of at most 15 minutes, and 1 MiB a message since August 2025. What is due later is
 * not published at all: the sweep looks ten minutes ahead of it.
 */
export const SQS_LIMITS: QueueLimits = {
  delayMsMax: 900_000,
  messageBytesMax: 1_024 * 1_024,
};

/** Published limits of the queue: 256 KB a message, seven days of delay. */
export const INFRAI_LIMITS: QueueLimits = {
  delayMsMax: 7 * 24 * 3_600_000,
  messageBytesMax: 256 * 1_024,
};

/** Of what is published: with `both`, that is SQS. */
export const limitsOf = (transport: Transport): QueueLimits => (transport === 'infrai' ? INFRAI_LIMITS : SQS_LIMITS);

const SQS_TRAITS: DeadLetterTraits = { reachesById: false, countsExactly: false };
const INFRAI_TRAITS: DeadLetterTraits = { reachesById: true, countsExactly: true };

const TRAITS: Readonly<Record<Transport, DeadLetterTraits>> = {
  sqs: SQS_TRAITS,
  infrai: INFRAI_TRAITS,
  // As good as the worse of the two.
  both: SQS_TRAITS,
};

export const traitsOf = (transport: Transport): DeadLetterTraits => TRAITS[transport];
