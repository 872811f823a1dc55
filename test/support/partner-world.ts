import { connect } from 'node:net';
import { Agent, request } from 'undici';
import { onTestFinished } from 'vitest';
import type { Bounds } from '../../infra/local/partner/mailboxes.ts';
import type { PartnerClock } from '../../infra/local/partner/perform.ts';
import { type RunningPartner, startPartner } from '../../infra/local/partner/start.ts';

/** A clock that moves by hand. */
export class HandClock implements PartnerClock {
  #nowMs = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<{ readonly atMs: number; readonly call: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, call };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  get pending(): number {
    return this.#timers.size;
  }

  /** Moves on and calls what has become due, in order, also what those calls set. */
  pass(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#nowMs = due.atMs;
      due.call();
    }
    this.#nowMs = untilMs;
  }
}

export interface Sent {
  readonly key?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: 'POST' | 'GET' | 'PUT' | 'DELETE' | 'PATCH';
  readonly signal?: AbortSignal;
}

export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface PartnerWorld {
  readonly clock: HandClock;
  readonly partner: RunningPartner;
  /** `path` is what stands behind `/partner/`. */
  send(path: string, sent?: Sent): Promise<Got>;
}

/** A partner on a free port and a client for it; both end with the test. */
export const partnerWorld = async (bounds?: Bounds): Promise<PartnerWorld> => {
  const clock = new HandClock();
  const partner = await startPartner(bounds === undefined ? { clock } : { clock, bounds });
  const dispatcher = new Agent();
  onTestFinished(async () => {
    await partner.close();
    await dispatcher.destroy();
  });
  const send = async (path: string, { key, body = '{"n":1}', headers = {}, method = 'POST', signal }: Sent = {}) => {
    const answer = await request(partner.urlOf(path), {
      dispatcher,
      method,
      headers: { ...(key === undefined ? {} : { 'webhook-id': key }), ...headers },
      body: method === 'GET' || method === 'DELETE' ? null : body,
      ...(signal === undefined ? {} : { signal }),
    });
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  };
  return { clock, partner, send };
};

export interface RawClient {
  /** What has come so far. */
  text(): string;
  /** Resolves when what has come satisfies the condition; rejects when the connection ends before. */
  until(isThere: (text: string) => boolean): Promise<string>;
  /** Resolves with everything that came, and the error code if the connection broke. */
  readonly ended: Promise<{ readonly text: string; readonly code: string | undefined }>;
  write(text: string): void;
  destroy(): void;
}

/** A bare connection: sees each byte as it comes. */
export const rawClient = (port: number): RawClient => {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  let text = '';
  let code: string | undefined;
  const { promise: ended, resolve } = Promise.withResolvers<{ text: string; code: string | undefined }>();
  const watchers = new Set<() => void>();
  const wake = () => {
    for (const watcher of watchers) watcher();
  };
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    wake();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    code = error.code;
  });
  socket.on('close', () => {
    resolve({ text, code });
    wake();
  });
  const until = (isThere: (text: string) => boolean) =>
    new Promise<string>((found, failed) => {
      const watcher = () => {
        if (!isThere(text) && !socket.closed) return;
        watchers.delete(watcher);
        if (isThere(text)) found(text);
        else failed(new Error(`the connection ended after: ${JSON.stringify(text)}`));
      };
      watchers.add(watcher);
      watcher();
    });
  return { text: () => text, until, ended, write: (more) => socket.write(more), destroy: () => socket.destroy() };
};

/** A whole POST as bytes. */
export const rawPost = (path: string, body = '{}'): string =>
  `POST /partner/${path} HTTP/1.1\r\nhost: partner\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
