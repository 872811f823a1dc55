/**
 * The merged log of one history: three logs that know nothing of each other, in the one order in which things happened.
 *
 *   ledger       every write that took effect, with what stood there before
 *   queue        what was published, pushed, answered, buried
 *   destination  what arrived there, and what came of it
 *
 * Beside them what people asked for and were told. Judges read this, and never a counter of the product.
 */
import type { Item } from '../../functions/core/items.ts';
import type { Delivery } from '../../functions/core/model.ts';
import type { FaultName } from './fault-classes.ts';
import type { Deed } from './plan.ts';

export type Happening =
  // ---- ledger
  | { readonly kind: 'write'; readonly name: string; readonly before: Item | undefined; readonly item: Item }
  /** Somebody was shown this row, by a load or by a refused write. */
  | { readonly kind: 'read'; readonly row: Delivery }
  /** Somebody was shown settings and gate of a destination. */
  | { readonly kind: 'look'; readonly destination: string }
  /** Somebody was given a slot of a destination's pace. */
  | { readonly kind: 'slot'; readonly destination: string; readonly line: string; readonly slotMs: number }
  // ---- queue
  | {
      readonly kind: 'publish';
      readonly key: string;
      readonly body: string;
      readonly delaySec: number;
      readonly taken: boolean;
    }
  | { readonly kind: 'push'; readonly messageId: string; readonly body: string; readonly authentic: boolean }
  /** The receiver's answer, at the moment it gives it. */
  | { readonly kind: 'verdict'; readonly status: number; readonly note: string }
  | {
      readonly kind: 'letter';
      readonly done: 'redriven' | 'discarded';
      readonly messageId: string;
      readonly body: string;
    }
  // ---- destination
  /** The worker has called the sender: there is no way back for it. */
  | {
      readonly kind: 'send';
      readonly url: string;
      readonly key: string;
      /** On the clock of the worker. */
      readonly clockMs: number;
      readonly deadlineMs: number;
    }
  | { readonly kind: 'connect'; readonly address: string }
  | {
      readonly kind: 'arrive';
      readonly destination: string;
      readonly key: string;
      readonly body: string;
      readonly effect: boolean;
      readonly status: number | undefined;
      /** What is wrong with its headers, if something is. */
      readonly fault: string | undefined;
    }
  /** The worker has the answer. */
  | {
      readonly kind: 'answer';
      readonly status: number | undefined;
      readonly text: string;
      readonly retryAfter: readonly string[];
      readonly clockMs: number;
    }
  // ---- people
  | {
      readonly kind: 'submitted';
      readonly event: string;
      readonly via: 'api' | 'queue';
      readonly sense: 'first' | 'again' | 'conflict';
    }
  /** `accepted`: the 202 of an event, or a publish of a whole event that the queue has taken. */
  | {
      readonly kind: 'told';
      readonly event: string;
      readonly via: 'api' | 'queue';
      readonly sense: 'first' | 'again' | 'conflict';
      readonly what: string;
    }
  | { readonly kind: 'asked'; readonly request: string; readonly deed: Deed }
  | { readonly kind: 'decided'; readonly request: string; readonly what: string }
  // ---- the world
  | { readonly kind: 'fault'; readonly fault: FaultName; readonly where: string }
  | { readonly kind: 'crash' }
  | { readonly kind: 'froze'; readonly ms: number }
  | { readonly kind: 'bug'; readonly text: string }
  | { readonly kind: 'quiet' };

export type LogEntry = Happening & {
  /** The place in the log: order is what counts, not time. */
  readonly at: number;
  /** True time. */
  readonly atMs: number;
  readonly by: string;
  /** What the worker's message was about, if it was about a delivery: `event destination`. */
  readonly about: string | undefined;
  /** How far the clock of whoever did it is ahead of true time. */
  readonly skewMs: number;
  /** By newer code, that runs beside ours. */
  readonly newer: boolean;
};

export type EntryOf<K extends Happening['kind']> = Extract<LogEntry, { kind: K }>;

const rowText = (row: Delivery): string => {
  const claim = row.status === 'claimed' ? ` by ${row.claim.id}${row.claim.sendingAtMs ? ' marked' : ''}` : '';
  const reason = row.status === 'quarantined' || row.status === 'cancelled' ? ` (${row.reason})` : '';
  const parked = row.status === 'pending' && row.parking ? ` parked (${row.parking.reason})` : '';
  const deferred = row.status === 'pending' && row.deferral ? ` deferred (${row.deferral.reason})` : '';
  const doubt = row.doubt === 'none' ? '' : ` doubt ${row.doubt}`;
  return `v${row.version} ${row.status}${reason}${parked}${deferred}${claim}, attempts ${row.attempts}-${row.refunds}/${row.budget}${doubt}`;
};

