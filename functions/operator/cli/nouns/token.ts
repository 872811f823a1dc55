/** `onceward token create | list | revoke` */
import { type Command, InvalidArgumentError } from 'commander';
import { tokenCreatedAnswer, tokenListAnswer, tokenRevokedAnswer } from '../../contract/tokens.ts';
import { path } from '../client.ts';
import { answer, shortTime, table } from '../print.ts';
import type { Shell } from '../shell.ts';
import { type Common, carryOut, type Deciding, deciding, decisionCall, get, looking, readAs } from '../verb.ts';
import { lines, said } from '../visible.ts';

interface CreateOptions extends Deciding {
  readonly rights: readonly string[];
}

const RIGHTS = ['view', 'send', 'pause', 'resend', 'decide', 'admin'];

export const addToken = (program: Command, shell: Shell): void => {
  const noun = program.command('token').description('who may do what');
  deciding(
    noun,
    'create <name>',
    'make a token; it is shown this once, and its name is the actor of what is done with it',
  )
    .requiredOption('--rights <list>', `with commas between them: ${RIGHTS.join(', ')}`, rightsOf)
    .action((name: string, options: CreateOptions) => create(shell, name, options));
  looking(noun, 'list', 'the live ones, without their texts').action((options: Common) => list(shell, options));
  deciding(noun, 'revoke <name>', 'end it with its next request').action((name: string, options: Deciding) =>
    revoke(shell, name, options),
  );
};

const rightsOf = (text: string): readonly string[] => {
  const rights = text.split(',').map((one) => one.trim());
  const stranger = rights.find((right) => !RIGHTS.includes(right));
  if (stranger !== undefined) throw new InvalidArgumentError(`Rights are ${RIGHTS.join(', ')}.`);
  return rights;
};

const create = (shell: Shell, name: string, options: CreateOptions): Promise<void> => {
  const { rights } = options;
  return carryOut(shell, options, {
    plan: async () => said`A token called ${name} may ${rights.join(', ')} from now on, until it is revoked.`,
    call: decisionCall(shell, options, { method: 'POST', path: '/v1/tokens', body: { name, rights } }),
    show: (body) => {
      const made = readAs(tokenCreatedAnswer, body);
      return made.token === undefined
        ? said`Token ${made.name} was made by this request before; its text was in that answer only. If it is lost: revoke it and make another.`
        : lines(said`Token ${made.name}, shown this once:`, said`${made.token}`);
    },
  });
};

const list = async (shell: Shell, options: Common): Promise<void> => {
  const body = await get(shell, '/v1/tokens');
  answer(shell, options, body, () => {
    const { items } = readAs(tokenListAnswer, body);
    if (items.length === 0) return said`There is no token that was made by a command.`;
    return table(shell, items, [
      { title: 'NAME', of: ({ name }) => name },
      { title: 'RIGHTS', of: ({ rights }) => rights.join(', ') },
      { title: 'SINCE', of: ({ createdAt }) => shortTime(createdAt) },
    ]);
  });
};

const revoke = (shell: Shell, name: string, options: Deciding): Promise<void> =>
  carryOut(shell, options, {
    plan: async () => said`Token ${name} stops with its next request, for good.`,
    call: decisionCall(shell, options, { method: 'DELETE', path: path`/v1/tokens/${name}` }),
    show: (body) => {
      const over = readAs(tokenRevokedAnswer, body);
      return said`Token ${over.name} was revoked at ${over.revokedAt} (decision ${over.decision}).`;
    },
  });
