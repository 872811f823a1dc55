/**
 * A run as it goes on: asked for once a second until it has ended. On a terminal one line is drawn over and over; else a
 * line is written whenever something has changed.
 */
import { operationAnswer } from '../../contract/redrives.ts';
import { path } from '../client.ts';
import type { Shell } from '../shell.ts';
import { get, readAs } from '../verb.ts';
import { said } from '../visible.ts';
import type { Operation } from './redrive-text.ts';

const LOOK_MS = 1_000;

export interface RunEnd {
  readonly body: unknown;
  readonly shown: Operation;
}

export const followRun = async (shell: Shell, operation: string): Promise<RunEnd> => {
  let before = '';
  for (;;) {
    const body = await get(shell, path`/v1/redrives/${operation}`);
    const shown = readAs(operationAnswer, body);
    const line = lineOf(shown);
    if (line !== before) shell.err(shell.live ? `\r${line}\x1b[K` : `${line}\n`);
    before = line;
    if (shown.state === 'done' || shown.state === 'stopped') {
      if (shell.live) shell.err('\n');
      return { body, shown };
    }
    await shell.clock.sleep(LOOK_MS);
  }
};

const BAR_COLUMNS = 20;

const lineOf = ({ state, planned, progress, stalled }: Operation): string => {
  const over = planned - progress.waiting;
  const filled = planned === 0 ? BAR_COLUMNS : Math.floor((over / planned) * BAR_COLUMNS);
  const bar = `${'#'.repeat(filled)}${'.'.repeat(BAR_COLUMNS - filled)}`;
  const stall = stalled === undefined ? '' : `; ${stalled}`;
  return said`[${bar}] ${state}: ${over} of ${planned}, delivered ${progress.delivered}, failed ${progress.failed}, in doubt ${progress.inDoubt}, open ${progress.open}${stall}`;
};
