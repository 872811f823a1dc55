/**
 * One attempt over HTTP/1.1.
 *
 *   vet URL -> look up -> judge all answers -> connect -> (TLS) -> write -> status line -> body
 *   '-------------------- not sent: certain --------------------' '- in doubt -' '- answered -'
 *
 * Every attempt has a socket of its own. A pooled socket would be opened under an older look-up, and one that the
 * destination has closed meanwhile turns a sure send into a doubtful one; a handshake is the smaller price. Redirects
 * are not followed, answers are not decompressed, proxy variables are not read. One deadline covers all phases.
 */

import { Client, type Dispatcher } from 'undici';

import { ANSWER_BYTES_DRAINED_MAX, RETRY_AFTER_HEADERS_MAX } from '../../core/limits.ts';
import { parseTarget, type TargetPolicy } from '../../core/target.ts';
import type { Clock, OutgoingRequest, Sender } from '../../ports.ts';
import { detailOf, failureOf, inDoubt, notSent, type Seen } from './classify-error.ts';
import { HEADER_BYTES_MAX, type Phase, vettedConnector } from './connector.ts';
import { excerptOf } from './excerpt.ts';
import { type Lookup, resolveVetted, systemLookup } from './resolve.ts';

export interface SenderOptions {
  readonly policy: TargetPolicy;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly lookup?: Lookup;
  /** A signal that fires after so many milliseconds; tests put their own time here. */
  readonly signalAfter?: (ms: number) => AbortSignal;
}

/** Headers that would change where a message goes or where it ends. The client writes them, nobody else. */
const WRITTEN_BY_CLIENT: readonly string[] = ['host', 'connection', 'content-length', 'transfer-encoding'];

/** `send` never rejects: whatever happens is an answer. `close` waits for the attempts on their way, then refuses. */
export const createSender = (options: SenderOptions): Sender => {
  const underway = new Set<Promise<Seen>>();
  let closed = false;
  return {
    async send(request) {
      const startedMs = options.clock.nowMs();
      // What gets past the attempt's own handling happened before its socket: a bad argument, never a lost answer.
      const attempt = closed
        ? Promise.resolve(notSent('refused', 'the sender is closed'))
        : attemptOnce(request, options).catch((error: unknown) => notSent('argument', detailOf(error)));
      underway.add(attempt);
      const seen = await attempt;
      underway.delete(attempt);
      return { ...seen, durationMs: Math.max(0, options.clock.nowMs() - startedMs) };
    },
    async close() {
      closed = true;
      await Promise.all(underway);
    },
  };
};

const attemptOnce = async (request: OutgoingRequest, options: SenderOptions): Promise<Seen> => {
  const { policy, lookup = systemLookup, signalAfter = (ms) => AbortSignal.timeout(ms) } = options;
  const target = parseTarget(request.url, policy);
  if (target.kind === 'denied') return notSent('blocked', target.reason);
  const fault = headerFault(request.headers);
  if (fault !== undefined) return notSent('argument', fault);
  const deadline = signalAfter(request.deadlineMs);
  const connectBy = AbortSignal.any([signalAfter(request.connectMs), deadline]);
  const resolved = await resolveVetted(target.host, policy, lookup, connectBy);
  if (resolved.kind === 'blocked') return notSent('blocked', resolved.detail);
  if (resolved.kind === 'failed') {
    return notSent('dns', connectBy.aborted ? 'the name server gave no answer in time' : detailOf(resolved.error));
  }
  const url = new URL(target.url);
  const reached: { phase: Phase } = { phase: 'connecting' };
  const connect = vettedConnector({
    secure: url.protocol === 'https:',
    host: target.host,
    port: target.port,
    addresses: resolved.addresses,
    signal: connectBy,
    onPhase: (phase) => {
      reached.phase = phase;
    },
  });
  // The client's own timers are coarse and start again with every chunk; the deadline replaces them.
  const timers = { headersTimeout: 0, bodyTimeout: 0 };
  const client = new Client(url.origin, { connect, allowH2: false, maxHeaderSize: HEADER_BYTES_MAX, ...timers });
  try {
    const response = await post(client, url, request, deadline);
    return await answerOf(response, request.excerptBytes, deadline);
  } catch (error) {
    const { phase } = reached;
    return failureOf(error, { phase, late: phase === 'open' ? deadline.aborted : connectBy.aborted });
  } finally {
    client.destroy(OVER).catch(ignore);
  }
};

const post = async (client: Client, url: URL, request: OutgoingRequest, signal: AbortSignal) => {
  const path = `${url.pathname}${url.search}`;
  const { headers, body } = request;
  const response = await client.request({ method: 'POST', path, headers, body, signal, reset: true });
  // After we stop reading, its errors are nobody's. The client listens too, but the process should not hang on that.
  response.body.on('error', ignore);
  return response;
};

/** A status line was seen. Whatever happens to the body from here on is a note and no longer changes the answer. */
const answerOf = async (
  response: Dispatcher.ResponseData,
  excerptBytes: number,
  deadline: AbortSignal,
): Promise<Seen> => {
  const status = response.statusCode;
  if (status < 200 || status > 599) return inDoubt('protocol', `status ${status} is outside of HTTP`);
  const { kept, note } = await readSome(response.body, excerptBytes, deadline);
  const encoding = valuesOf(response.headers['content-encoding']).join(', ');
  const encoded = encoding !== '' && encoding.toLowerCase() !== 'identity';
  const bytes = encoded ? new TextEncoder().encode(`(not shown: the answer is encoded as ${encoding})`) : kept;
  return {
    kind: 'answered',
    status,
    retryAfter: valuesOf(response.headers['retry-after']).slice(0, RETRY_AFTER_HEADERS_MAX),
    excerpt: excerptOf(bytes, excerptBytes),
    ...(note === undefined ? {} : { bodyNote: note }),
  };
};

const readSome = async (body: AsyncIterable<Uint8Array>, keepBytes: number, deadline: AbortSignal) => {
  const kept = new Uint8Array(keepBytes);
  let keptBytes = 0;
  let readBytes = 0;
  let note: 'reset' | 'deadline' | 'too-large' | undefined;
  try {
    for await (const chunk of body) {
      const head = chunk.subarray(0, keepBytes - keptBytes);
      kept.set(head, keptBytes);
      keptBytes += head.length;
      readBytes += chunk.length;
      if (readBytes <= ANSWER_BYTES_DRAINED_MAX) continue;
      note = 'too-large';
      break;
    }
  } catch {
    note = deadline.aborted ? 'deadline' : 'reset';
  }
  return { kept: kept.subarray(0, keptBytes), note };
};

/** The client would send some of these in another form than given, or drop them; what is not plain is refused here. */
const headerFault = (headers: Readonly<Record<string, string>>): string | undefined => {
  for (const [name, value] of Object.entries(headers)) {
    if (WRITTEN_BY_CLIENT.includes(name.toLowerCase())) return `the header ${name} is written by the client`;
    if (!/^[\x20-\x7e]*$/.test(value)) return `the header ${name} holds a character outside of printable ASCII`;
  }
  return undefined;
};

const valuesOf = (header: string | string[] | undefined): readonly string[] =>
  header === undefined ? [] : Array.isArray(header) ? header : [header];

/** Told to whatever still waits for the socket, which is nobody. Made once: the client would make one with its stack. */
const OVER = new Error('the attempt is over');

const ignore = (): void => {};
