/**
 * Items as tests need them: every status of a delivery, and every other kind, each sound as it comes and with any member
 * replaced by `overrides`. The journal fits the row's own identity and hash.
 */
import { createHash } from 'node:crypto';
import {
  type ClaimId,
  type DestinationId,
  type EventId,
  type IdResult,
  parseClaimId,
  parseDestinationId,
  parseEventId,
  parseRequestId,
  parseWriteId,
  type RequestId,
  type WriteId,
} from '../../functions/core/ids.ts';
import type {
  AcceptedEvent,
  Conflict,
  Destination,
  Gate,
  Heartbeat,
  NoticeRegister,
  Poison,
  PoisonMinute,
  SecretItem,
  Slot,
  Token,
  TokenRegister,
} from '../../functions/core/items.ts';
import { append, emptyJournal } from '../../functions/core/journal.ts';
import {
  ATTEMPTS_MAX,
  EXCERPT_BYTES_MAX,
  graceMsOf,
  ID_BYTES_MAX,
  JOURNAL_ENTRIES_MAX,
  JOURNAL_ENTRY_BYTES_MAX,
  KEY_LIFE_HOURS_DEFAULT,
  leaseMsOf,
  PARKED_LOOK_MS,
  POISON_KEPT_MS,
  SCHEDULE_SEC_DEFAULT,
  SWEEP_LEASE_MS,
  TIMEOUT_MS_DEFAULT,
} from '../../functions/core/limits.ts';
import type {
  Cancelled,
  Claim,
  Claimed,
  DecisionKind,
  Delivered,
  Entry,
  Life,
  Pending,
  Quarantined,
} from '../../functions/core/model.ts';
import type { Decided, Operation, OperationMessage } from '../../functions/core/operations.ts';

/** Noon of a Sunday, far from the ends of a day. */
export const T0_MS = Date.UTC(2026, 10, 29, 12);

const ok = <Id>(result: IdResult<Id>): Id => {
  if (result.kind === 'bad') throw new Error(`not an id for a test: it ${result.reason}`);
  return result.id;
};

export const eventIdOf = (text: string): EventId => ok(parseEventId(text));
export const destinationIdOf = (text: string): DestinationId => ok(parseDestinationId(text));
export const claimIdOf = (text: string): ClaimId => ok(parseClaimId(text));
export const writeIdOf = (text: string): WriteId => ok(parseWriteId(text));
export const requestIdOf = (text: string): RequestId => ok(parseRequestId(text));
export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('base64url');

const EVENT = eventIdOf('order-17');
const DESTINATION = destinationIdOf('partner');
const PAYLOAD = '{"order":17,"state":"paid"}';

// ---- deliveries ---------------------------------------------------------------------------------------------------

export const acceptedEntry = (overrides: Partial<Entry> = {}): Entry => ({
  kind: 'accepted',
  atMs: T0_MS,
  writeId: writeIdOf('w-accept'),
  cause: 'i:request-1',
  ...overrides,
});

export const claimedEntry = (overrides: Partial<Entry> = {}): Entry => ({
  kind: 'claimed',
  atMs: T0_MS + 1_000,
  writeId: writeIdOf('w-claim'),
  cause: 'p:message-1',
  attempt: 1,
  ...overrides,
});

export const outcomeEntry = (overrides: Partial<Entry> = {}): Entry => ({
  kind: 'outcome',
  atMs: T0_MS + 1_250,
  writeId: writeIdOf('w-settle'),
  cause: 'p:message-1',
  attempt: 1,
  class: 'delivered',
  status: 200,
  durationMs: 240,
  ...overrides,
});

type Overrides<T> = Partial<Omit<T, 'item' | 'status'>>;
type Identity = Partial<Pick<Life, 'event' | 'destination' | 'payloadHash'>>;

