/** The public side of the receiver: the target of the queue's push subscription. */
import { Hono } from 'hono';
import { PUSH_BODY_BYTES_MAX } from '../core/limits.ts';
import { bounded, rawBody } from '../http/body.ts';
import { notFound, problem, problemOfError } from '../http/problem.ts';
import { statusOf, type Verdict } from './answer.ts';
import { receive } from './receive.ts';
import type { Receiver } from './run.ts';

export interface ReceiverOptions {
  /** Path segment of the transport whose pushes come here. */
  readonly transport: string;
  /** Time that is left to the invocation that serves this request. */
  remainingMs(context: { readonly env: unknown }): number;
}

export const createReceiverApp = (world: Receiver, options: ReceiverOptions): Hono => {
  const app = new Hono();
  app.onError(problemOfError(world.telemetry));
  app.notFound(notFound);
  app.get('/healthz', (context) => context.json({ ok: true }));
  app.post(`/push/${options.transport}`, bounded(PUSH_BODY_BYTES_MAX), async (context) => {
    const arrivedMs = world.clock.nowMs();
    const remaining = options.remainingMs(context);
    const verdict = await receive(world, {
      header: (name) => context.req.header(name),
      body: await rawBody(context),
      runId: world.dice.id(),
      remainingMs: () => remaining - (world.clock.nowMs() - arrivedMs),
    });
    return verdict.kind === 'ack'
      ? context.json({ verdict: 'ack', note: verdict.note })
      : problem(context, refusalOf(verdict));
  });
  return app;
};

const refusalOf = (verdict: Exclude<Verdict, { kind: 'ack' }>) => {
  const status = statusOf(verdict) === 401 ? 401 : 503;
  const detail =
    verdict.kind === 'unauthentic' ? 'the signature of this push is missing or does not match' : verdict.detail;
  return { status, code: verdict.kind === 'unauthentic' ? 'unauthentic' : verdict.code, detail } as const;
};
