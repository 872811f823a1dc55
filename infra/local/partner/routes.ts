/** The partner's routes, and what each does with its request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerJson, answerProblem, BODY_BYTES_MAX, type Problem, readBody } from './http.ts';
import type { ReceivedRequest } from './mailbox.ts';
import { isMailboxName, type Mailboxes, NAME_RULE } from './mailboxes.ts';
import { type PartnerClock, perform } from './perform.ts';
import { type Parsed, parseQuery, parseScript } from './script.ts';
import { viewOf } from './view.ts';

export const PREFIX = '/partner/';

export type RequestHook = (request: ReceivedRequest) => void | Promise<void>;
export type AnsweredHook = (request: ReceivedRequest) => void;

/** What the routes work on. */
export interface Parts {
  readonly clock: PartnerClock;
  readonly mailboxes: Mailboxes;
  readonly requestHooks: ReadonlySet<RequestHook>;
  readonly answeredHooks: ReadonlySet<AnsweredHook>;
}

interface Request {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly name: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

type Route = (parts: Parts, request: Request) => void | Promise<void>;

const receive: Route = async ({ clock, mailboxes, requestHooks, answeredHooks }, { req, res, name, query, body }) => {
  const quick = parseQuery(query);
  if (quick.kind === 'bad') return answerProblem(res, senseless(400, 'query', quick));
  const mailbox = mailboxes.open(name);
  if (mailbox === undefined) return answerProblem(res, allInUse(mailboxes));
  const { method = '', url: path = '', headers } = req;
  const taken = mailbox.take({ atMs: clock.nowMs(), method, path, headers, body, quick: quick.value });
  try {
    for (const hook of requestHooks) await hook(taken.request);
    await perform({ socket: req.socket, res, clock }, taken.play);
  } finally {
    taken.over();
  }
  for (const hook of answeredHooks) hook(taken.request);
};

const show: Route = ({ mailboxes }, { res, name }) => answerJson(res, 200, viewOf(name, mailboxes.find(name)));

const clear: Route = ({ mailboxes }, { res, name }) => {
  mailboxes.find(name)?.clear();
  res.writeHead(204).end();
};

const write: Route = ({ mailboxes }, { res, name, body }) => {
  const json = parseJson(body);
  if (json.kind === 'bad') return answerProblem(res, senseless(400, 'body', json));
  const script = parseScript(json.value);
  if (script.kind === 'bad') return answerProblem(res, senseless(422, 'script', script));
  const mailbox = mailboxes.open(name);
  if (mailbox === undefined) return answerProblem(res, allInUse(mailboxes));
  mailbox.use(script.value);
  res.writeHead(204).end();
};

const ROUTES: ReadonlyMap<string, ReadonlyMap<string, Route>> = new Map([
  [
    '',
    new Map([
      ['POST', receive],
      ['GET', show],
      ['DELETE', clear],
    ]),
  ],
  ['/script', new Map([['PUT', write]])],
]);

/** Answers a request whose path lies under the prefix. Rejects where there is nobody left to tell of a broken hook. */
export const serve = async (parts: Parts, req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const { socket } = req;
  // The client may go away at any time, that is what it is here for.
  res.on('error', () => {});
  try {
    await dispatch(parts, req, res);
  } catch (error) {
    if (res.headersSent || socket.destroyed) throw error;
    answerProblem(res, fault(error));
  }
};

const dispatch = async (parts: Parts, req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const [path = '', ...query] = (req.url ?? '').slice(PREFIX.length).split('?');
  const [name = ''] = path.split('/', 1);
  const methods = ROUTES.get(path.slice(name.length));
  if (methods === undefined || !isMailboxName(name)) return answerProblem(res, NO_SUCH_PATH);
  const route = methods.get(req.method ?? '');
  if (route === undefined) return answerProblem(res, NO_SUCH_METHOD, { allow: [...methods.keys()].join(', ') });
  const body = await readBody(req);
  if (body.kind === 'gone') return;
  if (body.kind === 'too-large') return answerProblem(res, TOO_LARGE);
  await route(parts, { req, res, name, query: new URLSearchParams(query.join('?')), body: body.bytes });
};

const parseJson = (body: Buffer): Parsed<unknown> => {
  try {
    return { kind: 'ok', value: JSON.parse(body.toString('utf8')) };
  } catch {
    return { kind: 'bad', field: '', detail: 'must be JSON' };
  }
};

// ---- problems -----------------------------------------------------------------------------------------------------

const NO_SUCH_PATH: Problem = {
  status: 404,
  code: 'no-such-path',
  title: 'The partner has no such path',
  detail: `It has /partner/<name> and /partner/<name>/script; a name is ${NAME_RULE}.`,
};

const NO_SUCH_METHOD: Problem = {
  status: 405,
  code: 'no-such-method',
  title: 'The partner does not take this method here',
  detail: 'POST, GET and DELETE go to /partner/<name>, PUT goes to /partner/<name>/script.',
};

const TOO_LARGE: Problem = {
  status: 413,
  code: 'too-large',
  title: 'The body is too large',
  detail: `The partner takes at most ${BODY_BYTES_MAX} bytes. This request is not remembered.`,
};

const allInUse = (mailboxes: Mailboxes): Problem => ({
  status: 503,
  code: 'all-mailboxes-in-use',
  title: 'The partner has no mailbox left',
  detail: mailboxes.fullNotice,
});

const senseless = (
  status: number,
  what: string,
  { field, detail }: Extract<Parsed<never>, { kind: 'bad' }>,
): Problem => ({
  status,
  code: `bad-${what}`,
  title: `The ${what} makes no sense`,
  detail: field === '' ? `It ${detail}` : `${field} ${detail}`,
  ...(field === '' ? {} : { field }),
});

const fault = (error: unknown): Problem => ({
  status: 500,
  code: 'fault',
  title: 'The partner or one of its hooks is broken',
  detail: error instanceof Error ? error.message : String(error),
});
