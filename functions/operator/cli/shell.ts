/** What a command may use. Filled from the process in `compose.ts`, and by hand in tests. */

import type { Clock, Dice } from '../../ports.ts';
import type { Client, Wire } from './client.ts';
import type { QueueDesk } from './infrai.ts';

export interface Shell {
  /** Standard output: the answer, and nothing else. */
  readonly out: (text: string) => void;
  /** Standard error: faults, questions and progress. */
  readonly err: (text: string) => void;
  readonly colour: boolean;
  /** Long cells of a table are cut, for standard output is a terminal. A pipe gets all of it. */
  readonly cuts: boolean;
  /** Progress may redraw its line, for standard error is a terminal. */
  readonly live: boolean;
  readonly columns: number;
  /** Asks a person, and says whether they agreed. Absent where nobody can be asked. */
  readonly ask?: (question: string) => Promise<boolean>;
  /** The bytes of a file; `-` is standard input. */
  readonly read: (path: string) => Promise<Uint8Array>;
  /** Made when it is first needed: help must work without any setting. Throws ConfigError. */
  readonly client: () => Client;
  readonly queue: QueueDesk;
  /** A request to another address than that of the API: where effects are counted. */
  readonly callOnce: Wire['callOnce'];
  readonly clock: Clock;
  readonly dice: Pick<Dice, 'id'>;
}
