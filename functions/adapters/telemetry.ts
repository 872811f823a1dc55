/** Log lines and counts as JSON on standard output, one object a line: what CloudWatch, or a person with jq, reads. */
import type { Clock, Fields, Telemetry } from '../ports.ts';

export type Print = (text: string) => void;

export const createTelemetry = (clock: Pick<Clock, 'nowMs'>, print: Print): Telemetry => ({
  line: (name, fields) => print(lineOf(clock.nowMs(), name, fields)),
  count: (name, by = 1) => print(lineOf(clock.nowMs(), 'count', { metric: name, by })),
});

/** Undefined fields are left out; times are ISO for people, since a line is read before it is parsed. */
const lineOf = (nowMs: number, name: string, fields: Fields): string =>
  JSON.stringify({ at: new Date(nowMs).toISOString(), line: name, ...fields });

export const silentTelemetry: Telemetry = { line: () => {}, count: () => {} };
