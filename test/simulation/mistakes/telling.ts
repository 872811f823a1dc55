/** Mistakes in what is told to those who want to know. That it is told once, tests of their own show: the queue helps. */
import { type Mistake, mistake, patch } from './mistake.ts';

export const TELLING: readonly Mistake[] = [
  mistake(
    'a notice is told about the delivery of a notice',
    patch('core/notice.ts', 'NOTICE_EVENT.test(event)', 'event === undefined'),
  ),
  mistake(
    'a destination is told about itself',
    patch('receiver/notice.ts', '    if (to === fact.destination) continue;\n', ''),
  ),
  mistake(
    'a notice goes by its message and not by the ledger',
    patch(
      'core/notice.ts',
      "if (pause !== undefined && isPausedBySystem(gate)) {\n    return [{ notice: { kind: 'destination-paused', destination }, sinceMs: pause.sinceMs }];",
      "if (failures !== undefined) {\n    return [{ notice: { kind: 'destination-paused', destination }, sinceMs: failures.sinceMs }];",
    ),
    patch(
      'core/notice.ts',
      '  const { destination, pause } = gate;\n  if (pause === undefined || !isPausedBySystem(gate)) return undefined;\n',
      "  const { destination, pause = { by: '', reason: 'unknown', sinceMs: 0, probeAtMs: 0 } } = gate;\n",
    ),
  ),
];
