/** `onceward audit verify | decisions | export` */
import { type Command, InvalidArgumentError } from 'commander';
import { auditRow } from '../../../core/audit.ts';
import { fileBytes } from '../file.ts';
import { counted, heading } from '../print.ts';
import type { Shell } from '../shell.ts';
import { FAILED, Stop, USAGE } from '../stop.ts';
import { type Common, looking } from '../verb.ts';
import { lines, said, visibleJson } from '../visible.ts';
import { addDecisions } from './audit-decisions.ts';
import { type Heads, noHeads, readHeads } from './audit-heads.ts';
import { type AuditScope, auditStream, mustBeThere, type Seen } from './audit-stream.ts';

interface Options extends Common {
  readonly destination?: string;
  readonly since?: string;
  readonly until?: string;
}

interface VerifyOptions extends Options {
  readonly heads?: string;
}

export const addAudit = (program: Command, shell: Shell): void => {
  const noun = program.command('audit').description('was anything altered behind the back of the product?');
  scoped(looking(noun, 'verify [event] [destination]', 'check chains, and replay each journal against its row'))
    .option('--heads <file>', 'log lines with heads (JSON, one a line): whatever was altered since does not match them')
    .action((event: string | undefined, destination: string | undefined, options: VerifyOptions) =>
      verify(shell, scopeOf(event, destination, options), options),
    );
  addDecisions(noun, shell);
  scoped(
    looking(noun, 'export [event] [destination]', 'the raw material, one delivery a line, to keep or to check'),
  ).action((event: string | undefined, destination: string | undefined, options: Options) =>
    exportAll(shell, scopeOf(event, destination, options)),
  );
};

const scoped = (command: Command): Command =>
  command
    .option('--destination <id>', 'all deliveries of one destination (without an event: of all destinations)')
    .option('--since <day>', 'accepted on this UTC day or later, such as 2026-01-31 (default: the last 30 days)', dayOf)
    .option('--until <day>', 'accepted on this UTC day or earlier (default: today)', dayOf);

const dayOf = (text: string): string => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(new Date(`${text}T00:00:00Z`).getTime())) {
    throw new InvalidArgumentError('It must be a day, such as 2026-01-31.');
  }
  return text;
};

const scopeOf = (event: string | undefined, named: string | undefined, options: Options): AuditScope => {
  const { since, until } = options;
  const destination = named ?? options.destination;
  if (event === undefined) {
    return {
      ...(destination === undefined ? {} : { destination }),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    };
  }
  if (since !== undefined || until !== undefined)
    throw new Stop(USAGE, 'an event is one: --since and --until have no use');
  return { event, ...(destination === undefined ? {} : { destination }) };
};

const exportAll = async (shell: Shell, scope: AuditScope): Promise<void> => {
  let deliveries = 0;
  for await (const seen of auditStream(shell, scope)) {
    deliveries += 1;
    shell.out(`${visibleJson(seen)}\n`);
  }
  if (deliveries === 0) await mustBeThere(shell, scope);
};

interface Tally {
  deliveries: number;
  entries: number;
  faulty: number;
}

/** Each finding is printed when it is met: an audit of everything may take long. */
const verify = async (shell: Shell, scope: AuditScope, options: VerifyOptions): Promise<void> => {
  const heads = options.heads === undefined ? noHeads() : readHeads(await fileBytes(shell, options.heads));
  const tally: Tally = { deliveries: 0, entries: 0, faulty: 0 };
  for await (const seen of auditStream(shell, scope)) judge(shell, options, heads, seen, tally);
  await judgeUnseen(shell, options, heads, scope, tally);
  if (tally.deliveries === 0) await mustBeThere(shell, scope);
  const { deliveries, entries, faulty } = tally;
  const checked = heads.count === 0 ? {} : { heads: heads.count };
  if (options.json === true) shell.out(`${visibleJson({ summary: { deliveries, entries, faulty, ...checked } })}\n`);
  else {
    const against = heads.count === 0 ? '' : `, held against ${counted(heads.count, 'head')} of the log`;
    shell.out(
      `${said`${counted(deliveries, 'delivery', 'deliveries')}, ${counted(entries, 'journal entry', 'journal entries')}${against}: ${faulty === 0 ? 'nothing was altered that the journal speaks of' : otherwise(faulty)}.`}\n`,
    );
  }
  if (faulty > 0)
    throw new Stop(FAILED, `of ${counted(deliveries, 'delivery', 'deliveries')}, ${otherwise(faulty)}`, {
      code: 'altered',
      faulty,
    });
};

const otherwise = (faulty: number): string =>
  faulty === 1 ? '1 is not as its journal says' : `${faulty} are not as their journal says`;

const judge = (shell: Shell, options: Common, heads: Heads, seen: Seen, tally: Tally): void => {
  tally.deliveries += 1;
  const kept = heads.of(seen.event, seen.destination);
  const faults = 'fault' in seen ? [{ kind: 'unreadable', says: FAULTS[seen.fault] }] : auditRow(seen, kept);
  if (!('fault' in seen)) tally.entries += seen.lines.length;
  if (faults.length === 0) return;
  tally.faulty += 1;
  const { event, destination } = seen;
  if (options.json === true) shell.out(`${visibleJson({ event, destination, faults })}\n`);
  else {
    shell.out(
      `${lines(heading(shell, `delivery of ${event} to ${destination}`), ...faults.map(({ kind, says }) => said`  ${kind}: ${says}`))}\n`,
    );
  }
};

const FAULTS = {
  missing: 'it should be there, and is not',
  'written-by-newer-code': 'written by newer code: this version cannot judge it',
  'ledger-corrupt': 'the item is broken: no writer of ours can have made it so',
} as const;

/** What the log knows of and the stream has not met: it was removed, index entry and all, or is of another time. */
const judgeUnseen = async (
  shell: Shell,
  options: Common,
  heads: Heads,
  scope: AuditScope,
  tally: Tally,
): Promise<void> => {
  for (const { event, destination } of heads.unseen()) {
    if (scope.event !== undefined && scope.event !== event) continue;
    if (scope.destination !== undefined && scope.destination !== destination) continue;
    let met = false;
    try {
      for await (const seen of auditStream(shell, { event, destination })) {
        met = true;
        judge(shell, options, heads, seen, tally);
      }
    } catch (error) {
      if (!(error instanceof Stop) || error.problem['code'] !== 'not-found') throw error;
    }
    if (!met) judge(shell, options, heads, { event, destination, fault: 'missing' }, tally);
  }
};
