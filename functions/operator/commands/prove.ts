/** What a destination does with a key that comes again, learnt by a drill. On record: who had it run, and why. */
import type { DrillWish } from '../../core/drill.ts';
import { readingOf } from '../../core/drill-reading.ts';
import type { Destination, Gate, Pause } from '../../core/items.ts';
import { FUNCTION_MS, SKEW_MARGIN_MS } from '../../core/limits.ts';
import { type Found, LedgerCorrupt, PortUnavailable, type World } from '../../ports.ts';
import { signingSecrets } from '../../steps/signing.ts';
import { DONE, decideOnce, type Ready } from './decide.ts';
import { showDestination } from './destinations.ts';
import { type DestinationAsked, gateStateOf } from './pause.ts';
import { type PartDone, runDrill } from './run-drill.ts';

type Needs = Pick<World, 'ledger' | 'sender' | 'secrets' | 'clock' | 'dice' | 'telemetry'>;

export interface ProveAsked extends DestinationAsked {
  readonly wish: DrillWish;
  /** A mend may be proved before the destination is let go again. */
  readonly evenIfPaused: boolean;
}

type Refused =
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' }
  | { readonly kind: 'paused'; readonly pause: Pause }
  /** It has asked for time itself. */
  | { readonly kind: 'closed'; readonly untilMs: number }
  /** Nothing is ever sent there. */
  | { readonly kind: 'shadow' }
  | { readonly kind: 'no-secret' }
  /** An earlier call of this request is at it; its answer goes to that one. */
  | { readonly kind: 'running'; readonly sinceMs: number };

export type Proved =
  | { readonly kind: 'done'; readonly config: Destination; readonly atMs: number; readonly parts: readonly PartDone[] }
  /** This request has run its drill before. What it saw was in that answer only. */
  | { readonly kind: 'over'; readonly decidedAtMs: number }
  | { readonly kind: 'reused' }
  | Refused;

/** Whoever has recorded a drill is at it no longer than this, by whatever clock. */
const RUN_MS_MAX = FUNCTION_MS + SKEW_MARGIN_MS;

export const prove = async (world: Needs, asked: ProveAsked): Promise<Proved> => {
  const { wish, evenIfPaused, ...said } = asked;
  let ran: Extract<Proved, { kind: 'done' }> | undefined;
  const once = await decideOnce<Refused>(
    world,
    { ...said, command: 'prove', more: [wish.parts.join(' '), wish.burst, evenIfPaused] },
    {
      look: () => look(world, asked),
      // Run again after a failure, it is another drill, under other keys.
      act: async ({ decidedAtMs }, isNew) => {
        if (!isNew && world.clock.nowMs() < decidedAtMs + RUN_MS_MAX) return { kind: 'running', sinceMs: decidedAtMs };
        const looked = await lookFor(world, asked);
        if (looked.kind !== 'fit') return looked;
        const { config } = looked;
        const atMs = world.clock.nowMs();
        const secrets = await signingSecrets(world, asked.destination);
        const parts = await runDrill(world, config, secrets, wish, () => isStill(world, asked, config));
        ran = { kind: 'done', config, atMs, parts };
        return DONE;
      },
    },
  );
  if (once.kind !== 'decided') return once;
  if (ran === undefined) return { kind: 'over', decidedAtMs: once.decision.decidedAtMs };
  tell(world, asked, ran);
  return ran;
};

type Fit = { readonly kind: 'fit'; readonly config: Destination; readonly before: string };

const look = async (world: Needs, asked: ProveAsked): Promise<Ready | Refused> => {
  const looked = await lookFor(world, asked);
  return looked.kind === 'fit' ? { kind: 'ready', before: looked.before } : looked;
};

const lookFor = async (world: Needs, { destination, evenIfPaused }: ProveAsked): Promise<Fit | Refused> => {
  const shown = await showDestination(world, destination);
  if (shown.kind !== 'found') return shown;
  const { config, gate } = shown;
  if (gate.kind === 'later') return { kind: 'newer' };
  const nowMs = world.clock.nowMs();
  const shut = config.mode === 'shadow' ? ({ kind: 'shadow' } as const) : shutBy(gate, evenIfPaused, nowMs);
  if (shut !== undefined) return shut;
  if ((await signingSecrets(world, destination)).length === 0) return { kind: 'no-secret' };
  return { kind: 'fit', config, before: `${gateStateOf(gate, nowMs)}, repeatSafe ${config.repeatSafe}` };
};

/** Whoever pauses it in the middle is obeyed before the next part. What was seen until then is worth keeping. */
const isStill = async (world: Needs, asked: ProveAsked, { version }: Destination): Promise<boolean> => {
  try {
    const looked = await lookFor(world, asked);
    return looked.kind === 'fit' && looked.config.version === version;
  } catch (error) {
    if (!(error instanceof PortUnavailable) && !(error instanceof LedgerCorrupt)) throw error;
    return false;
  }
};

const shutBy = (gate: Found<Gate>, evenIfPaused: boolean, nowMs: number): Refused | undefined => {
  if (gate.kind !== 'found') return undefined;
  const { pause, closedUntilMs = 0 } = gate.item;
  // Whatever a person wishes: it has said itself that it wants no requests.
  if (closedUntilMs > nowMs) return { kind: 'closed', untilMs: closedUntilMs };
  return pause === undefined || evenIfPaused ? undefined : { kind: 'paused', pause };
};

const tell = (
  { telemetry }: Needs,
  { destination, actor, request }: ProveAsked,
  { parts }: Extract<Proved, { kind: 'done' }>,
): void => {
  const readings = parts.map((part) => `${part.part} ${readingOf(part)}`).join(', ');
  telemetry.line('destination.proved', { destination, request, actor, readings });
};
