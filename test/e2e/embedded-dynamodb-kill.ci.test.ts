import { expect, it } from 'vitest';
import { killRounds } from '../support/dynamodb-kill.ts';

it('the embedded DynamoDB loses no acknowledged write and keeps table and indexes together (30 kills)', async () => {
  const runs = [];
  for (const seed of [101, 102, 103]) runs.push(await killRounds(10, seed));
  expect(runs.flatMap(({ wrong }) => wrong)).toEqual([]);
}, 180_000);
