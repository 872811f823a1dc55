/** What is said of a publish that the queue did not take, wherever it came from. The sweep, or a repeat, makes it good. */
import type { Fields, Published, Telemetry } from '../ports.ts';

export const notPublished = (
  telemetry: Telemetry,
  about: Fields,
  { code, detail }: Extract<Published, { kind: 'failed' }>,
): void =>
  telemetry.line(
    'publish.failed',
    { ...about, code, detail },
    // An empty account does not fill itself: this one needs a person, and has a name and an alarm of its own.
    { 'publish-failed': 1, ...(code === 'no-credit' ? { 'queue-no-credit': 1 } : {}) },
  );
