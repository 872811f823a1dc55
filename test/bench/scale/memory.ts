/** Heap after a collection, along the way of many deliveries in one process. */
import type { BenchContext } from '../report.ts';
import { openChild } from '../stage/child.ts';
import type { Part } from './table-sizes.ts';

const STEPS = 10;
const STEP = 50_000;
const SHORT_STEP = 200;

/** Compiled code and caches that fill are not yet whole after the first step; what grows by deliveries is far more. */
const KEPT_BYTES_MAX = 4;

export const memoryOverTime = async ({ short, say }: BenchContext): Promise<Part> => {
  const count = short ? SHORT_STEP : STEP;
  const child = await openChild('memory.ts', { execArgv: ['--expose-gc'] });
  try {
    const heaps: number[] = [];
    for (let step = 0; step < STEPS; step += 1) {
      await child.prepare({ first: step * count, count, payloadBytes: 1_024, destinationUrl: 'http://127.0.0.1:9/' });
      heaps.push(await child.heapBytes());
      say(`memory: ${((step + 1) * count).toLocaleString('en-US')} deliveries, heap ${mb(heaps.at(-1))} MB`);
    }
    const keptBytes = ((heaps.at(-1) ?? Number.NaN) - (heaps[0] ?? Number.NaN)) / ((STEPS - 1) * count);
    return {
      tables: [
        {
          title: 'heap of one process after a collection, MB',
          columns: ['deliveries', ...heaps.map((_, step) => ((step + 1) * count).toLocaleString('en-US'))],
          rows: [['heap', ...heaps.map(mb)]],
        },
      ],
      notes: [
        `for each delivery the heap has changed by ${keptBytes.toFixed(2)} bytes, from the first step to the last`,
      ],
      missed:
        !short && keptBytes > KEPT_BYTES_MAX
          ? [`memory grows by ${keptBytes.toFixed(1)} bytes a delivery (bound ${KEPT_BYTES_MAX})`]
          : [],
    };
  } finally {
    await child.end();
  }
};

const mb = (bytes: number | undefined): string => ((bytes ?? Number.NaN) / 2 ** 20).toFixed(2);
