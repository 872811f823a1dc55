/** Closed loop: so many requests are on their way at any moment, each next one as soon as one is answered. */
import { Pool } from 'undici';

/** One unit of work over this pool; throws where it was not answered as it should be. */
export type Send = (pool: Pool, n: number) => Promise<void>;

export const closedLoop = async (
  url: string,
  concurrency: number,
  first: number,
  count: number,
  send: Send,
): Promise<number> => {
  const pool = new Pool(url, { connections: concurrency, pipelining: 1 });
  try {
    let next = first;
    const end = first + count;
    const began = performance.now();
    const lane = async (): Promise<void> => {
      for (let n = next++; n < end; n = next++) await send(pool, n);
    };
    await Promise.all(Array.from({ length: concurrency }, lane));
    return performance.now() - began;
  } finally {
    await pool.destroy();
  }
};

/** Sends and reads the answer to its end. */
export const post = async (
  pool: Pool,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  wanted: number,
): Promise<void> => {
  const answer = await pool.request({ method: 'POST', path, body, headers });
  const text = await answer.body.text();
  if (answer.statusCode !== wanted) throw new Error(`${path} was answered ${answer.statusCode}: ${text.slice(0, 300)}`);
};
