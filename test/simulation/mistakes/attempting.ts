/** Mistakes in claim, re-check, attempt and settle, beside those that the run over all orders looks for. */
import { type Mistake, mistake, patch, survivor } from './mistake.ts';

const CLAIMING: readonly Mistake[] = [
  mistake(
    'a repeat is judged by the setting as it is now, not as it was at the claim',
    patch(
      'core/moves/claim.ts',
      "doubt: claim.repeatSafe && life.doubt !== 'unsafe' ? 'safe' : 'unsafe',",
      "doubt: ((input as ClaimInput).rules?.repeatSafe ?? claim.repeatSafe) && life.doubt !== 'unsafe' ? 'safe' : 'unsafe',",
    ),
  ),
  mistake(
    'a doubt is forgotten when a repeat is no longer safe',
    patch('core/moves/claim.ts', "  if (life.doubt === 'safe' && !rules.repeatSafe) return 'in-doubt';\n", ''),
  ),
  mistake(
    'the end of the life of a key is not looked at',
    patch('core/moves/claim.ts', "  if (isKeyOver(life, rules, nowMs)) return 'key-expired';\n", ''),
  ),
  mistake(
    'the life of a key begins again with every attempt',
    patch(
      'core/moves/settle.ts',
      'keyFromMs: life.keyFromMs ?? row.claim.startedAtMs',
      'keyFromMs: row.claim.startedAtMs',
    ),
    patch('core/moves/claim.ts', 'keyFromMs: life.keyFromMs ?? claim.startedAtMs', 'keyFromMs: claim.startedAtMs'),
  ),
  mistake(
    'the lease is shorter than the attempt',
    patch(
      'core/moves/claim.ts',
      'const leaseEndsAtMs = nowMs + leaseMs;',
      'const leaseEndsAtMs = nowMs + Math.floor(input.rules.timeoutMs / 2);',
    ),
    patch(
      'receiver/attempt.ts',
      "< config.timeoutMs) return withheld('short-lease');",
      "< 0) return withheld('short-lease');",
    ),
  ),
  mistake(
    'stored bytes that have changed are sent',
    patch(
      'receiver/event-of.ts',
      "if (found.kind === 'found' && payloadHash(found.item.payload) === row.payloadHash) {",
      "if (found.kind === 'found') {",
    ),
  ),
  mistake(
    'an attempt that was abandoned costs nothing, as often as that happens',
    patch('core/moves/claim.ts', 'Math.min(life.refunds + 1, REFUNDS_MAX)', 'life.refunds + 1'),
  ),
  survivor(
    'a claim is sent under that a rival has closed already',
    'the look at the row before the first byte finds the claim of another, or none, and nothing leaves',
    patch(
      'receiver/claim.ts',
      "const ours = result.kind === 'applied' && result.row.status === 'claimed' && result.row.claim.id === claimId;",
      "const ours = result.kind === 'applied' && result.row.status === 'claimed';",
    ),
  ),
];

const SENDING: readonly Mistake[] = [
  mistake(
    'a re-check is trusted however old it is',
    patch('receiver/attempt.ts', "  if (nowMs - beganAtMs > RECHECK_FRESH_MS) return withheld('stale-recheck');\n", ''),
  ),
  mistake(
    'the holder is the key of the request',
    patch(
      'receiver/request.ts',
      'const id = outgoingKey(row.event, row.destination);',
      "const id = 'ow_' + row.claim.holder;",
    ),
  ),
  mistake(
    'a delivery shares its key with the other destinations of its event',
    patch('core/keys.ts', "hashOf('outgoing', [event, destination])", "hashOf('outgoing', [event])"),
  ),
  mistake(
    'other settings than those of the claim are sent under it',
    patch('receiver/attempt.ts', 'isForAttempt(now, then) ? undefined', 'now ? undefined'),
  ),
  survivor(
    'a lost mark does not stop the attempt',
    'the look at the row that follows finds the same: the claim is not ours any more',
    patch('receiver/attempt.ts', "    if (!marked) return withheld('lost');\n", ''),
  ),
  mistake(
    'a redirect is taken for success',
    patch('core/outcome.ts', 'if (status <= 299) return', 'if (status <= 399) return'),
  ),
  mistake(
    'busy there is taken for success',
    patch(
      'core/outcome.ts',
      "if (status === 409) return { class: 'failed',",
      "if (status === 409) return { class: 'delivered',",
    ),
  ),
  mistake(
    'the answer of a gateway is taken for a failure where a repeat is not safe',
    patch(
      'core/outcome.ts',
      "  if (!rules.repeatSafe && isGatewayAnswer(status)) return { class: 'in-doubt', detail };\n",
      '',
    ),
  ),
  mistake(
    'Retry-After is not heard',
    patch(
      'core/outcome.ts',
      "return asked.kind === 'after' ? asked.ms : undefined;",
      "return asked.kind === 'after' ? 0 : undefined;",
    ),
  ),
  mistake(
    'Retry-After stands in for our own delay',
    patch(
      'core/schedule.ts',
      'const waitMs = Math.max(atLeast(delayMs, DELAY_FLOOR_MS), atLeast(retryAfterMs ?? 0, 0));',
      'const waitMs = retryAfterMs ?? atLeast(delayMs, DELAY_FLOOR_MS);',
    ),
  ),
];

const SETTLING: readonly Mistake[] = [
  mistake(
    'an attempt that was withheld costs nothing, as often as that happens',
    patch(
      'core/moves/settle.ts',
      "outcome.class === 'withheld' && life.refunds < REFUNDS_MAX;",
      "outcome.class === 'withheld';",
    ),
  ),
  mistake(
    'a withheld attempt costs a unit of the budget',
    patch(
      'core/moves/settle.ts',
      "const refunded = outcome.class === 'withheld' && ",
      "const refunded = outcome.class === 'abandoned' && ",
    ),
  ),
  survivor(
    'only a row that is still claimed recognises its own write',
    'a settle that comes behind its own write looks for the id of that write itself; with both looks gone it is seen (no write is recognised as our own)',
    patch(
      'core/machine.ts',
      '  if (writeId !== undefined && carriesWrite(present.journal, writeId)) return true;\n',
      '',
    ),
  ),
  survivor(
    'a late outcome is recorded each time it comes',
    'whoever repeats a write finds its own id in the journal before the machine is asked; with both looks gone it is seen (no write is recognised as our own)',
    patch(
      'core/moves/settle.ts',
      "  if (known || carriesWrite(row.journal, input.writeId)) return keep('repeated');\n",
      '',
    ),
  ),
  mistake(
    'a doubt does not outlive the next attempt',
    patch(
      'core/moves/settle.ts',
      "...(doubtful ? { doubt: unsafe ? 'unsafe' : 'safe' } : {}),",
      "doubt: outcome.class === 'in-doubt' ? (row.claim.repeatSafe ? 'safe' : 'unsafe') : 'none',",
    ),
  ),
  mistake(
    'a settle behind the end of its lease counts as late though nobody has taken over',
    patch('core/machine.ts', '    settle,\n    sweep: lookLapsed,\n', '    settle: late,\n    sweep: lookLapsed,\n'),
  ),
  mistake(
    'what newer code has added to a row is dropped when it is settled',
    patch('core/moves/states.ts', '  carried: row.carried,\n', '  carried: {},\n'),
  ),
];

export const ATTEMPTING: readonly Mistake[] = [...CLAIMING, ...SENDING, ...SETTLING];
