/**
 * `npm run -s first-token -- TABLE`: the first token of a deployment. Prints the command that stores its hash, and calls
 * nothing itself: whose credentials are used is seen before it happens.
 */
import { parseArgs } from 'node:util';
import { systemClock, systemDice } from '../../functions/adapters/system.ts';
import { ArgumentError, argumentsOf } from './arguments.ts';
import { firstToken } from './token.ts';

const USAGE = 'npm run -s first-token -- TABLE (the deployment has printed it as TableName)';

const table = argumentsOf(USAGE, () => {
  const { positionals } = parseArgs({ allowPositionals: true, options: {} });
  const [name = ''] = positionals;
  if (positionals.length === 1 && /^[A-Za-z0-9_.-]{3,255}$/.test(name)) return name;
  throw new ArgumentError('which table?');
});

const { text, item } = firstToken(systemClock.nowMs(), systemDice);
console.log(
  `The token, shown this once:\n\n  ${text}\n\nStore its hash, with credentials that may write to the table:\n`,
);
console.log(
  `  aws dynamodb put-item --table-name ${table} --condition-expression 'attribute_not_exists(pk)' --item '${JSON.stringify(item)}'`,
);