/** A life that has these entries behind it. */
const lifeOf = (identity: Identity, ...entries: readonly Entry[]): Life => {
  const ref = { event: identity.event ?? EVENT, destination: identity.destination ?? DESTINATION };
  const payloadHash = identity.payloadHash ?? sha256Of(PAYLOAD);
  return {
    item: 'delivery',
    ...ref,
    version: entries.length,
    acceptedAtMs: T0_MS,
    horizonFromMs: T0_MS,
    payloadHash,
    budget: 8,
    attempts: entries.filter(({ kind }) => kind === 'claimed').length,
    refunds: 0,
    redrives: 0,
    decisions: 0,
    doubt: 'none',
    graceMs: graceMsOf(TIMEOUT_MS_DEFAULT),
    sweeps: 0,
    journal: append(emptyJournal(ref, payloadHash), ...entries),
    carried: {},
  };
};

/** Accepted, due now, never tried. */
export const pendingRow = (overrides: Overrides<Pending> = {}): Pending => ({
  ...lifeOf(overrides, acceptedEntry()),
  status: 'pending',
  dueAtMs: T0_MS,
  lookAfterMs: T0_MS + graceMsOf(TIMEOUT_MS_DEFAULT),
  ...overrides,
});

/** Waiting for a paused destination. */
export const parkedRow = (overrides: Overrides<Pending> = {}): Pending =>
  pendingRow({
    version: 2,
    lookAfterMs: T0_MS + PARKED_LOOK_MS,
    parking: { reason: 'paused', sinceMs: T0_MS },
    waits: { count: 1, sinceMs: T0_MS, reason: 'paused' },
    ...overrides,
  });

/** Waiting for its own slot at a busy destination. */
export const deferredRow = (overrides: Overrides<Pending> = {}): Pending =>
  pendingRow({
    version: 2,
    deferral: { untilMs: T0_MS + 4_000, reason: 'rate', line: 3 },
    waits: { count: 1, sinceMs: T0_MS, reason: 'rate' },
    ...overrides,
  });

export const claimOf = (overrides: Partial<Claim> = {}): Claim => ({
  id: claimIdOf('claim-1'),
  holder: 'receiver-1',
  attempt: 1,
  startedAtMs: T0_MS + 1_000,
  leaseEndsAtMs: T0_MS + 1_000 + leaseMsOf(TIMEOUT_MS_DEFAULT),
  repeatSafe: true,
  ...overrides,
});

/** At its first attempt, begun one second after it was accepted. */
export const claimedRow = (overrides: Overrides<Claimed> = {}): Claimed => ({
  ...lifeOf(overrides, acceptedEntry(), claimedEntry()),
  status: 'claimed',
  claim: claimOf(),
  lookAfterMs: T0_MS + graceMsOf(TIMEOUT_MS_DEFAULT),
  ...overrides,
});

/** Delivered at the first attempt. */
export const deliveredRow = (overrides: Overrides<Delivered> = {}): Delivered => ({
  ...lifeOf(overrides, acceptedEntry(), claimedEntry(), outcomeEntry()),
  status: 'delivered',
  endedAtMs: T0_MS + 1_250,
  by: 'attempt',
  keyFromMs: T0_MS + 1_000,
  ...overrides,
});

const decisionEntry = (decision: DecisionKind): Entry => ({
  kind: 'decision',
  atMs: T0_MS + 2_000,
  writeId: writeIdOf('w-decide'),
  cause: 'a:request-2',
  decision,
});

/** Cancelled by a person before any attempt. */
export const cancelledRow = (overrides: Overrides<Cancelled> = {}): Cancelled => ({
  ...lifeOf(overrides, acceptedEntry(), decisionEntry('cancel')),
  status: 'cancelled',
  decisions: 1,
  endedAtMs: T0_MS + 2_000,
  reason: 'operator',
  ...overrides,
});

