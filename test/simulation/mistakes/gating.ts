/** Mistakes at the gate of a destination: pause, closing, rate, places, breaker, drain. */
import { type Mistake, mistake, patch } from './mistake.ts';

const CLOSING: readonly Mistake[] = [
  mistake(
    'a destination that asks to wait is not closed for the others',
    patch('core/moves/settle.ts', 'if (!closesDestination(status, retryAfterMs)) return [];', 'if (status) return [];'),
  ),
  mistake(
    'Retry-After is believed without a bound',
    patch('core/moves/settle.ts', 'Math.min(retryAfterMs, CLOSED_MS_MAX)', 'retryAfterMs'),
  ),
  mistake(
    'a closing is shortened by a later one',
    patch(
      'core/breaker.ts',
      'if (untilMs <= nowMs || untilMs <= (gate.closedUntilMs ?? 0)) return undefined;',
      'if (untilMs <= nowMs) return undefined;',
    ),
  ),
  mistake(
    'a destination that is gone is not paused',
    patch(
      'steps/effects.ts',
      "      await pauseFor(world, ref.destination, 'system', 'a delivery was answered 410 Gone');\n",
      '',
    ),
  ),
  mistake(
    'what waits behind a closing is let go all at once',
    patch(
      'receiver/gate.ts',
      "reason: 'closed', untilMs: slotMs,",
      "reason: 'closed', untilMs: slotMs > 0 ? untilMs : 0,",
    ),
  ),
];

const LIMITING: readonly Mistake[] = [
  mistake(
    'a slot of the rate is asked for again by a row that has one',
    patch('receiver/gate.ts', 'slotOf(row, line, nowMs) ?? ', ''),
  ),
  mistake('a rate is not kept', patch('receiver/gate.ts', 'if (slotMs > nowMs + RATE_BURST_MS)', 'if (slotMs < 0)')),
  mistake(
    'a place is given back while its holder still sends',
    patch(
      'receiver/receive.ts',
      '    const made = await attempt(world, run, claimed);\n',
      '    if (gate.place) await releasePlace(world, gate.place);\n    const made = await attempt(world, run, claimed);\n',
    ),
  ),
  mistake(
    'a place is never given back',
    patch('receiver/receive.ts', '    if (gate.place) await releasePlace(world, gate.place);\n', ''),
  ),
  mistake(
    'a destination has one place more than it was given',
    patch('steps/places.ts', 'places - held.size', 'places + 1 - held.size'),
    patch(
      'steps/places.ts',
      'Array.from({ length: places }, (_, n) => n)',
      'Array.from({ length: places + 1 }, (_, n) => n)',
    ),
  ),
  mistake(
    'a crowded destination has all its places',
    patch(
      'core/gate.ts',
      '  if (!crowded) return config.concurrency;\n',
      '  if (!crowded || config) return config.concurrency;\n',
    ),
  ),
];

const PAUSING: readonly Mistake[] = [
  mistake(
    'a pause is not looked at before the claim',
    patch(
      'receiver/gate.ts',
      'return park(world, run, row, view.config, view.reason, view.opensAtMs);',
      'return passed(world, view.config, false);',
    ),
  ),
  mistake(
    'a delivery that waits at a closed gate spends its budget',
    patch(
      'core/moves/wait.ts',
      'const next = parked(again(row), input.reason',
      'const next = parked({ ...again(row), attempts: row.attempts + 1 }, input.reason',
    ),
  ),
  mistake(
    'everybody is the probe',
    patch(
      'steps/gate.ts',
      'return (await swapGate(world, destination, (gate) => probeTaken(gate, nowMs))) !== undefined;',
      'await swapGate(world, destination, (gate) => probeTaken(gate, nowMs));\n  return true;',
    ),
  ),
  mistake(
    'a probe is spent on what cannot be sent',
    patch(
      'receiver/gate.ts',
      '  if (endsUnsent(row, rulesOf(config), world.clock.nowMs())) return endUnsent(world, run, row, config);\n',
      '',
    ),
  ),
  mistake(
    'the success of a probe opens nothing',
    patch(
      'receiver/settle.ts',
      "claimed.passed.probe && made.outcome.class === 'delivered'",
      "claimed.passed.probe && made.outcome.class === 'gone'",
    ),
  ),
  mistake(
    'a resume does not end what a destination asked for',
    patch(
      'core/breaker.ts',
      'const { pause, closedUntilMs, closedSinceMs, failures, ...rest } = gate;\n  const nothing',
      'const { pause, failures, ...rest } = gate;\n  const { closedUntilMs, closedSinceMs } = gate;\n  const nothing',
    ),
  ),
];

export const GATING: readonly Mistake[] = [...CLOSING, ...LIMITING, ...PAUSING];
