/** Pause and resume of a destination, by a person. */
import { paused } from '../../core/breaker.ts';
import { decidedBy, hasDecided } from '../../core/decision.ts';
import type { DestinationId, RequestId } from '../../core/ids.ts';
import type { Destination, Gate, Pause } from '../../core/items.ts';
import type { Decided } from '../../core/operations.ts';
import { type Found, PortUnavailable, type World } from '../../ports.ts';
import { swapGate } from '../../steps/gate.ts';
import { resume } from '../../steps/resume.ts';
import { DONE, decideOnce, type Ready } from './decide.ts';
import { showDestination } from './destinations.ts';

type Needs = Pick<World, 'ledger' | 'queue' | 'clock' | 'dice' | 'telemetry'>;

export interface DestinationAsked {
  readonly request: RequestId;
  readonly actor: string;
  readonly reason: string;
  readonly destination: DestinationId;
}

type Refused =
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' }
  /** A person has paused it before: that pause stands, with its reason. */
  | { readonly kind: 'paused'; readonly pause: Pause };

export type GateDecided =
  | { readonly kind: 'done'; readonly config: Destination; readonly gate: Found<Gate> }
  | { readonly kind: 'reused' }
  | Refused;

/** Refused where a person has paused it before: the first pause stands, with its reason. */
export const pauseDestination = (world: Needs, asked: DestinationAsked): Promise<GateDecided> =>
  decideGate(world, 'pause', asked, async ({ actor: by, reason, decidedAtMs: sinceMs, request }) => {
    await swapGate(world, asked.destination, (gate) => {
      if (hasDecided(gate, request)) return undefined;
      const next = paused(gate, { by, reason, sinceMs });
      return next && decidedBy(next, request);
    });
  });

/** Opens the gate and lets go what is parked, at the destination's rate. */
export const resumeDestination = (world: Needs, asked: DestinationAsked): Promise<GateDecided> =>
  decideGate(world, 'resume', asked, async ({ decidedAtMs, request }) => {
    const enqueued = await resume(world, asked.destination, decidedAtMs, request);
    if (!enqueued) throw new PortUnavailable('queue', 'the drain of what is parked could not be enqueued');
  });

const decideGate = async (
  world: Needs,
  command: 'pause' | 'resume',
  asked: DestinationAsked,
  change: (decision: Decided) => Promise<void>,
): Promise<GateDecided> => {
  const once = await decideOnce<Refused>(
    world,
    { ...asked, command, more: [] },
    {
      look: () => look(world, command, asked.destination),
      act: async (decision) => {
        await change(decision);
        return DONE;
      },
    },
  );
  if (once.kind !== 'decided') return once;
  const shown = await showDestination(world, asked.destination);
  if (shown.kind !== 'found') return shown;
  return { ...shown, kind: 'done' };
};

const look = async (
  world: Needs,
  command: 'pause' | 'resume',
  destination: DestinationId,
): Promise<Ready | Refused> => {
  const shown = await showDestination(world, destination);
  if (shown.kind !== 'found') return shown;
  // What newer code keeps in the gate is not for this code to open or close.
  if (shown.gate.kind === 'later') return { kind: 'newer' };
  const pause = shown.gate.kind === 'found' ? shown.gate.item.pause : undefined;
  if (command === 'pause' && pause !== undefined && pause.probeAtMs === undefined) return { kind: 'paused', pause };
  return { kind: 'ready', before: gateStateOf(shown.gate, world.clock.nowMs()) };
};

/** `paused`, `closed` or `active`, as the API calls it. */
export const gateStateOf = (gate: Found<Gate>, nowMs: number): string => {
  if (gate.kind !== 'found') return 'active';
  if (gate.item.pause) return 'paused';
  return (gate.item.closedUntilMs ?? 0) > nowMs ? 'closed' : 'active';
};
