/** Processor time of a server and its children (Postgres has one for each connection), as the kernel counts it. */
import { readdir, readFile } from 'node:fs/promises';

/** Of every Linux that Node runs on (`getconf CLK_TCK`). */
const TICKS_PER_SEC = 100;

/** In milliseconds. Undefined where there is no `/proc`. */
export const serverCpuMs = async (pid: number): Promise<number | undefined> => {
  const own = await ticksOf(String(pid));
  if (own === undefined) return undefined;
  const others = await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(ticksOf));
  const children = others.filter((one) => one?.parent === pid).reduce((sum, one) => sum + (one?.ticks ?? 0), 0);
  return ((own.ticks + own.endedTicks + children) * 1_000) / TICKS_PER_SEC;
};

interface Ticks {
  readonly parent: number;
  readonly ticks: number;
  /** Of children that have ended and were waited for. */
  readonly endedTicks: number;
}

/** Source: proc(5), `/proc/pid/stat`: ppid 4, utime 14, stime 15, cutime 16, cstime 17. The name in 2 may hold anything. */
const ticksOf = async (pid: string): Promise<Ticks | undefined> => {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0, utime = 0, stime = 0, cutime = 0, cstime = 0] = [1, 11, 12, 13, 14].map((at) => fields[at]);
    return { parent, ticks: utime + stime, endedTicks: cutime + cstime };
  } catch {
    return undefined;
  }
};
