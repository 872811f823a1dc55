/** Mistakes in what looks after rows, in what people decide, and in how rows are stored. */
import { type Mistake, mistake, patch, survivor } from './mistake.ts';

const LOOKING: readonly Mistake[] = [
  mistake(
    'a publish has the same key for every attempt',
    patch(
      'core/keys.ts',
      "return publishKeyOf('deliver', event, destination, version, ...(tick === undefined ? [] : [tick]));",
      "return publishKeyOf('deliver', event, destination, ...(tick === undefined ? [] : [tick], version * 0));",
    ),
  ),
  mistake(
    'a sweep publishes under the key of the plan',
    patch(
      'core/keys.ts',
      "return publishKeyOf('deliver', event, destination, version, ...(tick === undefined ? [] : [tick]));",
      "return publishKeyOf('deliver', event, destination, version, ...(tick === undefined ? [] : []));",
    ),
  ),
  mistake(
    'a tick leaves out the last shard',
    patch('reconciler/tick.ts', 'Array.from({ length: DUE_SHARDS }', 'Array.from({ length: DUE_SHARDS - 1 }'),
  ),
  mistake(
    'a sweep does not look at parked rows',
    patch('core/machine.ts', '    sweep: lookParked,\n', '    sweep: done,\n'),
  ),
  mistake(
    'a sweep goes by the index and not by the row',
    patch('core/moves/look.ts', 'at.nowMs < row.lookAfterMs;', 'at.nowMs < 0;'),
  ),
  mistake(
    'a sweep leaves what it has published where it was',
    patch(
      'core/look-after.ts',
      '  nowMs + Math.min(SWEEP_STEP_MS * 2 ** Math.min(sweeps, 8), SWEEP_STEP_MS_MAX);',
      '  sweeps < 0 ? SWEEP_STEP_MS * SWEEP_STEP_MS_MAX : nowMs;',
    ),
  ),
  mistake(
    'a sweep puts off a row whose publish has failed',
    patch(
      'steps/transition.ts',
      "if (!(await perform(world, row, decision.before))) return { kind: 'kept', row, note: 'unpublished' };",
      'await perform(world, row, decision.before);',
    ),
  ),
  mistake(
    'a row is looked after when it is due, without a thought of its message',
    patch(
      'core/look-after.ts',
      'dueAtMs - LOOK_AHEAD_MS : dueAtMs + graceMs;',
      'dueAtMs + 7 * 86_400_000 : dueAtMs + 7 * 86_400_000 + graceMs;',
    ),
  ),
  mistake(
    'a parked row is looked at in a week',
    patch('core/look-after.ts', '  Math.min(nowMs + PARKED_LOOK_MS, ', '  Math.max(nowMs + 7 * 24 * PARKED_LOOK_MS, '),
  ),
  mistake(
    'a sweep sends by itself what it finds due',
    patch(
      'receiver/sweep.ts',
      '  const result = await transition(world, row, input);\n',
      "  const { deliver } = await import('./receive.ts');\n  if (phase === 'due') await deliver(world, { id: world.dice.id(), cause: 's:sweep', remainingMs: () => 60_000 }, ref, new Uint8Array());\n  const result = await transition(world, row, input);\n",
    ),
  ),
];

