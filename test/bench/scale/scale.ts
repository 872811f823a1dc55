/** What grows with the number of rows, workers, destinations and deliveries, and what must not. */
import type { Bench } from '../report.ts';
import { drainByWorkers, hotDestination } from './load-shapes.ts';
import { memoryOverTime } from './memory.ts';
import { timeBySize, unitsBySize } from './table-sizes.ts';

export const scaleBench: Bench = async (context) => {
  const units = await unitsBySize(context);
  const parts = [
    units,
    await timeBySize(context),
    await drainByWorkers(context),
    await hotDestination(context),
    await memoryOverTime(context),
  ];
  return {
    title: 'rows, workers, destinations, deliveries',
    method: METHOD,
    versions: { 'DynamoDB engine of the units': units.engine },
    tables: parts.flatMap(({ tables }) => tables),
    notes: parts.flatMap(({ notes }) => notes),
    missed: parts.flatMap(({ missed }) => missed),
  };
};

const METHOD = [
  'Tables hold deliveries of 20 destinations: of ten, six are over, two wait for tomorrow, one is parked, one quarantined. A sweep finds 100 rows that are due, of one shard, whatever else there is; a list is a page of 100; a count goes to 500; a claim is a whole delivery (load, gate, claim, re-check, settle) at a destination that answers at once.',
  'Units and rows read as the engine states them, once for each size: they do not vary. A list asks its four shards for a page each and shows the first of them, so it reads up to four rows for each it shows. Bound: units for each found row are equal from 10,000 to 100,000 rows.',
  'Time: the median of 9 rounds, the tables (a directory each, filled past the requests) in turn, after one that is not counted; the ratio is the median of those of each round, so that both sides have had the same moment. Bound: a sweep at 1,000,000 rows takes under 1.5 times one at 10,000.',
  'Workers: so many pushes at a time. Memory: 500,000 deliveries accepted and delivered in one process without HTTP, finished items removed as by the time to live; bound: 4 bytes a delivery.',
];
