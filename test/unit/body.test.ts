import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { bounded, rawBody } from '../../functions/http/body.ts';

const MAX = 10;

/** Answers with the number of bytes that it was let read, and says whether it was reached at all. */
const reader = () => {
  const app = new Hono();
  app.post('/', bounded(MAX), async (context) => context.json((await rawBody(context)).length));
  return app;
};

/** A body that comes in pieces, without a length; `pulled` counts those that were asked for. */
const inPieces = (count: number) => {
  const seen = { pulled: 0 };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (seen.pulled === count) controller.close();
        else controller.enqueue(new Uint8Array(4));
        seen.pulled += 1;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, body };
};

const post = async (body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>, headers: Record<string, string>) => {
  const answer = await reader().request('/', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
  return { status: answer.status, said: await answer.json() };
};

describe('the bound of a body', () => {
  it.each([
    { what: 'a stated length at the bound', bytes: MAX, status: 200 },
    { what: 'a stated length above it', bytes: MAX + 1, status: 413 },
  ])('judges $what', async ({ bytes, status }) => {
    const { status: answered, said } = await post(new Uint8Array(bytes), { 'content-length': `${bytes}` });
    expect(answered).toBe(status);
    expect(said).toEqual(status === 200 ? bytes : expect.objectContaining({ code: 'body-too-large' }));
  });

  it('refuses a length that is no number', async () => {
    expect(await post(new Uint8Array(1), { 'content-length': 'many' })).toMatchObject({ status: 413 });
  });

  it('refuses by a stated length without reading a byte', async () => {
    const { seen, body } = inPieces(3);
    expect(await post(body, { 'content-length': '12' })).toMatchObject({ status: 413 });
    expect(seen.pulled).toBe(0);
  });

  it.each([
    { what: 'without a length', headers: {} },
    {
      what: 'in chunks, whatever length is stated beside',
      headers: { 'content-length': '1', 'transfer-encoding': 'chunked' },
    },
  ])('counts what comes $what', async ({ headers }) => {
    expect(await post(inPieces(2).body, headers)).toEqual({ status: 200, said: 8 });
    expect(await post(inPieces(3).body, headers)).toMatchObject({ status: 413, said: { code: 'body-too-large' } });
  });
});