const linesText = (before: Item | undefined, row: Delivery): string =>
  row.journal.lines
    .slice(before?.item === 'delivery' ? before.journal.lines.length : 0)
    .map(({ entry }) => {
      const detail = entry.class ?? entry.decision ?? '';
      return ` +${entry.kind}${entry.attempt ? ` ${entry.attempt}` : ''}${detail ? ` ${detail}` : ''}${entry.status ? ` ${entry.status}` : ''}`;
    })
    .join('');

const deedText = (deed: Deed): string =>
  Object.entries(deed)
    .map(([name, value]) => (name === 'do' ? String(value) : `${name} ${JSON.stringify(value)}`))
    .join(', ');

const itemText = (before: Item | undefined, item: Item): string => {
  switch (item.item) {
    case 'delivery':
      return `${item.event} to ${item.destination}: ${rowText(item)}${linesText(before, item)}`;
    case 'gate': {
      const { pause, closedUntilMs, failures, crowdedUntilMs } = item;
      return `gate of ${item.destination} v${item.version}${pause ? ` paused by ${pause.by}` : ''}${closedUntilMs ? ' closed' : ''}${failures ? ` failures ${failures.count}` : ''}${crowdedUntilMs ? ' crowded' : ''}`;
    }
    case 'slot':
      return `slot ${item.n} of ${item.destination}: ${item.holder ?? 'free'}`;
    case 'decision':
      return `decision ${item.request} ${item.command}${item.result ? `: ${item.result}` : ''}`;
    case 'operation-message':
      return `message ${item.position} of its operation: ${item.finding} ${item.action ?? ''} ${item.result ?? ''}`;
    case 'operation':
      return `operation v${item.version} ${item.state}, turn ${item.turn}`;
    default:
      return `${item.item} v${item.version}`;
  }
};

/** One line, for people and for the hash of the trace: whatever differs between two runs differs here. */
export const textOf = (entry: LogEntry): string => {
  switch (entry.kind) {
    case 'write':
      return `writes ${itemText(entry.before, entry.item)}`;
    case 'read':
      return `sees ${rowText(entry.row)}`;
    case 'look':
      return `looks at the gate of ${entry.destination}`;
    case 'slot':
      return `is given a slot of ${entry.destination}, ${entry.line}: ${entry.slotMs}`;
    case 'publish':
      return `publishes ${entry.body} in ${entry.delaySec} s${entry.taken ? '' : ', not taken'}`;
    case 'push':
      return `is pushed ${entry.messageId} ${entry.body}${entry.authentic ? '' : ', not authentic'}`;
    case 'verdict':
      return `answers ${entry.status} ${entry.note}`;
    case 'letter':
      return `${entry.done} ${entry.messageId}`;
    case 'send':
      return 'calls the sender';
    case 'connect':
      return `connects to ${entry.address}`;
    case 'arrive':
      return `ARRIVES at ${entry.destination}: ${entry.effect ? 'with effect' : 'no effect'}, ${entry.status ?? 'no answer'}${entry.fault ? `, ${entry.fault}` : ''}`;
    case 'answer':
      return `has the answer ${entry.text}`;
    case 'submitted':
      return `submits ${entry.event} (${entry.sense}) by ${entry.via}`;
    case 'told':
      return `is told of ${entry.event} (${entry.sense}): ${entry.what}`;
    case 'asked':
      return `asks ${entry.request}: ${deedText(entry.deed)}`;
    case 'decided':
      return `is told of ${entry.request}: ${entry.what}`;
    case 'fault':
      return `-- ${entry.fault} at ${entry.where}`;
    case 'crash':
      return 'DIES';
    case 'froze':
      return `stands still for ${(entry.ms / 1_000).toFixed(1)} s`;
    case 'bug':
      return `THREW ${entry.text}`;
    case 'quiet':
      return '---- from here on nothing goes wrong ----';
  }
};

/** The log as a table: time in seconds since the start, who, what. Reads are left out unless they are asked for. */
export const tableOf = (log: readonly LogEntry[], startMs: number, reads = false): string =>
  log
    .filter(({ kind }) => reads || (kind !== 'read' && kind !== 'look'))
    .map(
      (entry) =>
        `${((entry.atMs - startMs) / 1_000).toFixed(2).padStart(10)} s  ${entry.by.padEnd(6)} ${textOf(entry)}`,
    )
    .join('\n');

/** 64 bits over the whole log, in two halves; the same in every process and on every Node. */
export class TraceHash {
  #a = 0x811c_9dc5;
  #b = 0x1b87_3593;

  add(text: string): void {
    let a = this.#a;
    let b = this.#b;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      a = Math.imul(a ^ code, 0x0100_0193);
      b = Math.imul(b ^ code, 0x85eb_ca6b) ^ (b >>> 15);
    }
    this.#a = a;
    this.#b = b;
  }

  text(): string {
    return [this.#a, this.#b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }
}

export const traceHashOf = (log: readonly LogEntry[]): string => {
  const hash = new TraceHash();
  for (const entry of log) {
    if (entry.kind === 'read' || entry.kind === 'look') continue;
    hash.add(`${entry.atMs} ${entry.by} ${textOf(entry)}`);
  }
  return hash.text();
};
