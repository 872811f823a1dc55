/** Tokens and signing secrets: made, shown once, ended. */
import type { Context } from 'hono';
import { parseSecret } from '../../core/signature.ts';
import type { Signed } from '../../http/auth.ts';
import { type Problem, problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { rotateSecret, type SecretRotated } from '../commands/rotate-secret.ts';
import { createToken, listTokens, revokeToken, type TokenRefusal } from '../commands/tokens.ts';
import { parseTokenName, reasonBody, rotateBody, tokenBody } from '../contract/inputs.ts';
import { readDecision } from './decision-input.ts';
import { reused } from './decision-problems.ts';
import type { On } from './on.ts';
import { absent, destinationSegment, newer, type Read, textSegment } from './segments.ts';

type Needs = Pick<World, 'ledger' | 'clock' | 'dice' | 'telemetry'>;

export const addTokenRoutes = (on: On, world: Needs): void => {
  on('listTokens', (context) => onList(context, world));
  on('createToken', (context) => onCreate(context, world));
  on('revokeToken', (context) => onRevoke(context, world));
  on('rotateSecret', (context) => onRotate(context, world));
};

const iso = (ms: number): string => new Date(ms).toISOString();

const onList = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const tokens = await listTokens(world);
  if (tokens === 'newer') return problem(context, newer);
  const items = tokens.map(({ name, rights, createdAtMs }) => ({ name, rights, createdAt: iso(createdAtMs) }));
  return context.json({ items });
};

const REFUSED: Readonly<Record<TokenRefusal, (name: string) => string>> = {
  'name-taken': (name) => `a live token is called ${name} already: revoke it first, or choose another name`,
  'too-many-tokens': () => 'there are as many tokens as there may be: revoke one that nobody uses',
  'last-admin': (name) => `${name} is the last token with the right "admin": make another one first`,
};

const refusedProblem = (
  name: string,
  refused: { readonly kind: 'refused'; readonly code: TokenRefusal } | { readonly kind: 'absent' | 'newer' | 'reused' },
): Problem => {
  switch (refused.kind) {
    case 'refused':
      return { status: 409, code: refused.code, detail: REFUSED[refused.code](name), field: 'name' };
    case 'absent':
      return absent(`token ${name}`);
    case 'newer':
      return newer;
    case 'reused':
      return reused;
  }
};

const onCreate = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const read = await readDecision(context, tokenBody);
  if (read.kind === 'bad') return problem(context, read.problem);
  const { request, actor, body } = read.value;
  const done = await createToken(world, { request, actor, ...body });
  if (done.kind !== 'done') return problem(context, refusedProblem(body.name, done));
  const { name, rights, createdAtMs } = done.token;
  const shown = { name, rights, createdAt: iso(createdAtMs), decision: request };
  return done.text === undefined ? context.json(shown, 200) : context.json({ ...shown, token: done.text }, 201);
};

const nameSegment = (context: Context): Read<string> => textSegment(context, 3, 'name', parseTokenName);

const onRevoke = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const name = nameSegment(context);
  if (name.kind === 'bad') return problem(context, name.problem);
  const read = await readDecision(context, reasonBody);
  if (read.kind === 'bad') return problem(context, read.problem);
  const { request, actor, body } = read.value;
  const done = await revokeToken(world, { request, actor, reason: body.reason, name: name.value });
  if (done.kind !== 'done') return problem(context, refusedProblem(name.value, done));
  return context.json({ name: done.name, revokedAt: iso(done.revokedAtMs), decision: request });
};

// ---- signing secrets ----------------------------------------------------------------------------------------------

const onRotate = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const segment = destinationSegment(context);
  if (segment.kind === 'bad') return problem(context, segment.problem);
  const read = await readDecision(context, rotateBody);
  if (read.kind === 'bad') return problem(context, read.problem);
  const { request, actor, body } = read.value;
  const { reason, overlapHours, signingSecret } = body;
  if (signingSecret !== undefined && parseSecret(signingSecret).kind === 'bad') {
    const detail = 'signingSecret must be whsec_ and base64 of 24 to 64 bytes';
    return problem(context, { status: 422, code: 'invalid', detail, field: 'signingSecret' });
  }
  const given = signingSecret === undefined ? {} : { signingSecret };
  const done = await rotateSecret(world, {
    request,
    actor,
    reason,
    destination: segment.value,
    overlapHours,
    ...given,
  });
  if (done.kind !== 'done') return problem(context, rotateProblem(segment.value, done));
  const live = done.live.map(({ endsAtMs }) => (endsAtMs === undefined ? {} : { endsAt: iso(endsAtMs) }));
  const made = done.made === undefined ? {} : { signingSecret: done.made };
  return context.json({ destination: segment.value, ...made, live, decision: request });
};

const rotateProblem = (destination: string, refused: Exclude<SecretRotated, { kind: 'done' }>): Problem => {
  switch (refused.kind) {
    case 'absent':
      return absent(`destination ${destination}`);
    case 'newer':
      return newer;
    case 'reused':
      return reused;
    case 'too-many': {
      const when = refused.firstEndsAtMs === undefined ? '' : `; the first ends at ${iso(refused.firstEndsAtMs)}`;
      const detail = `destination ${destination} has as many live secrets as it may have${when}; or pass overlapHours: 0, which ends them all`;
      return { status: 409, code: 'too-many-secrets', detail };
    }
  }
};
