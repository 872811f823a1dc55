/**
 * The merged log of one run: what really happened, in one order, as the world saw it. Judges read this and never the
 * product's own counters.
 */
import type { Item } from '../../functions/core/items.ts';
import type { Delivery } from '../../functions/core/model.ts';

export type Happening =
  /** A row was read, by a load or by a refused write. */
  | { readonly kind: 'read'; readonly row: Delivery }
  /** A write of the delivery was applied. `before` is what stood there. */
  | { readonly kind: 'write'; readonly before: Delivery; readonly row: Delivery }
  /** Settings and gate of the destination were read. */
  | { readonly kind: 'gate'; readonly paused: boolean }
  | { readonly kind: 'other-write'; readonly before: Item | undefined; readonly item: Item }
  /** The worker has called the sender: there is no way back for it. */
  | { readonly kind: 'send'; readonly key: string; readonly body: string }
  /** The request has reached the destination. */
  | { readonly kind: 'arrive'; readonly key: string; readonly effect: boolean; readonly status: number | undefined }
  | { readonly kind: 'answer'; readonly text: string; readonly status: number | undefined }
  | { readonly kind: 'publish'; readonly key: string; readonly delaySec: number; readonly taken: boolean }
  | { readonly kind: 'verdict'; readonly acknowledged: boolean; readonly note: string }
  | { readonly kind: 'crash' }
  | { readonly kind: 'jump'; readonly ms: number }
  /** The explored part is over: from here on time moves by itself, messages are pushed and sweeps run. */
  | { readonly kind: 'quiet' };

export type LogEntry = Happening & {
  /** Who did it: a worker, the sweep, an operator; `world` for time. */
  readonly by: string;
  /** On the clock of whoever did it. */
  readonly atMs: number;
};

export type LogOf<K extends Happening['kind']> = Extract<LogEntry, { kind: K }>;

const rowText = (row: Delivery): string => {
  const claim = row.status === 'claimed' ? ` by ${row.claim.id}${row.claim.sendingAtMs ? ' marked' : ''}` : '';
  const reason = row.status === 'quarantined' || row.status === 'cancelled' ? ` (${row.reason})` : '';
  const parked = row.status === 'pending' && row.parking ? ` parked (${row.parking.reason})` : '';
  return `v${row.version} ${row.status}${reason}${parked}${claim}, attempts ${row.attempts}-${row.refunds}/${row.budget}`;
};

const lastLines = (before: Delivery, row: Delivery): string =>
  row.journal.lines
    .slice(before.journal.lines.length)
    .map(
      ({ entry }) =>
        ` +${entry.kind}${entry.attempt ? ` ${entry.attempt}` : ''}${entry.class ? ` ${entry.class}` : ''}`,
    )
    .join('');

export const textOf = (entry: LogEntry): string => {
  switch (entry.kind) {
    case 'read':
      return `reads ${rowText(entry.row)}`;
    case 'write':
      return `writes ${rowText(entry.row)}${lastLines(entry.before, entry.row)}`;
    case 'gate':
      return `sees the gate ${entry.paused ? 'paused' : 'not paused'}`;
    case 'other-write':
      return `writes ${entry.item.item} v${entry.item.version}`;
    case 'send':
      return 'calls the sender';
    case 'arrive':
      return `request arrives, ${entry.effect ? 'with effect' : 'no effect'}`;
    case 'answer':
      return `has the answer ${entry.text}`;
    case 'publish':
      return `publishes, delay ${entry.delaySec} s${entry.taken ? '' : ', not taken'}`;
    case 'verdict':
      return `ends: ${entry.acknowledged ? 'ack' : 'refused'} ${entry.note}`;
    case 'crash':
      return 'CRASHES';
    case 'jump':
      return `${entry.ms / 1_000} s pass`;
    case 'quiet':
      return '---- quiet phase ----';
  }
};

/** The log as a table: time in seconds since the start, who, what. */
export const tableOf = (log: readonly LogEntry[], startMs: number): string =>
  log
    .map(
      (entry) => `${((entry.atMs - startMs) / 1_000).toFixed(1).padStart(9)} s  ${entry.by.padEnd(8)} ${textOf(entry)}`,
    )
    .join('\n');