/** Refused by the destination for good, at the first attempt. */
export const quarantinedRow = (overrides: Overrides<Quarantined> = {}): Quarantined => ({
  ...lifeOf(overrides, acceptedEntry(), claimedEntry(), outcomeEntry({ class: 'rejected', status: 422 })),
  status: 'quarantined',
  keyFromMs: T0_MS + 1_000,
  endedAtMs: T0_MS + 1_250,
  reason: 'rejected',
  firstExcerpt: { attempt: 1, text: 'no such order' },
  latestExcerpt: { attempt: 1, text: 'no such order' },
  ...overrides,
});

/** As large as a delivery can get: the longest ids, every line of the journal at its bound, both excerpts full. */
export const fullRow = (): Quarantined => {
  const event = eventIdOf('\u00e9'.repeat(ID_BYTES_MAX / 2));
  const destination = destinationIdOf('d'.repeat(ID_BYTES_MAX));
  const longest = claimedEntry({
    attempt: ATTEMPTS_MAX,
    writeId: writeIdOf('w'.repeat(11)),
    cause: `p:${'m'.repeat(30)}`,
  });
  const room =
    JOURNAL_ENTRY_BYTES_MAX -
    Buffer.byteLength(append(emptyJournal({ event, destination }, ''), longest).lines[0]?.text ?? '');
  const full = { ...longest, writeId: writeIdOf('w'.repeat(11 + room)) };
  const excerpt = { attempt: ATTEMPTS_MAX, text: 'x'.repeat(EXCERPT_BYTES_MAX) };
  const identity = { event, destination, payloadHash: sha256Of(PAYLOAD) };
  return quarantinedRow({
    ...identity,
    version: JOURNAL_ENTRIES_MAX,
    journal: append(
      emptyJournal({ event, destination }, identity.payloadHash),
      ...Array.from({ length: JOURNAL_ENTRIES_MAX }, () => full),
    ),
    firstExcerpt: excerpt,
    latestExcerpt: excerpt,
  });
};

// ---- everything else ----------------------------------------------------------------------------------------------

export const eventItem = (overrides: Partial<AcceptedEvent> = {}): AcceptedEvent => ({
  item: 'event',
  version: 1,
  event: EVENT,
  payload: new TextEncoder().encode(PAYLOAD),
  contentType: 'application/json',
  fingerprint: sha256Of(`canonical ${PAYLOAD}`),
  payloadHash: sha256Of(PAYLOAD),
  destinations: [DESTINATION],
  acceptedAtMs: T0_MS,
  source: 'api',
  carried: {},
  ...overrides,
});

export const conflictItem = (overrides: Partial<Conflict> = {}): Conflict => ({
  item: 'conflict',
  version: 1,
  event: EVENT,
  n: 0,
  fingerprint: sha256Of('other content'),
  destinations: [DESTINATION],
  seenAtMs: T0_MS + 5_000,
  source: 'queue',
  carried: {},
  ...overrides,
});

export const destinationItem = (overrides: Partial<Destination> = {}): Destination => ({
  item: 'destination',
  version: 1,
  destination: DESTINATION,
  url: 'https://partner.example/hook',
  repeatSafe: true,
  keyLifeHours: KEY_LIFE_HOURS_DEFAULT,
  scheduleSec: SCHEDULE_SEC_DEFAULT,
  timeoutMs: TIMEOUT_MS_DEFAULT,
  rejectOn: [],
  headers: {},
  acceptFromQueue: false,
  mode: 'live',
  createdAtMs: T0_MS,
  updatedAtMs: T0_MS,
  carried: {},
  ...overrides,
});

export const gateItem = (overrides: Partial<Gate> = {}): Gate => ({
  item: 'gate',
  version: 1,
  destination: DESTINATION,
  carried: {},
  ...overrides,
});

/** Free, as one that was taken before. */
export const slotItem = (overrides: Partial<Slot> = {}): Slot => ({
  item: 'slot',
  version: 1,
  destination: DESTINATION,
  n: 0,
  leaseEndsAtMs: T0_MS + leaseMsOf(TIMEOUT_MS_DEFAULT),
  carried: {},
  ...overrides,
});

