import type { Timer } from '../../../functions/adapters/system.ts';
import type { Clock } from '../../../functions/ports.ts';

/** The time of the embedded queue. A virtual one runs days of redelivery in a moment. */
export type Timers = Pick<Clock, 'nowMs'> & Timer;
