/** The parts of a deployment that alarms and dashboard look at. */
import type { OncewardFunction } from './function.ts';
import type { WorkQueue } from './queue.ts';
import type { Tick } from './schedule.ts';
import type { TransportSecrets } from './secrets.ts';
import type { LedgerTable } from './table.ts';

export interface Watched {
  /** The name under which everything of this deployment measures itself. */
  readonly deployment: string;
  readonly table: LedgerTable;
  readonly queue: WorkQueue | undefined;
  readonly intake: OncewardFunction;
  readonly operator: OncewardFunction;
  /** Fed by the queue in this account. */
  readonly receiver: OncewardFunction | undefined;
  /** Fed by pushes to its URL. */
  readonly pushReceiver: OncewardFunction | undefined;
  readonly functions: readonly OncewardFunction[];
  readonly tick: Tick | undefined;
  readonly secrets: TransportSecrets | undefined;
}
