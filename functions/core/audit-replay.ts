/**
 * The row as its journal says it must be. The journal does not say everything (waiting writes no entry), so a replay ends
 * in what is allowed: a set of states, and exact counts.
 */
import type { AuditMaterial, Fault } from './audit-material.ts';
import { REFUNDS_MAX } from './limits.ts';
import type { Entry, Status } from './model.ts';

/** What may stand in the row; a reason or a proof that is undefined is not decided by the journal. */
interface Allowed {
  readonly statuses: readonly Status[];
  readonly reasons?: readonly string[];
  readonly by?: string;
}

export const replayed = (row: AuditMaterial, entries: readonly Entry[]): readonly Fault[] => [
  ...orderFaults(entries),
  ...statusFaults(row, stateAfter(entries)),
  ...countFaults(row, entries),
  ...budgetFaults(row, entries),
];

// ---- order --------------------------------------------------------------------------------------------------------

const order = (says: string): Fault => ({ kind: 'order', says });

const orderFaults = (entries: readonly Entry[]): readonly Fault[] => {
  const faults: Fault[] = [];
  if (entries[0]?.kind !== 'accepted') faults.push(order('the journal does not begin with the acceptance'));
  if (entries.filter(({ kind }) => kind === 'accepted').length > 1) faults.push(order('it was accepted twice'));
  const claims = entries.filter(({ kind }) => kind === 'claimed').map(({ attempt }) => attempt);
  if (claims.some((attempt, index) => attempt !== index + 1)) {
    faults.push(order(`attempts are claimed as ${claims.join(', ')}, and not from 1 without a gap`));
  }
  for (const kind of ['outcome', 'late-outcome'] as const) {
    const attempts = entries.filter((entry) => entry.kind === kind).map(({ attempt }) => attempt);
    if (new Set(attempts).size < attempts.length) faults.push(order(`an attempt has two entries "${kind}"`));
  }
  return [...faults, ...unclaimed(entries)];
};

const unclaimed = (entries: readonly Entry[]): readonly Fault[] => {
  const claimed = new Set<number | undefined>();
  const faults: Fault[] = [];
  for (const { kind, attempt } of entries) {
    if (kind === 'claimed') claimed.add(attempt);
    const isOutcome = kind === 'outcome' || kind === 'late-outcome';
    if (isOutcome && !claimed.has(attempt)) faults.push(order(`attempt ${attempt} has an outcome before its claim`));
  }
  return faults;
};

// ---- status -------------------------------------------------------------------------------------------------------

const HELD: readonly Status[] = ['quarantined'];

const stateAfter = (entries: readonly Entry[]): Allowed =>
  entries.reduce<Allowed>((state, entry) => after(state, entry), { statuses: ['pending'] });

const after = (state: Allowed, entry: Entry): Allowed => {
  switch (entry.kind) {
    case 'accepted':
    case 'redriven':
      return { statuses: ['pending'] };
    case 'claimed':
      return { statuses: ['claimed'] };
    case 'outcome':
      return afterOutcome(entry);
    case 'late-outcome':
      // It changes nothing, save that a late success ends what is not over.
      return entry.class === 'delivered' && !isOver(state) ? { statuses: ['delivered'], by: 'late-outcome' } : state;
    case 'decision':
      return afterDecision(entry);
  }
};

const isOver = ({ statuses }: Allowed): boolean => statuses.every((one) => one === 'delivered' || one === 'cancelled');

const afterOutcome = ({ class: outcome, nextAtMs, cause }: Entry): Allowed => {
  if (outcome === 'delivered') return { statuses: ['delivered'], by: 'attempt' };
  if (nextAtMs !== undefined) return { statuses: ['pending'] };
  // Its claim had lapsed, and somebody else has closed it: to be parked, deferred or held, where no other entry follows.
  if (cause !== undefined) return { statuses: ['pending', 'quarantined'] };
  if (outcome === 'gone' || outcome === 'rejected') return { statuses: HELD, reasons: [outcome] };
  return { statuses: HELD, reasons: ['budget', 'horizon', 'key-expired', 'in-doubt', 'blocked'] };
};

const afterDecision = ({ decision, detail }: Entry): Allowed => {
  switch (decision) {
    case 'cancel':
      return { statuses: ['cancelled'], reasons: ['operator'] };
    case 'resolve-delivered':
      return { statuses: ['delivered'], by: 'decision' };
    case 'resolve-not-delivered':
      return { statuses: ['pending', 'quarantined'], reasons: ['budget'] };
    case 'refuse':
      if (detail === 'shadow') return { statuses: ['cancelled'], reasons: ['shadow'] };
      return { statuses: HELD, ...(detail === undefined ? {} : { reasons: [detail] }) };
    default:
      return { statuses: [] };
  }
};

const statusFaults = ({ status, reason, by }: AuditMaterial, allowed: Allowed): readonly Fault[] => {
  if (!allowed.statuses.includes(status)) {
    const says = `it is ${status}, and by its journal it is ${allowed.statuses.join(' or ') || 'nothing that exists'}`;
    return [{ kind: 'status', says }];
  }
  const needsReason = status === 'quarantined' || status === 'cancelled';
  if (needsReason && allowed.reasons !== undefined && !allowed.reasons.includes(reason ?? '')) {
    return [
      { kind: 'status', says: `it is ${status} as ${reason}, and by its journal as ${allowed.reasons.join(' or ')}` },
    ];
  }
  if (status === 'delivered' && allowed.by !== undefined && allowed.by !== by) {
    return [{ kind: 'status', says: `it is delivered by ${by}, and by its journal by ${allowed.by}` }];
  }
  return [];
};

// ---- counts and budget --------------------------------------------------------------------------------------------

const countFaults = (row: AuditMaterial, entries: readonly Entry[]): readonly Fault[] => {
  const count = (fits: (entry: Entry) => boolean): number => entries.filter(fits).length;
  const gaveBack = ({ kind, class: outcome }: Entry): boolean =>
    kind === 'outcome' && (outcome === 'withheld' || outcome === 'abandoned');
  const expected = {
    attempts: count(({ kind }) => kind === 'claimed'),
    refunds: Math.min(count(gaveBack), REFUNDS_MAX),
    redrives: count(({ kind }) => kind === 'redriven'),
    decisions: count(({ kind, decision }) => kind === 'decision' && decision !== 'refuse'),
  };
  const names = ['attempts', 'refunds', 'redrives', 'decisions'] as const;
  return names
    .filter((name) => row[name] !== expected[name])
    .map((name) => ({ kind: 'count', says: `it counts ${row[name]} ${name}, and its journal ${expected[name]}` }));
};

/** The acceptance says with how many attempts it began; one that was written by older code does not. */
const budgetFaults = ({ budget }: AuditMaterial, entries: readonly Entry[]): readonly Fault[] => {
  const [accepted] = entries;
  if (accepted?.kind !== 'accepted' || accepted.grant === undefined) return [];
  const granted = entries.reduce((sum, { kind, grant = 0 }) => sum + (kind === 'redriven' ? grant : 0), accepted.grant);
  if (granted === budget) return [];
  return [{ kind: 'budget', says: `its budget is ${budget}, and by its journal ${granted}` }];
};
