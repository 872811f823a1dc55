import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedDynamo, openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { type Bench, type Item, key, makeBench } from '../contract/dynamodb-engine-bench.ts';
import { disagreements } from '../support/dynamodb-agreement.ts';

let engine: EmbeddedDynamo;
beforeAll(async () => {
  engine = await openEmbeddedDynamo();
});
afterAll(() => engine.close());

const KEYS = ['a', 'b', 'ab'];
const some = (values: readonly string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const attributes = fc.record({ gp: some(['x', 'y', 'xy']), gs: some(['1', '-2', '10']), v: fc.nat(3) });
const step = fc.record({
  kind: fc.constantFrom('put', 'update', 'delete'),
  pk: fc.constantFrom(...KEYS),
  sk: fc.constantFrom(...KEYS),
  attributes,
  /** Written only if `v` is this; -1 stands for no condition. */
  onlyIf: fc.integer({ min: -1, max: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function toAttributes({ gp, gs, v }: Step['attributes']): Item {
  return { v: { N: `${v}` }, ...(gp && { gp: { S: gp } }), ...(gs && { gs: { N: gs } }) };
}

/** What the real service would hold after the step. */
function expected(model: Map<string, Item>, { kind, pk, sk, attributes: given, onlyIf }: Step): boolean {
  const name = `${pk}/${sk}`;
  const before = model.get(name);
  if (onlyIf >= 0 && before?.['v']?.N !== `${onlyIf}`) return false;
  if (kind === 'delete') model.delete(name);
  else if (kind === 'put') model.set(name, { ...key(pk, sk), ...toAttributes(given) });
  else model.set(name, { ...before, ...key(pk, sk), ...toAttributes(given) });
  return true;
}

async function play(bench: Bench, { kind, pk, sk, attributes: given, onlyIf }: Step): Promise<boolean> {
  const values = onlyIf >= 0 ? { ':onlyIf': { N: `${onlyIf}` } } : {};
  const condition = onlyIf >= 0 ? { ConditionExpression: 'v = :onlyIf', ExpressionAttributeValues: values } : {};
  const set = toAttributes(given);
  const update = {
    ...condition,
    UpdateExpression: `SET ${Object.keys(set)
      .map((name) => `${name} = :${name}`)
      .join(', ')}`,
    ExpressionAttributeValues: {
      ...values,
      ...Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value])),
    },
  };
  const written =
    kind === 'delete'
      ? bench.remove(key(pk, sk), condition)
      : kind === 'put'
        ? bench.put({ ...key(pk, sk), ...set }, condition)
        : bench.update(key(pk, sk), update);
  return written.then(
    () => true,
    (error: Error) => {
      if (error.name !== 'ConditionalCheckFailedException') throw error;
      return false;
    },
  );
}

it('holds, after any writes one after the other, what the rules say, and its indexes agree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const bench = await makeBench(engine.client());
      const model = new Map<string, Item>();
      for (const one of steps) expect(await play(bench, one)).toBe(expected(model, one));
      for (const pk of KEYS) {
        for (const sk of KEYS) expect(await bench.get(key(pk, sk))).toEqual(model.get(`${pk}/${sk}`));
      }
      expect(await disagreements(bench.client, bench.table)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

it('keeps table and indexes in agreement under any writes at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const bench = await makeBench(engine.client());
      await Promise.all(steps.map((one) => play(bench, one)));
      expect(await disagreements(bench.client, bench.table)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
