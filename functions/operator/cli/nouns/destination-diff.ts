/**
 * What `destination set` changes, in the words of the record. It replaces all settings, so what is not given again goes
 * back to its default: that is seen before it happens.
 */
import type * as z from 'zod/mini';
import { type DestinationSettings, readDestination } from '../../../core/destination-input.ts';
import type { DestinationId } from '../../../core/ids.ts';
import { settingsChanges } from '../../../core/settings-changes.ts';
import type { destinationAnswer } from '../../contract/destinations.ts';

type Before = z.output<typeof destinationAnswer>;

/** Where it may send is the API's to say. */
const ANYWHERE = { allowLocal: true };

/** One line for each setting that changes. Undefined where the settings make no sense: the API says what is wrong. */
export const changesOf = (before: Before, body: unknown): readonly string[] | undefined => {
  const present = settingsIn(before);
  const read = readDestination(present.destination, body, ANYWHERE);
  if (read.kind === 'bad') return undefined;
  return settingsChanges(present, read.settings, read.signingSecret !== undefined);
};

/** The values of headers are shown as a mask; sent back, it keeps the present one, and so it reads as no change. */
const settingsIn = (before: Before): DestinationSettings => ({
  destination: before.destination as DestinationId,
  url: before.url,
  repeatSafe: before.repeatSafe,
  keyLifeHours: before.keyLifeHours,
  scheduleSec: before.schedule,
  timeoutMs: before.timeoutMs,
  ...(before.ratePerSecond === undefined ? {} : { ratePerSecond: before.ratePerSecond }),
  ...(before.concurrency === undefined ? {} : { concurrency: before.concurrency }),
  rejectOn: before.rejectOn,
  headers: before.headers,
  acceptFromQueue: before.acceptFromQueue,
  mode: before.mode,
  ...(before.notices === true ? { notices: true } : {}),
});
