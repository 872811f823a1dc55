/** What a benchmark says of itself where something is missing: whole sentences, and nothing of who did not take part. */
import { describe, expect, it } from 'vitest';
import { methodOf } from '../bench/cost/cost.ts';
import { reportOf } from '../bench/duplicates/duplicates.ts';
import { fireOf, type Tally } from '../bench/duplicates/fire.ts';
import { sentenceIn } from '../bench/engine.ts';
import { jarWanted } from '../support/dynamodb-local.ts';

const TALLY: Tally = {
  ...{ effects: 1, duplicates: 0, lost: 0, held: 0, heldHappened: 0, pushes: 1, kills: 1, seconds: 1 },
};

describe('the report on duplicates', () => {
  const rowsWith = (rival: Parameters<typeof reportOf>[2]) =>
    reportOf(fireOf(7, 10, 1), TALLY, rival, { kind: 'had', it: TALLY }).tables[0]?.rows ?? [];

  it('has a row for who was left out, which says why, and figures for who took part', () => {
    expect(rowsWith({ kind: 'missing', why: 'left out by --peers none' })[1]).toEqual([
      'Powertools idempotency',
      'left out by --peers none',
    ]);
    expect(rowsWith({ kind: 'had', it: TALLY })[1]).toHaveLength(10);
  });
});

describe('the method of the costs', () => {
  it('says in one whole sentence why the official engine did not count', () => {
    const why = sentenceIn(jarWanted('it is not set'));
    expect(methodOf({ kind: 'embedded', why })[0]).toMatch(
      /^Counted once, by the embedded engine, since \w+ must be the path of DynamoDBLocal\.jar, and it is not set\.$/,
    );
    expect(methodOf({ kind: 'official' })[0]).toMatch(/^Counted once, by the official DynamoDB Local/);
  });
});
