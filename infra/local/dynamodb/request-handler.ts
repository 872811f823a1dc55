/** The engine as the AWS SDK's HTTP handler: what would go out by a socket is played in this process. */
import { answer } from './operations.ts';
import type { Store } from './store.ts';

/** The part of an SDK request that is looked at. */
export interface WireRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface WireResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** Fits `new DynamoDBClient({ requestHandler })`. */
export interface EmbeddedHandler {
  handle(request: WireRequest, options?: { readonly abortSignal?: unknown }): Promise<{ response: WireResponse }>;
  updateHttpClientConfig(key: never, value: never): void;
  httpHandlerConfigs(): Record<string, never>;
  destroy(): void;
}

/** The requests of all clients of one engine; `finish` lets no new one in and waits for those under way. */
export class Requests implements EmbeddedHandler {
  readonly #store: Store;
  readonly #name: string;
  readonly #underWay = new Set<Promise<unknown>>();
  #open = true;
  #count = 0;

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = name;
  }

  /**
   * Rejects when the engine is closed or the caller has aborted. An abort ends the waiting and not the work: as with a
   * real service, a write whose answer was not awaited may have happened.
   */
  async handle(
    request: WireRequest,
    options?: { readonly abortSignal?: unknown },
  ): Promise<{ response: WireResponse }> {
    if (!this.#open) throw new Error(`the embedded DynamoDB (${this.#name}) is closed`);
    const signal = options?.abortSignal instanceof AbortSignal ? options.abortSignal : undefined;
    if (signal?.aborted) throw abortError();
    const played = this.#play(request);
    this.#underWay.add(played);
    const over = () => this.#underWay.delete(played);
    played.then(over, over);
    return {
      response: await (signal ? unlessAborted(signal, played) : played),
    };
  }

  async finish(): Promise<void> {
    this.#open = false;
    await Promise.allSettled(this.#underWay);
  }

  async #play(request: WireRequest): Promise<WireResponse> {
    this.#count += 1;
    const requestId = `embedded-${this.#count}`;
    const target = request.headers['x-amz-target'] ?? '';
    const { statusCode, body } = await answer(this.#store, target, text(request.body));
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amzn-requestid': requestId,
    };
    return { statusCode, headers, body: Buffer.from(JSON.stringify(body)) };
  }

  updateHttpClientConfig(): void {}

  httpHandlerConfigs(): Record<string, never> {
    return {};
  }

  /** The SDK calls it when one client ends; the engine lives on for the others. */
  destroy(): void {}
}

async function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(abortError());
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function abortError(): Error {
  return Object.assign(new Error('Request aborted'), { name: 'AbortError' });
}

function text(body: unknown): string {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString() : '';
}