export const secretItem = (overrides: Partial<SecretItem> = {}): SecretItem => ({
  item: 'secret',
  version: 1,
  destination: DESTINATION,
  secrets: [`whsec_${Buffer.alloc(32, 7).toString('base64')}`],
  updatedAtMs: T0_MS,
  carried: {},
  ...overrides,
});

export const tokenItem = (overrides: Partial<Token> = {}): Token => ({
  item: 'token',
  version: 1,
  hash: sha256Of('a token'),
  name: 'ops',
  rights: ['view', 'pause'],
  createdAtMs: T0_MS,
  carried: {},
  ...overrides,
});

export const tokenRegisterItem = (overrides: Partial<TokenRegister> = {}): TokenRegister => ({
  item: 'token-register',
  version: 1,
  tokens: [{ name: 'ops', hash: sha256Of('a token'), request: requestIdOf('request-1') }],
  carried: {},
  ...overrides,
});

export const noticeRegisterItem = (overrides: Partial<NoticeRegister> = {}): NoticeRegister => ({
  item: 'notice-register',
  version: 1,
  destinations: [destinationIdOf('ops')],
  carried: {},
  ...overrides,
});

export const poisonItem = (overrides: Partial<Poison> = {}): Poison => ({
  item: 'poison',
  version: 1,
  id: 'message:m-1',
  reason: 'not JSON',
  excerpt: new TextEncoder().encode('{"kind": deliver}'),
  hash: sha256Of('{"kind": deliver}'),
  bytes: 17,
  seenAtMs: T0_MS,
  expiresAtSec: (T0_MS + POISON_KEPT_MS) / 1_000,
  carried: {},
  ...overrides,
});

export const poisonMinuteItem = (overrides: Partial<PoisonMinute> = {}): PoisonMinute => ({
  item: 'poison-minute',
  version: 1,
  minute: T0_MS / 60_000,
  count: 3,
  expiresAtSec: T0_MS / 1_000 + 3_600,
  carried: {},
  ...overrides,
});

export const heartbeatItem = (overrides: Partial<Heartbeat> = {}): Heartbeat => ({
  item: 'heartbeat',
  version: 1,
  shard: 2,
  holder: 'sweep-1',
  leaseEndsAtMs: T0_MS + SWEEP_LEASE_MS,
  passAtMs: T0_MS,
  largestOverdueMs: 0,
  looked: 0,
  published: 0,
  moved: 0,
  carried: {},
  ...overrides,
});

export const decisionItem = (overrides: Partial<Decided> = {}): Decided => ({
  item: 'decision',
  version: 1,
  request: requestIdOf('request-2'),
  command: 'pause',
  fingerprint: sha256Of('pause partner'),
  actor: 'ops',
  reason: 'their maintenance',
  before: 'active',
  decidedAtMs: T0_MS,
  carried: {},
  ...overrides,
});

/** Planned over a small dead-letter queue, not run. */
export const operationItem = (overrides: Partial<Operation> = {}): Operation => ({
  item: 'operation',
  version: 1,
  operation: 'op-1',
  source: 'dead-letters',
  limit: 500,
  recoveryMinutes: 30,
  stopAbove: 0.5,
  acceptSecondEffect: false,
  actor: 'ops',
  why: 'they are back',
  state: 'planned',
  createdAtMs: T0_MS,
  estimateMs: 60_000,
  found: { redrive: 2, drop: 1 },
  nextToAct: 0,
  nextToJudge: 0,
  messages: 3,
  turn: 0,
  batch: 0,
  carried: {},
  ...overrides,
});

export const operationMessageItem = (overrides: Partial<OperationMessage> = {}): OperationMessage => ({
  item: 'operation-message',
  version: 1,
  operation: 'op-1',
  position: 0,
  finding: 'redrive',
  detail: 'waits for a message',
  carried: {},
  ...overrides,
});
