import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

/** Of one minute, before anything of ours began: what else this machine had to do. */
const LOAD_AT_START = (loadavg()[0] ?? 0).toFixed(1);

/** What a figure was taken on. */
export const machine = () => ({
  size: `${availableParallelism()} x ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GB`,
  system: `${type()} ${release()}`,
  node: process.versions.node,
  /** Average of the minute before the start. A figure that was taken beside other work says so by this. */
  load: LOAD_AT_START,
});