const DECIDING: readonly Mistake[] = [
  mistake(
    'a redrive gives the whole budget again',
    patch('core/moves/decisions.ts', '    budget,\n    redrives', '    budget: budget + row.attempts,\n    redrives'),
  ),
  mistake(
    'a redrive needs nobody to accept a second effect',
    patch(
      'core/moves/decisions.ts',
      "const secondEffect = row.doubt === 'unsafe' || row.reason === 'key-expired';",
      'const secondEffect = false;',
    ),
    patch('core/moves/decisions.ts', "doubt: input.acceptSecondEffect ? 'none' : life.doubt,", "doubt: 'none',"),
  ),
  mistake(
    'a live claim is cancelled under its holder',
    patch(
      'core/machine.ts',
      '    resolve: refuseLive,\n    cancel: refuseLive,\n',
      '    resolve: refuseLive,\n    cancel: cancelLapsed,\n',
    ),
  ),
  mistake(
    'a delivered row is redriven',
    patch(
      'core/machine.ts',
      '    redrive: refuseDelivered,\n',
      '    redrive: redrive as unknown as typeof refuseDelivered,\n',
    ),
  ),
  mistake(
    'a decision acts before it is on record',
    patch(
      'operator/commands/decide.ts',
      '  if (isReady(looked)) return goOn(world, await record(world, asked, looked), work);\n',
      "  if (isReady(looked)) await work.act({ ...asked, item: 'decision', version: 1, fingerprint: '', before: '', decidedAtMs: 0, carried: {} } as unknown as Decided);\n  if (isReady(looked)) return goOn(world, await record(world, asked, looked), work);\n",
    ),
  ),
  mistake(
    'a decision leaves no line in the journal',
    patch(
      'core/moves/decisions.ts',
      '  ...journaled(life, entryOf(input, decision, nowMs)),\n',
      '  ...(entryOf(input, decision, nowMs) ? life : life),\n',
    ),
  ),
  mistake(
    'a resolve that says "not delivered" forgets nothing of the doubt',
    patch(
      'core/moves/decisions.ts',
      "const life: Life = { ...told, doubt: 'none' };",
      'const life: Life = { ...told };',
    ),
  ),
  survivor(
    'an operation takes a delivery that is under way for one that may go',
    'whoever acts looks at the same finding once more, and leaves what is under way as it is',
    patch(
      'receiver/redrive-act.ts',
      "    case 'in-flight':\n    case 'key-expired':\n",
      "    case 'in-flight':\n      return {};\n    case 'key-expired':\n",
    ),
  ),
];

const STORING: readonly Mistake[] = [
  mistake(
    'attributes that this code does not know are dropped',
    patch(
      'adapters/ledger/codec/codec.ts',
      'const carried = carriedOf(stored, (name) => isKnown(ref.item, name));',
      'const carried = {};',
    ),
  ),
  survivor(
    'a row of a later format is read as one of ours',
    'every write names the format in its condition and is refused, so newer code goes on with the row; without that, see below',
    patch('adapters/ledger/codec/codec.ts', "  if (format > FORMAT) return { kind: 'later', format };\n", ''),
  ),
  mistake(
    'a row of a later format is read and written as one of ours',
    patch('adapters/ledger/codec/codec.ts', "  if (format > FORMAT) return { kind: 'later', format };\n", ''),
    patch(
      'adapters/ledger/memory-store.ts',
      'return number(VERSION_ATTRIBUTE) === condition.version && number(FORMAT_ATTRIBUTE) <= FORMAT;',
      'return number(VERSION_ATTRIBUTE) === condition.version && FORMAT > 0;',
    ),
  ),
  mistake(
    'the mark of a claim is not stored',
    patch(
      'adapters/ledger/codec/delivery.ts',
      '    senMs: sendingAtMs,\n',
      '    senMs: sendingAtMs === 0 ? sendingAtMs : undefined,\n',
    ),
  ),
  mistake(
    'the doubt of a row is not stored',
    patch('adapters/ledger/codec/delivery.ts', '    dbt: doubt,\n', "    dbt: doubt === 'unsafe' ? 'none' : doubt,\n"),
  ),
  mistake(
    'a replace does not ask for the version that was read',
    patch(
      'adapters/ledger/ledger.ts',
      "return writtenAs<T['item']>(read.item, await store.put(toItem(next), { kind: 'version', version: read.version }));",
      "const there = await store.get(keyOf(refOf(read)));\n    const version = Number(there?.['v']?.N ?? read.version);\n    return writtenAs<T['item']>(read.item, await store.put(toItem(next), { kind: 'version', version }));",
    ),
  ),
  mistake(
    'a create overwrites what stands there',
    patch(
      'adapters/ledger/ledger.ts',
      "writtenAs<T['item']>(item.item, await store.put(toItem(item), { kind: 'absent' })),",
      "{\n    const there = await store.get(keyOf(refOf(item)));\n    const on = there === undefined ? ({ kind: 'absent' } as const) : ({ kind: 'version', version: Number(there['v']?.N) } as const);\n    return writtenAs<T['item']>(item.item, await store.put(toItem(item), on));\n  },",
    ),
  ),
  mistake(
    'the journal keeps its latest ten lines',
    patch('core/journal.ts', '  return { lines, head };\n', '  return { lines: lines.slice(-10), head };\n'),
  ),
];

export const KEEPING: readonly Mistake[] = [...LOOKING, ...DECIDING, ...STORING];
